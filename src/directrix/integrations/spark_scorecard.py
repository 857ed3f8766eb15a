"""Scorecards of Spark ML: an estimator, and a model that scores raw columns by expressions."""
# ruff: noqa: N802 - names are those of Spark ML

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasInputCols,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)
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
from pyspark.sql import functions as F  # noqa: N812 - the usual name of the module

from directrix.classifiers import ScorecardClassifier
from directrix.engines.sql_dialects import DIALECTS
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.export import load, save, to_sql
from directrix.integrations.spark_columns import ColumnArithmetic, probability_vector
from directrix.metrics.table import metric_text, resolve

_FILE = "model_file"  # entry of a saved stage: the bytes of the model file, in base64
_SPARK = DIALECTS["spark"]


def _param(name: str, doc: str, converter: Any) -> Any:
    return Param(Params._dummy(), name, doc, converter)  # noqa: SLF001 - Spark defines params so


class CardParams(HasInputCols, HasRawPredictionCol, HasProbabilityCol, HasPredictionCol):
    """Params that the estimator and its model share."""

    pointsCol = _param(  # noqa: N815
        "pointsCol", "column of points; with an empty name there is none", TypeConverters.toString
    )

    def getPointsCol(self) -> str:
        """Return the column of points."""
        return str(self.getOrDefault(self.pointsCol))

    def setInputCols(self, value: Sequence[str]) -> Self:
        """Set the columns of the data frame that the card reads."""
        return self._with_params(inputCols=list(value))

    def setPointsCol(self, value: str) -> Self:
        """Set the column of points; with an empty name there is none."""
        return self._with_params(pointsCol=value)

    def setRawPredictionCol(self, value: str) -> Self:
        """Set the column of scores; with an empty name there is none."""
        return self._with_params(rawPredictionCol=value)

    def setProbabilityCol(self, value: str) -> Self:
        """Set the column of probabilities; with an empty name there is none."""
        return self._with_params(probabilityCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """Set the column of labels; with an empty name there is none."""
        return self._with_params(predictionCol=value)

    def _with_params(self, **params: Any) -> Self:
        self._set(**{name: value for name, value in params.items() if value is not None})
        return self


class SparkScorecardModel(Model, CardParams, MLReadable, MLWritable):
    """A fitted `ScorecardClassifier` as a stage of Spark ML: raw columns in, points out.

    Missing values, special values, and texts that training rows did not have are scored as by the
    classifier, and no row passes through Python. A date without a time zone is taken in the time
    zone of the session. A saved stage contains the model file of the classifier.

    Parameters
    ----------
    classifier : ScorecardClassifier, fitted
    inputCols : list of str, optional
        The columns of the data frame, in the order of those of the classifier; by default they have
        the names that it was fitted with.
    pointsCol : str
        Column of the points, by default "points": a number, or with more than two classes an array.
    rawPredictionCol, probabilityCol : str
        Columns of vectors with an entry for each class. With two classes the raw prediction is the
        score, how far the points are on the positive side of the cutoff, and the score with the
        other sign before it.
    predictionCol : str
        Column of labels: doubles if the labels are numbers or booleans, otherwise texts.

    Columns with an empty name are not added.

    Examples
    --------
    ::

        card = ScorecardClassifier("recall@fpr=0.01").fit(sample.toPandas(), sample_labels)
        pipeline = Pipeline(stages=[cleaning, SparkScorecardModel(card)]).fit(frame)
        pipeline.transform(frame).select("points", "probability", "prediction")
        pipeline.save("card.pipeline")
    """

    def __init__(
        self,
        classifier: Any,
        *,
        inputCols: Sequence[str] | None = None,
        pointsCol: str | None = None,
        rawPredictionCol: str | None = None,
        probabilityCol: str | None = None,
        predictionCol: str | None = None,
    ) -> None:
        if not isinstance(classifier, ScorecardClassifier):
            msg = (
                f"SparkScorecardModel takes a fitted ScorecardClassifier, not "
                f"{type(classifier).__name__}; a linear classifier is fitted by the estimators of "
                "directrix.integrations.spark_ml"
            )
            raise TypeError(msg)
        super().__init__()
        self.classifier = classifier
        self._setDefault(pointsCol="points")
        self._with_params(
            inputCols=inputCols,
            pointsCol=pointsCol,
            rawPredictionCol=rawPredictionCol,
            probabilityCol=probabilityCol,
            predictionCol=predictionCol,
        )

    def _transform(self, dataset: Any) -> Any:
        # Temporary columns, or points and scores would be computed again for every column of them.
        cards, names = self.classifier.cards_, self._columns(dataset)
        point_names, score_names = (
            [f"{self.uid}_{noun}_{k}" for k in range(len(cards))] for noun in ("points", "score")
        )
        written = to_sql(self.classifier, dialect="spark", columns=names).card_points
        sums = [F.expr(points).cast("double") for points in written]
        points, scores = list(map(F.col, point_names)), list(map(F.col, score_names))
        two = len(cards) == 1
        raw = [-scores[0], scores[0]] if two else scores
        name, classes = self.getProbabilityCol(), self.classifier.classes_.tolist()
        columns = {
            self.getPointsCol(): points[0] if two else F.array(*points),
            self.getRawPredictionCol(): array_to_vector(F.array(*raw)),
            name: probability_vector(self._probabilities(scores), classes, name) if name else None,
            self.getPredictionCol(): self._prediction(scores),
        }
        scored = dataset.withColumns(dict(zip(point_names, sums, strict=True)))
        scored = scored.withColumns(dict(zip(score_names, self._scores(points), strict=True)))
        wanted = {name: expression for name, expression in columns.items() if name}
        return scored.withColumns(wanted).drop(*point_names, *score_names)

    def _columns(self, dataset: Any) -> list[str]:
        """Return the columns of a data frame that the cards read."""
        bins = self.classifier.cards_[0].bins
        if self.isDefined(self.inputCols):
            names = list(self.getInputCols())
        elif hasattr(self.classifier, "feature_names_in_"):
            names = [column.name for column in bins]
        else:
            msg = "the classifier was fitted without names of columns: give inputCols=[...]"
            raise ValueError(msg)
        if len(names) != len(bins):
            msg = f"inputCols must be {len(bins)} names, one for each column, not {len(names)}"
            raise ValueError(msg)
        for name in names:
            if name not in dataset.columns:
                raise ColumnNotFoundError(name, dataset.columns)
        return names

    def _scores(self, points: Sequence[Any]) -> list[Any]:
        """Return the scores at points; with more than two classes the log-odds of each."""
        scores = []
        for card, value in zip(self.classifier.cards_, points, strict=True):
            above = value - card.cutoff
            scores.append(above if card.higher_is_last else -above)
        if len(scores) == 1:
            return scores
        sigmoids = self.classifier.scoring_formula().one_vs_rest
        arithmetic = ColumnArithmetic()
        return [
            sigmoid.log_odds(s, arithmetic) for sigmoid, s in zip(sigmoids, scores, strict=True)
        ]

    def _probabilities(self, scores: Sequence[Any]) -> list[Any]:
        response = self.classifier.scoring_formula().response
        if response is not None:
            positive = response.probability(scores[0], ColumnArithmetic())
            return [1.0 - positive, positive]
        # Far out all sigmoids may be too small for a float; their ratios are not.
        logs = [F.least(s, F.lit(0.0)) - F.log1p(F.exp(-F.abs(s))) for s in scores]
        parts = [F.exp(part - F.greatest(*logs)) for part in logs]
        total = sum(parts[1:], parts[0])
        return [part / total for part in parts]

    def _prediction(self, scores: Sequence[Any]) -> Any:
        labels = [
            F.lit(label if isinstance(label, str) else float(label))
            for label in self.classifier.classes_.tolist()
        ]
        if len(scores) == 1:
            return F.when(scores[0] > 0, labels[1]).otherwise(labels[0])
        largest, prediction = F.greatest(*scores), labels[-1]
        for label, score in reversed(list(zip(labels, scores, strict=True))):
            prediction = F.when(score == largest, label).otherwise(prediction)
        return prediction

    def write(self) -> Any:
        """Return a writer that saves this stage."""
        return _StageWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader that loads a stage."""
        return _StageReader()


class SparkScorecardClassifier(
    Estimator, CardParams, HasLabelCol, HasWeightCol, DefaultParamsReadable, DefaultParamsWritable
):
    """`ScorecardClassifier` as an estimator of Spark ML, fitted in three passes over raw columns.

    For other parameters of the classifier, call its ``fit_source`` with the data frame and give the
    fitted card to `SparkScorecardModel`.

    Parameters
    ----------
    metric : str or Metric
        Metric to train for, by default "error". It is stored as text, so that it can be saved.
    learnFrom : "rows" or "counts"
        As in `ScorecardClassifier`, by default "rows".
    points : "pdo" or "integer", optional
        What a point is worth; by default points are those of the trained line.
    refine : int
        Corrections of the candidates by all rows, by default 1, each with one pass.
    inputCols : list of str, optional
        Columns of the card, by default all but those of the label and the weight.
    labelCol : str
        Column of two labels, by default "label"; the greater is the positive class.
    weightCol : str, optional
        Column of sample weights.
    pointsCol, rawPredictionCol, probabilityCol, predictionCol : str
        Columns that the model adds; see `SparkScorecardModel`.

    Examples
    --------
    ::

        card = SparkScorecardClassifier(metric="recall@fpr=0.01", labelCol="fraud")
        model = Pipeline(stages=[cleaning, card]).fit(frame)
        print(model.stages[-1].classifier.report_)
    """

    metric = _param(
        "metric", "metric to train for: a name, or one of directrix.metrics", metric_text
    )
    learnFrom = _param(  # noqa: N815
        "learnFrom", "what candidates are made from: 'rows' or 'counts'", TypeConverters.toString
    )
    points = _param("points", "what a point is worth: 'pdo' or 'integer'", TypeConverters.toString)
    refine = _param("refine", "number of corrections by all rows", TypeConverters.toInt)

    def __init__(  # noqa: PLR0913 - params and columns of Spark ML
        self,
        *,
        metric: Any = None,
        learnFrom: str | None = None,
        points: str | None = None,
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
        self._setDefault(metric="error", learnFrom="rows", refine=1, pointsCol="points")
        self._with_params(
            metric=metric,
            learnFrom=learnFrom,
            points=points,
            refine=refine,
            inputCols=inputCols,
            labelCol=labelCol,
            weightCol=weightCol,
            pointsCol=pointsCol,
            rawPredictionCol=rawPredictionCol,
            probabilityCol=probabilityCol,
            predictionCol=predictionCol,
        )

    def setMetric(self, value: Any) -> Self:
        """Set the metric to train for: a name, or one of `directrix.metrics`."""
        return self._with_params(metric=value)

    def setLabelCol(self, value: str) -> Self:
        """Set the column of labels."""
        return self._with_params(labelCol=value)

    def setWeightCol(self, value: str) -> Self:
        """Set the column of sample weights; an empty name gives all rows the same weight."""
        return self._with_params(weightCol=value)

    def _fit(self, dataset: Any) -> SparkScorecardModel:
        label = self.getLabelCol()
        weight = self.getWeightCol() if self.isDefined(self.weightCol) else None
        used = {label, weight}
        names = [name for name in dataset.columns if name not in used]
        if self.isDefined(self.inputCols):
            names = list(self.getInputCols())
        classifier = ScorecardClassifier(
            resolve(self.getOrDefault(self.metric)),
            learn_from=self.getOrDefault(self.learnFrom),
            points=self.getOrDefault(self.points) if self.isDefined(self.points) else None,
        )
        classifier.fit_source(
            dataset,
            target=label,
            features=names,
            weight=weight or None,
            refine=self.getOrDefault(self.refine),
        )
        model = SparkScorecardModel(classifier)
        model._resetUid(self.uid)  # noqa: SLF001 - Spark has no public way to share a uid
        self._copyValues(model)
        return model


class _StageWriter(MLWriter):
    """Saves params as JSON, like every stage of Spark, and the model file with them."""

    def __init__(self, instance: SparkScorecardModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            save(self.instance.classifier, file)
            content = b64encode(file.read_bytes()).decode()
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession, {_FILE: content})


class _StageReader(MLReader):
    def load(self, path: str) -> SparkScorecardModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            file.write_bytes(b64decode(metadata[_FILE]))
            stage = SparkScorecardModel(load(file))
        stage._resetUid(metadata["uid"])  # noqa: SLF001 - Spark loads its stages so
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage
