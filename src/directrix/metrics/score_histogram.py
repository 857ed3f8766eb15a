"""ScoreHistogram: the scores of one model on labelled rows, which add up and subtract."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.files.layout import Array, Layout, classes_of
from directrix.rows import labels
from directrix.rows.labels import checked_weight, scaled_weights
from directrix.rows.summary import Summary

# ── Bins of scores: of equal width between powers of two, with exact edges ────────────────────────
# The bin of a score s is read from the bits of 1 + |s|: its exponent and the first eight binary
# digits after the point. Bins are 1/256 wide below 1, 1/128 from 1 to 3, 1/64 from 3 to 7, and so
# on: fine where most scores are, and still apart in the tails. All edges are numbers of few binary
# digits, and no function is evaluated that libraries round differently. So the same score is in the
# same bin on every machine, and histograms of different machines may be added.

#: Number of bins, as many for negative scores as for others; those at the ends have no outer edge.
BINS = 4096
_DIGITS = 8
_SHIFT = 52 - _DIGITS  # a float64 has 52 binary digits after the point
_LOWEST = 1023 << _DIGITS  # of 1.0, shifted
_HALF = BINS // 2


def bin_of(scores: AnyArray) -> IntArray:
    """Return the bin of each score; -0.0 and 0.0 are in the same one."""
    return bins_of_sums(np.asarray(scores, dtype=np.float64) + 0.0)


def bins_of_sums(scores: FloatArray, offset: AnyArray | int = 0) -> IntArray:
    """Return the bin of each score plus an offset, where no score is -0.0.

    Scores are overwritten. A sum is -0.0 only if both terms are: adding 0.0 to scores suffices.
    """
    sizes = np.abs(scores)
    sizes += 1.0
    bins: IntArray = sizes.view(np.int64)
    bins >>= _SHIFT
    np.minimum(bins, _LOWEST + _HALF - 1, out=bins)
    bins -= _LOWEST
    signs = scores.view(np.int64)
    signs >>= 63
    bins ^= signs  # -1 - bin of a negative score
    bins += offset + _HALF
    return bins


def edges() -> FloatArray:
    """Return the BINS + 1 edges of the bins; the first and last are infinite."""
    inner = _inner_edges(_HALF)
    return np.concatenate([[-np.inf], -inner[:0:-1], inner, [np.inf]])


def centres() -> FloatArray:
    """Return the central score of each bin."""
    inner = _inner_edges(_HALF + 1)
    middle = (inner[1:] + inner[:-1]) / 2.0
    return np.concatenate([-middle[::-1], middle])


def _inner_edges(count: int) -> FloatArray:
    """Return the edges that are not negative, from zero."""
    octave, digit = np.divmod(np.arange(count), 1 << _DIGITS)
    return np.ldexp(1.0 + digit / (1 << _DIGITS), octave) - 1.0


# ── The file of a score histogram: safetensors with a JSON header (``docs/moments.md``) ───────

_LAYOUT = Layout(
    format="directrix.score_histogram",
    noun="score histogram",
    entries=("center", "scale", "model"),
    arrays={
        "counts": Array("float64", ("classes", "bins")),
        "weight_sq": Array("float64", ("classes",)),
    },
    sizes=lambda _header, _arrays: {"bins": BINS},
)


# ── ScoreHistogram: the scores of one model on labelled rows, which add up and subtract ───────────

#: Share of a bin that rounding may leave below zero when weights that are no whole numbers are
#: subtracted.
_ROUNDING = 2.0**-40


class ScoreRates(NamedTuple):
    """Shares of both classes above a threshold.

    Parameters
    ----------
    tpr : float
        True-positive rate (recall): share of the positives.
    fpr : float
        False-positive rate: share of the negatives.
    """

    tpr: float
    fpr: float


@dataclass(frozen=True, eq=False, repr=False)
class ScoreHistogram(Summary):
    r"""Scores of one model on labelled rows, counted in 4,096 bins for each of two classes.

    Histograms form an algebra, as moments do: ``a + b`` has the rows of both, ``a - b`` removes
    rows, ``0.99 * a`` multiplies weights, and a histogram of no rows is the identity. So metrics of
    a model can be followed from day to day, and a threshold set anew, without keeping any row.
    ``Curve.of_histogram`` returns the curve of all thresholds, on which every metric can be
    computed.

    Bins are fine where :math:`|s - \text{center}|` is about ``scale`` or less: 1/256 of the scale
    wide up to one scale from the center, and 1/256 to 1/128 of the distance beyond. Scores more
    than 255 scales away are in the bins at the ends. Create histograms with
    `ScoreHistogram.of_scores` or with ``score_histogram`` of a classifier, not with the
    constructor.

    Parameters
    ----------
    classes : array of shape (2,)
        The negative and the positive label, sorted; the single class None of rows without labels.
    counts : array of shape (2, 4096), or (1, 4096) without labels
        Weight by class and bin, lowest scores first. Candidates of a fit are counted side by side,
        k models on the same rows, in an array of shape (k, 2, 4096).
    weight_sq : array of shape (2,), or (1,) without labels
        Sum of the squares of the sample weights of each class.
    center, scale : float
        Where bins are finest, and the unit of their widths.
    model : str, optional
        Identity of the model, such as a checksum of its coefficients. Histograms of different
        models are not added.

    Examples
    --------
    >>> from directrix.metrics import ScoreHistogram
    >>> monday = ScoreHistogram.of_scores([0, 0, 1], [-1.5, 0.3, 2.0])
    >>> tuesday = ScoreHistogram.of_scores([0, 1, 1], [-0.2, 0.8, -0.1])
    >>> monday + tuesday
    <ScoreHistogram: classes {0: 3, 1: 3}>
    >>> (monday + tuesday).rates(0.0)
    ScoreRates(tpr=0.6666666666666666, fpr=0.3333333333333333)
    >>> monday + tuesday - monday == tuesday
    True
    """

    classes: AnyArray
    counts: FloatArray
    weight_sq: FloatArray
    center: float = 0.0
    scale: float = 1.0
    model: str | None = None

    @classmethod
    def empty(
        cls, classes: Any, *, center: float = 0.0, scale: float = 1.0, model: str | None = None
    ) -> ScoreHistogram:
        """Return the histogram of no rows, which is the identity of ``+``.

        The parameters are those of `of_scores`.
        """
        return cls.of_scores([], [], classes=classes, center=center, scale=scale, model=model)

    @classmethod
    def of_scores(
        cls,
        y: Any,
        scores: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        center: float = 0.0,
        scale: float = 1.0,
        model: str | None = None,
    ) -> ScoreHistogram:
        """Count scores of labelled rows.

        Parameters
        ----------
        y : array of shape (n,) or None
            Labels of two classes; the greater one is the positive class. None for rows without
            labels.
        scores : array of shape (n,)
            Scores of any model; higher scores are more likely positive.
        sample_weight : array of shape (n,), optional
            Sample weights, not negative. Rows of weight zero are ignored.
        classes : array of shape (2,), optional
            Both labels; by default those that occur. Needed where rows of one class may be absent.
        center, scale : float
            Where scores must be told apart: near the threshold, say, and in units of their
            standard deviation. The defaults suit scores of about unit variance around a threshold
            of zero. For probabilities of a rare class with a threshold of 0.01, give
            ``scale=0.01``. All histograms that are added must have the same.
        model : str, optional
            Identity of the model.
        """
        values = np.asarray(scores, dtype=np.float64)
        label_array = None
        if y is not None:
            label_array = labels.as_labels(y) if np.size(y) else np.empty(0, dtype=np.int64)
        if values.ndim != 1 or (label_array is not None and len(label_array) != len(values)):
            n_labels = "no" if label_array is None else len(label_array)
            msg = f"there are {n_labels} labels, but scores of shape {values.shape}"
            raise ValueError(msg)
        if np.isnan(values).any():
            msg = f"{np.count_nonzero(np.isnan(values))} scores are NaN: drop those rows"
            raise ValueError(msg)
        if not (np.isfinite(center) and np.isfinite(scale) and scale > 0):
            msg = f"center must be finite and scale positive, not {center} and {scale}"
            raise ValueError(msg)
        weight = None if sample_weight is None else checked_weight(sample_weight, len(values))
        present = slice(None) if weight is None else np.flatnonzero(weight)
        if label_array is not None and not len(label_array) and classes is not None:
            codes = np.empty(0, dtype=np.int8)
            found = labels.distinct(labels.as_labels(classes))
        else:
            codes, found = labels.encode_rows(label_array, len(values), present, classes)
        if y is not None and len(found) != 2:
            msg = f"a histogram needs two classes, not {found.tolist()}: name them with classes="
            raise ValueError(msg)
        weight = None if weight is None else weight[present]
        bins = bin_of((values[present] - center) / scale) + BINS * codes.astype(np.int64)
        counts, squares = _sums(bins[None], codes, weight, len(found))
        return cls(found, counts[0], squares, float(center), float(scale), model)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ScoreHistogram:
        """Read a histogram from a file; raise `MomentsFileError` if it is not one, or damaged."""
        header, arrays, _ = _LAYOUT.read(path)
        stored = {name: header[name] for name in ("center", "scale", "model")}
        return cls(
            classes_of(header), arrays["counts"].copy(), arrays["weight_sq"].copy(), **stored
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write this histogram to a file (safetensors); equal histograms give identical bytes."""
        arrays = {
            name: np.ascontiguousarray(getattr(self, name)) for name in ("counts", "weight_sq")
        }
        entries = {name: getattr(self, name) for name in ("center", "scale", "model")}
        _LAYOUT.write(path, self.classes, entries, arrays)

    @property
    def weight(self) -> FloatArray:
        """Sum of the sample weights of each class; the number of rows without weights."""
        total: FloatArray = self.counts.reshape(-1, *self.counts.shape[-2:])[0].sum(axis=1)
        return total

    @cached_property
    def edges(self) -> FloatArray:
        """The 4,097 edges of the bins as scores; the first and last are infinite."""
        return self.center + self.scale * edges()

    @cached_property
    def centers(self) -> FloatArray:
        """The central score of each bin."""
        return self.center + self.scale * centres()

    def rates(self, threshold: float) -> ScoreRates:
        """Return the shares of both classes with scores above a threshold.

        They are exact at the edges of bins, as `weight_above` is.
        """
        labels.negative_and_positive(self.classes)
        total = self.weight
        if not total.all():
            absent = self.classes.tolist()[int(np.argmin(total))]
            msg = f"there are no rows of class {absent!r}: rates need rows of both classes"
            raise ValueError(msg)
        fpr, tpr = np.clip(self.weight_above(threshold) / total, 0.0, 1.0).tolist()
        return ScoreRates(tpr, fpr)

    def weight_above(self, threshold: float) -> FloatArray:
        """Return the weight of each class with scores above a threshold.

        It is exact at the edges of bins. Within a bin, its rows are shared out in proportion.
        """
        # The bins at the ends reach as far beyond their centers as they do on the other side.
        ends = 2.0 * self.centers[[0, -1]] - self.edges[[1, -2]]
        finite = np.concatenate([ends[:1], self.edges[1:-1], ends[1:]])
        below = [np.interp(threshold, finite, np.append(0.0, of.cumsum())) for of in self.counts]
        above: FloatArray = np.maximum(self.weight - np.array(below), 0.0)
        return above

    def scaled(self, factor: float) -> ScoreHistogram:
        """Return the histogram of the same rows with their weights multiplied by a factor."""
        if not factor:
            return replace(self, counts=0.0 * self.counts, weight_sq=0.0 * self.weight_sq)
        squares = [
            scaled_weights(weight, square, factor)[1] if weight else 0.0
            for weight, square in zip(self.weight.tolist(), self.weight_sq.tolist(), strict=True)
        ]
        return replace(self, counts=factor * self.counts, weight_sq=np.array(squares))

    def unlabelled(self) -> ScoreHistogram:
        """Return the histogram of the same rows without their labels, as one class None."""
        return replace(
            self,
            classes=labels.UNLABELLED,
            counts=self.counts.sum(axis=0, keepdims=True),
            weight_sq=self.weight_sq.sum(keepdims=True),
        )

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        if not isinstance(other, ScoreHistogram):
            return NotImplemented
        self._require_same_kind(other)
        return replace(
            self, counts=self.counts + other.counts, weight_sq=self.weight_sq + other.weight_sq
        )

    def __sub__(self, other: ScoreHistogram) -> ScoreHistogram:
        if not isinstance(other, ScoreHistogram):
            return NotImplemented
        self._require_same_kind(other)
        counts = _difference(self.counts, other.counts)
        squares = _difference(self.weight_sq, other.weight_sq)
        # What is left of squares where no row is left is rounding.
        return replace(self, counts=counts, weight_sq=np.where(counts.any(axis=1), squares, 0.0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreHistogram):
            return NotImplemented
        return (
            self._kind() == other._kind()
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.weight_sq, other.weight_sq)
        )

    __hash__ = None  # type: ignore[assignment] # arrays may be changed

    def __repr__(self) -> str:
        named = zip(self.classes.tolist(), self.weight.tolist(), strict=True)
        parts = [f"classes {{{', '.join(f'{label!r}: {sum_:,.10g}' for label, sum_ in named)}}}"]
        if (self.center, self.scale) != (0.0, 1.0):
            parts.append(f"center {self.center:g}, scale {self.scale:g}")
        if self.model is not None:
            parts.append(f"model {self.model}")
        return f"<ScoreHistogram: {'; '.join(parts)}>"

    def _kind(self) -> dict[str, Any]:
        """Return what must agree for two histograms to be added."""
        return {
            "classes": self.classes.tolist(),
            "models": self.model,
            "centers": self.center,
            "scales": self.scale,
        }

    def _require_same_kind(self, other: ScoreHistogram) -> None:
        others = other._kind()
        for noun, mine in self._kind().items():
            if mine != others[noun]:
                msg = (
                    f"the histograms have different {noun}, {mine!r} and {others[noun]!r}: only "
                    "scores of one model, in one unit, can be added or subtracted"
                )
                raise ValueError(msg)


