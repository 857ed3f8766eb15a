"""THE TABLE: every metric, by name. Documentation and law tests are made from it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from directrix.losses import (
    BetaBernoulli,
    BreakEven,
    Exponential,
    FBetaEnvelope,
    FBetaIsotonic,
    GeneralizedLogistic,
    Hinge,
    Logistic,
    Loss,
    OneMinusTanh,
    PairwiseHinge,
    PairwiseLogistic,
    PairwiseSquare,
    PairwiseSquaredHinge,
    PrecisionTop,
    QuantileSigmoid,
    Ramp,
    RecallTop,
    Sigmoid,
    SquaredHinge,
    TopNegatives,
    ZeroOne,
)
from directrix.metrics import text
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
    losses : tuple of Loss
        What stands for it on all scores, in a paper's way. Without one, and by default with one
        too, the frontier of the rows does.
    """

    name: str
    example: Metric
    from_moments: str
    losses: tuple[Loss, ...] = ()

    @property
    def needs_parameters(self) -> bool:
        """Whether the name does not say it all: a parameter has no default, or another value."""
        return any(
            field.default is MISSING or getattr(self.example, field.name) != field.default
            for field in fields(self.example)  # type: ignore[arg-type]
        )


def _youden(tpr: float, fpr: float, prior: float) -> float:  # noqa: ARG001
    return tpr - fpr


_MARGIN: tuple[Loss, ...] = (
    *(Logistic(), Hinge(), SquaredHinge(), Exponential(), GeneralizedLogistic()),
    *(Sigmoid(), OneMinusTanh(), BetaBernoulli(), Ramp(), ZeroOne()),
)
_PAIRWISE: tuple[Loss, ...] = (
    *(PairwiseHinge(), PairwiseSquaredHinge(), PairwiseSquare(), PairwiseLogistic()),
)

TABLE: tuple[Row, ...] = (
    Row("error", Error(), "closed form, best threshold by a quadratic", _MARGIN),
    Row("cost", Cost(fp=1.0, fn=20.0), "closed form, best threshold by a quadratic"),
    Row("balanced_error", BalancedError(), "closed form, best threshold by a quadratic"),
    Row("auc", AUC(), "closed form", _PAIRWISE),
    Row("partial_auc", PartialAUC(max_fpr=0.1), "one quadrature"),
    Row(
        "recall_at_fpr",
        RecallAtFPR(fpr=0.01),
        "closed form",
        (TopNegatives(fpr=0.01), QuantileSigmoid(fpr=0.01)),
    ),
    Row("fpr_at_recall", FPRAtRecall(recall=0.9), "closed form"),
    Row("precision_at_recall", PrecisionAtRecall(recall=0.9), "closed form"),
    Row("recall_at_precision", RecallAtPrecision(precision=0.6), "root of one equation"),
    Row("precision_at_k", PrecisionAtK(k=0.02), "root of one equation", (PrecisionTop(k=0.02),)),
    Row("recall_at_k", RecallAtK(k=0.1), "root of one equation", (RecallTop(k=0.1),)),
    Row("prbep", PRBEP(), "root of one equation", (BreakEven(),)),
    Row("f1", FBeta(), "function of the rates", (FBetaEnvelope(), FBetaIsotonic())),
    Row("fbeta", FBeta(beta=2.0), "function of the rates"),
    Row("mcc", MCC(), "function of the rates"),
    Row("gmean", GMean(), "function of the rates"),
    Row("from_rates", FromRates(_youden), "your function of the rates"),
)


def resolve(metric: str | Metric) -> Metric:
    """Return the metric that a name or a text stands for; a metric stands for itself.

    Examples
    --------
    >>> resolve("recall@fpr=0.01")
    RecallAtFPR(fpr=0.01)
    >>> resolve("cost(fp=1, fn=20)")
    Cost(fp=1, fn=20)
    """
    if isinstance(metric, Metric):
        return metric
    given: Any = metric
    if not isinstance(given, str):
        msg = (
            "a metric is a name, a text such as 'recall@fpr=0.01', or one of directrix.metrics, "
            f"not {metric!r}"
        )
        raise TypeError(msg)
    rows = {row.name: row for row in TABLE}
    row = rows.get(metric)
    if row is None:
        kinds = {name: type(row.example) for name, row in rows.items()}
        found = text.read(metric, kinds | {kind.__name__: kind for kind in kinds.values()})
        if found is not None:
            return found
        known = ", ".join(repr(name) for name, row in rows.items() if not row.needs_parameters)
        msg = (
            f"no metric named {metric!r}: give one of {known}, a text such as 'recall@fpr=0.01' or "
            "'cost(fp=1, fn=20)', or an instance of a metric"
        )
        raise ValueError(msg)
    if row.needs_parameters:
        msg = f"{metric!r} needs its parameters: give an instance, for example {row.example!r}"
        raise ValueError(msg)
    return row.example


def metric_text(metric: Any) -> str:
    """Return the text of a metric, which `resolve` reads; a name stands for itself.

    Examples
    --------
    >>> from directrix.metrics import RecallAtFPR
    >>> metric_text(RecallAtFPR(0.01))
    'RecallAtFPR(fpr=0.01)'
    """
    if isinstance(metric, str):
        resolve(metric)  # says what is wrong with it
        return metric
    if not isinstance(metric, Metric):
        msg = f"a metric is a name or one of directrix.metrics, not {type(metric).__name__}"
        raise TypeError(msg)
    found = text.written(metric)
    if not _is_text_of(found, metric):
        msg = (
            f"{metric!r} cannot be written down as text, so it could not be saved: give a metric "
            "of directrix.metrics whose parameters are numbers"
        )
        raise ValueError(msg)
    return found


def _is_text_of(found: str, metric: Metric) -> bool:
    try:
        return resolve(found) == metric
    except (TypeError, ValueError):
        return False


def resolve_loss(loss: str | Loss, metric: Metric) -> Loss:
    """Return the loss that a name stands for, with the parameters of the metric where it has them.

    Parameters
    ----------
    loss : str or Loss
        A loss stands for itself.
    metric : Metric
        Of "top_negatives" for ``RecallAtFPR(0.05)`` the rate is 0.05.
    """
    if isinstance(loss, Loss):
        return loss
    known = {each.name: each for row in TABLE for each in row.losses}
    if loss not in known:
        names = ", ".join(repr(name) for name in known)
        msg = f"no loss named {loss!r}: give one of {names}, or an instance of a loss"
        raise ValueError(msg)
    found: Any = known[loss]
    shared = {
        field.name: getattr(metric, field.name)
        for field in fields(found)
        if hasattr(metric, field.name)
    }
    named: Loss = replace(found, **shared)
    return named
