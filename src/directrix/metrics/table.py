"""THE TABLE: every metric, by name. Documentation and law tests are made from it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields

from directrix.metrics.at_point import (
    FPRAtRecall,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.at_quota import PRBEP, PrecisionAtK, RecallAtK
from directrix.metrics.at_threshold import MCC, BalancedError, Cost, Error, FBeta, FromRates, GMean
from directrix.metrics.base import Metric
from directrix.metrics.ranking import AUC, PartialAUC


@dataclass(frozen=True)
class Row:
    """One metric: its name, an example of it, and how the two ways to train for it work.

    Parameters
    ----------
    name : str
        Stands for the metric wherever one is asked for, if it has no parameters to give.
    example : Metric
    from_moments : str
        How it is had from the four numbers of the scores.
    """

    name: str
    example: Metric
    from_moments: str

    @property
    def needs_parameters(self) -> bool:
        """Whether the name does not say it all: a parameter has no default, or another value."""
        return any(
            field.default is MISSING or getattr(self.example, field.name) != field.default
            for field in fields(self.example)  # type: ignore[arg-type]
        )


def _youden(tpr: float, fpr: float, prior: float) -> float:  # noqa: ARG001
    return tpr - fpr


TABLE: tuple[Row, ...] = (
    Row("error", Error(), "closed form, best threshold by a quadratic"),
    Row("cost", Cost(fp=1.0, fn=20.0), "closed form, best threshold by a quadratic"),
    Row("balanced_error", BalancedError(), "closed form, best threshold by a quadratic"),
    Row("auc", AUC(), "closed form"),
    Row("partial_auc", PartialAUC(max_fpr=0.1), "one quadrature"),
    Row("recall_at_fpr", RecallAtFPR(fpr=0.01), "closed form"),
    Row("fpr_at_recall", FPRAtRecall(recall=0.9), "closed form"),
    Row("precision_at_recall", PrecisionAtRecall(recall=0.9), "closed form"),
    Row("recall_at_precision", RecallAtPrecision(precision=0.6), "root of one equation"),
    Row("precision_at_k", PrecisionAtK(k=0.02), "root of one equation"),
    Row("recall_at_k", RecallAtK(k=0.1), "root of one equation"),
    Row("prbep", PRBEP(), "root of one equation"),
    Row("f1", FBeta(), "function of the rates"),
    Row("fbeta", FBeta(beta=2.0), "function of the rates"),
    Row("mcc", MCC(), "function of the rates"),
    Row("gmean", GMean(), "function of the rates"),
    Row("from_rates", FromRates(_youden), "your function of the rates"),
)


def resolve(metric: str | Metric) -> Metric:
    """Return the metric that a name stands for; a metric stands for itself."""
    if isinstance(metric, Metric):
        return metric
    rows = {row.name: row for row in TABLE}
    row = rows.get(metric)
    if row is None:
        known = ", ".join(repr(name) for name, row in rows.items() if not row.needs_parameters)
        msg = f"no metric named {metric!r}: give one of {known}, or an instance of a metric"
        raise ValueError(msg)
    if row.needs_parameters:
        msg = f"{metric!r} needs its parameters: give an instance, for example {row.example!r}"
        raise ValueError(msg)
    return row.example
