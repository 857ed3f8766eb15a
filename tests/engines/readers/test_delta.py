"""Delta tables: versions, deleted files and rows, and what their files alone do not show."""

import json
import struct
import sys

import numpy as np
import pandas as pd
import pytest
from nearness import distance

from directrix import DirectClassifier, Moments, summarize
from directrix.engines import HashFolds, readers
from directrix.engines.arrow import open_source

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")
parquet = pytest.importorskip("pyarrow.parquet")

NEAR = 1e-10
RNG = np.random.default_rng(11)
N = 900
FEATURES = ["a", "b c", 'größe "x"']
ROWS = pd.DataFrame(RNG.normal(size=(N, 3)), columns=FEATURES).assign(
    y=RNG.integers(0, 2, N),
    customer=RNG.integers(0, 200, N),
    year=RNG.integers(2020, 2026, N),
    town=RNG.choice(["Köln", "Lyon", "it's"], N),
)
KEPT = ROWS[ROWS["year"] != 2020]
ROLES = {"target": "y", "features": FEATURES, "fold": HashFolds(5, key="customer")}


def arrow(rows):
    return pa.Table.from_pandas(rows, preserve_index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a table in partitions, of three versions; the last deletes the rows of a year."""
    folder = tmp_path_factory.mktemp("delta") / "rows"
    deltalake.write_deltalake(folder, arrow(ROWS[:500]), partition_by=["town"])
    deltalake.write_deltalake(folder, arrow(ROWS[500:]), mode="append")
    deltalake.DeltaTable(folder).delete("year = 2020")
    return folder


SOURCES = {
    "folder": lambda folder: folder,
    "text": str,
    "list of one folder": lambda folder: [folder],
    "DeltaTable": deltalake.DeltaTable,
    "function": lambda folder: lambda: deltalake.DeltaTable(folder),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_deleted_rows_do_not_count(folder, source):
    on_disk = pa.concat_tables([parquet.read_table(path) for path in folder.rglob("*.parquet")])
    assert on_disk.num_rows > len(KEPT)  # files of former versions are still there
    moments = summarize(source(folder), **ROLES)
    assert distance(moments, summarize(KEPT, **ROLES)) < NEAR
    assert moments.count == len(KEPT)


def test_former_versions_can_be_read(folder):
    for version, rows in enumerate([ROWS[:500], ROWS, KEPT]):
        moments = summarize(deltalake.DeltaTable(folder, version=version), **ROLES)
        assert distance(moments, summarize(rows, **ROLES)) < NEAR


@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
def test_a_classifier_is_the_same_as_in_memory(folder):
    rows = ROWS.assign(y=(ROWS["a"] + RNG.normal(size=N) > 0.5).astype(int))
    deltalake.write_deltalake(folder.with_name("other"), arrow(rows))
    options = {"target": "y", "features": FEATURES, "fold": HashFolds(3, key="customer")}
    ours = DirectClassifier("auc").fit_source(folder.with_name("other"), **options)
    theirs = DirectClassifier("auc").fit_source(rows, **options)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_two_passes_identify_rows_by_their_positions(folder):
    opened = open_source(folder)
    passes = [pa.Table.from_batches(opened.positioned(["a", "year"])).to_pandas() for _ in range(2)]
    keys = [table.iloc[:, -1] for table in passes]
    assert keys[0].is_unique
    assert passes[0].equals(passes[1])
    assert opened.n_rows() == len(KEPT)


def test_only_needed_columns_are_read(folder, monkeypatch):
    asked = []
    really = readers.open_dataset

    def noted(rows):
        known = really(rows)

        def batches(columns):
            asked.append(sorted(columns))
            for batch in known.batches(columns):
                asked.append(batch.num_rows)
                yield batch

        return known._replace(batches=batches, positioned=None)

    monkeypatch.setattr(readers, "open_dataset", noted)
    summarize(folder, target="y", features=["a"])
    assert asked[0] == ["a", "y"]
    assert sum(asked[1:]) == len(KEPT)


def test_the_dataset_of_a_table_may_be_filtered(folder):
    from pyarrow.dataset import field

    rows = deltalake.DeltaTable(folder).to_pyarrow_dataset()
    chosen = rows.filter((field("town") == "it's") & (field("year") > 2022))
    passing = KEPT[(KEPT["town"] == "it's") & (KEPT["year"] > 2022)]
    roles = {"target": "y", "features": ["a"]}
    assert distance(summarize(chosen, **roles), summarize(passing, **roles)) < NEAR


# ── files that belong to a table ──────────────────────────────────────────────────────────────────


def test_files_of_a_table_are_not_read_without_its_log(folder):
    for given in (folder.parent, folder / "town=Lyon", folder / "*" / "*.parquet"):
        with pytest.raises(ValueError, match=r"has files of the Delta table .*: give the folder"):
            summarize(given, **ROLES)
    (one,) = {path.parent for path in folder.rglob("*.parquet") if "Lyon" in str(path)}
    a_file = next(one.glob("*.parquet"))
    assert summarize(a_file, target="y", features=["a"]).count  # a file that is named is read
    with pytest.raises(ValueError, match="give it alone"):
        summarize([folder, a_file], **ROLES)


def test_a_folder_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(ModuleNotFoundError, match=r"Delta table, .*directrix\[delta\]"):
        summarize(folder, **ROLES)


# ── tables written by hand: what only their log says ──────────────────────────────────────────────

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def deletion_vector(rows):
    """Return row numbers below 65,536 as the log holds them: a bitmap in base 85."""
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + struct.pack(
        f"<{len(rows)}H", *rows
    )
    content = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    padded = content + b"\0" * (-len(content) % 4)
    text = ""
    for (word,) in struct.iter_unpack(">I", padded):
        text += "".join(Z85[word // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return {
        "storageType": "i",
        "pathOrInlineDv": text,
        "sizeInBytes": len(content),
        "cardinality": len(rows),
    }


def write_by_hand(folder, rows, protocol, *, configuration=None, physical=None, vector=None):
    """Write a table of one file, with the names that its columns have in the file."""
    physical = physical or {}
    (folder / "_delta_log").mkdir(parents=True)
    in_file = arrow(rows.rename(columns=physical))
    parquet.write_table(in_file, folder / "0.parquet")
    kinds = {"f": "double", "i": "long"}
    fields = []
    for number, name in enumerate(rows.columns, 1):
        metadata = {}
        if physical:
            metadata = {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": physical[name],
            }
        kind = kinds[rows[name].dtype.kind]
        fields.append({"name": name, "type": kind, "nullable": True, "metadata": metadata})
    schema = json.dumps({"type": "struct", "fields": fields})
    metadata = {
        "id": "table",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": [],
        "configuration": configuration or {},
        "createdTime": 0,
    }
    add = {
        "path": "0.parquet",
        "partitionValues": {},
        "size": (folder / "0.parquet").stat().st_size,
        "modificationTime": 0,
        "dataChange": True,
        "stats": json.dumps({"numRecords": len(rows)}),
    }
    if vector is not None:
        add["deletionVector"] = vector
    actions = [{"protocol": protocol}, {"metaData": metadata}, {"add": add}]
    log = folder / "_delta_log" / f"{0:020}.json"
    log.write_text("\n".join(map(json.dumps, actions)), encoding="utf-8")
    return folder


NUMBERS = ROWS[["a", "b c", "y", "customer"]]
HAND_ROLES = {"target": "y", "features": ["a", "b c"], "fold": HashFolds(5, key="customer")}
V3 = {"minReaderVersion": 3, "minWriterVersion": 7}
TWO = {"minReaderVersion": 2, "minWriterVersion": 5}


def test_rows_of_a_deletion_vector_do_not_count(tmp_path):
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    gone = [0, 3, 7, 500, N - 1]
    folder = write_by_hand(
        tmp_path / "t",
        NUMBERS,
        V3 | features,
        configuration={"delta.enableDeletionVectors": "true"},
        vector=deletion_vector(gone),
    )
    kept = NUMBERS.drop(index=gone)
    moments = summarize(folder, **HAND_ROLES)
    assert moments.count == len(kept)
    assert distance(moments, summarize(kept, **HAND_ROLES)) < NEAR


# Of reader version 2 the protocol names no features.
@pytest.mark.parametrize(
    "protocol",
    [TWO, V3 | {"readerFeatures": ["columnMapping"], "writerFeatures": ["columnMapping"]}],
    ids=["version 2", "version 3"],
)
def test_columns_are_known_by_their_names_in_the_table(tmp_path, protocol):
    # Two columns change their names: the file has them the other way round.
    physical = {"a": "b c", "b c": "a", "y": "col-7", "customer": "col-8"}
    folder = write_by_hand(
        tmp_path / "t",
        NUMBERS,
        protocol,
        configuration={
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": "4",
        },
        physical=physical,
    )
    expected = Moments.of(
        NUMBERS[["a", "b c"]].to_numpy(), NUMBERS["y"].to_numpy(), feature_names=["a", "b c"]
    )
    moments = summarize(folder, **HAND_ROLES)
    assert distance(moments.unfolded(), expected) < NEAR
    assert distance(moments, summarize(NUMBERS, **HAND_ROLES)) < NEAR


def test_an_older_deltalake_is_refused_where_it_would_read_wrong_rows(tmp_path):
    class Older:
        def __init__(self, table):
            self.protocol, self.metadata = table.protocol, table.metadata

    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    folder = write_by_hand(tmp_path / "t", NUMBERS, V3 | features)
    with pytest.raises(ValueError, match="deletion vectors or mapped columns"):
        readers.open_delta(Older(deltalake.DeltaTable(folder)))


def test_a_feature_that_deltalake_does_not_know_is_an_error(tmp_path):
    features = {"readerFeatures": ["fromTheFuture"], "writerFeatures": ["fromTheFuture"]}
    folder = write_by_hand(tmp_path / "t", NUMBERS, V3 | features)
    with pytest.raises(Exception, match=r"(?i)fromTheFuture|feature"):
        summarize(folder, **HAND_ROLES)


# ── the command line ──────────────────────────────────────────────────────────────────────────────


def test_the_command_line_reads_the_table_of_a_folder(folder):
    pytest.importorskip("typer", reason="typer is not installed")
    from directrix.cli.rows import RowFiles

    rows = RowFiles.of([str(folder)], "y", drop=["customer,year,town"])
    assert rows.features == tuple(FEATURES)
    assert rows.read().X.num_rows == len(KEPT)
