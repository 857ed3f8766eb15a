"""A value is in the same cell whatever type a data frame or a database stores it in."""

import numpy as np
import postgres_server
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
polars = pytest.importorskip("polars")
psycopg = pytest.importorskip("psycopg")

from directrix import Binner  # noqa: E402
from directrix.export import cells_to_sql  # noqa: E402

RNG = np.random.default_rng(0)
N = 300
#: Distinct values of a category, and the types that databases store them in.
CATEGORIES = {
    "booleans": ([False, True], ["BOOLEAN", "VARCHAR"]),
    "floats": ([0.5, 2.0, -3.0, 0.1, 1e17], ["DOUBLE", "DECIMAL(38, 4)"]),
    "narrow": (list(np.array([0.1, 2.5, 3.0], dtype=np.float32)), ["FLOAT"]),
    "integers": ([1, 2, 3, 10**17], ["BIGINT", "DOUBLE", "VARCHAR", "DECIMAL(38, 2)"]),
    "large": ([2**53, 2**53 + 1, 2**53 + 2], ["BIGINT", "VARCHAR"]),
    "codes": (["007", "7", "2.0", "2", "true", "True", "1e5", "100000", "nan"], ["VARCHAR"]),
}
CASES = [(name, sql_type) for name, (_, types) in CATEGORIES.items() for sql_type in types]


def category(name):
    """Return a categorical series of these values, a tenth of them missing, and the values."""
    values = CATEGORIES[name][0]
    codes = RNG.integers(0, len(values), N)
    series = pd.Series(pd.Categorical.from_codes(codes, pd.Index(values)))
    series[RNG.random(N) < 0.1] = None
    return series


def fitted(series):
    return Binner(min_level_rows=2).fit(pd.DataFrame({"c": series}))


def stored(series, sql_type):
    """Return values as a client of a database would insert them."""
    values = [None if value is None or value != value else value for value in series.tolist()]  # noqa: PLR0124
    if sql_type == "VARCHAR":  # as Python writes them
        return [value if value is None else str(value) for value in values]
    if sql_type == "FLOAT":
        return [value if value is None else float(str(np.float32(value))) for value in values]
    return values


@pytest.mark.parametrize(("name", "sql_type"), CASES)
def test_categories_in_duckdb(name, sql_type):
    series = category(name)
    binner = fitted(series)
    case = cells_to_sql(binner)["c"]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (k BIGINT, c {sql_type})")
        rows = [[k, value] for k, value in enumerate(stored(series, sql_type))]
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        answer = connection.execute(f"SELECT {case} FROM t ORDER BY k").fetchall()  # noqa: S608
    cells = binner.cells(pd.DataFrame({"c": series}))
    np.testing.assert_array_equal(np.array(answer), cells)
    assert len(np.unique(cells)) == 1 + len(CATEGORIES[name][0])


def test_categories_and_special_values_in_postgresql():
    programs = postgres_server.require_programs()
    types = {"DOUBLE": "FLOAT8", "FLOAT": "FLOAT4", "VARCHAR": "TEXT"}
    with (
        postgres_server.server(programs) as address,
        psycopg.connect(**address, autocommit=True) as connection,
    ):

        def answer(binner, values, sql_type):
            connection.execute(f"CREATE TABLE t (k BIGINT, c {sql_type})")
            rows = list(enumerate(values))
            connection.cursor().executemany("INSERT INTO t VALUES (%s, %s)", rows)
            case = cells_to_sql(binner, dialect="postgres")["c"]
            made = connection.execute(f"SELECT {case} FROM t ORDER BY k").fetchall()  # noqa: S608
            connection.execute("DROP TABLE t")
            return np.array(made)

        for name, sql_type in CASES:
            series = category(name)
            binner = fitted(series)
            made = answer(binner, stored(series, sql_type), types.get(sql_type, sql_type))
            np.testing.assert_array_equal(made, binner.cells(pd.DataFrame({"c": series})), name)
        numbers = special_numbers()
        binner = Binner(special_values=[-999.9]).fit(numbers)
        for sql_type in ("FLOAT8", "FLOAT4"):
            made = answer(binner, numbers["c"].tolist(), sql_type)
            np.testing.assert_array_equal(made, binner.cells(numbers), sql_type)


