"""Thresholds and measures of given scores, for people without an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from directrix._printing import html_table, text_table
from directrix._typing import AnyArray
from directrix.estimators.base import two_classes
from directrix.estimators.evaluation import Measure, ScoredRows, measure_binary
from directrix.estimators.operating_point import OperatingPointClassifier
from directrix.fit.guarantee import Limits
from directrix.fit.held_out_scores import given_scores
from directrix.fit.operating_point import OperatingPoint
from directrix.fit.segment_rates import SegmentRates
from directrix.fit.training_rows import checked_weight
from directrix.metrics.base import Metric
from directrix.metrics.segments import Segments
from directrix.metrics.table import resolve
from directrix.rows.classes import dates_in_microseconds, ending_with, plain_labels


def threshold_for(
    y: Any,
    scores: Any,
    metric: str | Metric | None = None,
    *,
    limits: Limits | None = None,
    guarantee: float | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    segment: Any = None,
) -> OperatingPoint:
    """Return the best threshold of given scores, and the rates to expect there on new rows.

    The scores must be those of rows that the model was not fitted to. ``OperatingPointClassifier``
    has the same threshold, and probabilities, files and days that are watched besides.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes.
    scores : array of shape (n,)
        Of any model; higher is more likely positive.
    metric, limits, guarantee, positive : as in ``OperatingPointClassifier``
    sample_weight, groups, segment : arrays of shape (n,), optional

    Returns
    -------
    OperatingPoint
        Flag rows with scores above its ``threshold``.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.estimators import threshold_for
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.1
    >>> scores = rng.normal(size=5000) + 2 * y
    >>> point = threshold_for(y, scores, limits={"fpr": 0.03}, guarantee=0.95)
    >>> print(f"flag above {point.threshold:.2f}; {point.guarantee}")
    flag above 1.9...; fpr <= 0.03, with confidence 0.95
    """
    classifier = OperatingPointClassifier(
        None, metric, positive=positive, limits=limits, guarantee=guarantee
    )
    columns = {} if segment is None else {"segment": segment}
    return classifier.fit(scores, y, sample_weight, groups, **columns).operating_point_


@dataclass(frozen=True)
class Evaluation:
    """Measures of given scores on labelled rows, with 95 % intervals; print it.

    Parameters
    ----------
    rows, positives : float
        Weight of all rows, and of the positives.
    measures : tuple of Measure
        The metric first, then rates at the threshold; a value with its interval each.
    flagged : float, optional
        Weight of the rows above the threshold; None without a threshold.
    notes : tuple of str
        Whether a limit is kept, and whether the scores are any better than chance.
    segments : dict of Evaluation
        The same for each segment of the rows; None for one that has rows of one class only.
    rates : SegmentRates, optional
        Rates by segment at the threshold, and the gaps between them beside those that chance makes.
    """

    rows: float
    positives: float
    measures: tuple[Measure, ...]
    flagged: float | None = None
    notes: tuple[str, ...] = ()
    segments: Mapping[Any, Evaluation | None] = field(default_factory=dict)
    rates: SegmentRates | None = None

    def __getitem__(self, name: str) -> Measure:
        """Return a measure by its name, such as "recall"."""
        found = [measure for measure in self.measures if measure.name == name]
        if not found:
            names = ", ".join(repr(measure.name) for measure in self.measures)
            msg = f"{name!r} is not among the measures {names}"
            raise KeyError(msg)
        return found[0]

    def table(self) -> list[list[str]]:
        """Return the measures as rows of texts with a header: all rows first, then segments.

        Where the segments have a table of rates, they are in that one.
        """
        columns = {"all rows": self, **({} if self.rates is not None else self.segments)}
        header = ["", *(str(name) for name in columns)]
        sizes = [["rows"], ["positives"], ["flagged"]]
        lines = [[measure.name] for measure in self.measures]
        for each in columns.values():
            shown = (None,) * 3 if each is None else (each.rows, each.positives, each.flagged)
            for line, size in zip(sizes, shown, strict=True):
                line.append("" if size is None else f"{size:,.10g}")
            values = [""] * len(lines) if each is None else map(_measure_text, each.measures)
            for line, value in zip(lines, values, strict=True):
                line.append(value)
        used = sizes if self.flagged is not None else sizes[:2]
        return [header, *used, *lines]

    def __str__(self) -> str:
        rates = [] if self.rates is None else ["", str(self.rates)]
        return "\n".join([*text_table(self.table()), *self.notes, *rates])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table as HTML for notebooks."""
        header, *rows = self.table()
        rates = "" if self.rates is None else self.rates._repr_html_()
        return html_table(header, rows, "; ".join(self.notes)) + rates


