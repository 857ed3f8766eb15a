"""Fitted linear classifiers and scorecards as models of Spark ML, and the params of their stages.

Rows are scored by expressions of Spark: no row passes through Python.
"""
# ruff: noqa: N802, N815 - names are those of Spark ML

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from pyspark.ml import Model, PredictionModel
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.linalg import DenseVector, VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasInputCols,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F  # noqa: N812 - the usual name of the module
from pyspark.sql.types import ArrayType, BooleanType, NumericType
from pyspark.sql.utils import is_remote

from directrix.classifiers import MomentClassifier, ScorecardClassifier
from directrix.classifiers.labels import output_names
from directrix.classifiers.scoring import Sigmoid
from directrix.exceptions.columns import ColumnNotFoundError, NotNumericError
from directrix.export import load, save, to_sql
from directrix.metrics.table import metric_text
from directrix.models.operating_point import Calibration

_LINE = "line"  # entry of a saved linear model: the numbers that score rows
_FILE = "model_file"  # entry of a saved card: the bytes of the model file, in base64

# ── Params that estimators and models share ───────────────────────────────────────────────────────


def _shrinkage(value: Any) -> str | float:
    return value if isinstance(value, str) else TypeConverters.toFloat(value)


def param(name: str, doc: str, converter: Any = TypeConverters.toString) -> Any:
    """Return a param of a stage."""
    return Param(Params._dummy(), name, doc, converter)  # noqa: SLF001 - Spark defines params so


def setter(name: str, doc: str) -> Any:
    """Return a method that sets a param."""

    def set_param(self: Any, value: Any) -> Any:
        return self._with_params(**{name: value})

    set_param.__doc__ = f"Set {doc}."
    return set_param


def column_setter(name: str, values: str) -> Any:
    """Return a method that sets the name of an output column."""
    return setter(name, f"the column of {values}; with an empty name there is none")


class OutputParams(HasRawPredictionCol, HasProbabilityCol):
    """Params of every stage: the columns that a model adds."""

    setRawPredictionCol = column_setter("rawPredictionCol", "scores")
    setProbabilityCol = column_setter("probabilityCol", "probabilities")

    def _with_params(self, **params: Any) -> Self:
        """Set several params; those that are None are not changed."""
        self._set(**{name: value for name, value in params.items() if value is not None})
        return self


class TrainingParams(HasWeightCol):
    """Params of every fit: the metric to train for, and a column of sample weights."""

    metric = param(
        "metric", "metric to train for: a name, or one of directrix.metrics", metric_text
    )

    def getMetric(self) -> str:
        """Return the metric, as text."""
        return str(self.getOrDefault(self.metric))


class LineParams(OutputParams, TrainingParams):
    """Params that an estimator of a linear model and its model share."""

    shrinkage = param(
        "shrinkage", "shrinkage of covariances: 'oas', 'cv', or a share from 0 to 1", _shrinkage
    )
    learnFrom = param("learnFrom", "what chooses the candidate: 'rows' or 'moments'")

    def getShrinkage(self) -> str | float:
        """Return the shrinkage of the covariances."""
        shrinkage: str | float = self.getOrDefault(self.shrinkage)
        return shrinkage

    def getLearnFrom(self) -> str:
        """Return what chooses the candidate."""
        return str(self.getOrDefault(self.learnFrom))


class CardParams(OutputParams, HasInputCols, HasPredictionCol):
    """Params that an estimator of a scorecard and its model share."""

    pointsCol = param("pointsCol", "column of points; with an empty name there is none")
    setPointsCol = column_setter("pointsCol", "points")
    setPredictionCol = column_setter("predictionCol", "labels")

    def getPointsCol(self) -> str:
        """Return the column of points."""
        return str(self.getOrDefault(self.pointsCol))

    def setInputCols(self, value: Sequence[str]) -> Self:
        """Set the columns of the data frame that the card reads."""
        return self._with_params(inputCols=list(value))


# ── Models: scores and probabilities as expressions of Spark columns ──────────────────────────────


class SavedStage(MLWritable):
    """A stage that is saved as one JSON text: its params, and the entries of its state."""

    def _state(self) -> dict[str, Any]:
        """Return the entries that are saved beside the params."""
        return {}

    def write(self) -> Any:
        """Return a writer that saves this stage."""
        return _StageWriter(self)


