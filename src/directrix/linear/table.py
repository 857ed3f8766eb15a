"""Losses by name, each beside the metric that it stands for in training."""

from __future__ import annotations

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.break_even import BreakEven
from directrix.linear.loss import Loss
from directrix.linear.margin import Exponential, Hinge, Logistic, Sigmoid, SquaredHinge, ZeroOne
from directrix.linear.pairwise import PairwiseHinge, SmoothedROCArea
from directrix.linear.ramp import Ramp
from directrix.metrics import AUC, PRBEP, Error
from directrix.metrics.base import Metric

#: A metric, and the losses that can be minimised in its place.
LOSSES: tuple[tuple[Metric, tuple[Loss, ...]], ...] = (
    (
        Error(),
        (
            *(Logistic(), Hinge(), SquaredHinge(), Exponential(), Sigmoid(), BetaBernoulli()),
            *(Ramp(), ZeroOne()),
        ),
    ),
    (AUC(), (PairwiseHinge(), SmoothedROCArea())),
    (PRBEP(), (BreakEven(),)),
)


def resolve_loss(loss: str | Loss) -> Loss:
    """Return the loss for a name; a loss is returned as it is."""
    if isinstance(loss, Loss):
        return loss
    known = {listed.name: listed for _, losses in LOSSES for listed in losses}
    if loss not in known:
        names = ", ".join(repr(name) for name in known)
        msg = f"no loss named {loss!r}: give one of {names}, or an instance of a loss"
        raise ValueError(msg)
    return known[loss]


def metric_for(loss: Loss) -> Metric | None:
    """Return the metric that a loss stands for; None if it is not listed.

    Examples
    --------
    >>> from directrix.linear import BreakEven
    >>> metric_for(BreakEven(kappa=0.1))
    PRBEP()
    """
    for metric, losses in LOSSES:
        if type(loss.base) in {type(listed) for listed in losses}:
            return metric
    return None
