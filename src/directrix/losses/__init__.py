"""Losses: metrics of all n scores, smoothed so that they can be minimised."""

import sys
from typing import TYPE_CHECKING, Any

from directrix._discovery import concrete_classes
from directrix.losses.base import Loss as Loss

if TYPE_CHECKING:  # precise types; at run time the files of the room are discovered
    from directrix.losses.beta_bernoulli import BetaBernoulli as BetaBernoulli
    from directrix.losses.break_even import BreakEven as BreakEven
    from directrix.losses.margin import Exponential as Exponential
    from directrix.losses.margin import Hinge as Hinge
    from directrix.losses.margin import Logistic as Logistic
    from directrix.losses.margin import Sigmoid as Sigmoid
    from directrix.losses.margin import SquaredHinge as SquaredHinge
    from directrix.losses.margin import ZeroOne as ZeroOne
    from directrix.losses.pairwise import PairwiseHinge as PairwiseHinge
    from directrix.losses.pairwise import SmoothedROCArea as SmoothedROCArea
    from directrix.losses.ramp import Ramp as Ramp

    def __getattr__(name: str) -> Any:
        """Let a type checker accept a loss that is not listed above."""


_CLASSES = concrete_classes(sys.modules[__name__], Loss)
globals().update(_CLASSES)
__all__ = sorted(["Loss", *_CLASSES])  # noqa: PLE0605 - a list of names, sorted


def __dir__() -> list[str]:
    return __all__
