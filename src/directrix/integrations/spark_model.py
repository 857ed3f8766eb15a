"""A fitted linear model as a model of Spark ML, which scores rows by expressions of Spark."""
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
from pyspark.sql import functions as F  # noqa: N812 - the usual name of the module

from directrix.integrations.spark_columns import ScoringLine, arrays, probability_vector
from directrix.metrics.table import metric_text
from directrix.models.calibration import Calibration

_LINE = "line"  # entry of a saved model with the numbers that score rows


def _shrinkage(value: Any) -> str | float:
    share: str | float = value if isinstance(value, str) else TypeConverters.toFloat(value)
    return share


def _param(name: str, doc: str, converter: Any) -> Any:
    return Param(Params._dummy(), name, doc, converter)  # noqa: SLF001 - Spark defines params so


class LineParams(HasWeightCol, HasRawPredictionCol, HasProbabilityCol):
    """Params that an estimator and its model share."""

    metric = _param(
        "metric", "metric to train for: a name, or one of directrix.metrics", metric_text
    )
    shrinkage = _param(
        "shrinkage", "shrinkage of covariances: 'oas', 'cv', or a share from 0 to 1", _shrinkage
    )
    choose = _param(
        "learn_from", "what chooses the candidate: 'rows' or 'moments'", TypeConverters.toString
    )

    def getMetric(self) -> str:
        """Return the metric, as text."""
        return str(self.getOrDefault(self.metric))

    def getShrinkage(self) -> str | float:
        """Return the shrinkage of the covariances."""
        shrinkage: str | float = self.getOrDefault(self.shrinkage)
        return shrinkage

    def getLearnFrom(self) -> str:
        """Return what chooses the candidate."""
        return str(self.getOrDefault(self.learn_from))

    def setRawPredictionCol(self, value: str) -> Self:
        """Set the column of scores; with an empty name there is none."""
        return self._with_params(rawPredictionCol=value)

    def setProbabilityCol(self, value: str) -> Self:
        """Set the column of probabilities; with an empty name there is none."""
        return self._with_params(probabilityCol=value)

    def _with_params(self, **params: Any) -> Self:
        self._set(**params)
        return self


class SparkLinearModel(PredictionModel, LineParams, MLReadable, MLWritable):
    """A fitted linear model of Spark ML, made by the estimators of `spark_ml`.

    Parameters
    ----------
    line : ScoringLine
        The numbers that score rows.
    classifier : MomentClassifier or DirectClassifier, optional
        The fitted classifier, with its operating point; None in a loaded model, which has only the
        numbers that score rows.
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
        # A temporary column, or the score would be computed again for every column made from it.
        score_column = f"{self.uid}_score"
        features = arrays(dataset, self.getFeaturesCol())
        score = F.col(score_column)
        positive = self.line.probability(score)
        name = self.getProbabilityCol()
        both = [1.0 - positive, positive]
        columns = {
            self.getRawPredictionCol(): array_to_vector(F.array(-score, score)),
            name: probability_vector(both, self.line.classes, name) if name else None,
            self.getPredictionCol(): self.line.label(score),
        }
        scored = dataset.withColumn(score_column, self.line.score(features))
        wanted = {name: expression for name, expression in columns.items() if name}
        return scored.withColumns(wanted).drop(score_column)

    def write(self) -> Any:
        """Return a writer that saves this model."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader that loads a model."""
        return _ModelReader()


class _ModelWriter(MLWriter):
    """Saves params and numbers as JSON, like the params of every stage of Spark."""

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
        numbers = dict(metadata[_LINE])
        line = ScoringLine(calibration=Calibration(**numbers.pop("calibration")), **numbers)
        model = SparkLinearModel(line)
        model._resetUid(metadata["uid"])  # noqa: SLF001 - Spark loads its stages so
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
