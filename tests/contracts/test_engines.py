"""Laws of the engines: wherever the rows are, their summary is that of the rows at hand.

An engine enters the suite with a line in `ENGINES`.
"""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from nearness import distance

from directrix import Binner, Moments, summarize
from directrix.engines import HashFolds
from directrix.engines.tables import as_table
from directrix.moments.class_moments import ClassMoments
from directrix.rows.keys import first_copies, key_hash

#: Relative to the rows' own spread; the same rows, summed in another order.
NEAR = 1e-10

FEATURES = ["a", "b", "größe"]
N = 400


def frame():
    """Return rows with everything: two classes, weights, folds, groups, keys and text."""
    rng = np.random.default_rng(31)
    y = rng.integers(0, 2, N)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N) + y,
            "y": y,
            "b": rng.normal(1e3, 1.0, N),
            "w": rng.choice([0.0, 0.5, 1.0, 3.0], N),
            "größe": rng.exponential(size=N) * 1e-3,
            "part": rng.integers(0, 3, N),
            "group": rng.integers(0, 4, N) * 5,
            "customer": rng.integers(0, 150, N) * 10**15,
            "town": rng.choice(["Köln", "Lyon", "Ankara", ""], N, p=[0.4, 0.3, 0.3, 0.0]),
        }
    )


def cut(rows, n_pieces):
    """Cut rows into pieces of different lengths."""
    stops = np.linspace(0, len(rows), n_pieces + 1).astype(int)
    stops[1:-1] += np.arange(n_pieces - 1) % 2
    return [rows[a:b] for a, b in pairwise(stops)]


# ── how each engine gets at the rows of some pieces ───────────────────────────────────────────────


def polars_frame(pieces, _):
    columns = pd.concat(pieces).items()  # by value: of a column polars would ask pyarrow
    return pl.DataFrame(
        {
            name: [None if pd.isna(value) else value for value in column.tolist()]
            for name, column in columns
        }
    )


def arrow_batches(pieces):
    import pyarrow as pa

    whole = pa.Schema.from_pandas(pd.concat(pieces), preserve_index=False)
    return [
        pa.RecordBatch.from_pandas(piece, schema=whole, preserve_index=False) for piece in pieces
    ]


def arrow_table(pieces, _):
    import pyarrow as pa

    return pa.Table.from_batches(arrow_batches(pieces))


def arrow_reader(pieces, _):
    import pyarrow as pa

    batches = arrow_batches(pieces)
    return pa.RecordBatchReader.from_batches(batches[0].schema, batches)


def parquet_file(pieces, folder):
    """Write one file, each piece a row group."""
    from pyarrow import parquet

    batches = arrow_batches(pieces)
    path = folder / "all.parquet"
    with parquet.ParquetWriter(path, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path


def parquet_parts(pieces, folder):
    import pyarrow as pa
    from pyarrow import parquet

    for k, batch in enumerate(arrow_batches(pieces)):
        parquet.write_table(pa.Table.from_batches([batch]), folder / f"part-{k:03}.parquet")
    (folder / "_SUCCESS").touch()
    return str(folder / "*")


def hive_folder(pieces, folder):
    """Write a folder a piece; the group of the rows is in the folder's name where it is one."""
    import pyarrow as pa
    from pyarrow import parquet

    for k, batch in enumerate(arrow_batches(pieces)):
        below = folder / f"shard={k}"
        below.mkdir()
        parquet.write_table(pa.Table.from_batches([batch]), below / "rows.parquet")
    return folder


def delta_table(pieces, folder):
    """Make the files of pieces a table; their names give their order."""
    import deltalake

    parquet_parts(pieces, folder)
    (folder / "_SUCCESS").unlink()
    deltalake.convert_to_deltalake(folder)
    return folder


def iceberg_table(pieces, folder):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import StaticTable

    parquet_parts([piece for piece in pieces if len(piece)], folder)
    catalog = SqlCatalog("local", uri="sqlite:///:memory:", warehouse=f"file://{folder}/table")
    try:
        catalog.create_namespace("rows")
        table = catalog.create_table("rows.all", schema=arrow_batches(pieces)[0].schema)
        table.add_files([f"file://{path}" for path in sorted(folder.glob("part-*"))])
        return StaticTable.from_metadata(table.metadata_location)
    finally:
        catalog.close()


class Stream:
    """A data frame of another library, which exports Arrow streams."""

    def __init__(self, pieces, _):
        self.pieces = pieces

    def __arrow_c_stream__(self, requested_schema=None):
        return arrow_reader(self.pieces, None).__arrow_c_stream__(requested_schema)


def csv_file(pieces, folder):
    path = folder / "all.csv"
    pd.concat(pieces).to_csv(path, index=False)
    return str(path)


def lazy_frame(pieces, folder):
    return pl.scan_parquet(parquet_file(pieces, folder))


def duckdb_relation(pieces, folder):
    import duckdb

    return duckdb.connect().read_parquet(str(parquet_file(pieces, folder)))


def dask_frame(pieces, _):
    import dask.dataframe as dd

    return dd.from_map(lambda k: pieces[k], range(len(pieces)), meta=pieces[0][:0])


def dask_array(pieces, _):
    import dask.array as da

    whole = pd.concat(pieces).to_numpy(dtype=float)
    lengths = tuple(map(len, pieces))
    return da.from_array(whole, chunks=(lengths, (2, whole.shape[1] - 2)))


def dask_bag(pieces, _):
    import dask.bag as db

    return db.from_sequence(pieces, npartitions=len(pieces))


class Engine(NamedTuple):
    """How rows get into an engine.

    Parameters
    ----------
    source : function
        Of the pieces (data frames) and an empty folder.
    libraries : tuple of str
        That it needs beside pandas.
    named : bool
        Whether columns have names; without, all are numbers.
    extra : bool
        Whether there is a column more than was given.
    """

    source: object
    libraries: tuple = ()
    named: bool = True
    extra: bool = False


ENGINES = {
    "memory: pandas": Engine(lambda pieces, _: pd.concat(pieces)),
    "memory: polars": Engine(polars_frame),
    "memory: chunks of pandas": Engine(lambda pieces, _: iter(pieces)),
    "memory: chunks of arrays": Engine(
        lambda pieces, _: [piece.to_numpy(dtype=float) for piece in pieces], named=False
    ),
    "arrow: table": Engine(arrow_table, ("pyarrow",)),
    "arrow: reader": Engine(arrow_reader, ("pyarrow",)),
    "arrow: stream": Engine(Stream, ("pyarrow",)),
    "arrow: function": Engine(
        lambda pieces, folder: lambda: arrow_reader(pieces, folder), ("pyarrow",)
    ),
    "arrow: Delta table": Engine(delta_table, ("deltalake", "pyarrow")),
    "arrow: Iceberg table": Engine(iceberg_table, ("pyiceberg", "sqlalchemy", "pyarrow")),
    "arrow: Parquet file": Engine(parquet_file, ("pyarrow",)),
    "arrow: Parquet parts": Engine(parquet_parts, ("pyarrow",)),
    "arrow: folder of partitions": Engine(hive_folder, ("pyarrow",), extra=True),
    "arrow: CSV file": Engine(csv_file, ("pyarrow",)),
    "polars: lazy frame": Engine(lazy_frame, ("pyarrow",)),
    "duckdb: relation": Engine(duckdb_relation, ("duckdb", "pyarrow")),
    "dask: data frame": Engine(dask_frame, ("dask.dataframe",)),
    "dask: array": Engine(dask_array, ("dask.array",), named=False),
    "dask: bag": Engine(dask_bag, ("dask.bag",)),
}


def installed(name):
    """Return an engine, or skip the test where a library is missing."""
    for library in ENGINES[name].libraries:
        pytest.importorskip(library, reason=f"{library} is not installed")
    return ENGINES[name]


@pytest.fixture(params=ENGINES)
def engine(request):
    return installed(request.param)


@pytest.fixture(params=[name for name, engine in ENGINES.items() if engine.named])
def named_engine(request):
    """Return an engine whose rows may hold text."""
    return installed(request.param)


@pytest.fixture(autouse=True)
def dask_in_this_process():
    try:
        import dask
    except ImportError:
        yield
    else:
        with dask.config.set(scheduler="synchronous"):
            yield


class Folders:
    """Gives empty folders."""

    def __init__(self, path):
        self.path, self.n = path, 0

    def new(self):
        self.n += 1
        (self.path / str(self.n)).mkdir()
        return self.path / str(self.n)


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path)


