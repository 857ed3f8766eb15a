"""What a fitted linear classifier computes, as numbers: all that the exports are written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

from sklearn.utils.validation import check_is_fitted

from directrix.classifiers.beta_bernoulli.plateaus import even_score, pair_of
from directrix.export.state_json import CLASSIFIERS
from directrix.moments.columns import checked_names


@dataclass(frozen=True)
class Sigmoid:
    r"""Probability at score s: :math:`\sigma(c + a \min(s, 0) + b \max(s, 0))`.

    Parameters
    ----------
    offset, below, above : float
        c, a and b.
    """

    offset: float
    below: float
    above: float


@dataclass(frozen=True)
class Plateaus:
    r"""Probability at score s: :math:`\min(h, l + r\, \sigma(\gamma (s + t)))`.

    Parameters
    ----------
    low, rise, high : float
        l, r and h. But for rounding, h is l + r.
    gamma, shift : float
        γ and t.
    """

    low: float
    rise: float
    high: float
    gamma: float
    shift: float


@dataclass(frozen=True)
class ScoringFormula:
    """Lines, what makes probabilities of their scores, and the labels.

    Of two classes there is one line, whose score is above zero where the last class is predicted.
    Of more there is one for each class: its score is the log-odds ``c + a min(s, 0) + b max(s,
    0)`` of that class against the others, the greatest is predicted, and probabilities are the
    sigmoids of all scores divided by their sum.

    Parameters
    ----------
    classes : tuple
        Labels.
    features : tuple of str or None
    coefficients : tuple of tuple of float
        One line each.
    intercepts : tuple of float
    responses : tuple of Sigmoid, or of one Plateaus
    always : int or None
        Place of the class that is predicted whatever the score: that of a model with plateaus on
        one side of one half.
    """

    classes: tuple[Any, ...]
    features: tuple[str, ...] | None
    coefficients: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]
    responses: tuple[Sigmoid | Plateaus, ...]
    always: int | None = None

    @property
    def two_classes(self) -> bool:
        """Whether there is one line, and a threshold."""
        return len(self.classes) == 2

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.coefficients[0])

    @classmethod
    def of(cls, classifier: Any, columns: Sequence[str] | None = None) -> ScoringFormula:
        """Take the numbers of a fitted classifier; refuse a kernel in words.

        Parameters
        ----------
        classifier : classifier of directrix, fitted
        columns : sequence of str, optional
            Names of the features; by default those the classifier was fitted with, if any.
        """
        kinds: Any = tuple(CLASSIFIERS.values())
        if not isinstance(classifier, kinds):
            msg = (
                f"this takes a fitted {' or '.join(CLASSIFIERS)}, not "
                f"{type(classifier).__name__}: of a pipeline give the last step, whose features "
                "are those that the steps before it make"
            )
            raise TypeError(msg)
        check_is_fitted(classifier)
        if not hasattr(classifier, "coef_"):
            msg = (
                "a kernel model is a sum over rows, and no line that could be written down as "
                "SQL, ONNX, JSON or Python: keep it with directrix.export.save, or put "
                "sklearn.kernel_approximation.Nystroem before a classifier without kernel"
            )
            raise ValueError(msg)
        if isinstance(columns, str):
            msg = f"columns must be a list of names, not the text {columns!r}"
            raise TypeError(msg)
        given = getattr(classifier, "feature_names_in_", None) if columns is None else columns
        names = None if given is None else checked_names(given, classifier.n_features_in_)
        responses, always = _responses(classifier)
        return cls(
            tuple(classifier.classes_.tolist()),
            names,
            tuple(tuple(line) for line in classifier.coef_.tolist()),
            tuple(classifier.intercept_.tolist()),
            responses,
            always,
        )


def _responses(classifier: Any) -> tuple[tuple[Sigmoid | Plateaus, ...], int | None]:
    calibrations = getattr(classifier, "calibrations_", None)
    if calibrations is None:
        loss = classifier.loss_
        low, rise = pair_of(loss)
        high = 1.0 - loss.mixing * (1.0 - loss.prior_mean)
        even = even_score(loss)
        always = int(even == -inf) if isinf(even) else None
        shift = float(classifier._shift)  # noqa: SLF001
        return (Plateaus(low, rise, high, loss.gamma, shift),), always
    return tuple(Sigmoid(each.offset, each.below, each.above) for each in calibrations), None
