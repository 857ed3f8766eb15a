import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import spark_cluster
from nearness import distance
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from directrix import Binner, DirectClassifier, MomentClassifier, Moments, summarize
from directrix.engines import HashFolds
from directrix.engines import spark as engine
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles, Partition, packed, unpacked
from directrix.engines.tasks import Survey
from directrix.exceptions.columns import NotNumericError
from directrix.metrics import InEverySegment
from directrix.rows.sums import tree_sum

pytestmark = [
    pytest.mark.skipif(spark_cluster.why_not() is not None, reason=str(spark_cluster.why_not())),
    # Of Spark for releases of pandas that it was not tested with; nothing here depends on it.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

RNG = np.random.default_rng(5)
N = 240
NAMES = ["a", "b", "größe"]
X = np.where(RNG.random((N, 3)) < 0.6, RNG.normal([0.0, 50.0, -1.0], 1.0, (N, 3)), 0.0)
Y = RNG.choice(2, N, p=[0.7, 0.3])
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 2.0], N)
COUNTRY = RNG.choice(["at", "be", "ch"], N)
CUSTOMER = RNG.integers(0, 60, N)

#: The same rows in another order of summation.
CLOSE = 1e-10


def columns():
    return pd.DataFrame(
        {
            **dict(zip(NAMES, X.T, strict=True)),
            "y": Y,
            "w": WEIGHT,
            "country": COUNTRY,
            "customer": CUSTOMER,
        }
    )


def vectors(kind):
    """Return the rows as Spark ML vectors, one column of them."""
    from pyspark.ml.linalg import Vectors

    def vector(index, row):
        if kind == "sparse" or (kind == "mixed" and index % 3):
            held = np.flatnonzero(row)
            return Vectors.sparse(len(row), held, row[held])
        return Vectors.dense(row)

    return [vector(index, row) for index, row in enumerate(X)]


#: How the features of the same rows are kept.
KINDS = ["plain", "array", "dense", "sparse", "mixed"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def kept_as(spark, kind, partitions=3):
    frame = columns()
    if kind == "plain":
        spread = spark.createDataFrame(frame.drop(columns=["country", "customer"]))
    else:
        held = X.tolist() if kind == "array" else vectors(kind)
        rows = zip(held, Y.tolist(), WEIGHT.tolist(), strict=True)
        names = "x array<double>, y long, w double" if kind == "array" else ["x", "y", "w"]
        spread = spark.createDataFrame(list(rows), names)
    return spread.repartition(partitions)


def sizes(frame):
    """Return the number of rows in each partition."""

    def count(batches):
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})

    return [row["n"] for row in frame.mapInArrow(count, "n long").collect()]


# ── the same as in memory ─────────────────────────────────────────────────────────────────────────


@each_kind
@pytest.mark.parametrize("weight", [None, "w"])
def test_rows_in_spark_are_those_in_memory(spark, kind, weight):
    frame = kept_as(spark, kind)
    features = NAMES if kind == "plain" else "x"
    moments = summarize(frame, target="y", features=features, weight=weight)
    names = NAMES if kind == "plain" else None
    expected = Moments.of(X, Y, WEIGHT if weight else None, feature_names=names)
    assert distance(moments, expected) < CLOSE


def test_columns_without_a_role_are_the_features(spark):
    frame = spark.createDataFrame(columns().drop(columns=["country", "customer"]))
    moments = summarize(frame, target="y", weight="w")
    assert distance(moments, summarize(columns(), target="y", weight="w", features=NAMES)) < CLOSE


@pytest.mark.parametrize("key", ["customer", ["country", "customer"]])
def test_a_row_is_in_the_same_fold_as_in_memory(spark, key):
    roles = {"target": "y", "features": NAMES, "fold": HashFolds(4, key=key, seed=3)}
    moments = summarize(spark.createDataFrame(columns()).repartition(5), **roles)
    expected = summarize(columns(), **roles)
    assert len(moments.folds) == 4
    assert min(fold.count for fold in moments.folds) > 0
    assert distance(moments, expected) < CLOSE


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed"])
def test_a_vector_is_in_the_fold_of_its_values(spark, kind):
    # Rows are told apart within a partition; in one, as in memory.
    whole = kept_as(spark, kind).coalesce(1)
    moments = summarize(whole, target="y", features="x", fold=HashFolds(3))
    expected = summarize(columns(), target="y", features=NAMES, fold=HashFolds(3))
    for fold, its in zip(moments.folds, expected.folds, strict=True):
        assert distance(fold, Moments(**{**vars(its), "feature_names": None})) < CLOSE


