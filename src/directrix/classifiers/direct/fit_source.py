"""DirectClassifier on rows that live elsewhere: two passes over them, however many there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.direct.fit import FALL, Fitted, gap_to_logistic
from directrix.classifiers.direct.report import DirectReport, Estimate
from directrix.classifiers.fitting.class_weights import class_factors, reweighted
from directrix.classifiers.fitting.operating_point import OperatingPoint, predicted_rates
from directrix.classifiers.fitting.standardization import Standardization
from directrix.classifiers.fitting.two_passes import TwoPasses, guaranteed_by_histogram, pick
from directrix.frontier.compare import Compared
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import MOST_FEATURES, MomentLines, Origin, Pool
from directrix.moments.projection import project

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.guarantee import Guarantee
    from directrix.engines.tasks import Surveyed
    from directrix.metrics import Metric
    from directrix.moments import Moments
    from directrix.moments.row_sample import RowSample

#: Rows of each class that both frontiers are built on, in all and of one partition.
MOST_ROWS, MOST_OF_PART = 200_000, 20_000
#: Candidates that the second pass counts: the best on the sample.
_COUNTED = 32


class _Line(NamedTuple):
    """A candidate in the units of the features: of all rows, and without each fold."""

    origin: Origin
    whole: FloatArray
    without: list[FloatArray]


@dataclass(frozen=True)
class DirectSource:
    """How a line is found in two passes.

    The first makes the moments of the folds and a sample of the rows, from which both frontiers
    come; the second counts held-out scores of the best candidates in histograms of all rows, which
    choose the line, set the threshold and calibrate.

    Parameters
    ----------
    metric : Metric
    two : TwoPasses
    class_weight : dict, "balanced" or None
    guarantee : Guarantee, optional
        The last fold is then set apart: it builds and chooses nothing.
    """

    metric: Metric
    two: TwoPasses
    class_weight: Any
    guarantee: Guarantee | None = None

    def survey(self) -> Surveyed:
        """Make the first pass."""
        return self.two.survey(MOST_ROWS, MOST_OF_PART, self._apart)

    @property
    def _apart(self) -> int | None:
        """The last fold, where it only sets the threshold."""
        return None if self.guarantee is None else self.two.fold.n_folds - 1

    def fitted(self, surveyed: Surveyed) -> Fitted:
        """Build the candidates, make the second pass, and choose."""
        moments = surveyed.grouped.by_group[None]
        if self._apart is not None:
            moments = replace(moments, parts=moments.parts[: self._apart])
        factors = class_factors(self.class_weight, moments)
        counted = reweighted(moments, factors)
        if surveyed.sample is None:
            msg = "there are no rows to learn from"
            raise ValueError(msg)
        lines = self._lines(counted, surveyed.sample)
        without = [
            np.stack([own.without[k] for own in lines]) for k in range(len(lines[0].without))
        ]
        if self._apart is not None:
            without.append(np.stack([own.whole for own in lines]))
        folds = self.two.histograms(without, surveyed)
        picked = pick(
            self.metric,
            folds[: len(lines[0].without)],
            factors,
            self.metric.break_even(counted.prior),
        )
        chosen = lines[picked.place]
        line = chosen.whole.copy()
        final = picked.final
        line[-1] -= final.threshold
        scores = project(counted, line)
        point = OperatingPoint(
            self.metric,
            -float(line[-1]),
            predicted_rates(scores, self.metric, counted.weight),
            final.empirical,
            "held-out rows",
            final.expected,
            final.intervals,
        )
        sign = -1.0 if self.metric.greater_is_better else 1.0
        found = Compared(picked.values, sign * picked.values, np.empty((len(lines), 0)))
        origins = [own.origin for own in lines]
        logistic = np.array([k for k, own in enumerate(origins) if own.roughness == 0.0])
        gap = 0.0 if picked.place in logistic else gap_to_logistic(final, logistic)
        expected = Estimate(final.expected.metric, *final.intervals.metric)
        report = DirectReport.of(
            self.metric, "all rows, held out", origins, found, picked.place, expected, gap
        )
        if self.guarantee is not None:
            threshold, point = guaranteed_by_histogram(
                self.metric, self.guarantee, folds[-1], picked
            )
            line = chosen.whole.copy()
            line[-1] -= threshold
            point = replace(
                point,
                threshold=-float(line[-1]),
                predicted=predicted_rates(project(counted, line), self.metric, counted.weight),
            )
            shifted = picked.calibration_at(threshold, self.metric.break_even(counted.prior))
            return Fitted(line, shifted, point, report)
        return Fitted(line, picked.calibration, point, report)

    def _lines(self, counted: Moments, sample: RowSample) -> list[_Line]:
        """Return the candidates that are best on the sample, logistic regression among them."""
        positive = sample.y == counted.classes[-1]
        _require_all_folds(sample.fold, positive, len(counted.folds))
        weight = _standing_for(sample.weight, positive, counted)
        units = Standardization.of(sample.X, weight)
        rows = RowFrontier(units.rows(sample.X), positive, weight, sample.fold, fall=FALL)
        of_moments = None
        if sample.X.shape[1] <= MOST_FEATURES:
            of_moments = MomentLines.of(counted, sample.X, positive, weight, sample.fold)
        pool = Pool(rows, self.metric, None if of_moments is None else lambda: of_moments)
        found = pool.fill()
        order = np.argsort(found.losses, kind="stable")
        logistic = [k for k in order if pool.origins[k].roughness == 0.0][:1]
        kept = dict.fromkeys([*logistic, *order[:_COUNTED]])
        return [_line_of(pool.origins[k], rows, units, of_moments) for k in kept]


def _line_of(
    origin: Origin, rows: RowFrontier, units: Standardization, of_moments: MomentLines | None
) -> _Line:
    """Return a candidate in the units of the features."""
    if origin.family == "moments" and of_moments is not None:
        found = of_moments.candidates
        return _Line(
            origin, found.lines[origin.place], [own[origin.place] for own in found.without]
        )
    whole = units.line_back(rows.line(origin.place))
    without = [units.line_back(rows.line(origin.place, number)) for number in rows.folds]
    return _Line(origin, whole, without)


def _standing_for(weight: FloatArray, positive: AnyArray, counted: Moments) -> FloatArray:
    """Return weights of a sample that stand for all rows of each class."""
    total = np.where(positive, weight[positive].sum(), weight[~positive].sum())
    share = np.where(positive, counted.prior, 1.0 - counted.prior)
    of_all: FloatArray = weight / total * share * counted.weight
    return of_all


def _require_all_folds(fold: AnyArray, positive: AnyArray, n_folds: int) -> None:
    """Refuse so few rows that a fold has none of a class."""
    for number in range(n_folds):
        own = positive[fold == number]
        if not own.any() or own.all():
            msg = (
                f"fold {number} has no rows of one class: there are too few for folds by a hash. "
                "Give fold=HashFolds(2), or read the rows and use fit."
            )
            raise ValueError(msg)
