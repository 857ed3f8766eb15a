"""The sections of the report, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.evaluation.diagnose import diagnose
from directrix.classifiers.evaluation.feature_importance import MOST, what_if
from directrix.classifiers.evaluation.measures import Measured, ScoredRows
from directrix.cli.io.fit_record import FitRecord
from directrix.cli.output.formatting import (
    between,
    cut_in_words,
    in_one_line,
    names_of,
    number,
    points_of,
)
from directrix.cli.output.html_page import Bar, Page
from directrix.cli.output.pictures import (
    Reliability,
    frontier_picture,
    margin_picture,
    tradeoff_picture,
)
from directrix.metrics import Metric

_CANDIDATES = 15


class Told(NamedTuple):
    """All that the page is written from.

    Parameters
    ----------
    model : fitted classifier of two classes
    metric : Metric
    found : ScoredRows
        With moments.
    positive : array of bool of shape (n,)
    seen : Measured
    fit : FitRecord or None
        What the fit told of itself, where that was kept.
    """

    model: Any
    metric: Metric
    found: ScoredRows
    positive: AnyArray
    seen: Measured
    fit: FitRecord | None


class _KnownScores:
    """Stands for the model where its scores of the rows are known."""

    def __init__(self, classes: AnyArray, metric: Metric) -> None:
        self.classes_, self.metric = classes, metric

    def decision_function(self, scores: FloatArray) -> FloatArray:
        """Return the scores, which are given in the place of rows."""
        return scores


def write_sections(page: Page, told: Told) -> None:
    """Write all of them."""
    for section in (
        *(_data, _operating_point, _frontier, _normality),
        *(_calibration, _coefficients, _candidates),
    ):
        section(page, told)


def _operating_point(page: Page, told: Told) -> None:
    page.heading("At the operating point")
    point = next(iter(points_of(told.model)), None)
    trained: dict[str, float] = {}
    if point is not None:
        rates = point.expected or point.empirical or point.predicted
        trained = {"recall": rates.tpr, "FPR": rates.fpr, "precision": rates.precision}
        trained[in_one_line(point.metric)] = rates.metric
        where = "from the moments"
        if point.expected is not None:
            where = "expected on new rows"
        elif point.empirical is not None:
            where = f"on {point.rows}"
        page.say(f"A row is {cut_in_words(point)}.")
    head = ["", "on these rows", "95 % interval", "interval by"]
    head += [f"when trained, {where}"] if trained else []
    rows = []
    for own in (told.seen.metric, *told.seen.at_threshold):
        line = [own.name, number(own.value), between((own.low, own.high)), own.how]
        rows.append(line + ([number(trained.get(own.name, np.nan))] if trained else []))
    page.table(head, rows, chosen=0)
    page.say(
        "The first line is what the model was trained for, exactly; a metric with a limit has its "
        "threshold set on these rows. All others are at the threshold of the model.",
        note=True,
    )
    if told.metric.uses_threshold:
        picture = tradeoff_picture(told.found, told.positive, told.metric, "threshold")
        page.picture(picture, "The metric against the threshold")


def _frontier(page: Page, told: Told) -> None:
    page.heading("The frontier")
    page.say(
        "The blue curve is the most recall that any line has at each false-positive rate, if "
        "scores are normal. A curve well below it can be trained better; one above it says that "
        "scores are not normal there."
    )
    name = f"{type(told.model).__name__}, on these rows"
    picture = frontier_picture(told.found, told.positive, told.metric, name)
    page.picture(picture, "ROC curves of all lines together and of the model")


def _data(page: Page, told: Told) -> None:
    moments = told.found.moments
    page.heading("The rows")
    total = told.seen.rows
    classes = told.model.classes_.tolist()
    weights = (total - told.seen.positives, told.seen.positives)
    counts = (int((~told.positive).sum()), int(told.positive.sum()))
    page.table(
        ["class", "rows", "share"],
        [
            [str(label), f"{count:,}", f"{weight / total:.4f}"]
            for label, count, weight in zip(classes, counts, weights, strict=True)
        ],
    )
    weighted = "" if told.found.weight is None else f"; weights add up to {total:,.6g}"
    n_features = "?" if moments is None else f"{moments.n_features:,}"
    page.say(f"{len(told.found.y):,} rows of {n_features} features{weighted}.")


def _normality(page: Page, told: Told) -> None:
    page.heading("Are the scores normal?")
    stand_in = _KnownScores(told.model.classes_, told.metric)
    found = diagnose(stand_in, told.found.scores, told.found.y, sample_weight=told.found.weight)
    classes = told.model.classes_.tolist()
    page.table(
        ["scores of class", "verdict", "distance", "skewness", "excess kurtosis"],
        [
            [
                str(label),
                side.verdict,
                f"{side.distance:.3f}",
                f"{side.skewness:+.2f}",
                f"{side.excess_kurtosis:+.2f}",
            ]
            for label, side in zip(classes, (found.negative, found.positive), strict=True)
        ],
    )
    page.say(
        f"If they were normal, {in_one_line(told.metric)} would be {found.predicted:.4f}; on these "
        f"rows it is {found.empirical:.4f} ({between(found.interval)}, {found.method})."
    )
    page.points(found.advice)
    try:
        picture = margin_picture(told.found, told.positive)
    except ValueError as error:  # a class whose scores are all equal
        page.say(f"There is no picture of them: {error}.", note=True)
    else:
        page.picture(picture, "Scores of each class, and normal distributions")


def _calibration(page: Page, told: Told) -> None:
    page.heading("Are the probabilities right?")
    weight = np.ones(len(told.positive)) if told.found.weight is None else told.found.weight
    curve = Reliability.of(told.found.probability, told.positive, weight)
    brier = told.seen.at_threshold[-1]
    calibrations: Sequence[Any] = getattr(told.model, "calibrations_", ())
    how = calibrations[0].how if len(calibrations) == 1 else None
    page.say(
        f"Brier score {brier.value:.4f}; the probabilities miss the share of positives by "
        f"{curve.error:.4f} on average, over {len(curve.bins)} groups of rows."
        + (f" They are a {how}." if how else "")
    )
    page.picture(curve.picture(), "Share of positives against predicted probability")


def _coefficients(page: Page, told: Told) -> None:
    if not hasattr(told.model, "coef_") or told.found.moments is None:
        return
    page.heading("What each feature does")
    found = what_if(told.model, names_of(told.model), told.found.moments, told.metric)
    largest = max((abs(own.effect) for own in found.features), default=0.0) or 1.0
    classes = told.model.classes_.tolist()
    metric = in_one_line(told.metric)
    head = ["feature", "coefficient", "per deviation", ""]
    head += [f"mean of {label}" for label in classes]
    asked = any(not np.isnan(own.without) for own in found.features)
    head += ["without it", "change"] if asked else []
    rows: list[list[Any]] = []
    for own in found.features:
        line = [own.name, f"{own.coefficient:.5g}", f"{own.effect:+.3f}", Bar(own.effect / largest)]
        line += [f"{own.negative:.4g}", f"{own.positive:.4g}"]
        if asked:
            line += [number(own.without), f"{round(own.without - found.with_all, 4) + 0.0:+.4f}"]
        rows.append(line)
    page.table(head, rows)
    note = "Per deviation is how far one standard deviation of the feature moves the score."
    if asked:
        note += (
            f" Without it is the best {metric} that the moments predict for any line without the "
            f"feature; with all it is {found.with_all:.4f}."
        )
    if len(rows) == MOST < told.model.n_features_in_:
        note += f" These are the {MOST} of the largest effect."
    page.say(note, note=True)


def _candidates(page: Page, told: Told) -> None:
    fit = told.fit
    if fit is None:
        return
    page.heading("What was tried")
    gap = fit.gap
    better = ""
    if gap.value is not None:
        known = gap.low is not None and gap.high is not None
        ends = f" ({gap.low:+.4f} to {gap.high:+.4f})" if known else ""
        better = f" Better than logistic regression by {gap.value:+.4f}{ends}."
    expected = ""
    if fit.expected.value is not None:
        ends = between(tuple(map(_or_nan, fit.expected[1:])))
        expected = f" On new rows expect {fit.expected.value:.4f} ({ends})."
    page.say(
        f"{len(fit.candidates)} candidates on {fit.compared_on}. Chosen: {fit.chosen}, because "
        f"{fit.why}.{expected}{better}"
    )
    shown = fit.candidates[:_CANDIDATES]
    names = [own.name for own in shown]
    page.table(
        ["candidate", in_one_line(told.metric), "standard error over folds"],
        [[own.name, number(_or_nan(own.metric)), number(_or_nan(own.error))] for own in shown],
        chosen=names.index(fit.chosen) if fit.chosen in names else None,
    )
    if len(fit.candidates) > len(shown):
        page.say(f"And {len(fit.candidates) - len(shown)} more.", note=True)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