def evaluate(
    y: Any,
    scores: Any,
    metric: str | Metric = "auc",
    *,
    threshold: float | OperatingPoint | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    segment: Any = None,
) -> Evaluation:
    """Measure given scores on labelled rows: the metric and the rates, with 95 % intervals.

    The scores must be those of rows that neither fitted the model nor set its threshold.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes.
    scores : array of shape (n,)
        Of any model; higher is more likely positive.
    metric : str or Metric
    threshold : float or OperatingPoint, optional
        Rows with scores above it are flagged. Without it there is the metric alone, and only if
        it ranks rows or sets its own threshold, as "auc" and "recall@fpr=0.01" do.
    positive : label, optional
        By default the last of the two.
    sample_weight : array of shape (n,), optional
    segment : array of shape (n,), optional
        Segment of each row, such as a country: each is measured by itself too, and with a threshold
        there are the gaps between segments beside those that chance alone makes.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.estimators import evaluate
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.1
    >>> scores = rng.normal(size=5000) + 2 * y
    >>> print(evaluate(y, scores, "f1", threshold=1.5)["recall"])
    Measure(name='recall', value=0.6..., low=0.6..., high=0.7..., how='Wilson')
    """
    resolved = resolve(metric)
    if threshold is None and resolved.uses_threshold and not resolved.fixes_threshold:
        msg = (
            f"{resolved.label} depends on a threshold: give threshold=, such as one that "
            "threshold_for returns"
        )
        raise ValueError(msg)
    labels = dates_in_microseconds(np.asarray(plain_labels(y)))
    values = given_scores(scores)
    if labels.shape != values.shape:
        msg = f"there are {labels.shape} labels and {values.shape} scores: give one for each row"
        raise ValueError(msg)
    weight = checked_weight(sample_weight, labels)
    classes = ending_with(positive, two_classes(labels[weight > 0]))
    cut = threshold.threshold if isinstance(threshold, OperatingPoint) else threshold
    above = values if cut is None else values - cut
    rows = ScoredRows(labels, above, None, weight)
    found = _evaluation(rows, resolved, classes, with_threshold=cut is not None)
    if segment is None:
        return found
    kept = weight > 0
    parts = Segments.of(segment, len(labels)).take(kept)
    of_rows = labels[kept] == classes[1], above[kept] > 0, weight[kept]
    rates = None if cut is None else SegmentRates.of(*of_rows, parts)
    by_segment: dict[Any, Evaluation | None] = {}
    for number, name in enumerate(parts.names):
        inside = np.flatnonzero(kept)[parts.number == number]
        one = ScoredRows(labels[inside], above[inside], None, weight[inside])
        both = len(np.unique(one.y)) == 2
        options = {"with_threshold": cut is not None}
        by_segment[name] = _evaluation(one, resolved, classes, **options) if both else None
    return replace(found, segments=by_segment, rates=rates)


def _evaluation(
    rows: ScoredRows, metric: Metric, classes: AnyArray, *, with_threshold: bool
) -> Evaluation:
    """Measure rows."""
    weight: Any = rows.weight
    kept = weight > 0
    rows = ScoredRows(rows.y[kept], rows.scores[kept], None, weight[kept])
    found = measure_binary(rows, metric, classes)
    if with_threshold:
        measures = (*found.at_cutoff, *found.best_cutoff)
        notes = (found.limit, found.verdict)
    else:
        auc = [each for each in found.at_threshold if each.name == "AUC"]
        first = found.best_cutoff or (found.metric,)
        measures = (*first, *(each for each in auc if each.name != first[0].name))
        notes = ("", found.verdict)
    flagged = found.flagged if with_threshold else None
    said = tuple(note for note in notes if note)
    return Evaluation(found.rows, found.positives, measures, flagged, said)


def _measure_text(measure: Measure) -> str:
    """Return a value with its interval, if it has one."""
    interval = "" if np.isnan(measure.low) else f" ({measure.low:.4f} to {measure.high:.4f})"
    return f"{measure.value:.4f}{interval}"
