"""The recorded fits of the tables: their errors, and McNemar's test of two methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from benchmarks.papers.hasan_pal_2015.methods import PROTOCOLS, RECORD, Fit
from directrix._typing import AnyArray, FloatArray

LOGISTIC, SVM, UNTUNED = "logistic, tuned", "SVM, tuned", "logistic, C=1"


class Pair(NamedTuple):
    """McNemar's test of two methods on the same test rows; z above zero is good for the first."""

    repeats: int
    only_first: int
    only_second: int
    z: float
    p: float

    @classmethod
    def of(cls, first: AnyArray, second: AnyArray, repeats: int) -> Pair:
        """Take what is wrong."""
        one, other = int((first & ~second).sum()), int((second & ~first).sum())
        if one + other == 0:
            return cls(repeats, one, other, 0.0, 1.0)
        z = (other - one) / (one + other) ** 0.5
        return cls(repeats, one, other, z, float(chi2.sf(z**2, 1)))


class Measured:
    """All whole repeats of the file."""

    @cached_property
    def wrong(self) -> dict[tuple[str, str, str], dict[int, AnyArray]]:
        """By protocol, set and method, then repeat: the test rows of all folds that are wrong."""
        folds: dict[tuple[str, str, str], dict[int, dict[int, AnyArray]]] = {}
        for fit in map(Fit.of, RECORD.rows()):
            repeats = folds.setdefault((fit.protocol, fit.name, fit.method), {})
            repeats.setdefault(fit.repeat, {})[fit.fold] = fit.wrong
        return {
            key: {
                repeat: np.concatenate([by_fold[fold] for fold in sorted(by_fold)])
                for repeat, by_fold in sorted(repeats.items())
                if len(by_fold) == PROTOCOLS[key[0]].folds
            }
            for key, repeats in folds.items()
        }

    def repeats(self, protocol: str, sets: Sequence[str], *methods: str) -> list[int]:
        """Return the repeats that all these methods have of all these sets."""
        repeats = [set(self.wrong.get((protocol, s, m), {})) for s in sets for m in methods]
        return sorted(set.intersection(*repeats)) if repeats else []

    def errors(
        self, protocol: str, name: str, method: str, repeats: Sequence[int] | None = None
    ) -> FloatArray:
        """Return the errors of each repeat."""
        wrong = self.wrong.get((protocol, name, method), {})
        chosen = wrong if repeats is None else repeats
        return np.array([wrong[repeat].sum() for repeat in chosen], dtype=float)

    def percent(
        self, protocol: str, name: str, method: str, repeats: Sequence[int] | None = None
    ) -> FloatArray:
        """Return the errors of each repeat in percent of the rows."""
        errors = self.errors(protocol, name, method, repeats)
        rows = next((len(w) for w in self.wrong.get((protocol, name, method), {}).values()), 1)
        return 100.0 * errors / rows

    def mean(
        self, protocol: str, sets: Sequence[str], method: str, repeats: Sequence[int]
    ) -> float:
        """Return the mean over sets of the errors in percent."""
        return float(np.mean([self.percent(protocol, s, method, repeats).mean() for s in sets]))

    def total(
        self, protocol: str, sets: Sequence[str], method: str, repeats: Sequence[int]
    ) -> float:
        """Return the sum over sets of the mean errors."""
        return float(sum(self.errors(protocol, s, method, repeats).mean() for s in sets))

    def pooled(
        self, protocol: str, sets: Sequence[str], first: str, second: str, repeats: Sequence[int]
    ) -> Pair:
        """Return McNemar's test over all sets and these repeats."""
        one, other = (
            np.concatenate([self.wrong[protocol, s, m][r] for s in sets for r in repeats])
            for m in (first, second)
        )
        return Pair.of(one, other, len(repeats))
