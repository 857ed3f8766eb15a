"""MomentClassifier and DirectClassifier as estimators of Spark ML.

Rows are summarised on the workers, and scored by expressions of Spark: to score them, no row passes
through Python.
"""
# ruff: noqa: N802 - names are those of Spark ML

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from pyspark.ml import Predictor
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from directrix.classifiers import DirectClassifier, MomentClassifier
from directrix.engines import HashFolds, summarize
from directrix.integrations.spark_columns import ScoringLine, numbers, vectors
from directrix.integrations.spark_model import LineParams, SparkLinearModel
from directrix.metrics.table import resolve

_FOLDS = 5


class _Estimator(Predictor, LineParams, DefaultParamsReadable, DefaultParamsWritable):
    """Base class of the estimators: selects columns, and makes a model of a fitted classifier."""

    def setParams(self, **params: Any) -> Self:
        """Set several params; those that are None are not changed."""
        given = {name: value for name, value in params.items() if value is not None}
        return self._with_params(**given)

    def setMetric(self, value: Any) -> Self:
        """Set the metric to train for: a name, or one of `directrix.metrics`."""
        return self._with_params(metric=value)

    def setWeightCol(self, value: str) -> Self:
        """Set the column of sample weights; an empty name gives all rows the same weight."""
        return self._with_params(weightCol=value)

    def _fit(self, dataset: Any) -> SparkLinearModel:
        roles: dict[str, Any] = {"target": "label", "features": "features"}
        columns = {
            "features": vectors(dataset, self.getFeaturesCol()),
            "label": numbers(dataset, self.getLabelCol()),
        }
        if self.isDefined(self.weightCol) and self.getWeightCol():
            columns["weight"] = numbers(dataset, self.getWeightCol())
            roles["weight"] = "weight"
        rows = dataset.select(*(column.alias(name) for name, column in columns.items()))
        classifier = self._fit_classifier(rows, roles)
        model = SparkLinearModel(ScoringLine.of(classifier), classifier)
        model._resetUid(self.uid)  # noqa: SLF001 - Spark has no public way to share a uid
        self._copyValues(model)
        return model

    @abstractmethod
    def _fit_classifier(self, rows: Any, roles: dict[str, Any]) -> Any:
        """Return a classifier fitted to these rows."""


class SparkMomentClassifier(_Estimator):
    """`MomentClassifier` as an estimator of Spark ML, for pipelines and cross-validation.

    Parameters
    ----------
    metric : str or Metric
        Metric to train for, by default "error". It is stored as text, so that it can be saved.
    shrinkage : "oas", "cv" or float
        Shrinkage of the covariances, by default "oas".
    learn_from : "rows" or "moments"
        What chooses the candidate: the metric on held-out rows, the default, which reads the rows
        twice (`MomentClassifier.fit_source`), or the risk predicted from moments, which reads them
        once.
    featuresCol : str
        Column of vectors, or of arrays of numbers.
    labelCol : str
        Column of numbers, of two different values; the greater is the positive class.
    weightCol : str, optional
        Column of sample weights.
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
        learn_from: str | None = None,
        featuresCol: str | None = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
        rawPredictionCol: str | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(metric="error", shrinkage="oas", learn_from="rows")
        self.setParams(
            metric=metric,
            shrinkage=shrinkage,
            learn_from=learn_from,
            featuresCol=featuresCol,
            labelCol=labelCol,
            weightCol=weightCol,
            predictionCol=predictionCol,
            probabilityCol=probabilityCol,
            rawPredictionCol=rawPredictionCol,
        )

    def setShrinkage(self, value: str | float) -> Self:
        """Set the shrinkage of the covariances: "oas", "cv", or a share from 0 to 1."""
        return self._with_params(shrinkage=value)

    def setLearnFrom(self, value: str) -> Self:
        """Set what chooses the candidate: "rows" or "moments"."""
        return self._with_params(learnFrom=value)

    def _fit_classifier(self, rows: Any, roles: dict[str, Any]) -> MomentClassifier:
        classifier = MomentClassifier(
            resolve(self.getMetric()),
            shrinkage=self.getShrinkage(),
            learn_from=self.getLearnFrom(),
        )
        if self.getLearnFrom() == "moments":
            fold = HashFolds(_FOLDS) if self.getShrinkage() == "cv" else None
            moments: Any = summarize(rows, fold=fold, **roles)
            classifier.fit_summary(moments)
        else:
            classifier.fit_source(rows, **roles)
        return classifier


class SparkDirectClassifier(_Estimator):
    """`DirectClassifier` as an estimator of Spark ML, fitted in two passes over the rows.

    Parameters
    ----------
    metric : str or Metric
        Metric to train for, by default "error". It is stored as text, so that it can be saved.
    featuresCol : str
        Column of vectors, or of arrays of numbers.
    labelCol : str
        Column of numbers, of two different values; the greater is the positive class.
    weightCol : str, optional
        Column of sample weights.
    predictionCol, probabilityCol, rawPredictionCol : str
        Columns that the model adds.

    Examples
    --------
    ::

        pipeline = Pipeline(stages=[assembler, SparkDirectClassifier(metric="recall@fpr=0.01")])
        pipeline.fit(frame).transform(frame)
    """

    def __init__(
        self,
        *,
        metric: Any = None,
        featuresCol: str | None = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
        rawPredictionCol: str | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(metric="error")
        self.setParams(
            metric=metric,
            featuresCol=featuresCol,
            labelCol=labelCol,
            weightCol=weightCol,
            predictionCol=predictionCol,
            probabilityCol=probabilityCol,
            rawPredictionCol=rawPredictionCol,
        )

    def _fit_classifier(self, rows: Any, roles: dict[str, Any]) -> DirectClassifier:
        return DirectClassifier(resolve(self.getMetric())).fit_source(rows, **roles)
