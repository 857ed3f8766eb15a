"""The pages of ``report`` and ``watch``, and the record of a fit that the former may show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers import diagnose
from directrix.classifiers.evaluation import (
    BEST_CUTOFF,
    MAX_FEATURES,
    BinaryMeasures,
    FeatureImportance,
    ScoredRows,
    feature_importances,
)
from directrix.cli.formatting import (
    caught_text,
    describe_threshold,
    feature_names_of,
    format_interval,
    format_rate,
)
from directrix.cli.pictures import margin_figure, roc_figure, tradeoff_figure
from directrix.cli.reply import UsageError
from directrix.displays import DaysDisplay
from directrix.documents.page import Bar, Page
from directrix.documents.reliability import Reliability
from directrix.metrics.base import Metric
from directrix.models.gap import Gap
from directrix.models.report import DirectionEffect, Estimate, sentence

if TYPE_CHECKING:
    from directrix.monitoring import DayCheck, SegmentChecks

# ── Record of a fit: the output of ``fit --json``, read back and checked ──────────────────────────

#: Types of fields in JSON, as messages name them.
_JSON_TYPES = {
    str: "text",
    bool: "true or false",
    float: "a number or null",
    list: "a list",
    dict: "an object",
}


class Candidate(NamedTuple):
    """A candidate of the fit, its metric, and the standard error of the metric over folds."""

    name: str
    metric: float
    error: float


class FitRecord(NamedTuple):
    """The candidates of a fit, the rows they were compared on, and the choice among them.

    ``expected`` is the metric of the chosen candidate on new rows, ``gap`` how much better it is
    than the ``baseline``; unknown numbers are NaN. ``no_better_than_constant`` says whether the
    interval of the expected metric reaches what a constant prediction gets.
    """

    candidates: tuple[Candidate, ...]
    compared_on: str
    chosen: str
    why: str
    expected: Estimate
    gap: Gap
    baseline: str
    no_better_than_constant: bool


def read_fit_record(path: str) -> FitRecord | None:
    """Read the output of ``fit --json`` from a file; return None if it lists no candidates.

    For any other file a UsageError names the wrong field.
    """
    content = _read_json(path)
    field = partial(_field, path, content)
    field(str, "classifier")
    if not ("candidates" in content and field(list, "candidates")):
        return None
    candidates = (
        Candidate(
            field(str, "candidates", k, "name"),
            *(_number(field(float, "candidates", k, name)) for name in ("metric", "error")),
        )
        for k in range(len(content["candidates"]))
    )
    expected, gap = (
        [_number(field(float, name, end)) for end in (first, "low", "high")]
        for name, first in (("expected_on_new_rows", "value"), ("better_than", "mean"))
    )
    return FitRecord(
        tuple(candidates),
        field(str, "compared_on"),
        field(str, "chosen"),
        field(str, "why"),
        Estimate(*expected),
        Gap(*gap),
        field(str, "better_than", "baseline"),
        field(bool, "no_better_than_constant"),
    )


def read_directions(path: str) -> tuple[DirectionEffect, ...]:
    """Read the prices of directions from the output of ``fit --json``."""
    content = _read_json(path)
    field = partial(_field, path, content)
    field(str, "classifier")
    found = []
    for k, given in enumerate(field(list, "directions")):
        at = "directions", k
        effect = None
        if isinstance(given, dict) and given.get("effect") is not None:
            ends = (field(float, *at, "effect", end) for end in ("mean", "low", "high"))
            effect = Gap(*map(_number, ends))
        column, wish = (field(str, *at, name) for name in ("column", "direction"))
        found.append(DirectionEffect(column, wish, effect, field(bool, *at, "flat")))
    return tuple(found)


def _read_json(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not JSON ({error}): give the output of directrix fit --json"
        raise UsageError(msg) from None


def _field(path: str, content: Any, wanted: type, *steps: str | int) -> Any:
    """Return the field that names and indices lead to; refuse one of another type."""
    name, value = "", content
    for step in steps:
        _require_type(path, name, value, dict if isinstance(step, str) else list)
        dotted = f"{name}.{step}" if name else step
        name = str(dotted if isinstance(step, str) else f"{name}[{step}]")
        if isinstance(step, str) and step not in value:
            _refuse(path, f"it lacks the field {name!r}")
        value = value[step]
    _require_type(path, name, value, wanted)
    return value


def _require_type(path: str, name: str, value: Any, wanted: type) -> None:
    if wanted is float:
        fits = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    else:
        fits = isinstance(value, wanted)
    if not fits:
        text = json.dumps(value)
        text = text if len(text) < 60 else f"{text[:57]}..."
        subject = f"its field {name!r}" if name else "it"
        _refuse(path, f"{subject} must be {_JSON_TYPES[wanted]}, not {text}")


def _refuse(path: str, reason: str) -> NoReturn:
    msg = f"{path} is not what directrix fit --json prints: {reason}"
    raise UsageError(msg)


def _number(value: float | None) -> float:
    """Return a number; NaN for null, and for NaN and infinity, which JSON does not have."""
    try:
        number = np.nan if value is None else float(value)
    except OverflowError:
        return np.nan
    return number if isfinite(number) else np.nan


# ── HTML page about a day of a model in use ───────────────────────────────────────────────────────


_SHOWN_COLUMNS = 20


def watch_page(
    model: str,
    history: Sequence[DayCheck],
    check: DayCheck,
    segments: SegmentChecks | None = None,
) -> str:
    """Return the page of a day as HTML.

    ``model`` is the path of the model. ``history`` has the earlier days, in order. ``segments`` are
    the checks of the same day by segment.
    """
    alarm = check.alarm or (segments is not None and segments.alarm)
    state = "alarm" if alarm else "no alarm"
    lead = (
        f"{Path(model).name}; {check.n_rows:,.0f} rows of {check.day} against "
        f"{check.n_reference:,.0f} reference rows"
    )
    page = Page(f"{check.day}: {check.verdict}, {state}", lead)
    page.paragraph(check.explanation())
    _figures(page, check)
    page.heading("Days")
    display = DaysDisplay.from_checks([*history, check])
    page.figure(display.figure_, "prevalence, alerts and p-values by day")
    page.paragraph(
        "Intervals and expected alerts hold if only the share of positives has changed since the "
        "reference. A small p-value says that more has changed.",
        note=True,
    )
    if segments is not None:
        page.heading("Segments")
        header, *rows = segments.table()
        page.table(header, rows)
        page.bullets([sentence(note) for note in segments.notes])
    if check.promises:
        _promises(page, check)
    if check.columns:
        _columns(page, check)
    return page.html()


def _figures(page: Page, check: DayCheck) -> None:
    prevalence, alerts, precision = check.prevalence, check.alerts, check.precision()
    span = f"{100 * prevalence.low:.2f} to {100 * prevalence.high:.2f} %"
    is_known, stable = prevalence.is_known, check.score_stability
    page.cards(
        [
            (
                f"{100 * prevalence.share:.2f} %" if is_known else "not known",
                f"positives ({span}); reference {100 * prevalence.reference:.2f} %",
            ),
            (
                f"{alerts.observed:,.0f}",
                f"alerts; {alerts.low:,.0f} to {alerts.high:,.0f} expected",
            ),
            (
                f"{precision[0]:.3f}" if check.precision_is_known else "not known",
                f"precision expected ({precision[1]:.3f} to {precision[2]:.3f})"
                if check.precision_is_known
                else "precision",
            ),
            (
                f"{stable.psi:.4f}",
                f"PSI of the scores, {stable.reading} ({stable.context})",
            ),
            (f"{check.p_value:.2g}", "p-value of no drift"),
        ]
    )


def _promises(page: Page, check: DayCheck) -> None:
    page.heading("Promised and realised")
    rows = []
    for each in check.promises:
        promised = isfinite(each.promised)
        rows.append(
            [
                each.name,
                f"{each.promised:.4f}" if promised else "",
                f"{each.promised_low:.4f} to {each.promised_high:.4f}" if promised else "",
                f"{each.realised:.4f}",
                f"{each.low:.4f} to {each.high:.4f}",
                each.state,
            ]
        )
    page.table(["", "promised", "interval", "realised", "95 % interval", ""], rows)


def _columns(page: Page, check: DayCheck) -> None:
    page.heading("Columns")
    rows = [
        [
            column.column,
            f"{column.residual:+.1f}",
            f"{column.psi:.4f}",
            f"{column.noise:.4f}",
            "" if column.usual is None else "{:.4f} to {:.4f}".format(*column.usual),
            column.reading,
        ]
        for column in check.columns[:_SHOWN_COLUMNS]
    ]
    unexplained = "unexplained (standard errors)"
    header = ["column", unexplained, "PSI", "noise below", "reference days", "reading"]
    page.table(header, rows)
    if len(check.columns) > _SHOWN_COLUMNS:
        page.paragraph(f"{len(check.columns) - _SHOWN_COLUMNS} more columns.", note=True)


# ── Sections of the report page ───────────────────────────────────────────────────────────────────


#: Candidates of the fit that the table lists, the best first.
_LISTED_CANDIDATES = 15


class ReportData(NamedTuple):
    """Everything that the report page is written from.

    ``labels`` are the negative and the positive label. ``scored`` has the rows and their moments.
    ``measures`` are the rates of the model on the rows. ``fit`` has the candidates of the fit, if
    its JSON was given.
    """

    model: Any
    labels: AnyArray
    metric: Metric
    scored: ScoredRows
    positive: AnyArray
    measures: BinaryMeasures
    fit: FitRecord | None


class _KnownScores:
    """Stand-in for a model whose scores of the rows are known: `diagnose` asks it for them."""

    def __init__(self, classes: AnyArray, metric: Metric) -> None:
        self.classes_, self.metric = classes, metric

    def decision_function(self, scores: FloatArray) -> FloatArray:
        """Return the scores, which are passed instead of rows."""
        return scores


def write_sections(page: Page, data: ReportData) -> None:
    """Write all sections of the report, in their order."""
    for section in (
        *(_data, _operating_point, _segments, _roc_curve, _card),
        *(_calibration, _features, _normality, _candidates),
    ):
        section(page, data)


def _data(page: Page, data: ReportData) -> None:
    page.heading("Data")
    total, positives = data.measures.rows, data.measures.positives
    classes = data.labels.tolist()
    counts = (int((~data.positive).sum()), int(data.positive.sum()))
    page.table(
        ["class", "rows", "share"],
        [
            [str(label), f"{count:,}", f"{weight / total:.4f}"]
            for label, count, weight in zip(
                classes, counts, (total - positives, positives), strict=True
            )
        ],
    )
    weighted = "" if data.scored.weight is None else f"; total weight {total:,.6g}"
    moments = data.scored.moments
    n_features = data.model.n_features_in_ if moments is None else moments.n_features
    columns = "1 column" if n_features == 1 else f"{n_features:,} columns"
    page.paragraph(f"{len(data.scored.y):,} rows with {columns}{weighted}.")


def _operating_point(page: Page, data: ReportData) -> None:
    page.heading("Operating point")
    point = next(iter(getattr(data.model, "operating_points_", ())), None)
    trained: dict[str, float] = {}
    if point is not None:
        rates = point.expected or point.empirical or point.predicted
        trained = {"recall": rates.tpr, "FPR": rates.fpr, "precision": rates.precision}
        trained[point.metric.label] = rates.metric
        basis = "from the moments"
        if point.expected is not None:
            basis = "expected on new rows"
        elif point.empirical is not None:
            basis = f"on {point.rows}"
        card = next(iter(getattr(data.model, "cards_", ())), None)
        condition = describe_threshold(data.model, point, card)
        page.paragraph(f"A row is predicted {caught_text(data.model)} if {condition}.")
    measures = data.measures
    header = ["", "on these rows", "95 % interval", "interval method"]
    header += [f"at training, {basis}"] if trained else []
    rows = []
    for measure in (*measures.at_cutoff, *measures.best_cutoff):
        interval = format_interval((measure.low, measure.high))
        line = [measure.name, format_rate(measure.value), interval, measure.how]
        rows.append(line + ([format_rate(trained.get(measure.name, np.nan))] if trained else []))
    page.table(header, rows, highlighted=0)
    note = "The values are at the cutoff of the model"
    note += f", unless they are called {BEST_CUTOFF}." if measures.best_cutoff else "."
    limit = f" {sentence(measures.limit)}" if measures.limit else ""
    weight = data.scored.weight
    weighted = " Rates are weighted by the column of weights."
    page.paragraph(
        f"{note}{limit}{'' if weight is None or not np.ptp(weight) else weighted}", note=True
    )
    if data.metric.uses_threshold:
        figure = tradeoff_figure(data.scored, data.positive, data.metric, "threshold")
        page.figure(figure, "The metric against the threshold")


def _segments(page: Page, data: ReportData) -> None:
    rates = data.scored.segment_rates(data.labels[1])
    if rates is not None:
        page.segments(rates, "these rows")


def _roc_curve(page: Page, data: ReportData) -> None:
    page.heading("ROC curve")
    page.paragraph(
        f"The share of {data.labels[1]} that is found, against the share of {data.labels[0]} that "
        "is flagged with it, at every threshold on these rows."
    )
    name = f"{type(data.model).__name__}, on these rows"
    figure = roc_figure(data.scored, data.positive, data.metric, name)
    page.figure(figure, "ROC curve of the model on these rows")


def _card(page: Page, data: ReportData) -> None:
    cards: Sequence[Any] = getattr(data.model, "cards_", ())
    if not cards:
        return
    page.heading("The card")
    page.paragraph(
        "Points of each bin, with its training rows: how many, their share, the share of "
        f"{data.labels[1]} among them, and the weight of evidence. The points of a row are summed."
    )
    page.fragment(cards[0].to_html())
    if cards[0].held_out is not None:
        page.heading("Total points and risk")
        page.paragraph(
            f"The share of {data.labels[1]} in bands of total points, among rows that were held "
            "out of the fit; predicted is the mean of their probabilities. What to expect of new "
            "rows is between both, the nearer to what was observed the more rows there are."
        )
        page.fragment(cards[0].bands().to_html())


def _normality(page: Page, data: ReportData) -> None:
    # Nothing of a card, or around another model, is computed from normal scores.
    if hasattr(data.model, "cards_") or hasattr(data.model, "estimator_"):
        return
    page.heading("Normality of the scores")
    page.paragraph(
        "Summaries of rows predict the metric as if the scores of each class were normal. This "
        "section says how far that holds here; the figures above do not depend on it."
    )
    scored = data.scored
    known = _KnownScores(data.labels, data.metric)
    diagnosis = diagnose(known, scored.scores, scored.y, sample_weight=scored.weight)
    classes = data.labels.tolist()
    page.table(
        ["scores of class", "verdict", "distance", "skewness", "excess kurtosis"],
        [
            [
                str(label),
                normality.verdict,
                f"{normality.distance:.3f}",
                f"{normality.skewness:+.2f}",
                f"{normality.excess_kurtosis:+.2f}",
            ]
            for label, normality in zip(
                classes, (diagnosis.negative, diagnosis.positive), strict=True
            )
        ],
    )
    interval = format_interval(diagnosis.interval)
    name = data.metric.label
    name += f", {BEST_CUTOFF}," if data.metric.fixes_threshold else ""
    page.paragraph(
        f"If the scores were normal, {name} would be "
        f"{diagnosis.predicted:.4f}; on these rows it is {diagnosis.empirical:.4f} "
        f"({interval}, {diagnosis.method})."
    )
    page.bullets(diagnosis.advice)
    try:
        figure = margin_figure(scored, data.labels.tolist()[1])
    except ValueError as error:  # all scores of a class are equal
        page.paragraph(f"The scores cannot be drawn: {error}.", note=True)
    else:
        page.figure(figure, "Scores of each class, and normal distributions")


def _calibration(page: Page, data: ReportData) -> None:
    page.heading("Calibration of the probabilities")
    weight = np.ones(len(data.positive)) if data.scored.weight is None else data.scored.weight
    reliability = Reliability.of(data.scored.probability, data.positive, weight)
    brier = data.measures.at_threshold[-1]
    calibrations: Sequence[Any] = getattr(data.model, "calibrations_", ())
    method = calibrations[0].how if len(calibrations) == 1 else None
    page.paragraph(
        f"Brier score {brier.value:.4f}; expected calibration error {reliability.error:.4f}, over "
        f"{len(reliability.bins)} groups of rows."
        + (f" The probabilities are a {method}." if method else "")
    )
    page.figure(reliability.figure(), "Share of positives against predicted probability")


def _features(page: Page, data: ReportData) -> None:
    if not hasattr(data.model, "coef_") or data.scored.moments is None:
        return
    page.heading("Feature importance")
    names = feature_names_of(data.model)
    importances = feature_importances(data.model, names, data.scored.moments, data.metric)
    largest = max((abs(feature.effect) for feature in importances.features), default=0.0) or 1.0
    retrained = any(not np.isnan(feature.without) for feature in importances.features)
    header = ["feature", "coefficient", "per standard deviation", ""]
    header += [f"mean of {label}" for label in data.labels.tolist()]
    header += ["predicted without it", "predicted gain of the feature"] if retrained else []
    better = 1.0 if data.metric.greater_is_better else -1.0

    def line(feature: FeatureImportance) -> list[Any]:
        cells = [
            feature.name,
            f"{feature.coefficient:.5g}",
            f"{feature.effect:+.3f}",
            Bar(feature.effect / largest),
            f"{feature.negative:.4g}",
            f"{feature.positive:.4g}",
        ]
        if retrained:
            gain = round(better * (importances.with_all - feature.without), 4) + 0.0
            cells += [format_rate(feature.without), f"{gain:+.4f}"]
        return cells

    page.table(header, [line(feature) for feature in importances.features])
    note = (
        "Features are ranked by the change of the score for one standard deviation of the feature. "
        f"A score above zero predicts {data.model.classes_[-1]}."
    )
    if retrained:
        note += (
            " The last two columns are predicted from means and covariances as if scores were "
            f"normal, not measured: the best {data.metric.label} of any linear model "
            f"without the feature; with all features it is predicted to be "
            f"{importances.with_all:.4f}. A gain above zero is better with the feature."
        )
    if len(importances.features) == MAX_FEATURES < data.model.n_features_in_:
        note += f" The table lists the {MAX_FEATURES} features of the largest effect."
    page.paragraph(note, note=True)


def _candidates(page: Page, data: ReportData) -> None:
    fit = data.fit
    if fit is None:
        return
    page.heading("Candidates")
    text = f"Chosen for {data.metric.label}: {fit.chosen}. {fit.why}"
    if isfinite(fit.expected.value):
        interval = format_interval(fit.expected[1:])
        text += f" Expected on new rows: {fit.expected.value:.4f} ({interval})"
        text += ", no better than a constant." if fit.no_better_than_constant else "."
    if isfinite(fit.gap.mean):
        text += f" {sentence(fit.gap.text(fit.baseline))}"
    page.paragraph(text)
    listed = fit.candidates[:_LISTED_CANDIDATES]
    names = [candidate.name for candidate in listed]
    page.table(
        ["candidate", data.metric.label, "standard error over folds"],
        [
            [candidate.name, format_rate(candidate.metric), format_rate(candidate.error)]
            for candidate in listed
        ],
        highlighted=names.index(fit.chosen) if fit.chosen in names else None,
    )
    if len(fit.candidates) > len(listed):
        page.paragraph(f"And {len(fit.candidates) - len(listed)} more.", note=True)
