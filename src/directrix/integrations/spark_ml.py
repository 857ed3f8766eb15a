"""MomentClassifier, DirectClassifier and ScorecardClassifier as estimators of Spark ML.

Rows are summarised on the workers; the models that are fitted (`SparkLinearModel`,
`SparkScorecardModel`) score them by expressions of Spark.
"""
# ruff: noqa: ARG002, N802, N815 - names are those of Spark ML, and keyword_only reads arguments

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from pyspark import keyword_only
from pyspark.ml import Estimator, Predictor
from pyspark.ml.param import TypeConverters
from pyspark.ml.param.shared import HasLabelCol
from pyspark.ml.util import DefaultParamsReadable

from directrix.classifiers import DirectClassifier, MomentClassifier, ScorecardClassifier
from directrix.engines import HashFolds, summarize
from directrix.integrations.spark_models import (
    CardParams,
    LineParams,
    SavedStage,
    ScoringLine,
    SparkLinearModel,
    SparkScorecardModel,
    TrainingParams,
    numbers,
    param,
    setter,
    vectors,
)
from directrix.metrics.table import resolve

_FOLDS = 5


def _lines(value: Any) -> int | str:
    return value if isinstance(value, str) else TypeConverters.toInt(value)


class _TrainingSetters:
    """Setters of the params of a fit, which only estimators have."""

    setMetric = setter("metric", "the metric to train for: a name, or one of `directrix.metrics`")
    setWeightCol = setter("weightCol", "the column of sample weights; an empty name gives none")

    def setParams(self, **params: Any) -> Self:
        """Set several params; those that are None are not changed."""
        return self._with_params(**params)  # type: ignore[attr-defined,no-any-return]


class _LineEstimator(_TrainingSetters, Predictor, LineParams, DefaultParamsReadable, SavedStage):
    """Base class of the estimators of linear models: selects columns, and makes a model."""

    def _fit(self, dataset: Any) -> Any:
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
        return _model_of(self, SparkLinearModel(ScoringLine.of(classifier), classifier))

    @abstractmethod
    def _fit_classifier(self, rows: Any, roles: dict[str, Any]) -> Any:
        """Return a classifier fitted to these rows."""


def _model_of(estimator: Any, model: Any) -> Any:
    """Return a model with the uid and the params of its estimator."""
    model._resetUid(estimator.uid)  # noqa: SLF001 - Spark has no public way to share a uid
    estimator._copyValues(model)  # noqa: SLF001 - likewise
    return model


class SparkMomentClassifier(_LineEstimator):
    """`MomentClassifier` as an estimator of Spark ML, for pipelines and cross-validation.

    ``metric`` is the metric to train for, by default "error"; it is stored as text, so that it can
    be saved. ``shrinkage`` is the shrinkage of the covariances, by default "oas". ``learnFrom`` is
    what chooses the candidate: the metric on held-out rows, the default, which reads the rows twice
    (`MomentClassifier.fit_source`), or the risk predicted from moments, which reads them once.

    ``featuresCol`` is a column of vectors, or of arrays of numbers. ``labelCol`` is a column of
    numbers with two different values; the greater is the positive class. ``weightCol`` is a column
    of sample weights. The model adds the columns ``predictionCol``, ``probabilityCol`` and
    ``rawPredictionCol``.

    Examples
    --------
    ::

        pipeline = Pipeline(stages=[assembler, SparkMomentClassifier(metric=RecallAtFPR(0.01))])
        pipeline.fit(frame).transform(frame)
    """

    setShrinkage = setter("shrinkage", "the shrinkage: 'oas', 'cv', or a share from 0 to 1")
    setLearnFrom = setter("learnFrom", "what chooses the candidate: 'rows' or 'moments'")

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        metric: Any = None,
        shrinkage: str | float | None = None,
        learnFrom: str | None = None,
        featuresCol: str | None = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
        rawPredictionCol: str | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(metric="error", shrinkage="oas", learnFrom="rows")
        self._with_params(**self._input_kwargs)

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