class _SavedModel(MLReadable, SavedStage):
    """A fitted model, whose state is what scores rows."""

    @classmethod
    @abstractmethod
    def _of_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the model of the entries that were saved."""

    @classmethod
    def read(cls) -> Any:
        """Return a reader that loads a model."""
        return _ModelReader(cls)


class _StageWriter(MLWriter):
    def __init__(self, instance: Any) -> None:
        super().__init__()
        self.instance = instance

    def save(self, path: str) -> None:
        """Save the stage; in Spark Connect, which deletes no folders, its text is overwritten."""
        if self.shouldOverwrite and not is_remote():
            self._handleOverwrite(path)
        self.saveImpl(path)

    def saveImpl(self, path: str) -> None:
        state, session = self.instance._state(), self.sparkSession  # noqa: SLF001 - of this module
        # Spark's own saveMetadata does not overwrite.
        text = DefaultParamsWriter._get_metadata_to_save(self.instance, session, state)  # noqa: SLF001
        frame = session.createDataFrame([(text,)], schema=["value"]).coalesce(1)
        frame.write.mode("overwrite" if self.shouldOverwrite else "error").text(f"{path}/metadata")


class _ModelReader(MLReader):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        model = self.model._of_state(metadata)  # noqa: SLF001 - of this module
        model._resetUid(metadata["uid"])  # noqa: SLF001 - Spark loads its stages so
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _with_outputs(
    model: Any,
    scored: Any,
    raw: Sequence[Any],
    probabilities: Sequence[Any],
    classes: Sequence[Any],
    prediction: Any,
    before: Mapping[str, Any] | None = None,
) -> Any:
    """Return a data frame with the columns of a model, those `before` the scores by their name.

    Entries of the vectors of probabilities are named after the classes, as metadata. A column with
    an empty name is not added.
    """
    names, name = output_names("probability", classes), model.getProbabilityCol()
    attributes = [{"idx": k, "name": entry} for k, entry in enumerate(names)]
    metadata = {"ml_attr": {"attrs": {"numeric": attributes}, "num_attrs": len(names)}}
    vector = array_to_vector(F.array(*probabilities))
    columns = {
        **(before or {}),
        model.getRawPredictionCol(): array_to_vector(F.array(*raw)),
        name: vector.alias(name, metadata=metadata) if name else None,
        model.getPredictionCol(): prediction,
    }
    return scored.withColumns({name: column for name, column in columns.items() if name})


class _ColumnArithmetic:
    """`Arithmetic` whose values are Spark columns; an exponential that overflows is infinite."""

    def add(self, value: Any, number: float) -> Any:
        return number + value

    def multiply(self, value: Any, number: float) -> Any:
        return number * value

    def slopes(self, value: Any, below: float, above: float) -> Any:
        return F.when(value < 0, below).otherwise(above) * value

    def at_most(self, value: Any, number: float) -> Any:
        return F.least(value, F.lit(number))

    def sigmoid(self, value: Any) -> Any:
        return 1.0 / (1.0 + F.exp(-value))


@dataclass(frozen=True)
class ScoringLine:
    """The numbers that score rows: all that a saved Spark model keeps.

    The first of the classes is the label of the negative one.
    """

    coefficients: list[float]
    intercept: float
    classes: list[float]
    calibration: Calibration

    @classmethod
    def of(cls, classifier: MomentClassifier) -> ScoringLine:
        """Return the numbers of a fitted classifier of two classes."""
        return cls(
            classifier.coef_[0].tolist(),
            float(classifier.intercept_[0]),
            [float(label) for label in classifier.classes_],
            classifier.calibration_,
        )

    def score(self, features: Any) -> Any:
        """Return the score of an array column, as a column."""
        # As SQL text: as columns it would take two calls into the JVM for every number.
        numbers = ", ".join(f"{coefficient!r}D" for coefficient in self.coefficients)
        weights = F.expr(f"array({numbers})")
        products = F.zip_with(features, weights, lambda x, weight: x * weight)
        total = F.aggregate(products, F.lit(0.0), lambda sum_, term: sum_ + term)
        message = f"a vector of features does not have {len(self.coefficients)} values"
        # zip_with fills the shorter array with nulls, and then the sum is null.
        return F.coalesce(total + self.intercept, F.raise_error(F.lit(message)))

    def probability(self, score: Any) -> Any:
        """Return the probability of the positive class at a column of scores."""
        calibration = self.calibration
        sigmoid = Sigmoid(calibration.offset, calibration.below, calibration.above)
        return sigmoid.probability(score, _ColumnArithmetic())

    def label(self, score: Any) -> Any:
        """Return the label predicted at a column of scores; NaN stays NaN."""
        negative, positive = self.classes
        return F.when(F.isnan(score), score).when(score > 0, positive).otherwise(negative)


class SparkLinearModel(PredictionModel, LineParams, _SavedModel):
    """A fitted linear model of Spark ML, made by the estimators of `spark_ml`.

    ``line`` holds the coefficients and the other numbers that score rows. ``classifier`` is the
    fitted classifier with its operating point; it is None in a loaded model, which has only
    ``line``.
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
        score = F.col(score_column)
        positive = self.line.probability(score)
        features = arrays(dataset, self.getFeaturesCol())
        scored = _with_outputs(
            self,
            dataset.withColumn(score_column, self.line.score(features)),
            [-score, score],
            [1.0 - positive, positive],
            self.line.classes,
            self.line.label(score),
        )
        return scored.drop(score_column)

    def _state(self) -> dict[str, Any]:
        return {_LINE: asdict(self.line)}

    @classmethod
    def _of_state(cls, state: Mapping[str, Any]) -> Self:
        saved = dict(state[_LINE])
        return cls(ScoringLine(calibration=Calibration(**saved.pop("calibration")), **saved))


