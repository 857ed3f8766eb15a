import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from nearness import distance
from scipy import sparse

from directrix import Moments, summarize
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles, Partition
from directrix.engines.tasks import Survey
from directrix.rows.sums import tree_sum

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")

SCALED = 1e-13
RNG = np.random.default_rng(11)
N = 600
X = RNG.normal([0.0, 100.0, -3.0], [1.0, 2.0, 0.1], (N, 3))
Y = RNG.integers(0, 2, N)
WEIGHT = RNG.choice([0.5, 1.0, 2.0], N)
FOLD = RNG.integers(0, 3, N)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, w=WEIGHT, part=FOLD, id=np.arange(N))
ROLES = {"target": "y", "features": ["a", "b", "c"]}


@pytest.fixture
def in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


# ── arrays ────────────────────────────────────────────────────────────────────────────────────────

GIVEN = {
    "arrays": lambda values: values,
    "lists": lambda values: values.tolist(),
    "series": pd.Series,
    "Dask arrays in other blocks": lambda values: da.from_array(values, chunks=77),
    "Dask series": lambda values: dd.from_pandas(pd.Series(values), npartitions=3),
}


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_labels_weights_and_folds_may_be_given_beside_an_array(given):
    rows = da.from_array(X, chunks=(100, 2))
    if given is GIVEN["Dask series"]:
        rows = dd.from_pandas(FRAME[["a", "b", "c"]], npartitions=3).to_dask_array()
    moments = summarize(rows, target=given(Y), weight=given(WEIGHT), fold=given(FOLD))
    assert distance(moments, Moments.of(X, Y, WEIGHT, fold=FOLD)) < SCALED


@pytest.mark.usefixtures("in_this_process")
def test_groups_may_be_given_beside_an_array():
    groups = summarize(da.from_array(X, chunks=(100, 3)), target=Y, by=FOLD)
    for group, moments in groups.items():
        assert distance(moments, Moments.of(X[group == FOLD], Y[group == FOLD])) < SCALED


@pytest.mark.usefixtures("in_this_process")
def test_folds_of_the_rows_of_an_array():
    whole = da.from_array(X, chunks=(len(X), 2))
    expected = summarize(X, target=Y, fold=HashFolds(4))
    assert distance(summarize(whole, target=Y, fold=HashFolds(4)), expected) < SCALED
    # Rows are told apart within a block; the same whenever they are read.
    blocks = da.from_array(X, chunks=(70, 2))
    first, again = (summarize(blocks, target=Y, fold=HashFolds(4)) for _ in range(2))
    assert first == again
    assert distance(first.unfolded(), expected.unfolded()) < SCALED


@pytest.mark.usefixtures("in_this_process")
def test_blocks_of_an_array_may_be_sparse():
    rows = np.where(X > 0.5, X, 0.0)
    blocks = da.from_array(rows, chunks=(100, 3)).map_blocks(sparse.csr_array)
    moments = summarize(blocks, target=Y, fold=HashFolds(3))
    dense = summarize(da.from_array(rows, chunks=(100, 3)), target=Y, fold=HashFolds(3))
    assert distance(moments, dense) < SCALED
    assert distance(moments.unfolded(), summarize(sparse.csr_array(rows), target=Y)) < SCALED


@pytest.mark.usefixtures("in_this_process")
def test_blocks_of_unknown_length():
    rows = dd.from_pandas(FRAME[["a", "b", "c", "y"]], npartitions=5).to_dask_array()
    expected = Moments.of(X, Y.astype(float))
    assert distance(summarize(rows, target=3), expected) < SCALED
    with pytest.raises(ValueError, match=r"unknown length: call compute_chunk_sizes\(\) on it"):
        summarize(rows, target=Y)
    assert summarize(rows.compute_chunk_sizes(), target=Y).count == N


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("labels", [Y[:500], np.append(Y, 1)], ids=["too few", "too many"])
def test_labels_must_be_as_many_as_rows(labels):
    with pytest.raises(ValueError, match="there are 100 rows but"):
        summarize(da.from_array(X, chunks=(100, 3)), target=labels)


# ── data frames and bags ──────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("in_this_process")
def test_columns_that_are_not_needed_are_not_read():
    asked = []

    def read(number, columns=None):
        asked.append(columns)
        rows = FRAME[number * 100 : number * 100 + 100]
        return rows if columns is None else rows[list(columns)]

    rows = dd.from_map(read, range(6), meta=FRAME[:0], enforce_metadata=False)
    assert summarize(rows, **ROLES).count == N
    assert {frozenset(columns) for columns in asked if columns} == {frozenset("abcy")}
    assert len(asked) == 6


@pytest.mark.usefixtures("in_this_process")
def test_values_cannot_be_given_beside_a_data_frame():
    rows = dd.from_pandas(FRAME, npartitions=2)
    with pytest.raises(ValueError, match="so target= must name a column"):
        summarize(rows, target=Y)


CHUNKS = [slice(k, k + 60) for k in range(0, N, 60)]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("n", [1, 3, 10])
def test_chunks_in_a_bag_bring_their_own_labels_weights_and_folds(n):
    def bag(*arrays):
        chunks = [tuple(array[part] for array in arrays) for part in CHUNKS]
        return db.from_sequence(chunks, npartitions=n)

    assert distance(summarize(bag(X, Y), target=None), Moments.of(X, Y)) < SCALED
    moments = summarize(bag(X, Y, WEIGHT, FOLD), target=None)
    assert distance(moments, Moments.of(X, Y, WEIGHT, fold=FOLD)) < SCALED


