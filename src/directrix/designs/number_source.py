"""NumberSource: lines of numbers that live elsewhere, from the moments of all rows and a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from directrix.engines.tasks import NumberFeatures, Surveyed
from directrix.fitting.class_weights import class_factors, reweighted
from directrix.fitting.fit_rows import FTOL, Candidates, Fitted
from directrix.fitting.fit_source import Preselection, SampleCandidates, SourceFit
from directrix.fitting.standardization import Standardization
from directrix.frontier.moment_candidates import moment_candidates
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import MOST_FEATURES

if TYPE_CHECKING:
    from directrix.fitting.training_rows import TrainingRows
    from directrix.metrics.base import Metric
    from directrix.moments import Moments


@dataclass(frozen=True)
class NumberSource:
    """Lines of the moments of all rows, and of a sample of them; see `SourceDesign`.

    ``moments`` have class weights, and folds that are held out.
    """

    moments: Moments
    n_jobs: int | None = None
    most_rows: ClassVar[int] = 20_000
    preselection: ClassVar[Preselection] = Preselection(fewest=4, most=32, baseline_first=True)
    stops_early: ClassVar[bool] = False
    weighs_sample: ClassVar[bool] = False
    counts_pairs: ClassVar[bool] = False

    @property
    def features(self) -> NumberFeatures:
        """The numbers as they are."""
        return NumberFeatures(self.moments.n_features)

    def sample_candidates(self, metric: Metric, rows: TrainingRows) -> SampleCandidates:
        """Compare lines of the moments of all rows with those of sampled rows."""
        units = Standardization.of(rows.X, rows.weight)
        frontier = RowFrontier(
            units.rows(rows.X),
            *rows[1:4],
            fall=FTOL,
            to_features=units.line_back,
            n_jobs=self.n_jobs,
        )
        narrow = rows.X.shape[1] <= MOST_FEATURES
        summary = partial(moment_candidates, self.moments, *rows[:4]) if narrow else None
        compared = Candidates(frontier, summary).compared(metric)
        return SampleCandidates(compared, [None] * (len(self.moments.folds) + 1), units)

    def counted(self, metric: Metric, counts: Any, label: Any) -> Any:
        """Refuse: numbers have no cells to count."""
        raise NotImplementedError


def fit_lines(fit: SourceFit, surveyed: Surveyed, n_jobs: int | None) -> Fitted:
    """Return the line of a surveyed source; the positive class is the last of its moments."""
    moments = surveyed.moments
    if fit.apart is not None:
        moments = replace(moments, parts=moments.parts[: fit.apart])
    moments = reweighted(moments, class_factors(fit.class_weight, moments))
    selection = fit.select(NumberSource(moments, n_jobs), surveyed, moments.classes)
    chosen = fit.chosen(selection, moments)
    return Fitted(chosen.fitted, chosen.report)
