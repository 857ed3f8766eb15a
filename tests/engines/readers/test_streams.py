"""Objects that export an Arrow stream, cursors of a PostgreSQL, and functions that open them."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import postgres_server
import pytest
from nearness import distance

from directrix import DirectClassifier, MomentClassifier, summarize
from directrix.engines import HashFolds
from directrix.engines.arrow import accepts

pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

NEAR = 1e-10
RNG = np.random.default_rng(3)
N = 800
ROWS = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"]).assign(
    y=lambda rows: (rows["a"] + RNG.normal(size=N) > 0.5).astype(int),
    customer=RNG.integers(0, 200, N),
    town=RNG.choice(["Köln", "it's", None], N),
)
TABLE = pa.Table.from_pandas(ROWS, preserve_index=False)
ROLES = {"target": "y", "features": ["a", "b"], "fold": HashFolds(5, key="customer")}


class Frame:
    """A data frame of another library, which gives a new stream whenever it is asked."""

    asked = 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        return TABLE.to_reader(max_chunksize=100).__arrow_c_stream__(requested_schema)


class Once:
    """A stream that can be read once."""

    def __init__(self):
        self.stream = TABLE.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema=None):
        if self.stream is None:
            msg = "released"
            raise RuntimeError(msg)
        stream, self.stream = self.stream, None
        return stream


@pytest.mark.parametrize("source", [Frame, Once, lambda: TABLE.to_reader])
def test_a_stream_is_read_as_the_rows_are_in_memory(source):
    assert distance(summarize(source(), **ROLES), summarize(ROWS, **ROLES)) < NEAR


def test_data_frames_in_memory_and_on_clusters_keep_their_engines():
    import polars as pl

    assert not accepts(ROWS)  # although pandas and polars export streams
    assert not accepts(pl.DataFrame({"a": [1.0]}))
    assert accepts(Frame())


@pytest.mark.parametrize(("classifier", "passes"), [(MomentClassifier, 1), (DirectClassifier, 2)])
def test_each_pass_asks_for_a_stream(classifier, passes):
    frame = Frame()
    ours = classifier("auc").fit_source(frame, **ROLES)
    assert frame.asked == passes
    theirs = classifier("auc").fit_source(ROWS, **ROLES)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


@pytest.mark.parametrize("stream", [Once, TABLE.to_reader])
def test_a_stream_that_has_been_read_is_not_fitted(stream):
    with pytest.raises(ValueError, match="stream can be read only once"):
        DirectClassifier("auc").fit_source(stream(), **ROLES)
    ours = DirectClassifier("auc").fit_source(stream, **ROLES)  # which opens it for each pass
    theirs = DirectClassifier("auc").fit_source(ROWS, **ROLES)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_a_function_is_called_once_for_each_pass_and_what_it_opens_is_closed():
    notes = []

    @contextmanager
    def rows():
        notes.append("opened")
        try:
            yield ROWS
        finally:
            notes.append("closed")

    summarize(rows, **ROLES)
    assert notes == ["opened", "closed"]
    DirectClassifier("auc").fit_source(rows, **ROLES)
    assert notes == ["opened", "closed"] * 3
    with pytest.raises(KeyError):
        summarize(rows, target="nowhere", features=["a"])
    assert notes == ["opened", "closed"] * 4


# ── databases ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def connection():
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="ADBC is not installed")
    programs = postgres_server.require_programs()
    with postgres_server.server(programs) as address:
        uri = f"postgresql://{address['user']}@/{address['dbname']}?host={address['host']}"
        with dbapi.connect(uri) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest("rows", TABLE, mode="create")
            connection.commit()
            yield connection


def test_a_cursor_is_read_as_the_rows_are_in_memory(connection):
    chosen = ROWS[(ROWS["town"] != "Köln") & ROWS["town"].notna() & (ROWS["a"] > -1)]
    condition = "WHERE town <> 'Köln' AND a > -1"
    for query, rows in (("", ROWS), (condition, chosen)):
        with connection.execute(f"SELECT * FROM rows {query}") as cursor:  # noqa: S608
            moments = summarize(cursor, **ROLES)
        expected = summarize(rows, **ROLES)
        assert distance(moments, expected) < NEAR
        assert [group.count for group in moments.by_class.values()] == [
            group.count for group in expected.by_class.values()
        ]


def test_a_cursor_can_be_read_once(connection):
    with (
        connection.execute("SELECT * FROM rows") as cursor,
        pytest.raises(ValueError, match="stream can be read only once"),
    ):
        DirectClassifier("auc").fit_source(cursor, **ROLES)
    with connection.cursor() as cursor, pytest.raises(ValueError, match=r"Cursor .*before execute"):
        summarize(cursor, **ROLES)


def test_a_function_that_runs_a_query_fits_as_in_memory(connection):
    opened = []

    def query():
        opened.append(connection.execute("SELECT * FROM rows"))
        return opened[-1]

    ours = DirectClassifier("auc").fit_source(query, **ROLES)
    theirs = DirectClassifier("auc").fit_source(ROWS, **ROLES)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert len(opened) == 2
    for cursor in opened:
        with pytest.raises(Exception, match=r"closed|must call"):
            cursor.execute("SELECT 1")