def test_without_a_key_folds_are_the_same_whenever_a_frame_is_read(spark):
    frame = spark.createDataFrame(columns()).repartition(5).cache()
    roles = {"target": "y", "features": NAMES, "fold": HashFolds(4)}
    first, again = (summarize(frame, **roles) for _ in range(2))
    assert first == again
    assert min(fold.count for fold in first.folds) > 0
    assert distance(first.unfolded(), summarize(columns(), target="y", features=NAMES)) < CLOSE
    frame.unpersist()


def test_a_column_made_by_chance_is_refused(spark):
    from random import SystemRandom

    from pyspark.sql.functions import udf

    # Not Spark's rand(), whose seed is part of the plan: it is the same in both passes.
    chance = udf(lambda: SystemRandom().random(), "double").asNondeterministic()
    frame = spark.createDataFrame(columns()).withColumn("chance", chance())
    with pytest.raises(ValueError, match="later pass did not find the rows of the first"):
        DirectClassifier("auc").fit_source(frame, target="y", features=[*NAMES, "chance"])


def test_folds_may_be_a_column(spark):
    frame = columns().assign(part=CUSTOMER % 3)
    roles = {"target": "y", "features": NAMES, "fold": "part", "weight": "w"}
    moments = summarize(spark.createDataFrame(frame), **roles)
    assert distance(moments, summarize(frame, **roles)) < CLOSE


def test_with_a_key_the_sample_and_the_folds_are_those_of_the_rows_in_memory(spark):
    frame = columns().assign(id=np.arange(N) * 7)
    roles = {"target": "y", "features": NAMES, "weight": "w", "key": "id", "fold": HashFolds(3)}
    expected = summarize(frame, sample=30, **roles)
    for n_partitions in (1, 9):
        spread = spark.createDataFrame(frame).repartition(n_partitions, "customer")
        moments = summarize(spread, sample=30, **roles)
        assert moments.sample == expected.sample
        assert distance(moments, expected) < CLOSE


@spark_cluster.classic_only("Connect does not tell its jobs")
def test_all_groups_come_from_one_job(spark):
    frame = spark.createDataFrame(columns())
    spark.sparkContext.setJobGroup("by", "one summary for each country")
    summaries = summarize(frame, target="y", features=NAMES, weight="w", by="country")
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup("by")) == 1
    assert list(summaries) == ["at", "be", "ch"]
    for country, moments in summaries.items():
        in_country = country == COUNTRY
        expected = Moments.of(X[in_country], Y[in_country], WEIGHT[in_country], feature_names=NAMES)
        assert distance(moments, expected) < CLOSE


def test_groups_have_folds(spark):
    fold = HashFolds(3, key="customer")
    roles = {"target": "y", "features": NAMES, "by": "country", "fold": fold}
    summaries = summarize(spark.createDataFrame(columns()).repartition(4), **roles)
    expected = summarize(columns(), **roles)
    assert list(summaries) == list(expected)
    assert max(distance(summaries[key], expected[key]) for key in expected) < CLOSE


def test_a_fitted_transformer_runs_where_the_rows_are(spark):
    numbers = ["a", "größe"]
    transformer = ColumnTransformer(
        [
            ("town", OneHotEncoder(sparse_output=False), ["country"]),
            ("n", StandardScaler(), numbers),
        ]
    ).fit(columns())
    roles = {"target": "y", "features": ["country", *numbers], "transform": transformer}
    moments = summarize(spark.createDataFrame(columns()).repartition(3), **roles)
    assert moments.feature_names == tuple(transformer.get_feature_names_out())
    expected = Moments.of(
        transformer.transform(columns()), Y, feature_names=transformer.get_feature_names_out()
    )
    assert distance(moments, expected) < CLOSE


def test_raw_columns_are_binned_where_the_rows_are(spark):
    missing = RNG.random((2, N)) < 0.2
    a = [
        None if absent else value
        for value, absent in zip(X[:, 0].tolist(), missing[0], strict=True)
    ]
    town = [
        None if absent else text for text, absent in zip(COUNTRY.tolist(), missing[1], strict=True)
    ]
    rows = list(zip(a, town, (WEIGHT > 0).tolist(), Y.tolist(), strict=True))
    spread = spark.createDataFrame(rows, "a double, town string, flag boolean, y long")
    features = ["a", "town", "flag"]
    raw = pd.DataFrame(rows, columns=[*features, "y"])[features]
    binner = Binner(max_bins=8).fit(raw)
    moments = summarize(
        spread.repartition(3), target="y", features=features, transform=binner, progress=False
    )
    expected = Moments.of(
        binner.transform(raw), Y, feature_names=binner.get_feature_names_out().tolist()
    )
    assert moments.feature_names == expected.feature_names
    assert distance(moments, expected) < CLOSE