def summary(engine, pieces, folders, features=FEATURES, **roles):
    """Summarise pieces on an engine; to arrays, columns are what their place is."""
    if not engine.named:
        pieces = [piece.drop(columns="town", errors="ignore") for piece in pieces]
        index_of = {name: index for index, name in enumerate(pieces[0].columns)}
        features = features and [index_of[name] for name in features]
        roles = {role: in_array(given, index_of) for role, given in roles.items()}
    source = engine.source(pieces, folders.new())
    return summarize(source, features=features, progress=False, **roles)


def in_array(role, places):
    if isinstance(role, HashFolds):
        key = role.key if role.key is None else [places[name] for name in role.columns]
        return replace(role, key=key)
    return places.get(role, role) if isinstance(role, str) else role


def by_hand(engine, pieces, features=FEATURES, *, target, by=None, **roles):
    """Return what the summary must be: `Moments.of` all rows at once, group by group."""
    rows = pd.concat(pieces)
    whole = of_rows(engine, rows, features, target, **roles)
    if by is None:
        return whole
    roles = {"classes": whole.classes, "n_folds": len(whole.parts)} | roles
    return {
        group: of_rows(engine, rows[rows[by] == group], features, target, **roles)
        for group in sorted(rows[by].unique())
    }


def of_rows(engine, rows, features, target, *, weight=None, fold=None, classes=None, n_folds=1):
    if features is None:
        features = [name for name in rows.columns if name not in (target, weight, fold)]
    if isinstance(fold, HashFolds):
        hashes = key_hash([rows[name].to_numpy() for name in fold.columns], fold.seed)
        number = [int(row_hash) * fold.n_folds >> 64 for row_hash in hashes]
    else:
        number = None if fold is None else rows[fold].to_numpy()
    moments = Moments.of(
        rows[features].to_numpy(),
        rows[target].to_numpy() if engine.named else rows[target].to_numpy(dtype=float),
        None if weight is None else rows[weight].to_numpy(),
        classes=classes,
        feature_names=features if engine.named else None,
        fold=number,
    )
    blank = (ClassMoments.empty(len(features)),) * len(moments.classes)
    lacking = n_folds - len(moments.parts)
    return replace(moments, parts=moments.parts + (blank,) * lacking)


def assert_the_same(moments, expected):
    if not isinstance(expected, dict):
        assert distance(moments, expected) < NEAR
        return
    assert list(moments) == list(expected)
    for group in expected:
        assert distance(moments[group], expected[group]) < NEAR


# ── the laws ──────────────────────────────────────────────────────────────────────────────────────

ROLES = {
    "plain": {},
    "weights": {"weight": "w"},
    "a fold column": {"fold": "part"},
    "weights and a fold column": {"weight": "w", "fold": "part"},
    "folds by a key": {"fold": HashFolds(5, key="customer")},
    "weights and folds by a key of two columns": {
        "weight": "w",
        "fold": HashFolds(4, key=["group", "customer"], seed=3),
    },
    "groups": {"by": "group"},
    "groups, weights and folds": {
        "by": "group",
        "weight": "w",
        "fold": HashFolds(5, key="customer", seed=1),
    },
    "classes that do not occur": {"classes": [0, 1, 2]},
}


@pytest.mark.every_case("engine")
@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_the_summary_is_that_of_the_rows(engine, folders, roles):
    pieces = cut(frame(), 5)
    moments = summary(engine, pieces, folders, target="y", **roles)
    assert_the_same(moments, by_hand(engine, pieces, target="y", **roles))


def test_folds_of_single_rows_are_of_all_rows_and_the_same_whenever_they_are_read(engine, folders):
    pieces = cut(frame(), 5)
    first, again = (
        summary(engine, pieces, folders, target="y", fold=HashFolds(5)) for _ in range(2)
    )
    assert first == again
    assert_the_same(first.unfolded(), by_hand(engine, pieces, target="y"))
    counts = [sum(part.count for part in fold) for fold in first.parts]
    # Five deviations of a fifth of the rows.
    assert np.abs(np.array(counts) - N / 5).max() < 5 * np.sqrt(N * 0.16)


