import gzip
from decimal import Decimal
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pytest
from nearness import distance

from directrix import Moments, summarize
from directrix.engines import HashFolds, arrow, readers
from directrix.engines.arrow import open_source
from directrix.exceptions import PandasIndexWarning

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

SCALED = 1e-13
RNG = np.random.default_rng(7)
N = 1000
X = RNG.normal([0.0, 100.0, -3.0], [1.0, 2.0, 0.1], (N, 3))
Y = RNG.integers(0, 2, N)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, other=RNG.normal(size=N))
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)
EXPECTED = Moments.of(X, Y, feature_names=["a", "b", "c"])
ROLES = {"target": "y", "features": ["a", "b", "c"]}


@pytest.fixture
def path(tmp_path):
    parquet.write_table(TABLE, tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def parts(folder, n=4):
    """Write the rows as several files and return their paths."""
    stops = np.linspace(0, N, n + 1).astype(int)
    paths = [folder / f"part-{k}.parquet" for k in range(n)]
    for path, (start, stop) in zip(paths, pairwise(stops), strict=True):
        parquet.write_table(TABLE[start:stop], path)
    return paths


# ── which columns are read ────────────────────────────────────────────────────────────────────────


class Spy:
    """A dataset that notes which columns it is asked for, and how often."""

    def __init__(self, monkeypatch):
        self.asked = []
        really = dataset.dataset

        def opened(*args, **options):
            rows = really(*args, **options)
            spy = self

            class Wrapped:
                schema = rows.schema
                format = rows.format
                count_rows = rows.count_rows

                def scanner(self, columns, **how):
                    spy.asked.append(columns)
                    return rows.scanner(columns=columns, **how)

            return Wrapped()

        monkeypatch.setattr(dataset, "dataset", opened)


def test_columns_that_are_not_needed_are_not_read(path, monkeypatch):
    spy = Spy(monkeypatch)
    roles = {"target": "y", "features": ["c"], "fold": HashFolds(2, key="a")}
    assert summarize(path, **roles).count == N
    assert [sorted(columns) for columns in spy.asked] == [["a", "c", "y"]]


def damaged(path, column):
    """Spoil the bytes of a column in a file."""
    column_index = TABLE.schema.names.index(column)
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(column_index)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(bytes(content))
    return path


SCANS = {
    "path": lambda path: path,
    "dataset": dataset.dataset,
    "lazy frame": pl.scan_parquet,
    "relation": lambda path: pytest.importorskip("duckdb").connect().read_parquet(str(path)),
}


@pytest.mark.parametrize("scan", SCANS.values(), ids=SCANS)
def test_a_column_that_cannot_be_read_may_be_left_out(path, scan):
    source = scan(damaged(path, "other"))
    assert distance(summarize(source, **ROLES), EXPECTED) < SCALED
    with pytest.raises(Exception, match=r"(?i)page|thrift|parquet|what type"):
        summarize(scan(path), target="y")


@pytest.mark.parametrize(
    ("scan", "name"),
    [
        *((scan, None) for scan in (*SCANS, "table", "reader")),
        *((scan, "row") for scan in ("path", "dataset", "table", "reader")),  # with pandas' notes
    ],
)
def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path, name, scan):
    FRAME[X[:, 0] > 0.0].rename_axis(name).to_parquet(tmp_path / "rows.parquet")
    table = parquet.read_table(tmp_path / "rows.parquet")
    memory = {"table": lambda _: table, "reader": lambda _: table.to_reader()}
    source = {**SCANS, **memory}[scan](tmp_path / "rows.parquet")
    index = name or "__index_level_0__"
    with pytest.warns(PandasIndexWarning) as caught:
        assert summarize(source, target="y").feature_names == ("a", "b", "c", "other")
    assert caught[0].message.columns == (index,)
    asked = summarize(tmp_path / "rows.parquet", target="y", features=["a", index])
    assert asked.feature_names == ("a", index)


def test_names_of_columns_are_quoted():
    duckdb = pytest.importorskip("duckdb")
    table = pa.table({'a "b" c': [1.0, 2.0, 4.0], "select": [0, 1, 1]})
    moments = summarize(duckdb.connect().from_arrow(table), target="select")
    assert moments.feature_names == ('a "b" c',)
    assert moments.count == 3


