"""A linear model as expressions of Spark columns, and checks of the columns it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F  # noqa: N812 - the usual name of the module
from pyspark.sql.types import ArrayType, BooleanType, NumericType

from directrix.classifiers.labels import output_names
from directrix.classifiers.scoring import Sigmoid
from directrix.exceptions.columns import ColumnNotFoundError, NotNumericError
from directrix.models.calibration import Calibration

if TYPE_CHECKING:
    from directrix.classifiers import MomentClassifier


@dataclass(frozen=True)
class ScoringLine:
    """The numbers that score rows: all that a saved Spark model keeps.

    Parameters
    ----------
    coefficients : list of float
    intercept : float
    classes : list of float
        The label of the negative class, and that of the positive class.
    calibration : Calibration
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
        return sigmoid.probability(score, ColumnArithmetic())

    def label(self, score: Any) -> Any:
        """Return the label predicted at a column of scores; NaN stays NaN."""
        negative, positive = self.classes
        return F.when(F.isnan(score), score).when(score > 0, positive).otherwise(negative)


def probability_vector(probabilities: Sequence[Any], classes: Sequence[Any], name: str) -> Any:
    """Return a column of vectors whose entries are named after the classes, as metadata.

    Parameters
    ----------
    probabilities : sequence of Column
        One for each class.
    classes : sequence
        Labels.
    name : str
        Of the column.
    """
    names = output_names("probability", classes)
    attributes = [{"idx": k, "name": entry} for k, entry in enumerate(names)]
    metadata = {"ml_attr": {"attrs": {"numeric": attributes}, "num_attrs": len(names)}}
    return array_to_vector(F.array(*probabilities)).alias(name, metadata=metadata)


class ColumnArithmetic:
    """Arithmetic whose values are Spark columns."""

    def add(self, value: Any, number: float) -> Any:
        """Return the value plus a number."""
        return number + value

    def multiply(self, value: Any, number: float) -> Any:
        """Return the value times a number."""
        return number * value

    def slopes(self, value: Any, below: float, above: float) -> Any:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        return F.when(value < 0, below).otherwise(above) * value

    def at_most(self, value: Any, number: float) -> Any:
        """Return the lesser of the value and a number."""
        return F.least(value, F.lit(number))

    def sigmoid(self, value: Any) -> Any:
        """Return 1 / (1 + exp(-value)); in Spark an exponential that overflows is infinite."""
        return 1.0 / (1.0 + F.exp(-value))


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