@cache
def numbers_of_folds(key):
    """Return the fold of each row of the frame, asked for one key at a time."""
    rows = frame()
    fold, row_key = HashFolds(5, key=key), rows[list(key)].apply(tuple, axis=1)
    alone = {
        key_value: summarize(rows[row_key == key_value], target="y", features=["a"], fold=fold)
        for key_value in row_key.unique()
    }
    for moments in alone.values():  # in the last of its folds
        assert moments.folds[-1].count == moments.count
    return row_key.map(
        {key_value: len(moments.parts) - 1 for key_value, moments in alone.items()}
    ).to_numpy()


@pytest.mark.parametrize("key", [("group",), ("part", "group")], ids=str)
def test_rows_of_equal_key_are_in_the_same_fold_whatever_is_around_them(engine, folders, key):
    rows = frame()
    moments = summary(engine, cut(rows, 5), folders, target="y", fold=HashFolds(5, key=key))
    labels = rows["y"] if engine.named else rows["y"].astype(float)
    names = FEATURES if engine.named else None
    fold = numbers_of_folds(key)
    assert len(set(fold)) > 1
    expected = Moments.of(rows[FEATURES].to_numpy(), labels, fold=fold, feature_names=names)
    assert distance(moments, expected) < NEAR


def test_folds_by_a_key_of_text(named_engine, folders):
    roles = {"target": "y", "fold": HashFolds(7, key=("town", "part"))}
    pieces = cut(frame(), 5)
    moments = summary(named_engine, pieces, folders, **roles)
    assert len({part[0].count for part in moments.parts}) > 2
    assert_the_same(moments, by_hand(named_engine, pieces, **roles))


def test_groups_and_labels_of_text(named_engine, folders):
    rows = frame()
    rows["y"] = np.array(["nein", "ja"])[rows["y"]]
    roles = {"target": "y", "by": "town", "fold": "part"}
    moments = summary(named_engine, cut(rows, 5), folders, **roles)
    assert list(moments) == ["Ankara", "Köln", "Lyon"]
    assert moments["Köln"].classes.tolist() == ["ja", "nein"]
    assert_the_same(moments, by_hand(named_engine, [rows], **roles))


def test_all_columns_without_a_role_are_features(engine, folders):
    pieces = cut(frame().drop(columns="town"), 5)
    moments = summary(engine, pieces, folders, features=None, target="y", weight="w")
    if engine.extra:
        assert moments.n_features == 7
        moments = moments.select(slice(0, 6))
    assert_the_same(moments, by_hand(engine, pieces, features=None, target="y", weight="w"))


def test_features_are_taken_in_the_order_given(engine, folders):
    pieces, order = cut(frame(), 5), ["größe", "part", "a"]
    moments = summary(engine, pieces, folders, features=order, target="y")
    assert_the_same(moments, by_hand(engine, pieces, features=order, target="y"))


@pytest.mark.parametrize("roles", [{}, {"weight": "w", "fold": HashFolds(3, key="customer")}])
def test_a_piece_may_be_empty_or_of_one_class(engine, folders, roles):
    rows = frame()
    ones, others = rows[rows["y"] == 1], rows[rows["y"] == 0]
    pieces = [rows[:0], ones[:60], rows[:0], others[:1], others[1:], ones[60:], rows[:0]]
    moments = summary(engine, pieces, folders, target="y", **roles)
    assert_the_same(moments, by_hand(engine, pieces, target="y", **roles))


def test_a_group_in_one_piece_has_all_classes_and_folds(engine, folders):
    # Group 9 is in one piece, of one class and one fold.
    rows = frame()
    rows.loc[:2, ["y", "group", "part"]] = 1, 9, 0
    roles = {"target": "y", "by": "group", "fold": "part"}
    pieces = [rows[:3], *cut(rows[3:], 4)]
    moments = summary(engine, pieces, folders, **roles)
    assert moments[9].count == 3
    assert [len(group_moments.parts) for group_moments in moments.values()] == [3] * 5
    assert_the_same(moments, by_hand(engine, pieces, **roles))


@pytest.mark.parametrize("n_pieces", [1, 200])
def test_it_does_not_matter_how_many_pieces_there_are(engine, folders, n_pieces):
    roles = {"target": "y", "weight": "w", "fold": HashFolds(5, key="customer")}
    pieces = cut(frame(), n_pieces)
    moments = summary(engine, pieces, folders, **roles)
    assert_the_same(moments, by_hand(engine, pieces, **roles))