# ── how much is held at a time ────────────────────────────────────────────────────────────────────


def test_a_stream_is_never_held_whole(monkeypatch):
    monkeypatch.setattr(arrow, "_VALUES", 1)
    monkeypatch.setattr(arrow, "_FEWEST_ROWS", 2 * N)  # two batches together
    held = []

    def batches():
        before = pa.total_allocated_bytes()
        for _ in range(40):
            yield pa.RecordBatch.from_pydict(TABLE.to_pydict())
            held.append(pa.total_allocated_bytes() - before)

    schema = pa.RecordBatch.from_pydict(TABLE[:1].to_pydict()).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    assert summarize(reader, **ROLES).count == 40 * N
    assert len(held) == 40
    assert max(held) <= 6 * TABLE.nbytes


def allocated_while_reading(path):
    """Return the most bytes that Arrow held while a file was summarised."""
    most, really = 0, arrow._as_table

    def together(batches):
        nonlocal most
        most = max(most, pa.total_allocated_bytes())
        return really(batches)

    before = pa.total_allocated_bytes()
    with patch.object(arrow, "_as_table", together):
        summarize(path, target="y", sample=0)
    return most - before


# From a million rows on: below, what Arrow reads ahead (some thirty row groups) is the whole file.
def test_four_times_the_rows_take_the_same_memory(tmp_path, monkeypatch, figure):
    def written(n):
        path = tmp_path / f"{n}.parquet"
        rows = np.random.default_rng(0).normal(size=(20_000, 10)).astype(np.float32)
        block = pa.table({f"x{k}": rows[:, k] for k in range(10)} | {"y": np.arange(20_000) % 2})
        with parquet.ParquetWriter(path, block.schema) as writer:
            for _ in range(n // 20_000):
                writer.write_table(block, row_group_size=20_000)
        return path

    monkeypatch.setattr(arrow, "_VALUES", 1 << 18)
    few, many = (written(n) for n in (1_200_000, 4_800_000))
    # How far Arrow reads ahead depends on what else the machine does.
    fewer = max(allocated_while_reading(few) for _ in range(3))
    more = min(allocated_while_reading(many) for _ in range(3))
    assert more < 1.5 * fewer
    figure(f"bytes held by Arrow, 4.8e6 rows against 1.2e6: {more / fewer:.2f} times (<= 1.50)")


def sizes(batches):
    return [table.num_rows for table in arrow.rebatched(iter(batches))]


def test_tables_are_of_the_same_lengths_however_long_the_batches(monkeypatch):
    monkeypatch.setattr(arrow, "_VALUES", 150 * 5)
    monkeypatch.setattr(arrow, "_FEWEST_ROWS", 1)
    expected = [150] * 6 + [100]
    for size in (1, 7, 50, 149, 150, 151, 400, N):
        assert sizes(TABLE.to_batches(max_chunksize=size)) == expected
    assert sizes([]) == sizes(TABLE[:0].to_batches()) == []
    uneven = [TABLE[a:b].to_batches()[0] for a, b in pairwise([0, 3, 500, 501, N])]
    empty = pa.RecordBatch.from_pylist([], TABLE.schema)
    mixed = [empty, *uneven[:2], empty, *uneven[2:], empty]
    assert sizes(mixed) == expected
    tables = [
        batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        for batch in arrow.rebatched(iter(mixed))
    ]
    assert pa.concat_tables(tables).equals(TABLE)


def test_rows_are_split_by_their_width(monkeypatch):
    monkeypatch.setattr(arrow, "_VALUES", 4000)
    monkeypatch.setattr(arrow, "_FEWEST_ROWS", 5)
    assert sizes(TABLE.to_batches())[0] == 800
    assert sizes(TABLE.select(["a"]).to_batches())[0] == N
    wide = pa.record_batch({"v": pa.FixedSizeListArray.from_arrays(np.zeros(N * 40), 40)})
    assert sizes([wide])[0] == 100
    wider = pa.record_batch({"v": pa.FixedSizeListArray.from_arrays(np.zeros(8 * 4000), 4000)})
    assert sizes([wider]) == [5, 3]
    assert readers.batch_rows(20) == readers.BATCH_ROWS
    assert readers.batch_rows(1000) * 1000 <= readers.READ_VALUES


@pytest.mark.parametrize("row_group", [1, 10, 333, N])
def test_bits_do_not_depend_on_row_groups(tmp_path, row_group, monkeypatch):
    monkeypatch.setattr(arrow, "_VALUES", 5 * 300)
    monkeypatch.setattr(arrow, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(readers, "BATCH_ROWS", 64)
    parquet.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=row_group)
    roles = ROLES | {"fold": HashFolds(3)}
    read = summarize(pl.scan_parquet(tmp_path / "rows.parquet"), **roles)
    assert read == summarize(TABLE, **roles)
    assert distance(read.unfolded(), EXPECTED) < SCALED
    # Rows of a file are known by their position in it.
    moments = summarize(tmp_path / "rows.parquet", **roles)
    parquet.write_table(TABLE, tmp_path / "whole.parquet")
    assert moments == summarize(tmp_path / "whole.parquet", **roles)
    assert distance(moments.unfolded(), EXPECTED) < SCALED


def test_row_groups_may_be_larger_than_a_batch(path, monkeypatch):
    monkeypatch.setattr(readers, "BATCH_ROWS", 64)
    for scan in SCANS.values():
        assert distance(summarize(scan(path), **ROLES), EXPECTED) < SCALED


# ── types of columns ──────────────────────────────────────────────────────────────────────────────

KINDS = {
    "int8": pa.array([1, 0, 3, -4], pa.int8()),
    "uint64": pa.array([1, 0, 3, 2**40], pa.uint64()),
    "bool": pa.array([True, False, True, True]),
    "float32": pa.array([0.5, -1.0, 3.0, 7.0], pa.float32()),
    "float16": pa.array(np.array([0.5, -1.0, 3.0, 7.0], dtype=np.float16)),
    "decimal": pa.array([Decimal("1.25"), Decimal("-3.50"), Decimal("0.00"), Decimal("9.75")]),
    "decimal256": pa.array(
        [Decimal("1.25"), Decimal("-3.50"), Decimal("0.00"), Decimal("9.75")], pa.decimal256(60, 2)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunks", [1, 2])
def test_numbers_of_any_type_are_features(kind, chunks, tmp_path):
    column = KINDS[kind]
    table = pa.table({"x": column, "z": [1.0, 2.0, 4.0, 8.0], "y": [0, 1, 1, 0]})
    values = np.array([float(value.as_py()) for value in column])
    expected = Moments.of(
        np.column_stack([values, [1.0, 2.0, 4.0, 8.0]]), [0, 1, 1, 0], feature_names=["x", "z"]
    )
    pieces = pa.concat_tables([table[:2], table[2:]]) if chunks == 2 else table
    assert distance(summarize(pieces, target="y"), expected) < SCALED
    parquet.write_table(table, tmp_path / "typed.parquet")
    assert distance(summarize(tmp_path / "typed.parquet", target="y"), expected) < SCALED


LABELS = {
    "bool": (pa.array([True, False, True, True]), [False, True]),
    "int8": (pa.array([5, 3, 5, 5], pa.int8()), [3, 5]),
    "uint32": (pa.array([5, 3, 5, 5], pa.uint32()), [3, 5]),
    "decimal": (pa.array([Decimal(5), Decimal(3), Decimal(5), Decimal(5)]), [3.0, 5.0]),
    "text": (pa.array(["b", "a", "b", "b"]), ["a", "b"]),
    "large text": (pa.array(["b", "a", "b", "b"], pa.large_string()), ["a", "b"]),
    "text view": (pa.array(["b", "a", "b", "b"], pa.string_view()), ["a", "b"]),
    "dictionary": (pa.array(["b", "a", "b", "b"]).dictionary_encode(), ["a", "b"]),
}


@pytest.mark.parametrize(("labels", "classes"), LABELS.values(), ids=LABELS)
def test_labels_may_be_of_any_type(labels, classes):
    table = pa.table({"x": [1.0, 2.0, 4.0, 8.0], "label": labels})
    for rows in (table, table.to_batches()[0], pa.concat_tables([table[:1], table[1:]])):
        moments = summarize(rows, target="label")
        assert moments.classes.tolist() == classes
        assert [group.count for group in moments.by_class.values()] == [1, 3]


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), pa.float32(), pa.decimal128(9, 2)])
def test_a_null_is_refused_by_name_and_absent_rows_do_not_count(kind):
    column = pa.array([1, 0, None, 1], pa.int8()).cast(kind)
    table = pa.table({"x": [1.0, 2.0, 4.0, 8.0], "gap": column, "y": [0, 1, 1, 0]})
    with pytest.raises(ValueError, match=r"column 'gap' holds missing values .* 1 row;"):
        summarize(table, target="y")
    with_weights = table.append_column("w", [[1.0, 2.0, 0.0, 1.0]])
    assert summarize(with_weights, target="y", weight="w").count == 3


