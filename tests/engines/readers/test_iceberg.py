"""Iceberg tables in a catalog in SQLite: snapshots, deleted rows, columns, files."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from nearness import distance

from directrix import DirectClassifier, summarize
from directrix.engines import HashFolds, readers
from directrix.engines.arrow import open_source

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pyiceberg", reason="pyiceberg is not installed")
sql = pytest.importorskip("pyiceberg.catalog.sql", reason="SQLAlchemy is not installed")

NEAR = 1e-10
RNG = np.random.default_rng(13)
N = 900
FEATURES = ["a", "b.c", 'größe "x"']
ROWS = pd.DataFrame(RNG.normal(size=(N, 3)), columns=FEATURES).assign(
    y=lambda rows: (rows["a"] + RNG.normal(size=N) > 0.5).astype(int),
    customer=RNG.integers(0, 200, N),
    year=RNG.integers(2020, 2026, N),
    town=RNG.choice(["Köln", "it's", None], N),
    single=RNG.normal(size=N).astype(np.float32),
    day=[dt.date(2024, 1, 1) + dt.timedelta(int(k)) for k in RNG.integers(0, 99, N)],
)
KEPT = ROWS[ROWS["year"] != 2020]
ROLES = {"target": "y", "features": FEATURES, "fold": HashFolds(5, key="customer")}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a table of two files and three snapshots; the last deletes the rows of a year."""
    home = tmp_path_factory.mktemp("iceberg")
    catalog = sql.SqlCatalog("local", uri=f"sqlite:///{home}/c.db", warehouse=f"file://{home}")
    try:
        catalog.create_namespace("rows")
        rows = pa.Table.from_pandas(ROWS, preserve_index=False)
        table = catalog.create_table("rows.all", schema=rows.schema)
        table.append(rows[:500])
        table.append(rows[500:])
        table.delete("year = 2020")
        yield table
    finally:
        catalog.close()


SOURCES = {
    "table": lambda table: table,
    "scan": lambda table: table.scan(),
    "scan of some columns": lambda table: table.scan(selected_fields=(*FEATURES, "y", "customer")),
    "function": lambda table: table.scan,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_deleted_rows_do_not_count(table, source):
    moments = summarize(source(table), **ROLES)
    assert distance(moments, summarize(KEPT, **ROLES)) < NEAR
    assert moments.count == len(KEPT)


def test_former_snapshots_and_filters_of_a_scan_are_kept(table):
    for snapshot, rows in zip(table.snapshots(), [ROWS[:500], ROWS], strict=False):
        moments = summarize(table.scan(snapshot_id=snapshot.snapshot_id), **ROLES)
        assert distance(moments, summarize(rows, **ROLES)) < NEAR
    moments = summarize(table.scan("year > 2022").filter("year < 2025"), **ROLES)
    expected = KEPT[KEPT["year"].between(2023, 2024)]
    assert distance(moments, summarize(expected, **ROLES)) < NEAR


def test_only_needed_columns_and_rows_are_read(table):
    opened = open_source(table.scan("year > 2023"))
    batches = list(opened.batches(["y", "a", "year"]))
    assert {tuple(batch.schema.names) for batch in batches} == {("y", "a", "year")}
    assert sum(batch.num_rows for batch in batches) == (KEPT["year"] > 2023).sum()


def test_files_are_read_one_after_the_other(table, monkeypatch):
    from pyiceberg.io import pyarrow as pyiceberg_arrow

    asked = []
    really = pyiceberg_arrow.ArrowScan.to_record_batches

    def noted(self, tasks):
        asked.append(len(tasks))
        return really(self, tasks)

    monkeypatch.setattr(pyiceberg_arrow.ArrowScan, "to_record_batches", noted)
    batches = readers._batches_and_files(table.scan(), ["a"])
    next(batches)
    assert asked == [1]
    assert len({path for _, path in batches}) >= 1
    assert asked == [1, 1]


def test_two_passes_identify_rows_by_their_positions(table):
    opened = open_source(table)
    passes = [pa.Table.from_batches(opened.positioned(["a", "year"])).to_pandas() for _ in range(2)]
    assert passes[0].iloc[:, -1].is_unique
    assert passes[0].equals(passes[1])


@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
def test_a_classifier_is_the_same_as_in_memory(table):
    ours = DirectClassifier("auc").fit_source(table.scan("year >= 2022"), **ROLES)
    theirs = DirectClassifier("auc").fit_source(KEPT[KEPT["year"] >= 2022], **ROLES)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_a_scan_with_a_limit_and_the_folder_of_a_table_are_refused(table):
    with pytest.raises(ValueError, match=r"has a limit, .*: leave it out"):
        summarize(table.scan(limit=10), **ROLES)
    folder = table.location().removeprefix("file://")
    with pytest.raises(ValueError, match="is the folder of an Iceberg table"):
        summarize(folder, **ROLES)
