import gc

import numpy as np
import pytest
import spark_cluster

from directrix import DirectClassifier, MomentClassifier, summarize
from directrix.metrics import RecallAtFPR

pytestmark = [
    pytest.mark.skipif(spark_cluster.why_not() is not None, reason=str(spark_cluster.why_not())),
    # Of Spark for releases of pandas that it was not tested with; nothing here depends on it.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
if spark_cluster.why_not() is None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.linalg import Vectors
    from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
    from pyspark.sql import functions as F  # noqa: N812 - the usual name of the module

    from directrix.integrations.spark_ml import SparkDirectClassifier, SparkMomentClassifier
    from directrix.integrations.spark_models import SparkLinearModel

RNG = np.random.default_rng(11)
N = 400
NAMES = ["a", "b", "c"]
Y = RNG.choice(2, N, p=[0.75, 0.25])
MEAN = np.where(Y[:, None], [1.5, 40.5, -3.0], [0.0, 40.0, -3.0])
MIX = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
X = MEAN + RNG.normal(size=(N, 3)) * np.where(Y[:, None], [1.0, 2.5, 1.0], 1.0) @ MIX
WEIGHT = RNG.choice([0.5, 1.0, 2.0], N)
#: Labels need not be 0 and 1.
LABEL = np.where(Y == 1, 3.0, 1.0)


@pytest.fixture
def rows(spark):
    """The rows, with labels of zero and one, numbered."""
    columns = [*X.T.tolist(), Y.tolist(), LABEL.tolist(), WEIGHT.tolist(), range(N)]
    names = [*NAMES, "label", "odd", "w", "id"]
    return spark.createDataFrame(list(zip(*columns, strict=True)), names).repartition(3, "id")


@pytest.fixture
def vectors(rows):
    return assembler().transform(rows)


def assembler():
    return VectorAssembler(inputCols=NAMES, outputCol="features")


def scored(frame, *columns):
    """Return what a model has added, in the order of the rows, as one array for each column."""
    result = frame.select("id", *columns).orderBy("id").collect()
    assert [row["id"] for row in result] == list(range(N))
    return [
        np.array([np.asarray(getattr(row[name], "array", row[name])) for row in result])
        for name in columns
    ]


def physical_plan(frame):
    return frame._jdf.queryExecution().executedPlan().toString()


# ── a pipeline, from the first fit to a loaded model ──────────────────────────────────────────────


# The threads of Spark's own search, which it does not close.
@pytest.mark.filterwarnings("ignore:unclosed running multiprocessing pool:ResourceWarning")
def test_a_pipeline_is_cross_validated_saved_loaded_and_scored(rows, tmp_path):
    classifier = SparkMomentClassifier(learnFrom="moments")
    metrics = ["auc", RecallAtFPR(0.1)]
    search = CrossValidator(
        estimator=Pipeline(stages=[assembler(), classifier]),
        estimatorParamMaps=ParamGridBuilder().addGrid(classifier.metric, metrics).build(),
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=1,
    )
    result = search.fit(rows)
    gc.collect()
    assert len(set(result.avgMetrics)) == 2
    assert min(result.avgMetrics) > 0.7
    chosen = metrics[int(np.argmax(result.avgMetrics))]

    result.save(str(tmp_path / "search"))
    best = CrossValidatorModel.load(str(tmp_path / "search")).bestModel
    best.save(str(tmp_path / "best"))
    loaded = PipelineModel.load(str(tmp_path / "best"))
    moments = summarize(assembler().transform(rows), target="label", features="features")
    expected = MomentClassifier(chosen).fit_summary(moments)
    scores = expected.decision_function(X)
    for model in (result.bestModel, best, loaded):
        raw, probability, prediction = scored(
            model.transform(rows), "rawPrediction", "probability", "prediction"
        )
        assert np.abs(raw[:, 1] - scores).max() < 1e-9 * scores.std()
        assert (raw[:, 0] == -raw[:, 1]).all()
        np.testing.assert_allclose(probability, expected.predict_proba(X), atol=1e-9)
        assert (prediction == expected.predict(X)).all()
        assert 0 < prediction.sum() < N


@spark_cluster.classic_only("Connect has no Java plan")
def test_scoring_leaves_python_out(vectors):
    model = SparkMomentClassifier(learnFrom="moments").fit(vectors)
    plan = physical_plan(model.transform(vectors))
    assert plan.count("zip_with") == 1  # the score, which three columns are made of
    assert not [
        node for node in ("Python", "ArrowEval", "MapInArrow", "MapInPandas") if node in plan
    ]
    # Such a node would be seen.
    seen = physical_plan(vectors.mapInArrow(lambda batches: batches, vectors.schema))
    assert "MapInArrow" in seen


# ── the same as without Spark ML ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("weight", [None, "w"])
def test_rows_choose_as_fit_source_does(vectors, weight):
    frame = vectors.withColumn("label", F.col("label").cast("double"))
    model = SparkMomentClassifier(metric="f1", weightCol=weight).fit(frame)
    expected = MomentClassifier("f1").fit_source(
        frame, target="label", features="features", weight=weight
    )
    assert model.coefficients.toArray().tolist() == expected.coef_[0].tolist()
    assert model.intercept == expected.intercept_[0]
    assert model.classifier.operating_point_.rows == "held-out rows"
    raw, probability = scored(model.transform(frame), "rawPrediction", "probability")
    np.testing.assert_allclose(raw[:, 1], expected.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(probability, expected.predict_proba(X), atol=1e-9)
    calibration = expected.calibration_
    assert calibration.below != calibration.above  # both slopes are used
    assert raw[:, 1].min() < 0 < raw[:, 1].max()


def test_weights_count(vectors):
    weighted, not_weighted = (
        SparkMomentClassifier(learnFrom="moments", weightCol=weight).fit(vectors)
        for weight in ("w", "")
    )
    assert weighted.classifier.moments_.weight == pytest.approx(WEIGHT.sum())
    assert not_weighted.classifier.moments_.weight == N


@pytest.mark.parametrize("shrinkage", ["cv", 0.25])
def test_shrinkage_is_passed_on(vectors, shrinkage):
    model = SparkMomentClassifier(learnFrom="moments", shrinkage=shrinkage).fit(vectors)
    assert model.classifier.shrinkage == shrinkage
    assert model.classifier.moments_.folded == (shrinkage == "cv")


def test_a_prediction_is_a_label(vectors):
    model = SparkMomentClassifier(labelCol="odd", learnFrom="moments").fit(vectors)
    (prediction,) = scored(model.transform(vectors), "prediction")
    assert set(prediction) == {1.0, 3.0}
    assert (prediction == LABEL).mean() > 0.75
    assert model.predict(Vectors.dense(X[0])) == prediction[0]


def test_features_may_be_arrays_and_sparse_vectors(spark, vectors):
    def held(row):
        kept = np.flatnonzero(row)
        return Vectors.sparse(3, kept, row[kept])

    rows = [
        (number, row.tolist(), held(row), label)
        for number, (row, label) in enumerate(zip(X, Y.tolist(), strict=True))
    ]
    names = ["id", "list", "sparse", "label"]
    frame = spark.createDataFrame(rows, names)
    expected = SparkMomentClassifier(learnFrom="moments").fit(vectors)
    (scores,) = scored(expected.transform(vectors), "rawPrediction")
    for name in ("list", "sparse"):
        model = SparkMomentClassifier(learnFrom="moments", featuresCol=name).fit(frame)
        (raw,) = scored(model.transform(frame), "rawPrediction")
        np.testing.assert_allclose(raw, scores, atol=1e-9)


# ── params and files ──────────────────────────────────────────────────────────────────────────────


def test_columns_are_named_by_params(vectors):
    renamed = vectors.withColumnRenamed("features", "x.y")
    classifier = (
        SparkMomentClassifier(learnFrom="moments")
        .setFeaturesCol("x.y")
        .setLabelCol("label")
        .setPredictionCol("p")
        .setProbabilityCol("")
        .setRawPredictionCol("s")
    )
    model = classifier.fit(renamed)
    assert model.transform(renamed).columns == [*renamed.columns, "s", "p"]
    assert model.setRawPredictionCol("").transform(renamed).columns == [*renamed.columns, "p"]
    again = model.transform(renamed, {model.predictionCol: "q"})
    assert again.columns == [*renamed.columns, "q"]


def test_an_estimator_is_saved_and_loaded(spark, tmp_path):
    assert spark
    estimator = SparkMomentClassifier(shrinkage=0.1).setMetric(RecallAtFPR(0.05)).setWeightCol("w")
    estimator.setShrinkage("cv").setLearnFrom("moments").write().overwrite().save(
        str(tmp_path / "e")
    )
    loaded = SparkMomentClassifier.load(str(tmp_path / "e"))
    assert loaded.uid == estimator.uid
    assert loaded.extractParamMap() == estimator.extractParamMap()
    assert loaded.getMetric() == "RecallAtFPR(fpr=0.05)"
    assert (loaded.getShrinkage(), loaded.getLearnFrom(), loaded.getWeightCol()) == (
        "cv",
        "moments",
        "w",
    )


def test_a_model_is_saved_and_loaded(vectors, tmp_path):
    model = SparkMomentClassifier(metric=RecallAtFPR(0.1), learnFrom="moments").fit(vectors)
    model.save(str(tmp_path / "m"))
    model.write().overwrite().save(str(tmp_path / "m"))
    loaded = SparkLinearModel.load(str(tmp_path / "m"))
    assert loaded.uid == model.uid
    assert loaded.line == model.line
    assert loaded.classifier is None
    assert (loaded.numFeatures, loaded.numClasses) == (3, 2)
    assert loaded.getMetric() == "RecallAtFPR(fpr=0.1)"
    assert loaded.extractParamMap() == model.extractParamMap()
    before, after = (
        scored(version.transform(vectors), "rawPrediction", "probability", "prediction")
        for version in (model, loaded)
    )
    assert all((old == new).all() for old, new in zip(before, after, strict=True))


def test_defaults_are_those_of_the_classifier():
    estimator, classifier = SparkMomentClassifier(), MomentClassifier()
    assert estimator.getMetric() == classifier.metric
    assert estimator.getShrinkage() == classifier.shrinkage
    assert estimator.getLearnFrom() == classifier.learn_from


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def test_columns_that_do_not_fit_are_refused_in_words(vectors):
    estimator = SparkMomentClassifier(learnFrom="moments")
    with pytest.raises(TypeError, match=r"column 'a' holds double, not vectors: .*VectorAssembler"):
        estimator.copy({estimator.featuresCol: "a"}).fit(vectors)
    texts = vectors.withColumn("label", F.col("label").cast("string"))
    with pytest.raises(TypeError, match="column 'label' holds string, not numbers; use StringInd"):
        estimator.fit(texts)
    with pytest.raises(KeyError, match="no column named 'y'; the columns are"):
        estimator.copy({estimator.labelCol: "y"}).fit(vectors)


def test_settings_are_refused_in_words(vectors):
    with pytest.raises(ValueError, match="no metric named 'acu'"):
        SparkMomentClassifier(metric="acu")
    with pytest.raises(ValueError, match="learn_from must be 'rows' or 'moments'"):
        SparkMomentClassifier(learnFrom="both").fit(vectors)
    with pytest.raises(TypeError, match="shrinkage"):
        SparkMomentClassifier(shrinkage=[1])
    with pytest.raises(AttributeError, match="metrics"):
        SparkMomentClassifier().setParams(metrics="auc")


def test_a_vector_of_another_length_is_refused(spark, vectors):
    model = SparkMomentClassifier(learnFrom="moments").fit(vectors)
    shorter = spark.createDataFrame([(Vectors.dense([1.0, 2.0]), 0)], ["features", "label"])
    with pytest.raises(Exception, match="a vector of features does not have 3 values"):
        model.transform(shorter).collect()


def test_nan_stays_nan(spark, vectors):
    model = SparkMomentClassifier(learnFrom="moments").fit(vectors)
    holed = spark.createDataFrame([(Vectors.dense([1.0, np.nan, 2.0]), 0)], ["features", "label"])
    (row,) = model.transform(holed).collect()
    assert np.isnan(row["prediction"])
    assert np.isnan(row["probability"].toArray()).all()


@pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")
def test_direct_classifier_is_a_stage_too(rows, vectors, tmp_path):
    stage = SparkDirectClassifier(metric="recall@fpr=0.05", weightCol="w")
    model = stage.fit(vectors)
    alone = DirectClassifier("recall@fpr=0.05").fit_source(
        rows, target="label", features=NAMES, weight="w"
    )
    np.testing.assert_allclose(model.coefficients.toArray(), alone.coef_[0], rtol=1e-6)
    scored = model.transform(vectors).orderBy("id").collect()
    scores = [row["rawPrediction"][1] for row in scored]
    np.testing.assert_allclose(scores, X @ alone.coef_[0] + alone.intercept_[0], atol=1e-9)
    stage.save(str(tmp_path / "stage"))
    assert SparkDirectClassifier.load(str(tmp_path / "stage")).getMetric() == "recall@fpr=0.05"