@pytest.mark.usefixtures("in_this_process")
def test_chunks_in_a_bag_may_be_made_where_they_are():
    bag = db.from_sequence(range(10), npartitions=4)
    made = bag.map(lambda k: (X[k * 60 : k * 60 + 60], Y[k * 60 : k * 60 + 60]))
    assert distance(summarize(made, target=None), Moments.of(X, Y)) < SCALED
    kept = bag.filter(lambda k: k < 2).map(lambda k: FRAME[k * 60 : k * 60 + 60])
    assert summarize(kept, **ROLES).count == 120  # other partitions hold no chunk


@pytest.mark.usefixtures("in_this_process")
def test_what_holds_no_rows_is_refused():
    with pytest.raises(TypeError, match="cannot read rows from dict: a chunk is an array"):
        summarize(db.from_sequence([{"a": 1}]), target="y")
    with pytest.raises(TypeError, match="cannot read rows from Series: give a Dask array"):
        summarize(dd.from_pandas(FRAME["a"], npartitions=2), target="y")
    with pytest.raises(TypeError, match=r"cannot read rows from Delayed\w*: give a Dask array"):
        summarize(dask.delayed(FRAME), target="y")


# ── sums ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("n_parts", [1, 4, 5, 70, 300])
def test_the_sum_is_that_of_the_tree_in_memory(n_parts, monkeypatch):
    pieces = np.array_split(np.arange(N), n_parts)
    rows = dd.from_map(lambda k: FRAME.iloc[pieces[k]], range(n_parts), meta=FRAME[:0])
    plan = ColumnRoles.of(**ROLES, weight="w", fold=HashFolds(3))
    expected = tree_sum(
        Survey(0)(plan, Partition(k, [FRAME.iloc[piece]])) for k, piece in enumerate(pieces)
    )
    computed, compute = [], dask.compute

    def watched(*results):
        computed.append(len(results))
        return compute(*results)

    monkeypatch.setattr(dask, "compute", watched)
    assert run(rows, plan, Survey(0), progress=False) == expected
    assert computed == [n_parts if n_parts <= 4 else 1]


# ── a cluster, and workers that die ───────────────────────────────────────────────────────────────

PARTITIONS = 30


class Slow:
    """A transformer that takes its time and notes each partition it has seen."""

    def __init__(self, path, seconds):
        self.path, self.seconds = str(path), seconds

    def transform(self, rows):
        time.sleep(self.seconds)
        with open(self.path, "a", encoding="utf-8") as file:  # noqa: PTH123 - appends
            file.write(f"{os.getpid()} {rows.iloc[0, 0]!r}\n")
        return rows.to_numpy()

    def __reduce__(self):
        # The workers have not imported this file: the class goes with the object.
        return (_made, (dict(vars(Slow)), self.path, self.seconds))


def _made(body, path, seconds):
    body = {name: body[name] for name in ("__init__", "transform")}
    return type("Slow", (), body)(path, seconds)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def noted(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def killed_when(path, workers, n):
    """Kill a worker, from a thread, when n partitions are noted; return what it did."""
    done = {}

    def watch():
        while len(noted(path)) < n:
            time.sleep(0.01)
        victim = int(noted(path)[-1].split()[0])
        assert victim in workers
        os.kill(victim, signal.SIGKILL)
        done["victim"], done["noted"] = victim, len(noted(path))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread, done


def test_a_worker_that_is_killed_changes_no_bit(cluster, tmp_path, figure):
    rows = dd.from_pandas(FRAME, npartitions=PARTITIONS)
    fold = HashFolds(3, key="id")
    roles = ROLES | {"weight": "w", "fold": fold, "progress": False}
    calm, stormy = tmp_path / "calm", tmp_path / "stormy"
    undisturbed = summarize(rows, transform=Slow(calm, 0.0), **roles)
    assert len(noted(calm)) == PARTITIONS

    workers = {worker.pid for worker in cluster.workers.values()}
    thread, done = killed_when(stormy, workers, 8)
    moments = summarize(rows, transform=Slow(stormy, 0.1), **roles)
    thread.join(timeout=5)

    assert 8 <= done["noted"] < PARTITIONS, "killed after some partitions and before all"
    assert len(noted(stormy)) > PARTITIONS, "what it had done was lost, and done again"
    assert {line.split()[1] for line in noted(stormy)} == {line.split()[1] for line in noted(calm)}
    assert moments == undisturbed
    assert distance(moments.unfolded(), Moments.of(X, Y, WEIGHT)) < SCALED
    figure(f"dask: worker killed after {done['noted']} of {PARTITIONS} partitions: bitwise equal")


@pytest.mark.usefixtures("cluster")
def test_errors_of_workers_keep_their_words():
    rows = FRAME.copy()
    rows.loc[333, "b"] = np.nan
    with pytest.raises(ValueError, match=r"column 'b' holds missing values .* at least 1 row;"):
        summarize(dd.from_pandas(rows, npartitions=3), progress=False, **ROLES)
