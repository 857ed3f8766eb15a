"""MomentClassifier as a stage of Spark ML: an estimator, and the model it fits.

Rows are summarised where they are. They are scored by Spark's own expressions: no row passes
through Python.
"""
# ruff: noqa: N802 - names are those of Spark ML

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Self

import numpy as np
from pyspark.ml import PredictionModel, Predictor
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import DenseVector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasProbabilityCol, HasRawPredictionCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls them

from directrix.classifiers import MomentClassifier
from directrix.classifiers.calibration import Calibration
from directrix.engines import HashFolds, summarize
from directrix.integrations.spark_columns import ScoringLine, arrays, numbers, vectors
from directrix.metrics import metric_text, resolve

_FOLDS = 5
_LINE = "line"  # where a saved model keeps what scores rows


def _shrinkage(value: Any) -> str | float:
    share: str | float = value if isinstance(value, str) else TypeConverters.toFloat(value)
    return share


def _param(name: str, doc: str, converter: Any) -> Any:
    return Param(Params._dummy(), name, doc, converter)  # noqa: SLF001 - how params are made


class _MomentParams(HasWeightCol, HasRawPredictionCol, HasProbabilityCol):
    """What an estimator is told, and its model remembers."""

    metric = _param(
        "metric", "what to be good at: a name, or one of directrix.metrics", metric_text
    )
    shrinkage = _param("shrinkage", "'oas', 'cv', or a share from 0 to 1", _shrinkage)
    choose = _param("choose", "what decides: 'rows' or 'moments'", TypeConverters.toString)

    def getMetric(self) -> str:
        """Return the metric, as text."""
        return str(self.getOrDefault(self.metric))

    def getShrinkage(self) -> str | float:
        """Return how much covariances are shrunk."""
        shrinkage: str | float = self.getOrDefault(self.shrinkage)
        return shrinkage

    def getChoose(self) -> str:
        """Return what decides which line it is."""
        return str(self.getOrDefault(self.choose))

    def setRawPredictionCol(self, value: str) -> Self:
        """Set the column of scores; none is made where it is empty."""
        return self._told(rawPredictionCol=value)

    def setProbabilityCol(self, value: str) -> Self:
        """Set the column of probabilities; none is made where it is empty."""
        return self._told(probabilityCol=value)

    def _told(self, **params: Any) -> Self:
        self._set(**params)
        return self


