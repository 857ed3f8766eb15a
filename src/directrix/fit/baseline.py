"""Warnings of a fit: a simpler model is as good on held-out rows, or a longer card is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from warnings import warn

import numpy as np

from directrix.exceptions import (
    NotBetterThanBaselineWarning,
    ShortCardWarning,
    find_stacklevel,
    is_inside_search,
)
from directrix.fit.report import DirectReport


def is_behind(report: DirectReport, *, is_short: bool = False) -> bool:
    """Return whether a baseline is as good on held-out rows, where that is news.

    It is no news if the choice is the baseline itself, which the report says, nor if neither is
    clearly better than a constant, which is its first line. Of a card that is too short the length
    is the news. Without held-out rows nothing is known.

    Parameters
    ----------
    report : DirectReport
    is_short : bool
        Whether the model is a card that has to be short, as the baseline with all columns has not:
        only what is clearly lost is news then.
    """
    gap = report.baseline_gap
    if gap is None or gap.is_none or report.too_short or np.isnan(report.expected.value):
        return False
    if report.is_clear_loss(gap):
        return True
    return not is_short and gap.mean <= 0 and not report.no_better_than_constant


def warn_about_baseline(models: Sequence[Any]) -> None:
    """Warn of cards that are too short; else once of metrics by which a baseline is as good."""
    if not models[0].warn_baseline or is_inside_search():
        return
    for report in [model.report_ for model in models]:
        if size := report.too_short:
            known = report.metric.label, size.lines, size.full_lines, -size.gap.mean
            warn(ShortCardWarning(*known), stacklevel=find_stacklevel())
    short = isinstance(getattr(models[0], "max_lines", None), int | np.integer)
    behind = [each.report_ for each in models if is_behind(each.report_, is_short=short)]
    if behind:
        labels = tuple(report.metric.label for report in behind)
        known_as = behind[0].baseline
        warn(NotBetterThanBaselineWarning(known_as, labels), stacklevel=find_stacklevel())