@pytest.mark.parametrize("n_pieces", [1, 17])
def test_the_same_pieces_give_the_same_bits(engine, folders, n_pieces):
    roles = {"target": "y", "weight": "w", "fold": HashFolds(3)}
    pieces = cut(frame(), n_pieces)
    first, second = (summary(engine, pieces, folders, **roles) for _ in range(2))
    assert first == second


@pytest.mark.every_case("engine")
@pytest.mark.parametrize("n_pieces", [1, 23])
def test_with_a_key_the_sample_and_the_folds_are_the_same_to_the_bit(engine, folders, n_pieces):
    rows = frame().assign(id=np.random.default_rng(0).permutation(N))
    names = {"weight": rows["w"].to_numpy(), "key": rows["id"].to_numpy()}
    fold = [int(k) * 3 >> 64 for k in key_hash([first_copies(key_hash([names["key"]]))])]
    y = rows["y"].to_numpy(dtype=int if engine.named else float)
    X, roles = rows[FEATURES].to_numpy(), {"fold": fold, "sample": 40, "key": names["key"]}
    expected = Moments.of(X, y, names["weight"], **roles)
    shuffled = rows.sample(frac=1.0, random_state=n_pieces)
    roles = {"target": "y", "weight": "w", "key": "id", "fold": HashFolds(3), "sample": 40}
    moments = summary(engine, cut(shuffled, n_pieces), folders, **roles)
    assert moments.sample == expected.sample
    assert distance(moments, replace(expected, feature_names=moments.feature_names)) < NEAR
    assert moments.sample.X.dtype == np.float32


def encoder(sparse_output):
    """Return a fitted transformer of a column of text and two of numbers."""
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    made = make_column_transformer(
        (OneHotEncoder(sparse_output=sparse_output, handle_unknown="ignore"), ["town"]),
        (StandardScaler(), ["größe", "a"]),
        sparse_threshold=1.0 if sparse_output else 0.0,
    )
    return made.fit(frame()[["a", "town", "größe"]])


@pytest.mark.parametrize("sparse_output", [False, True])
def test_a_transformer_is_applied_where_the_rows_are(named_engine, folders, sparse_output):
    if named_engine is ENGINES["memory: polars"]:
        pytest.importorskip("pyarrow", reason="polars makes pandas frames with pyarrow")
    rows, made = frame(), encoder(sparse_output)
    columns = ["a", "town", "größe"]
    roles = {"target": "y", "weight": "w", "fold": HashFolds(3, key="customer")}
    moments = summary(named_engine, cut(rows, 4), folders, columns, transform=made, **roles)
    assert moments.feature_names == (
        *("onehotencoder__town_Ankara", "onehotencoder__town_Köln", "onehotencoder__town_Lyon"),
        *("standardscaler__größe", "standardscaler__a"),
    )
    made_at_once = made.transform(rows[columns])
    table = pd.DataFrame(
        made_at_once.toarray() if sparse_output else made_at_once, columns=moments.feature_names
    ).assign(**rows[["y", "w", "customer"]])
    expected = by_hand(named_engine, [table], list(moments.feature_names), **roles)
    assert_the_same(moments, expected)


def raw_frame():
    """Return rows with raw columns: text, truth values, dates, all with missing values."""
    rng = np.random.default_rng(32)
    rows = frame()
    missing = rng.random((4, N)) < 0.15
    rows["a"] = rows["a"].where(~missing[0])
    rows["town"] = rows["town"].where(~missing[1], None)
    flags = pd.Series(rng.random(N) < 0.5, dtype=object)
    rows["flag"] = flags.where(~missing[2], None)
    at = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**8, N), unit="s")
    rows["at"] = pd.Series(at).where(~missing[3])
    return rows


