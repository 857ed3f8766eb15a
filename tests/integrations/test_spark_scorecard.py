"""Spark scores raw columns by a scorecard as the classifier does."""

from dataclasses import replace

import card_problems
import numpy as np
import pytest
import spark_cluster
from card_problems import NAMES

from directrix import Binner, MomentClassifier, ScorecardClassifier
from directrix.tables import BinCounts

pytestmark = [
    pytest.mark.skipif(spark_cluster.why_not() is not None, reason=str(spark_cluster.why_not())),
    # Of Spark for releases of pandas that it was not tested with; nothing here depends on it.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
if spark_cluster.why_not() is None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import SQLTransformer
    from pyspark.sql import functions as F  # noqa: N812 - the usual name of the module

    from directrix.integrations.spark_ml import SparkScorecardClassifier
    from directrix.integrations.spark_models import SparkScorecardModel

N = 200
ROWS = card_problems.raw_rows(N, seed=21)


@pytest.fixture(scope="module")
def frame(spark_master):
    """The rows in Spark, numbered, with the time zone of dates without one."""
    session = spark_cluster.session(spark_master)
    before = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    types = dict(
        zip(ROWS.columns, ["double", "string", "boolean", "timestamp", "double"], strict=True)
    )
    schema = "id int, " + ", ".join(f"`{name}` {kind}" for name, kind in types.items())
    rows = [(k, *row) for k, row in enumerate(ROWS.itertuples(index=False, name=None))]
    yield session.createDataFrame(rows, schema).repartition(3)
    session.conf.set("spark.sql.session.timeZone", before)


def random_card(seed=0, *, whole=True, classes=2, **options):
    return card_problems.with_random_points(
        card_problems.fitted_card(classes), seed, whole=whole, **options
    )


def scored(frame, *columns):
    """Return columns that a model has added, in the order of the rows."""
    result = frame.select("id", *columns).orderBy("id").collect()
    assert [row["id"] for row in result] == list(range(N))
    return [
        np.array([np.asarray(getattr(row[name], "array", row[name])) for row in result])
        for name in columns
    ]


@pytest.mark.parametrize(("whole", "higher_is_positive"), [(True, False), (False, True)])
def test_points_are_equal_in_every_row(frame, whole, higher_is_positive):
    classifier = random_card(3, whole=whole, higher_is_positive=higher_is_positive)
    model = SparkScorecardModel(classifier, pointsCol="p")  # a column is called points
    points, raw, probability, prediction = scored(
        model.transform(frame), "p", "rawPrediction", "probability", "prediction"
    )
    assert points.tolist() == classifier.predict_points(ROWS).tolist()
    scores = classifier.decision_function(ROWS)
    assert raw.tolist() == np.column_stack([-scores, scores]).tolist()
    np.testing.assert_allclose(probability, classifier.predict_proba(ROWS), rtol=0, atol=1e-12)
    assert prediction.tolist() == classifier.predict(ROWS).tolist()
    assert len(set(points)) > 10
    assert len(set(prediction)) == 2


def test_three_classes(frame):
    classifier = random_card(4, classes=3)
    model = SparkScorecardModel(classifier, pointsCol="p")
    points, raw, probability, prediction = scored(
        model.transform(frame), "p", "rawPrediction", "probability", "prediction"
    )
    assert points.tolist() == classifier.predict_points(ROWS).tolist()
    np.testing.assert_allclose(raw, classifier.decision_function(ROWS), rtol=0, atol=1e-12)
    np.testing.assert_allclose(probability, classifier.predict_proba(ROWS), rtol=0, atol=1e-12)
    assert prediction.tolist() == classifier.predict(ROWS).tolist()


@pytest.mark.parametrize("labels", [["no", "it's"], [False, True]])
def test_labels(frame, labels):
    classifier = random_card(1, labels=labels)
    (prediction,) = scored(SparkScorecardModel(classifier).transform(frame), "prediction")
    assert prediction.tolist() == classifier.predict(ROWS).tolist()
    assert len(set(prediction)) == 2


def test_a_pipeline_is_saved_loaded_and_scores_without_python(frame, tmp_path):
    classifier = card_problems.fitted_card()
    stage = SparkScorecardModel(classifier, pointsCol="p", probabilityCol="")
    before = SQLTransformer(statement="SELECT *, `it's` IN ('', ' ') AS blank FROM __THIS__")
    pipeline = Pipeline(stages=[before, stage]).fit(frame)
    pipeline.save(str(tmp_path / "pipeline"))
    loaded = PipelineModel.load(str(tmp_path / "pipeline"))
    again = loaded.stages[1]
    assert again.uid == stage.uid
    assert again.extractParamMap() == stage.extractParamMap()
    assert again.classifier.operating_point_ == classifier.operating_point_
    expected = classifier.predict_points(ROWS).tolist()
    for model in (pipeline, loaded):
        result = model.transform(frame)
        assert result.columns == [*frame.columns, "blank", "p", "rawPrediction", "prediction"]
        (points,) = scored(result, "p")
        assert points.tolist() == expected
        if not hasattr(result, "_jdf"):  # Connect has no Java plan
            continue
        plan = result._jdf.queryExecution().executedPlan().toString()
        # Points are computed once, and three columns are made of them.
        assert plan.count(f"AS {stage.uid}_points_0#") == 1
        assert not [node for node in ("Python", "ArrowEval", "MapInArrow") if node in plan]


def test_evaluators_take_the_raw_prediction(frame):
    classifier = card_problems.fitted_card()
    result = SparkScorecardModel(classifier, pointsCol="p").transform(frame)
    labelled = result.withColumn("label", F.col("prediction"))
    assert BinaryClassificationEvaluator().evaluate(labelled) == 1.0


def test_columns_are_renamed_by_params(frame):
    classifier = random_card(2)
    names = ["a.b", "SELECT", "c`d", "e", "f"]
    renamed = frame.toDF("id", *names)
    model = (
        SparkScorecardModel(classifier)
        .setInputCols(names)
        .setPointsCol("x")
        .setRawPredictionCol("")
        .setProbabilityCol("")
        .setPredictionCol("y")
    )
    result = model.transform(renamed)
    assert result.columns == ["id", *names, "x", "y"]
    assert scored(result, "x")[0].tolist() == classifier.predict_points(ROWS).tolist()
    assert model.getPointsCol() == "x"


def test_a_card_without_points(frame):
    classifier = random_card()
    card = classifier.card_
    zeros = tuple(np.zeros(bins.n_cells) for bins in card.bins)
    classifier.cards_ = (replace(card, columns=zeros, crosses=(), intercept=2.5),)
    result = SparkScorecardModel(classifier, pointsCol="p").transform(frame.limit(2))
    assert [row["p"] for row in result.collect()] == [2.5, 2.5]


def test_what_is_refused(frame):
    line = MomentClassifier(learn_from="moments").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(
        TypeError, match="a fitted ScorecardClassifier, not MomentClassifier; a lin"
    ):
        SparkScorecardModel(line)
    model = SparkScorecardModel(random_card())
    with pytest.raises(KeyError, match="no column named"):
        model.transform(frame.drop(NAMES["flag"]))
    with pytest.raises(ValueError, match="inputCols must be 5 names"):
        model.copy().setInputCols(["a"]).transform(frame)
    rows = [[k, k % 3] for k in range(30)]
    counts = BinCounts.of(Binner(min_rows=2).fit(rows), rows, [k % 2 for k in range(30)])
    nameless = SparkScorecardModel(ScorecardClassifier().fit_summary(counts))
    with pytest.raises(ValueError, match=r"without names of columns: give inputCols=\["):
        nameless.transform(frame)


# ── the estimator ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def labelled(frame):
    """The rows with a label that two of their columns decide, and a weight."""
    number, flag = (F.col(f"`{NAMES[name]}`") for name in ("number", "flag"))
    score = F.coalesce(F.when(number > 0, 2).otherwise(-2), F.lit(0)) + F.coalesce(
        flag.cast("int"), F.lit(0)
    )
    noise = F.col("id") % 5 == 0
    label = F.when(noise, score < 1).otherwise(score >= 1)
    return frame.withColumns({"bad": label.cast("double"), "w": (F.col("id") % 3 + 1.0)})


def test_an_estimator_fits_a_card_to_raw_columns(labelled, tmp_path):
    estimator = SparkScorecardClassifier(
        metric="auc", learnFrom="counts", labelCol="bad", weightCol="w", pointsCol="p", maxLines=12
    ).setInputCols(list(ROWS.columns))
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    loaded = SparkScorecardClassifier.load(str(tmp_path / "estimator"))
    assert loaded.extractParamMap() == estimator.extractParamMap()
    model = Pipeline(stages=[loaded]).fit(labelled).stages[0]
    assert isinstance(model, SparkScorecardModel)
    assert model.uid == estimator.uid
    classifier = model.classifier
    assert classifier.learn_from == "counts"
    assert classifier.card_.n_lines <= 12 < classifier.sizes()[-1].lines
    assert classifier.feature_names_in_.tolist() == list(ROWS.columns)
    assert [bins.kind for bins in classifier.binner_.bins_] == [
        "number",
        "text",
        "boolean",
        "date",
        "number",
    ]
    total = labelled.agg(F.sum("w")).first()[0]
    assert sum(classifier.card_.counts[0].sum(axis=1)) == pytest.approx(total)
    result = model.transform(labelled)
    points, prediction = scored(result, "p", "prediction")
    assert points.tolist() == classifier.predict_points(ROWS).tolist()
    assert prediction.tolist() == classifier.predict(ROWS).tolist()
    evaluator = BinaryClassificationEvaluator(labelCol="bad")
    assert evaluator.evaluate(result) > 0.6


def test_the_estimator_reads_all_other_columns(labelled):
    used = labelled.select("id", NAMES["flag"], "constant", "bad").withColumnRenamed("bad", "label")
    model = SparkScorecardClassifier(learnFrom="counts", points="pdo", refine=0).fit(used)
    assert model.classifier.feature_names_in_.tolist() == ["id", NAMES["flag"], "constant"]
    assert model.classifier.card_.columns[0].tolist() == [
        round(value) for value in model.classifier.card_.columns[0]
    ]
    full = SparkScorecardClassifier(learnFrom="counts", refine=0).setMaxLines("full").fit(used)
    assert full.classifier.max_lines is None
    with pytest.raises(Exception, match="nope"):
        SparkScorecardClassifier(labelCol="nope").fit(used)