class SparkMomentClassifier(Predictor, _MomentParams, DefaultParamsReadable, DefaultParamsWritable):
    """`MomentClassifier` as an estimator of Spark ML, for pipelines and cross-validation.

    Parameters
    ----------
    metric : str or Metric
        By default "error". Kept as text, so that it can be saved.
    shrinkage : "oas", "cv" or float
        By default "oas".
    choose : "rows" or "moments"
        What decides which line it is. "rows", the default, reads the rows twice
        (`MomentClassifier.fit_source`), "moments" once.
    featuresCol : str
        Column of vectors, or of arrays of numbers.
    labelCol : str
        Column of numbers, of two different values; the greater is the positive class.
    weightCol : str, optional
    predictionCol, probabilityCol, rawPredictionCol : str
        Columns that the model adds.

    Examples
    --------
    ::

        pipeline = Pipeline(stages=[assembler, SparkMomentClassifier(metric=RecallAtFPR(0.01))])
        pipeline.fit(frame).transform(frame)
    """

    def __init__(
        self,
        *,
        metric: Any = None,
        shrinkage: str | float | None = None,
        choose: str | None = None,
        featuresCol: str | None = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
        rawPredictionCol: str | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(metric="error", shrinkage="oas", choose="rows")
        self.setParams(
            metric=metric,
            shrinkage=shrinkage,
            choose=choose,
            featuresCol=featuresCol,
            labelCol=labelCol,
            weightCol=weightCol,
            predictionCol=predictionCol,
            probabilityCol=probabilityCol,
            rawPredictionCol=rawPredictionCol,
        )

    def setParams(self, **params: Any) -> Self:
        """Set several params; those that are None stay as they are."""
        return self._told(**{name: value for name, value in params.items() if value is not None})

    def setMetric(self, value: Any) -> Self:
        """Set what to be good at: a name, or one of `directrix.metrics`."""
        return self._told(metric=value)

    def setShrinkage(self, value: str | float) -> Self:
        """Set how much to shrink: "oas", "cv", or a share from 0 to 1."""
        return self._told(shrinkage=value)

    def setChoose(self, value: str) -> Self:
        """Set what decides: "rows" or "moments"."""
        return self._told(choose=value)

    def setWeightCol(self, value: str) -> Self:
        """Set the column of weights; all rows count the same where it is empty."""
        return self._told(weightCol=value)

    def _fit(self, dataset: Any) -> SparkMomentClassificationModel:
        roles: dict[str, Any] = {"target": "label", "features": "features"}
        chosen = {
            "features": vectors(dataset, self.getFeaturesCol()),
            "label": numbers(dataset, self.getLabelCol()),
        }
        if self.isDefined(self.weightCol) and self.getWeightCol():
            chosen["weight"] = numbers(dataset, self.getWeightCol())
            roles["weight"] = "weight"
        rows = dataset.select(*(column.alias(name) for name, column in chosen.items()))
        classifier = MomentClassifier(
            resolve(self.getMetric()),
            shrinkage=self.getShrinkage(),
            choose=self.getChoose(),
        )
        if self.getChoose() == "moments":
            fold = HashFolds(_FOLDS) if self.getShrinkage() == "cv" else None
            moments: Any = summarize(rows, fold=fold, **roles)
            classifier.fit_moments(moments)
        else:
            classifier.fit_source(rows, **roles)
        model = SparkMomentClassificationModel(ScoringLine.of(classifier), classifier)
        model._resetUid(self.uid)  # noqa: SLF001 - a model answers to its estimator's params
        self._copyValues(model)
        return model


class SparkMomentClassificationModel(PredictionModel, _MomentParams, MLReadable, MLWritable):
    """A fitted line as a model of Spark ML; `SparkMomentClassifier` makes it.

    Parameters
    ----------
    line : ScoringLine
        What scores rows.
    classifier : MomentClassifier, optional
        The fitted classifier, with its summary and operating point; None in a loaded model, which
        keeps what scores rows and nothing else.
    """

    def __init__(self, line: ScoringLine, classifier: MomentClassifier | None = None) -> None:
        super().__init__()
        self.line = line
        self.classifier = classifier

    @property
    def coefficients(self) -> Any:
        """The coefficients, as a dense vector."""
        return DenseVector(self.line.coefficients)

    @property
    def intercept(self) -> float:
        """The intercept: a score above zero is predicted positive."""
        return self.line.intercept

    @property
    def numFeatures(self) -> int:
        """The number of features."""
        return len(self.line.coefficients)

    @property
    def numClasses(self) -> int:
        """The number of classes: two."""
        return len(self.line.classes)

    def predict(self, value: Any) -> float:
        """Return the label predicted for one vector."""
        score = float(np.dot(value.toArray(), self.line.coefficients)) + self.line.intercept
        return self.line.classes[int(score > 0)]

    def _transform(self, dataset: Any) -> Any:
        # A column of its own, or the score would be computed once for each that is made of it.
        name = f"{self.uid}_score"
        features = arrays(dataset, self.getFeaturesCol())
        score = F.col(name)
        positive = self.line.probability(score)
        made = {
            self.getRawPredictionCol(): array_to_vector(F.array(-score, score)),
            self.getProbabilityCol(): array_to_vector(F.array(1.0 - positive, positive)),
            self.getPredictionCol(): self.line.label(score),
        }
        scored = dataset.withColumn(name, self.line.score(features))
        wanted = {column: expression for column, expression in made.items() if column}
        return scored.withColumns(wanted).drop(name)

    def write(self) -> Any:
        """Return what saves this model."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Return what loads a model."""
        return _ModelReader()


class _ModelWriter(MLWriter):
    """Save params and line as one JSON text, as Spark keeps the params of every stage."""

    def __init__(self, instance: SparkMomentClassificationModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(
            self.instance, path, self.sparkSession, {_LINE: asdict(self.instance.line)}
        )


class _ModelReader(MLReader):
    def load(self, path: str) -> SparkMomentClassificationModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        kept = dict(metadata[_LINE])
        line = ScoringLine(calibration=Calibration(**kept.pop("calibration")), **kept)
        model = SparkMomentClassificationModel(line)
        model._resetUid(metadata["uid"])  # noqa: SLF001 - how stages are loaded
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