@pytest.mark.parametrize("encoding", ["thermometer", "ordinal"])
def test_raw_columns_are_binned_where_the_rows_are(named_engine, folders, encoding):
    if named_engine is ENGINES["memory: polars"]:
        pytest.importorskip("pyarrow", reason="polars makes pandas frames with pyarrow")
    rows, columns = raw_frame(), ["a", "town", "flag", "at", "b"]
    binner = Binner(max_bins=6, encoding=encoding).fit(rows[columns])
    roles = {"target": "y", "weight": "w", "fold": HashFolds(3, key="customer")}
    moments = summary(named_engine, cut(rows, 4), folders, columns, transform=binner, **roles)
    assert moments.feature_names == tuple(binner.get_feature_names_out())
    features = binner.transform(rows[columns])
    expected = Moments.of(
        features.toarray() if encoding == "thermometer" else features,
        rows["y"],
        rows["w"],
        fold=HashFolds(3).of(as_table(rows), rows["customer"].to_numpy()),
    )
    assert_the_same(moments, replace(expected, feature_names=moments.feature_names))


# ── what is refused, and how ──────────────────────────────────────────────────────────────────────


def test_an_unknown_column_is_refused_with_the_known_ones(named_engine, folders):
    for roles in (
        {"target": "x"},
        {"target": "y", "weight": "x"},
        {"target": "y", "fold": "x"},
        {"target": "y", "by": "x"},
        {"target": "y", "fold": HashFolds(3, key=["part", "x"])},
        {"target": "y", "features": ["a", "x"]},
    ):
        with pytest.raises(KeyError, match=r"no column named 'x'; the columns are \['a', 'y', 'b'"):
            summary(named_engine, cut(frame(), 3), folders, **roles)


def test_a_missing_feature_is_refused_by_name(engine, folders):
    rows = frame()
    rows.loc[237, "b"] = np.nan
    shown = "'b'" if engine.named else "1"
    with pytest.raises(ValueError, match=f"column {shown} holds missing values .* at least 1 row;"):
        summary(engine, cut(rows, 3), folders, target="y")


def test_a_missing_whole_number_is_refused_by_name(named_engine, folders):
    rows = frame().astype({"part": "Int64"})
    rows.loc[237, "part"] = None
    with pytest.raises(ValueError, match="column 'part' holds missing values"):
        summary(named_engine, cut(rows, 3), folders, ["a", "part"], target="y")


@pytest.mark.parametrize("labels", ["numbers", "text", "bool"])
def test_a_missing_label_is_refused(named_engine, folders, labels):
    rows = frame()
    kinds = {
        "numbers": ([0, 1], "Int64"),
        "text": (["no", "yes"], "str"),
        "bool": ([0, 1], "boolean"),
    }
    values, dtype = kinds[labels]
    rows["y"] = pd.array(np.array(values)[rows["y"]], dtype=dtype)
    rows.loc[237, "y"] = None
    with pytest.raises((TypeError, ValueError), match=r"label.*drop (th.se rows|rows without)"):
        summary(named_engine, cut(rows, 3), folders, target="y")


def test_a_missing_label_of_an_array_is_refused(engine, folders):
    rows = frame().astype({"y": float})
    rows.loc[237, "y"] = np.nan
    with pytest.raises(ValueError, match="a label is NaN or infinite; drop those rows"):
        summary(engine, cut(rows, 3), folders, target="y")


@pytest.mark.parametrize("column", ["customer", "town"])
def test_a_missing_key_is_refused(named_engine, folders, column):
    rows = frame().astype({"customer": "Int64"})
    rows.loc[237, column] = None
    roles = {"target": "y", "fold": HashFolds(3, key=column)}
    with pytest.raises(ValueError, match=r"the key is missing in some rows.*fill it, or drop"):
        summary(named_engine, cut(rows, 3), folders, **roles)


@pytest.mark.parametrize("column", ["group", "town"])
def test_a_missing_group_is_refused(named_engine, folders, column):
    rows = frame().astype({"group": "Int64"})
    rows.loc[237, column] = None
    with pytest.raises(ValueError, match="the column of by= is missing in some rows: fill it"):
        summary(named_engine, cut(rows, 3), folders, target="y", by=column)


def test_text_is_refused_by_name(named_engine, folders):
    with pytest.raises(TypeError, match=r"column 'town' holds .*, not numbers; use ScorecardC"):
        summary(named_engine, cut(frame(), 3), folders, ["a", "town"], target="y")


def test_labels_must_be_given(engine, folders):
    with pytest.raises(ValueError, match="target= is missing: it takes the"):
        summary(engine, cut(frame(), 3), folders, target=None)
