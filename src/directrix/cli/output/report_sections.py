"""Sections of the report page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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
from directrix.cli.io.fit_record import FitRecord
from directrix.cli.output.formatting import (
    caught_text,
    describe_threshold,
    feature_names_of,
    format_interval,
    format_rate,
    in_one_line,
    operating_points_of,
)
from directrix.cli.output.html_page import Bar, Page
from directrix.cli.output.pictures import (
    Reliability,
    margin_figure,
    roc_figure,
    tradeoff_figure,
)
from directrix.metrics.base import Metric
from directrix.models.report import Gap, sentence

#: Candidates of the fit that the table lists, the best first.
_LISTED_CANDIDATES = 15


class ReportData(NamedTuple):
    """Everything that the report page is written from.

    Parameters
    ----------
    model : fitted classifier of two classes
    labels : array of shape (2,)
        The negative and the positive label.
    metric : Metric
    scored : ScoredRows
        The rows, with their moments.
    positive : array of bool of shape (n,)
    measures : BinaryMeasures
        Rates of the model on the rows.
    fit : FitRecord or None
        Candidates of the fit, if its JSON was given.
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
        *(_data, _operating_point, _roc_curve, _card),
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
    page.paragraph(f"{len(data.scored.y):,} rows with {n_features:,} columns{weighted}.")


def _operating_point(page: Page, data: ReportData) -> None:
    page.heading("Operating point")
    point = next(iter(operating_points_of(data.model)), None)
    trained: dict[str, float] = {}
    if point is not None:
        rates = point.expected or point.empirical or point.predicted
        trained = {"recall": rates.tpr, "FPR": rates.fpr, "precision": rates.precision}
        trained[in_one_line(point.metric)] = rates.metric
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


def _normality(page: Page, data: ReportData) -> None:
    if hasattr(data.model, "cards_"):  # nothing of a card is computed from normal scores
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
    name = in_one_line(data.metric)
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
            f"normal, not measured: the best {in_one_line(data.metric)} of any linear model "
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
    text = (
        f"{len(fit.candidates)} candidates were compared on {fit.compared_on}. Chosen: "
        f"{fit.chosen}, because {fit.why}."
    )
    if fit.expected.value is not None:
        interval = format_interval((_or_nan(fit.expected.low), _or_nan(fit.expected.high)))
        text += f" Expected on new rows: {fit.expected.value:.4f} ({interval})"
        text += ", no better than a constant." if fit.no_better_than_constant else "."
    if fit.gap.value is not None:
        ends = _or_nan(fit.gap.low), _or_nan(fit.gap.high)
        text += f" {sentence(Gap(fit.gap.value, *ends).text(fit.baseline))}"
    page.paragraph(text)
    listed = fit.candidates[:_LISTED_CANDIDATES]
    names = [candidate.name for candidate in listed]
    page.table(
        ["candidate", in_one_line(data.metric), "standard error over folds"],
        [
            [
                candidate.name,
                format_rate(_or_nan(candidate.metric)),
                format_rate(_or_nan(candidate.error)),
            ]
            for candidate in listed
        ],
        highlighted=names.index(fit.chosen) if fit.chosen in names else None,
    )
    if len(fit.candidates) > len(listed):
        page.paragraph(f"And {len(fit.candidates) - len(listed)} more.", note=True)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