def _difference(whole: FloatArray, part: FloatArray) -> FloatArray:
    """Subtract sums of weights; raise ValueError where more is taken than there is."""
    left: FloatArray = whole - part
    rounding = np.abs(left) <= _ROUNDING * whole
    if (left[~rounding] < 0).any():
        msg = (
            "the histogram that is subtracted has more rows in some bin than the other one: its "
            "rows are not among those that were added, or were already subtracted"
        )
        raise ValueError(msg)
    left[rounding] = 0.0
    return left


# ── Candidates of a fit: k models on the same rows, counted side by side ──────────────────────────

#: Scores that are made at a time, few enough to stay in the cache.
_SCORES_AT_A_TIME = 1 << 16
_FEWEST_ROWS = 512
#: The classes of candidates: whether a row is positive.
SIDES = np.array([False, True])


def empty_histogram(n_models: int) -> ScoreHistogram:
    """Return the histogram of no rows of k models, which is the identity of ``+``."""
    return ScoreHistogram(SIDES, np.zeros((n_models, 2, BINS)), np.zeros(2))


def bins_of_lines(X: AnyArray, positive: AnyArray, lines: FloatArray) -> IntArray:
    """Return the bins of the scores of rows by k lines, of shape (k, n), for `histogram_of_bins`.

    ``lines`` of shape (k, d + 1) have their intercept last; their scores should have a standard
    deviation of about one. Fastest if the columns of X are contiguous.
    """
    n = X.shape[0]
    coef, intercept = np.ascontiguousarray(lines[:, :-1]), lines[:, -1:] + 0.0
    bins = np.empty((len(lines), n), dtype=np.int64)
    offset = np.where(positive, BINS, 0)
    size = max(_SCORES_AT_A_TIME // max(len(lines), 1), _FEWEST_ROWS)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        scores = coef @ np.asarray(X[rows].T, dtype=np.float64)
        scores += intercept
        bins[:, rows] = bins_of_sums(scores, offset[rows])
    return bins


def bins_of_scores(scores: AnyArray, positive: AnyArray) -> IntArray:
    """Return the bins of the scores of rows by k models, of shape (k, n)."""
    offset = np.where(positive, BINS, 0)
    return bins_of_sums(np.asarray(scores, dtype=np.float64) + 0.0, offset)


def histogram_of_bins(
    bins: IntArray, positive: AnyArray, weight: FloatArray | None = None
) -> ScoreHistogram:
    """Count rows by the bins of their scores, which are BINS higher for positives."""
    return ScoreHistogram(SIDES, *_sums(bins, positive, weight))


def histogram_of_scores(
    scores: AnyArray, positive: AnyArray, weight: FloatArray | None = None
) -> ScoreHistogram:
    """Count the scores of rows by k models, of shape (k, n), side by side."""
    return histogram_of_bins(bins_of_scores(scores, positive), positive, weight)


def _sums(
    bins: IntArray, codes: AnyArray, weight: FloatArray | None, n_classes: int = 2
) -> tuple[FloatArray, FloatArray]:
    """Return the weight by model, class and bin, and the squares of the weights by class.

    ``bins`` of shape (k, n) are BINS higher for each class.
    """
    counts = [np.bincount(of_model, weight, n_classes * BINS) for of_model in bins]
    squares = np.bincount(codes, None if weight is None else weight**2, n_classes)
    stacked = np.array(counts, dtype=np.float64).reshape(len(bins), n_classes, BINS)
    return stacked, squares.astype(np.float64)