# ── vectors in one column ─────────────────────────────────────────────────────────────────────────

VECTORS = {
    "list": lambda rows: pa.array(rows.tolist()),
    "large list": lambda rows: pa.array(rows.tolist(), pa.large_list(pa.float64())),
    "list of float32": lambda rows: pa.array(rows.tolist(), pa.list_(pa.float32())),
    "fixed size": lambda rows: pa.FixedSizeListArray.from_arrays(rows.ravel(), rows.shape[1]),
}


@pytest.mark.parametrize("made", VECTORS.values(), ids=VECTORS)
def test_one_column_may_hold_vectors(made, tmp_path):
    rows = np.round(X, 2).astype(np.float32).astype(float)
    table = pa.table({"v": made(rows), "y": Y, "other": X[:, 0]})
    expected = Moments.of(rows, Y, fold=HashFolds(3).of_rows(rows, Y))
    roles = {"target": "y", "features": "v", "fold": HashFolds(3)}
    assert distance(summarize(table, **roles), expected) < SCALED
    chunks = pa.concat_tables([table[:10], table[10:10], table[10:500], table[500:]])
    assert distance(summarize(chunks, **roles), expected) < SCALED
    parquet.write_table(table, tmp_path / "v.parquet", row_group_size=300)
    of_file = summarize(tmp_path / "v.parquet", **roles)
    assert len(of_file.folds) == 3
    assert distance(of_file.unfolded(), expected.unfolded()) < SCALED
    alone = summarize(table.drop_columns(["other"]), target="y")
    assert distance(alone, expected.unfolded()) < SCALED


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0], [1.0, 2.0, 3.0]], "the vectors of features are not all of one length"),
        ([[1.0, 2.0], [3.0]], "the vectors of features are not all of one length"),
        ([[1.0, 2.0], None], "1 rows have no vector of features; fill or drop them"),
        ([[1.0, 2.0], [3.0, None]], "column 1 holds missing values"),
    ],
)
def test_vectors_with_gaps_are_refused(vectors, message):
    with pytest.raises(ValueError, match=message):
        summarize(pa.table({"v": vectors, "y": [0, 1]}), target="y")