def test_names_may_hold_anything(spark):
    odd = ["a.b", "c`d", "e f"]
    frame = spark.createDataFrame(list(zip(*X.T.tolist(), Y.tolist(), strict=True)), [*odd, "y"])
    assert distance(summarize(frame, target="y"), Moments.of(X, Y, feature_names=odd)) < CLOSE


def test_labels_may_be_text(spark):
    labels = np.array(["no", "yes"])[Y]
    frame = spark.createDataFrame(columns().assign(y=labels))
    moments = summarize(frame, target="y", features=NAMES)
    assert distance(moments, Moments.of(X, labels, feature_names=NAMES)) < CLOSE


def test_pandas_on_spark_is_spark(spark):
    class DataFrame:
        """What the engine asks of one; the library itself does not import with pandas 3."""

        __module__ = "pyspark.pandas.frame"

        def to_spark(self):
            return spark.createDataFrame(columns()[[*NAMES, "y"]])

    expected = Moments.of(X, Y, feature_names=NAMES)
    assert distance(summarize(DataFrame(), target="y"), expected) < CLOSE


def test_a_line_is_fitted_in_one_pass(spark):
    frame = spark.createDataFrame(columns()).repartition(4).cache()
    roles = {"target": "y", "features": NAMES, "weight": "w"}
    roles["fold"] = HashFolds(5, key="customer")
    classifier = MomentClassifier("auc").fit_source(frame, **roles)
    expected = MomentClassifier("auc").fit_source(columns(), **roles)
    table = columns()[NAMES]
    scores = expected.decision_function(table)
    assert np.abs(classifier.decision_function(table) - scores).max() < 1e-9 * scores.std()
    np.testing.assert_allclose(
        classifier.predict_proba(table), expected.predict_proba(table), atol=1e-9
    )
    frame.unpersist()


@pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")
def test_a_direct_line_is_fitted_in_two_passes(spark):
    frame = spark.createDataFrame(columns()).repartition(4).cache()
    roles = {"target": "y", "features": NAMES, "weight": "w"}
    roles["fold"] = HashFolds(3, key="customer")
    classifier = DirectClassifier("auc", cv=3).fit_source(frame, **roles)
    expected = DirectClassifier("auc", cv=3).fit_source(columns(), **roles)
    assert classifier.report_.chosen == expected.report_.chosen
    np.testing.assert_allclose(classifier.coef_, expected.coef_, rtol=1e-6)
    frame.unpersist()


def test_two_hundred_segments_are_counted_in_the_same_passes(spark, monkeypatch, figure):
    rng = np.random.default_rng(8)
    n, names = 12_000, ["a", "b"]
    rows = pd.DataFrame({"y": rng.random(n) < 0.3, "customer": np.arange(n)})
    rows["segment"] = [f"s{k:03}" for k in rng.integers(0, 200, n)]
    rows["a"], rows["b"] = rng.normal(size=n) + 2.0 * rows["y"], rng.normal(size=n)
    frame = spark.createDataFrame(rows).repartition(4).cache()
    roles = {"target": "y", "features": names, "fold": HashFolds(2, key="customer")}
    jobs, one_pass = [], engine.partials
    monkeypatch.setattr(engine, "partials", lambda *args: jobs.append(1) or one_pass(*args))
    passes, points = {}, {}
    for place, source in (("spark", frame), ("memory", rows)):
        for segment in (None, "segment"):
            limits = None if segment is None else InEverySegment({"fpr": 0.5})
            model = DirectClassifier("recall@fpr=0.5", cv=2, limits=limits, guarantee=0.9)
            jobs.clear()
            model.fit_source(source, segment=segment, progress=False, **roles)
            passes[place, segment], points[place] = len(jobs), model.operating_point_
    frame.unpersist()
    assert passes["spark", "segment"] == passes["spark", None] == 2
    one, other = points["spark"], points["memory"]
    assert one.threshold == pytest.approx(other.threshold, rel=1e-9)
    assert len(one.segments) == 200
    for first, second in zip(one.segments, other.segments, strict=True):
        assert first.name == second.name
        np.testing.assert_allclose(np.hstack(first[1:]), np.hstack(second[1:]), rtol=1e-12)
    figure("200 segments on Spark: two passes, as without them; equal to memory in all rates")