@pytest.mark.parametrize(
    "dtype", ["int64", "Int64", "float64", "Float64", "object", "str", "int64[pyarrow]"]
)
def test_integers_are_levels_by_value_in_pandas(dtype):
    values = [1, 2, 3, 10**17]
    frame = pd.DataFrame({"c": pd.Categorical(RNG.choice(values, N), categories=values)})
    binner = Binner(min_level_rows=2).fit(frame)
    other = pd.DataFrame({"c": pd.Series(frame["c"].tolist()).astype(dtype)})
    np.testing.assert_array_equal(binner.cells(other), binner.cells(frame))
    assert len(np.unique(binner.cells(frame))) == 4


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
@pytest.mark.parametrize("missing", [False, True])
def test_large_integers_are_levels_by_value_everywhere(dtype, missing):
    values = [2**53, 2**53 + 1, 2**53 + 2]
    plain = RNG.choice(values, N).tolist()
    binner = Binner(min_level_rows=2).fit(pd.DataFrame({"c": pd.Categorical(plain)}))
    expected = np.array([2 + values.index(value) for value in plain])[:, None]
    given = [[value] for value in plain]
    if missing:
        plain[0], expected[0] = None, 0
        given[0] = [None]
        made = [pd.DataFrame({"c": pd.array(plain, "Int64")}), np.array(given, dtype=object)]
    else:
        made = [np.array(given, dtype=dtype), pd.DataFrame({"c": plain})]
    made += [polars.DataFrame({"c": plain}), pa.table({"c": plain})]
    for table in made:
        np.testing.assert_array_equal(binner.cells(table), expected)


def test_narrow_floats_are_levels_by_value():
    values = np.array([0.1, 2.5, 3.0])
    wide = RNG.choice(values, N)
    narrow = wide.astype(np.float32)
    frame = pd.DataFrame({"c": pd.Categorical(wide)})
    binner = Binner(min_level_rows=2).fit(frame)
    assert binner.bins_[0].levels == ("0.1", "2.5", "3")
    expected = binner.cells(frame)
    tables = [pd.DataFrame({"c": narrow}), polars.DataFrame({"c": narrow}), pa.table({"c": narrow})]
    tables += [narrow[:, None], pd.DataFrame({"c": pd.Categorical(narrow)})]
    tables += [pa.table({"c": pa.array(narrow).dictionary_encode()})]
    for table in tables:
        np.testing.assert_array_equal(binner.cells(table), expected)


def special_numbers():
    numbers = np.round(RNG.normal(size=N) * 100, 1)
    numbers[RNG.random(N) < 0.1] = -999.9
    return pd.DataFrame({"c": numbers})


@pytest.mark.parametrize("trained", ["float32", "float64"])
def test_special_values_are_known_in_float32(trained):
    frame = special_numbers()
    binner = Binner(special_values=[-999.9]).fit(frame.astype(trained))
    (bins,) = binner.bins_
    is_special = frame["c"].to_numpy() == -999.9
    for dtype in ("float32", "float64", "float32[pyarrow]"):
        cells = binner.cells(frame.astype(dtype))[:, 0]
        np.testing.assert_array_equal(cells == bins.n_cells - 1, is_special)
    assert bins.weights[-1] == is_special.sum() > 10


@pytest.mark.parametrize("sql_type", ["DOUBLE", "REAL"])
def test_special_values_are_known_in_a_real_column(sql_type):
    frame = special_numbers()
    binner = Binner(special_values=[-999.9]).fit(frame)
    with duckdb.connect() as connection:
        connection.register("given", frame)
        connection.execute(f"CREATE TABLE t AS SELECT CAST(c AS {sql_type}) AS c FROM given")  # noqa: S608
        answer = connection.execute(f"SELECT {cells_to_sql(binner)['c']} FROM t").fetchall()  # noqa: S608
    np.testing.assert_array_equal(np.array(answer), binner.cells(frame))


def test_a_whole_number_that_float32_rounds_is_not_taken_for_another():
    values = np.repeat([999_999_999.0, 1_000_000_000.0, 5.0, 7.0], 10)[:, None]
    binner = Binner(special_values=[999_999_999], min_rows=1).fit(values)
    (bins,) = binner.bins_
    assert (binner.cells(values)[:, 0] == bins.n_cells - 1).sum() == 10
