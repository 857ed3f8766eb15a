"""A fitted line as a model of Spark ML: rows are scored by Spark's own expressions."""
# ruff: noqa: N802 - names are those of Spark ML

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Self

import numpy as np
from pyspark.ml import PredictionModel
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import DenseVector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasProbabilityCol, HasRawPredictionCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls them

from directrix.classifiers.fitting.calibration import Calibration
from directrix.integrations.spark_columns import ScoringLine, arrays
from directrix.metrics import metric_text

_LINE = "line"  # where a saved model keeps what scores rows


def _shrinkage(value: Any) -> str | float:
    share: str | float = value if isinstance(value, str) else TypeConverters.toFloat(value)
    return share


def _param(name: str, doc: str, converter: Any) -> Any:
    return Param(Params._dummy(), name, doc, converter)  # noqa: SLF001 - how params are made


class LineParams(HasWeightCol, HasRawPredictionCol, HasProbabilityCol):
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


class SparkLinearModel(PredictionModel, LineParams, MLReadable, MLWritable):
    """A fitted line as a model of Spark ML; the estimators make it.

    Parameters
    ----------
    line : ScoringLine
        What scores rows.
    classifier : MomentClassifier or DirectClassifier, optional
        The fitted classifier, with its operating point; None in a loaded model, which
        keeps what scores rows and nothing else.
    """

    def __init__(self, line: ScoringLine, classifier: Any = None) -> None:
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

    def __init__(self, instance: SparkLinearModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(
            self.instance, path, self.sparkSession, {_LINE: asdict(self.instance.line)}
        )


class _ModelReader(MLReader):
    def load(self, path: str) -> SparkLinearModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        kept = dict(metadata[_LINE])
        line = ScoringLine(calibration=Calibration(**kept.pop("calibration")), **kept)
        model = SparkLinearModel(line)
        model._resetUid(metadata["uid"])  # noqa: SLF001 - how stages are loaded
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