# ── partitions ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("partitions", [1, 200])
def test_there_may_be_any_number_of_partitions(spark, partitions):
    frame = spark.createDataFrame(columns()).repartition(partitions)
    assert len(sizes(frame)) == partitions
    moments = summarize(frame, target="y", features=NAMES, weight="w")
    assert distance(moments, Moments.of(X, Y, WEIGHT, feature_names=NAMES)) < CLOSE


def test_a_partition_may_hold_one_class_or_nothing(spark):
    frame = spark.createDataFrame(columns()).repartition(5, "y")
    counts = sizes(frame)
    assert sorted(counts)[-2:] == sorted(np.bincount(Y))
    assert counts.count(0) == 3
    moments = summarize(frame, target="y", features=NAMES, weight="w")
    assert distance(moments, Moments.of(X, Y, WEIGHT, feature_names=NAMES)) < CLOSE


def test_two_runs_over_the_same_partitions_give_the_same_bits(spark):
    frame = numbered(spark, 7)
    roles = {"target": "y", "features": ["a", "b"], "fold": HashFolds(3)}
    assert summarize(frame, **roles) == summarize(frame, **roles)


def as_values(rows):
    """Return numbers and values of the parts in rows of a data frame of pieces."""
    ordered = sorted(map(tuple, rows))
    return [(number, unpacked(part)) for number, part in engine._whole_parts(ordered)]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_neither_order_nor_repetition_of_parts_matters(spark, known):
    # 70 parts are two levels; some come twice, cut into pieces, in any order.
    numbers = np.sqrt(np.arange(2.0, 72.0))
    pieces = [
        (number, piece, packed(np.float64(value))[piece * 30 : piece * 30 + 30])
        for number, value in enumerate(numbers)
        for piece in range(1 + len(packed(np.float64(value))) // 30)
    ]
    rows = [pieces[k] for k in RNG.permutation([*range(len(pieces)), *range(0, len(pieces), 3)])]
    parts = spark.createDataFrame(rows, engine._PIECES)
    [(number, total)] = as_values(engine._summed(parts, 70 if known else None).collect())
    assert number == 0
    assert total == tree_sum(numbers)
    assert total != sum(numbers)


@pytest.mark.parametrize("partitions", [4, 5, 70])
def test_the_sum_is_that_of_the_tree_in_memory(spark, partitions, monkeypatch):
    frame = numbered(spark, partitions)
    rows = frame.toArrow()
    plan = ColumnRoles.of(target="y", features=("a", "b"), fold=HashFolds(3))
    expected = tree_sum(
        Survey(0)(plan, Partition(k, [rows.slice(40 * k, 40)])) for k in range(partitions)
    )
    seen, partials = [], engine.partials

    def watched(*arguments):
        for number, part in partials(*arguments):
            seen.append(number)
            yield number, part

    monkeypatch.setattr(engine, "partials", watched)
    assert run(frame, plan, Survey(0)) == expected
    # Where their number is not known, in Spark Connect, all partitions are added on the workers.
    known = engine._partition_count(frame) is not None
    assert seen == ([0, 1, 2, 3] if partitions == 4 and known else [0])


@spark_cluster.classic_only("Connect does not tell partitions")
def test_the_number_of_partitions_is_known_where_nothing_runs_to_know_it(spark):
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("count", "the number of partitions")
    frame = numbered(spark, 6)
    assert engine._partition_count(frame) == 6
    assert engine._partition_count(frame.filter("a > 3").select("b")) == 6
    assert engine._partition_count(frame.union(frame)) == 12
    assert engine._partition_count(frame.coalesce(2)) == 2
    assert engine._partition_count(frame.repartition(3)) is None
    assert engine._partition_count(frame.groupBy("y").count()) is None
    assert not tracker.getJobIdsForGroup("count")
    cached = frame.repartition(5).cache()
    assert engine._partition_count(cached) == 5
    cached.unpersist()


def test_groups_are_summarised_in_any_session(spark):
    frame = spark.createDataFrame(columns())
    summaries = summarize(frame, target="y", features=NAMES, weight="w", by="country")
    expected = summarize(columns(), target="y", features=NAMES, weight="w", by="country")
    assert list(summaries) == list(expected)
    assert max(distance(summaries[key], expected[key]) for key in expected) < CLOSE


@pytest.mark.parametrize("spark_master", [spark_cluster.CONNECT], indirect=True)
def test_spark_connect_does_not_tell_the_number_of_partitions(spark):
    assert type(spark).__module__.startswith("pyspark.sql.connect")
    assert engine._partition_count(numbered(spark, 3)) is None


@pytest.mark.parametrize("empty", ["known to Spark", "found out"])
def test_no_rows_are_refused_in_words(spark, empty):
    if empty == "known to Spark":
        frame = spark.createDataFrame(columns()).filter("a > 1e9")
        assert sizes(frame) == []
    else:
        frame = numbered(spark, 2).filter("a > 1e9")
    with pytest.raises(ValueError, match="there are no rows to summarise"):
        summarize(frame, target="y", features=["a", "b"])


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def test_text_is_refused_before_the_workers_start(spark):
    frame = spark.createDataFrame(columns())
    with pytest.raises(NotNumericError, match="transform=") as caught:
        summarize(frame, target="y")
    assert "country" in caught.value.columns
    types = dict(frame.dtypes)
    assert caught.value.dtypes == tuple(types[name] for name in caught.value.columns)
    assert set(caught.value.columns).isdisjoint(["a", "b", "y"])


def test_what_a_worker_refuses_is_told_in_its_words(spark):
    from pyspark.errors import PythonException

    frame = spark.createDataFrame([(1.0, 0), (None, 1)], "a double, y int")
    with pytest.raises(PythonException, match=r"column 'a' holds missing values \(NaN\) in at le"):
        summarize(frame, target="y")
    rows = spark.createDataFrame([([1.0], 0), (None, 1)], "x array<double>, y int")
    with pytest.raises(PythonException, match="1 rows have no vector of features"):
        summarize(rows, target="y")


def test_roles_are_columns(spark):
    frame = spark.createDataFrame(columns())
    with pytest.raises(KeyError, match=r"no column named 'x'; the columns are \['a', 'b', 'größe'"):
        summarize(frame, target="x")
    with pytest.raises(ValueError, match="weight= must name a column"):
        summarize(frame, target="y", weight=WEIGHT)


# ── executors and workers that die ────────────────────────────────────────────────────────────────

PARTITIONS = 30


def numbered(spark, partitions):
    """Return rows that are made where they are needed, the same whoever makes them."""
    return spark.range(0, 40 * partitions, 1, partitions).selectExpr(
        "pmod(id * 7919, 1009) / 7.0D as a",
        "pmod(id * 104729, 997) / 3.0D as b",
        "cast(pmod(id * 31, 10) < 3 as int) as y",
    )


def slow(notes, pause):
    """Return a transformer that takes its time, and notes who has finished a partition."""

    class Slow:  # made here, so that workers need no module of the tests
        def transform(self, frame):
            time.sleep(pause)
            with open(notes, "a", encoding="utf-8") as lines:  # noqa: PTH123
                lines.write(f"{os.getppid()}\n")
            return frame

    return Slow()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with spark_cluster.cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.mark.parametrize("who", ["executor", "worker"])
def test_who_is_killed_in_mid_job_changes_no_bit(cluster, who, tmp_path):
    cluster.complete()
    spark = spark_cluster.session(cluster.url)
    frame = numbered(spark, PARTITIONS)
    roles = {"target": "y", "features": ["a", "b"], "fold": HashFolds(3)}
    undisturbed = summarize(frame, **roles, transform=slow(tmp_path / "before", 0.0))

    notes = tmp_path / "notes"
    notes.touch()

    def disturbed():
        spark.sparkContext.setJobGroup(who, "a job that loses a process")
        return summarize(frame, **roles, transform=slow(notes, 0.3))

    with ThreadPoolExecutor(1) as aside:
        job = aside.submit(disturbed)
        until = time.monotonic() + spark_cluster.PATIENCE
        while len(notes.read_text().split()) < 5:
            assert not job.done()
            assert time.monotonic() < until
            time.sleep(0.02)
        executor = spark_cluster.parent(notes.read_text().split()[-1])
        if who == "executor":
            os.kill(executor, signal.SIGKILL)
        else:
            owner = spark_cluster.parent(executor)
            cluster.kill(next(worker for worker in cluster.workers if worker.pid == owner))
        finished = len(notes.read_text().split())
        assert 5 <= finished < PARTITIONS - 2
        moments = job.result(spark_cluster.PATIENCE)

    assert moments == undisturbed
    assert len(notes.read_text().split()) >= PARTITIONS
    assert failures(spark, who) >= 1
    whole = summarize(frame.toArrow(), target="y", features=["a", "b"])
    assert distance(moments.unfolded(), whole) < CLOSE


def failures(spark, group):
    """Return how many tasks failed in the jobs of a group, and how many stages ran again."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    return sum(stage.numFailedTasks + stage.currentAttemptId for stage in stages if stage)