def test_two_columns_of_vectors_are_refused():
    table = pa.table({"v": [[1.0], [2.0]], "u": [[1.0], [2.0]], "y": [0, 1]})
    with pytest.raises(TypeError, match=r"columns 'v', 'u' hold list<.*>, not numbers"):
        summarize(table, target="y")


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def test_paths_may_be_text_or_a_list_or_a_pattern_or_a_folder(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    paths = parts(folder)
    for source in (
        paths,
        tuple(map(str, paths)),
        str(folder / "part-*.parquet"),
        folder / "part-[0-9].parquet",
        [paths[0], str(folder / "part-[123].parquet")],
        folder,
        str(tmp_path / "**" / "*.parquet"),
        dataset.dataset(folder),
        dataset.dataset(folder).scanner(),
    ):
        assert distance(summarize(source, **ROLES), EXPECTED) < SCALED


def test_a_path_that_looks_like_a_pattern_is_a_path(tmp_path):
    path = tmp_path / "rows[1].parquet"
    parquet.write_table(TABLE, path)
    assert summarize(path, **ROLES).count == N


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.feather", "rows.arrow"])
def test_files_of_other_kinds(tmp_path, name):
    path = tmp_path / name
    if name.endswith("csv"):
        FRAME.to_csv(path, index=False)
    elif name.endswith("gz"):
        path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))
    else:
        with pa.ipc.new_file(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    assert distance(summarize(path, **ROLES), EXPECTED) < SCALED
    assert distance(summarize(tmp_path, **ROLES), EXPECTED) < SCALED
    assert distance(summarize(str(tmp_path / "rows.*"), **ROLES), EXPECTED) < SCALED


def test_files_of_several_kinds_are_refused(tmp_path, path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=r"have several formats \(csv, parquet\): give one format"):
        summarize([path, tmp_path / "rows.csv"], **ROLES)


@pytest.mark.parametrize("kind", [str, lambda path: path, lambda path: [path]])
@pytest.mark.parametrize("name", ["nowhere.parquet", "nowhere-*.parquet", "no/folder"])
def test_a_path_that_does_not_exist_is_refused(tmp_path, name, kind):
    with pytest.raises(FileNotFoundError, match=r"no file at '.*nowhere.*'|no file at '.*folder'"):
        summarize(kind(tmp_path / name), target="y")


def test_one_of_several_paths_that_does_not_exist_is_named(path):
    with pytest.raises(FileNotFoundError, match=r"no file at 'gone\.parquet'"):
        summarize([path, "gone.parquet"], target="y")


def test_an_empty_file_has_no_rows(tmp_path):
    path = tmp_path / "empty.parquet"
    parquet.write_table(TABLE[:0], path)
    for scan in SCANS.values():
        with pytest.raises(ValueError, match="there are no rows to summarise"):
            summarize(scan(path), target="y")
    assert summarize(path, target="y", by="c") == {}


def test_one_of_several_files_may_be_empty(tmp_path):
    parts(tmp_path)
    parquet.write_table(TABLE[:0], tmp_path / "part-9.parquet")
    assert distance(summarize(tmp_path, **ROLES), EXPECTED) < SCALED


def test_a_folder_of_partitions_has_their_column(tmp_path):
    for label in (0, 1):
        folder = tmp_path / f"y={label}"
        folder.mkdir()
        parquet.write_table(TABLE.filter(pa.array(label == Y)).drop_columns(["y"]), folder / "0.pq")
    order = np.argsort(Y, kind="stable")
    expected = Moments.of(X[order], Y[order], feature_names=["a", "b", "c"])
    assert distance(summarize(tmp_path, **ROLES), expected) < SCALED


# ── what else ─────────────────────────────────────────────────────────────────────────────────────


def test_labels_may_be_given_beside_a_table():
    given = summarize(TABLE.select(["a", "b", "c"]), target=Y, weight=np.ones(N))
    assert distance(given, EXPECTED) < SCALED
    batch = TABLE.select(["a", "b", "c"]).to_batches()[0]
    assert distance(summarize(batch, target=Y), EXPECTED) < SCALED


def test_a_reader_can_be_read_once():
    reader = TABLE.to_reader(max_chunksize=100)
    assert summarize(reader, **ROLES).count == N
    with pytest.raises(ValueError, match="there are no rows to summarise"):
        summarize(reader, **ROLES)


def test_a_lazy_frame_is_run_once():
    runs = []

    def noted(frame):
        runs.append(frame.height)
        return frame

    lazy = pl.DataFrame(FRAME.to_dict("series")).lazy().map_batches(noted, schema=None)
    summarize(lazy, **ROLES)
    assert sum(runs) == N


def test_a_lazy_frame_of_an_older_polars_is_collected(path, monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    assert distance(summarize(pl.scan_parquet(path), **ROLES), EXPECTED) < SCALED


def test_rows_are_counted_only_for_a_bar(path):
    assert open_source(path).n_rows() == N
    assert open_source(pl.scan_parquet(path)).n_rows is None
    FRAME.to_csv(path.with_suffix(".csv"), index=False)
    assert open_source(path.with_suffix(".csv")).n_rows is None
    assert open_source(TABLE).n_rows() == N