class SparkDirectClassifier(_LineEstimator):
    """`DirectClassifier` as an estimator of Spark ML, fitted in two passes over the rows.

    ``metric`` is the metric to train for, by default "error"; it is stored as text, so that it can
    be saved. The columns (``featuresCol``, ``labelCol``, ``weightCol``, ``predictionCol``,
    ``probabilityCol`` and ``rawPredictionCol``) are as in `SparkMomentClassifier`.

    Examples
    --------
    ::

        pipeline = Pipeline(stages=[assembler, SparkDirectClassifier(metric="recall@fpr=0.01")])
        pipeline.fit(frame).transform(frame)
    """

    @keyword_only  # type: ignore[untyped-decorator]
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
        self._with_params(**self._input_kwargs)

    def _fit_classifier(self, rows: Any, roles: dict[str, Any]) -> DirectClassifier:
        return DirectClassifier(resolve(self.getMetric())).fit_source(rows, **roles)


class SparkScorecardClassifier(
    _TrainingSetters,
    Estimator,
    CardParams,
    TrainingParams,
    HasLabelCol,
    DefaultParamsReadable,
    SavedStage,
):
    """`ScorecardClassifier` as an estimator of Spark ML, fitted in passes over raw columns.

    There are three passes, and one more for a compact card.

    For other parameters of the classifier, call its ``fit_source`` with the data frame and give the
    fitted card to `SparkScorecardModel`.

    ``metric`` is the metric to train for, by default "error"; it is stored as text, so that it can
    be saved. ``learnFrom`` is as in `ScorecardClassifier`, by default "rows". ``points`` is what a
    point is worth; by default the points are those of the trained line. ``maxLines`` is the largest
    number of printed lines; "auto", the default, takes the smallest card that is as good as the
    full one on held-out rows, and "full" keeps the full card. ``refine`` is the number of
    corrections of the candidates by all rows, by default 1; each takes one pass.

    ``inputCols`` are the columns of the card, by default all but those of the label and the weight.
    ``labelCol`` is a column of two labels, by default "label"; the greater is the positive class.
    ``weightCol`` is a column of sample weights. The model adds the columns ``pointsCol``,
    ``rawPredictionCol``, ``probabilityCol`` and ``predictionCol``; see `SparkScorecardModel`.

    Examples
    --------
    ::

        card = SparkScorecardClassifier(metric="recall@fpr=0.01", labelCol="fraud")
        model = Pipeline(stages=[cleaning, card]).fit(frame)
        print(model.stages[-1].classifier.report_)
    """

    learnFrom = param("learnFrom", "what candidates are made from: 'rows' or 'counts'")
    points = param("points", "what a point is worth: 'pdo' or 'integer'")
    maxLines = param("maxLines", "largest number of lines, 'auto' or 'full'", _lines)
    refine = param("refine", "number of corrections by all rows", TypeConverters.toInt)
    setLabelCol = setter("labelCol", "the column of labels")
    setMaxLines = setter(
        "maxLines", "the largest number of printed lines: a number, 'auto', 'full'"
    )

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(  # noqa: PLR0913 - params and columns of Spark ML
        self,
        *,
        metric: Any = None,
        learnFrom: str | None = None,
        points: str | None = None,
        maxLines: int | str | None = None,
        refine: int | None = None,
        inputCols: Sequence[str] | None = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        pointsCol: str | None = None,
        rawPredictionCol: str | None = None,
        probabilityCol: str | None = None,
        predictionCol: str | None = None,
    ) -> None:
        super().__init__()
        defaults = {"learnFrom": "rows", "maxLines": "auto", "refine": 1, "pointsCol": "points"}
        self._setDefault(metric="error", **defaults)
        self._with_params(**self._input_kwargs)

    def getMaxLines(self) -> int | str:
        """Return the largest number of printed lines."""
        lines: int | str = self.getOrDefault(self.maxLines)
        return lines

    def _fit(self, dataset: Any) -> Any:
        label = self.getLabelCol()
        weight = self.getWeightCol() if self.isDefined(self.weightCol) else None
        used = {label, weight}
        names = [name for name in dataset.columns if name not in used]
        if self.isDefined(self.inputCols):
            names = list(self.getInputCols())
        classifier = ScorecardClassifier(
            resolve(self.getMetric()),
            learn_from=self.getOrDefault(self.learnFrom),
            points=self.getOrDefault(self.points) if self.isDefined(self.points) else None,
            max_lines=None if self.getMaxLines() == "full" else self.getMaxLines(),
        )
        classifier.fit_source(
            dataset,
            target=label,
            features=names,
            weight=weight or None,
            refine=self.getOrDefault(self.refine),
        )
        return _model_of(self, SparkScorecardModel(classifier))
