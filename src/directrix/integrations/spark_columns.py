"""A line as Spark columns: what scores rows there, and which columns it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls them
from pyspark.sql.types import ArrayType, BooleanType, NumericType

from directrix.classifiers.fitting.calibration import Calibration
from directrix.exceptions import ColumnNotFoundError, NotNumericError

if TYPE_CHECKING:
    from directrix.classifiers import MomentClassifier


@dataclass(frozen=True)
class ScoringLine:
    """What scores rows: all that a saved model keeps.

    Parameters
    ----------
    coefficients : list of float
    intercept : float
    classes : list of float
        The label of the negatives, and that of the positives.
    calibration : Calibration
    """

    coefficients: list[float]
    intercept: float
    classes: list[float]
    calibration: Calibration

    @classmethod
    def of(cls, classifier: MomentClassifier) -> ScoringLine:
        """Take it from a fitted classifier."""
        return cls(
            classifier.coef_[0].tolist(),
            float(classifier.intercept_[0]),
            [float(label) for label in classifier.classes_],
            classifier.calibration_,
        )

    def score(self, features: Any) -> Any:
        """Return the score of an array column, as a column."""
        # As one SQL text: column by column it would be two calls into the JVM for each number.
        weights = F.expr(f"array({', '.join(f'{each!r}D' for each in self.coefficients)})")
        products = F.zip_with(features, weights, lambda x, weight: x * weight)
        total = F.aggregate(products, F.lit(0.0), lambda sum_, term: sum_ + term)
        words = f"a vector of features does not have {len(self.coefficients)} values"
        # The shorter of two arrays is filled with nulls, which make the sum one.
        return F.coalesce(total + self.intercept, F.raise_error(F.lit(words)))

    def probability(self, score: Any) -> Any:
        """Return the probability of the positive class at a column of scores."""
        slope = F.when(score < 0, self.calibration.below).otherwise(self.calibration.above)
        return 1.0 / (1.0 + F.exp(-(self.calibration.offset + slope * score)))

    def label(self, score: Any) -> Any:
        """Return the label predicted at a column of scores; NaN stays NaN."""
        negative, positive = self.classes
        return F.when(F.isnan(score), score).when(score > 0, positive).otherwise(negative)


def vectors(dataset: Any, name: str) -> Any:
    """Return a column of vectors or arrays, or say how to make one."""
    kind = _type_of(dataset, name)
    if not isinstance(kind, VectorUDT | ArrayType):
        msg = (
            f"column {name!r} holds {kind.simpleString()}, not vectors: put the features in one "
            "column with VectorAssembler"
        )
        raise TypeError(msg)
    return _column(name)


def arrays(dataset: Any, name: str) -> Any:
    """Return a column of vectors as arrays."""
    column = vectors(dataset, name)
    return vector_to_array(column) if isinstance(_type_of(dataset, name), VectorUDT) else column


def numbers(dataset: Any, name: str) -> Any:
    """Return a column as doubles, as Spark's own estimators do, or say how to make numbers."""
    kind = _type_of(dataset, name)
    if not isinstance(kind, NumericType | BooleanType):
        raise NotNumericError(name, kind.simpleString(), "use StringIndexer")
    return _column(name).cast("double")


def _type_of(dataset: Any, name: str) -> Any:
    if name not in dataset.columns:
        raise ColumnNotFoundError(name, dataset.columns)
    return dataset.schema[name].dataType


def _column(name: str) -> Any:
    return F.col(f"`{name.replace('`', '``')}`")