class SparkScorecardModel(Model, CardParams, _SavedModel):
    """A fitted `ScorecardClassifier` as a stage of Spark ML: raw columns in, points out.

    Missing values, special values, and texts that training rows did not have are scored as by the
    classifier, and no row passes through Python. A date without a time zone is taken in the time
    zone of the session. A saved stage contains the model file of the classifier.

    ``inputCols`` are the columns of the data frame, in the order of those of the classifier; by
    default they have the names that it was fitted with. ``pointsCol`` is the column of the points,
    by default "points"; it holds a number, or an array with more than two classes.
    ``rawPredictionCol`` and ``probabilityCol`` are columns of vectors with an entry for each class.
    With two classes the raw prediction is the score, how far the points are on the positive side of
    the cutoff, preceded by the score with the other sign. ``predictionCol`` is the column of
    labels, which are doubles if the labels of the classifier are numbers or booleans, and texts
    otherwise.

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
        scored = dataset.withColumns(dict(zip(point_names, sums, strict=True)))
        scored = scored.withColumns(dict(zip(score_names, self._scores(points), strict=True)))
        scored = _with_outputs(
            self,
            scored,
            [-scores[0], scores[0]] if two else scores,
            self._probabilities(scores),
            self.classifier.classes_.tolist(),
            self._prediction(scores),
            {self.getPointsCol(): points[0] if two else F.array(*points)},
        )
        return scored.drop(*point_names, *score_names)

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
        arithmetic = _ColumnArithmetic()
        return [
            sigmoid.log_odds(s, arithmetic) for sigmoid, s in zip(sigmoids, scores, strict=True)
        ]

    def _probabilities(self, scores: Sequence[Any]) -> list[Any]:
        response = self.classifier.scoring_formula().response
        if response is not None:
            positive = response.probability(scores[0], _ColumnArithmetic())
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

    def _state(self) -> dict[str, Any]:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            save(self.classifier, file)
            return {_FILE: b64encode(file.read_bytes()).decode()}

    @classmethod
    def _of_state(cls, state: Mapping[str, Any]) -> Self:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            file.write_bytes(b64decode(state[_FILE]))
            return cls(load(file))


# ── Columns of a data frame ───────────────────────────────────────────────────────────────────────


def vectors(dataset: Any, name: str) -> Any:
    """Return a column of vectors or arrays; raise TypeError for a column of another type."""
    data_type = _data_type(dataset, name)
    if not isinstance(data_type, VectorUDT | ArrayType):
        msg = (
            f"column {name!r} holds {data_type.simpleString()}, not vectors: put the features in "
            "one column with VectorAssembler"
        )
        raise TypeError(msg)
    return _column(name)


def arrays(dataset: Any, name: str) -> Any:
    """Return a column of vectors as a column of arrays."""
    column = vectors(dataset, name)
    return vector_to_array(column) if isinstance(_data_type(dataset, name), VectorUDT) else column


def numbers(dataset: Any, name: str) -> Any:
    """Return a column as doubles, like the estimators of Spark; raise TypeError for text."""
    data_type = _data_type(dataset, name)
    if not isinstance(data_type, NumericType | BooleanType):
        raise NotNumericError([name], [data_type.simpleString()], "use StringIndexer")
    return _column(name).cast("double")


def _data_type(dataset: Any, name: str) -> Any:
    if name not in dataset.columns:
        raise ColumnNotFoundError(name, dataset.columns)
    return dataset.schema[name].dataType


def _column(name: str) -> Any:
    return F.col(f"`{name.replace('`', '``')}`")
