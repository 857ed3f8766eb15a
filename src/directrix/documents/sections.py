"""Sections of documents about a card, and the two documents that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray
from directrix.cards.card import Card
from directrix.cards.card_printing import points_text, share_text
from directrix.cards.reasons import bin_names, find_reasons, loss_table
from directrix.displays import NetBenefitDisplay, style
from directrix.displays.net_benefit import probability_at_cutoff
from directrix.documents.page import Page
from directrix.documents.reliability import Reliability
from directrix.documents.tripod import ITEMS
from directrix.estimators.evaluation import BinaryMeasures, ScoredRows
from directrix.estimators.risk_validation import (
    RiskCounts,
    SampleSize,
    calibration_line,
    net_benefit,
)
from directrix.export import to_sql
from directrix.fit.report import UNKNOWN, DirectionEffect, Estimate, sentence
from directrix.fit.segment_rates import SegmentRates
from directrix.moments import BinCounts
from directrix.rows.classes import ending_with, positive_of

#: Columns of a table before the rest is only counted.
_LISTED = 30
#: Rows that reasons are counted among, at most.
_MOST_REASONS = 20_000
#: Who signs, unless the author says so.
_ROLES = ("Author", "Reviewer", "Approved by")


class GivenRows(NamedTuple):
    """Rows that a document evaluates a card on, with their scores, measures and segments."""

    X: Any
    positive: AnyArray
    scored: ScoredRows
    measures: BinaryMeasures
    segments: SegmentRates | None = None


@dataclass(frozen=True)
class DocumentData:
    """All that a document is written from.

    ``about`` has the texts of the author. ``rows`` are those to evaluate the card on, if any.
    ``directions`` have their prices; None if they are not known.
    """

    classifier: Any
    about: dict[str, Any]
    rows: GivenRows | None
    directions: tuple[DirectionEffect, ...] | None
    dialect: str

    @property
    def card(self) -> Card:
        """The card."""
        card: Card = self.classifier.card_
        return card

    @property
    def label(self) -> str:
        """The positive label, as text."""
        return str(positive_of(self.classifier))

    @property
    def point(self) -> Any:
        """The operating point."""
        return self.classifier.operating_point_

    @property
    def used(self) -> list[int]:
        """Positions of the columns with points, those that move rows most first."""
        crossed = {k for cross in self.card.crosses for k in cross.columns}
        ranked = self.card.ranked_columns
        return [k for k in ranked if np.ptp(self.card.columns[k]) > 0 or k in crossed]

    @property
    def training(self) -> tuple[float, float]:
        """Weight of the training rows, and of the positives among them; NaN if not known."""
        if not self.card.counts:
            return float("nan"), float("nan")
        counts = self.card.counts[0].sum(axis=1)
        return float(counts.sum()), float(counts[1])

    @property
    def risks(self) -> RiskCounts | None:
        """The given rows, or those held out of the fit, by their predicted probability."""
        if self.rows is not None:
            scored = self.rows.scored
            return RiskCounts.of_rows(self.rows.positive, scored.probability, scored.weight)
        return None if self.card.held_out is None else RiskCounts.of_held_out(self.card.held_out)

    @property
    def which_rows(self) -> str:
        """The rows that probabilities are checked on, in words."""
        if self.rows is not None:
            return f"the {len(self.rows.positive):,} rows that this document evaluates the card on"
        return "the rows that were held out of the fit"


def _points(value: float) -> str:
    return points_text(value, 0 if float(value).is_integer() else 1)


def _decision(data: DocumentData) -> str:
    side = "above" if data.card.higher_is_positive else "below"
    cutoff = _points(data.card.cutoff)
    return f"A row is predicted {data.label!r} if its total is {side} {cutoff} points."


# ── What people say ───────────────────────────────────────────────────────────────────────────────


def _front(page: Page, data: DocumentData, *, texts: dict[str, str]) -> None:
    """Add what the author says, and the size of the card; what is not said is to be written in."""
    n_rows, positives = data.training
    rows = "not kept with the card"
    if not np.isnan(n_rows):
        rows = f"{n_rows:,.0f}, {positives:,.0f} of them {data.label!r}"
        rows += f" ({share_text(positives / n_rows)})"
    about = data.about
    page.fields(
        [
            ("Purpose", about.get("purpose", "")),
            ("Author", about.get("author", "")),
            *((name, about.get(key, "")) for name, key in texts.items()),
            ("Data", about.get("source", "")),
            ("Data period", about.get("period", "")),
            ("Predicted label", repr(data.label)),
            ("Metric", data.point.metric.label),
            ("Training rows", rows),
            ("Card", f"{len(data.used)} columns, {data.card.n_lines} lines"),
        ]
    )


def _in_short(page: Page, data: DocumentData) -> None:
    page.heading("In short")
    point, figures = data.point, []
    rates, ends = point.expected, point.intervals
    if rates is not None:
        if rates.metric not in rates[:3]:
            span = "" if ends is None else f" ({ends.metric[0]:.3f} to {ends.metric[1]:.3f})"
            name = f"{point.metric.label} expected on new rows{span}"
            figures.append((f"{rates.metric:.3f}", name))
        values = (("recall", rates.tpr), ("FPR", rates.fpr), ("precision", rates.precision))
        intervals = () if ends is None else (ends.tpr, ends.fpr, ends.precision)
        for k, (name, value) in enumerate(values):
            span = f" ({intervals[k][0]:.3f} to {intervals[k][1]:.3f})" if intervals else ""
            figures.append((f"{value:.3f}", f"{name} expected on new rows{span}"))
    if data.rows is not None:
        auc = next(m for m in data.rows.measures.at_threshold if m.name == "AUC")
        span = f"({auc.low:.3f} to {auc.high:.3f})"
        figures.append((f"{auc.value:.3f}", f"AUC on the rows of this document {span}"))
    page.paragraph(_decision(data))
    if data.rows is not None:
        measures = data.rows.measures
        page.paragraph(
            f"Evaluated on {len(data.rows.positive):,} rows, "
            f"{int(data.rows.positive.sum()):,} of them {data.label!r} "
            f"({share_text(measures.positives / measures.rows)})."
        )
    if figures:
        page.cards(figures)
    for note in point.notes:
        page.paragraph(sentence(note))
    if data.rows is not None and data.rows.measures.verdict:
        page.alert(data.rows.measures.verdict)


def _sign_off(page: Page, data: DocumentData) -> None:
    page.heading("Sign-off")
    page.signatures(data.about.get("roles") or _ROLES)


def _unknown(page: Page, data: DocumentData) -> None:
    page.heading("What this document cannot know")
    if data.about.get("limitations"):
        page.paragraph(data.about["limitations"])
    texts = [
        "whether the rows are those that the card will meet: who is missing from them, and why",
        "whether the label means what the decision needs, and how late it becomes known",
        "whether a column may be used for this decision, by law or by policy",
        "how groups of people fare that no column of the card names",
    ]
    if data.rows is None:
        texts.append("how the card does on rows of a later time: none were given")
    else:
        texts.append("whether the rows it was evaluated on had a part in the fit")
    page.bullets(texts)


# ── The card ──────────────────────────────────────────────────────────────────────────────────────


def _table_of_points(page: Page, data: DocumentData) -> None:
    page.heading("Table of points")
    page.paragraph(
        "The points of a row's bins are added to the base points. Rows, their share of all rows, "
        f"and the rate of {data.label!r} are those of the training rows in a bin. Points are what "
        "a bin adds to all other columns: they need not follow its rate."
    )
    page.fragment(data.card.to_html())


def _bands(page: Page, data: DocumentData) -> None:
    page.heading("Total points and risk")
    if data.card.held_out is None:
        page.paragraph("The card was fitted to a summary: it has scored no row that was held out.")
        return
    page.paragraph(
        f"The share of {data.label!r} in bands of total points, among rows that were held out of "
        "the fit. Predicted is the mean of their probabilities; what to expect of new rows is "
        "between both, the nearer to what was observed the more rows there are."
    )
    bands = data.card.bands()
    page.fragment(bands.to_html(), kept=True)
    lost = [band for band in bands if not band.low <= band.predicted <= band.high]
    if lost:
        names = ", ".join(band.points for band in lost)
        page.paragraph(f"Predicted outside the interval: {names}.", note=True)


def _operating_point(page: Page, data: DocumentData) -> None:
    page.heading("Operating point")
    probability = probability_at_cutoff(data.classifier)
    at = "" if probability is None else f" The risk at the cutoff is {share_text(probability)}."
    page.paragraph(f"{_decision(data)}{at}")
    header, *table = data.point.table()
    page.table(header, table)
    guarantee = data.point.guarantee
    expected = "the intervals say what to expect"
    if data.point.predicted is not None:
        expected = "rates are those of normal scores, and no row has tested them"
    page.paragraph(
        f"Guarantee: {guarantee}, if new rows come from the same source."
        if guarantee
        else f"No limit is guaranteed on new rows; {expected}."
    )
    if data.point.money is not None:
        page.paragraph(str(data.point.money))
    if data.rows is None:
        return
    rows = [
        [m.name, f"{m.value:.4f}", "" if np.isnan(m.low) else f"{m.low:.4f} to {m.high:.4f}", m.how]
        for m in data.rows.measures.at_cutoff
    ]
    page.paragraph(f"On {data.which_rows}:")
    page.table(["", "value", "95 % interval", "method"], rows)
    if data.rows.measures.limit:
        page.paragraph(sentence(data.rows.measures.limit))


def _segments(page: Page, data: DocumentData) -> None:
    if data.rows is not None and data.rows.segments is not None:
        page.segments(data.rows.segments, data.which_rows)
    elif data.point.segments is not None:
        page.segments(data.point.segments, data.point.rows)


def _directions(page: Page, data: DocumentData) -> None:
    page.heading("Directions")
    wishes = getattr(data.classifier, "monotone", None) or {}
    if not wishes and not data.directions:
        page.paragraph("No column was asked to keep a direction.")
        return
    if not data.directions:
        page.paragraph(
            "The points of these columns keep a direction. Prices are not with the card."
        )
        page.texts(
            ["column", "direction of the risk"],
            [[str(k), _wish_text(value)] for k, value in wishes.items()],
        )
        return
    page.paragraph(
        f"Directions are those of the risk of {data.label!r}. The effect is what a direction does "
        "to the metric on held-out rows; below zero it costs something."
    )
    page.table(
        [
            "column",
            "direction of the risk",
            f"effect on {data.point.metric.label} (95 % interval)",
            "",
        ],
        [
            [
                effect.column,
                effect.wish,
                "not known" if effect.effect is None else effect.effect.numbers,
                "the rows contradict it: no effect" if effect.flat else "",
            ]
            for effect in data.directions
        ],
    )


def _wish_text(wish: Any) -> str:
    return wish if isinstance(wish, str) else f"levels in the order {', '.join(map(str, wish))}"


def _reasons(page: Page, data: DocumentData) -> None:
    page.heading("Reasons")
    largest = {k: float(loss_table(data.card, k).max()) for k in data.used}
    page.paragraph(
        f"The reasons of a row that is predicted {data.label!r} are the columns that cost it most "
        "points, against the best bin for the row that training rows are in."
    )
    header = ["column", "points that it can cost at most"]
    counted = _counted_reasons(data)
    rows = []
    for k in sorted(largest, key=lambda k: -largest[k])[:_LISTED]:
        name = data.card.bins[k].name
        shares = (
            [] if counted is None else [share_text(each.get(name, 0.0)) for each in counted[1:]]
        )
        rows.append([name, _points(round(largest[k], 1)), *shares])
    if counted is not None:
        header += ["first reason", "among the first four"]
    page.table(header, rows)
    if counted is not None:
        page.paragraph(
            f"Shares are those of {counted[0]:,} rows of this document that are predicted "
            f"{data.label!r}.",
            note=True,
        )


def _counted_reasons(
    data: DocumentData,
) -> tuple[int, dict[str, float], dict[str, float]] | None:
    """Return how often a column is the first reason, and one of four, of rows above the cutoff."""
    if data.rows is None:
        return None
    flagged = np.flatnonzero(data.rows.scored.scores > 0)[:_MOST_REASONS]
    if not len(flagged):
        return None
    binner = data.classifier.binner_  # which does not warn that such rows are unlike the training
    cells = binner.cells(_take(data.rows.X, flagged))
    reasons = find_reasons(data.card, binner, cells, 4, "best")
    first, any_of = {}, {}
    for name in (data.card.bins[k].name for k in data.used):
        is_reason = reasons.columns == name
        first[name] = float(is_reason[:, 0].mean())
        any_of[name] = float(is_reason.any(axis=1).mean())
    return len(flagged), first, any_of


def _take(X: Any, index: AnyArray) -> Any:
    """Return some rows of a table of any library."""
    if hasattr(X, "take") and not isinstance(X, np.ndarray):
        return X.take(index)
    if isinstance(X, Sequence):
        return [X[k] for k in index.tolist()]
    return X[index]


def _scoring_code(page: Page, data: DocumentData) -> None:
    page.heading("Scoring code")
    if not hasattr(data.classifier, "feature_names_in_"):
        page.paragraph("The card was fitted without names of columns: it has no SQL.")
        return
    content = f"{to_sql(data.classifier, dialect=data.dialect)}\n".encode()
    page.paragraph(
        f"The SQL that scores rows ({data.dialect}, {len(content):,} bytes) has the SHA-256 "
        "checksum:"
    )
    page.code(sha256(content).hexdigest())
    page.paragraph(
        f"directrix export MODEL --to sql --dialect {data.dialect} -o card.sql && sha256sum "
        "card.sql prints the same for the card of this document, and for no other.",
        note=True,
    )


# ── The card on rows ──────────────────────────────────────────────────────────────────────────────


def _calibration(page: Page, data: DocumentData) -> None:
    page.heading("Calibration")
    _calibration_body(page, data)


def _calibration_body(page: Page, data: DocumentData) -> None:
    risks = data.risks
    if risks is None:
        page.paragraph("No held-out rows are known, and none were given.")
        return
    line = calibration_line(risks)
    page.paragraph(f"On {data.which_rows}. {line.verdict}")
    page.table(
        ["", "value", "95 % interval", "ideal"],
        [
            ["calibration slope", *_estimate(line.slope), "1"],
            ["calibration intercept (in the large)", *_estimate(line.intercept), "0"],
        ],
    )
    if data.rows is None:
        page.paragraph(
            "The probabilities were fitted to these very rows, so that slope and intercept are "
            "near 1 and 0 by construction: only other rows can tell whether they hold.",
            note=True,
        )
        return
    weight = data.rows.scored.weight
    weight = np.ones(len(data.rows.positive)) if weight is None else weight
    reliability = Reliability.of(data.rows.scored.probability, data.rows.positive, weight)
    page.figure(reliability.figure(), "Share of positives against predicted probability")


def _estimate(estimate: Estimate) -> list[str]:
    if np.isnan(estimate.value):
        return ["not known", ""]
    return [f"{estimate.value:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"]


def _net_benefit(page: Page, data: DocumentData) -> None:
    page.heading("Net benefit")
    risks = data.risks
    if risks is None:
        page.paragraph("No held-out rows are known, and none were given.")
        return
    style.pyplot()
    curve = net_benefit(risks)
    cutoff = probability_at_cutoff(data.classifier)
    page.paragraph(
        "True positives per row, less false positives at the rate of exchange that a threshold of "
        f"risk implies (t to 1 - t), on {data.which_rows}. The card is worth using where its curve "
        "is above acting on all rows and above acting on none."
    )
    page.figure(NetBenefitDisplay(curve, "this card", cutoff).plot().figure_, "Decision curve")
    if curve.useful is None:
        page.paragraph("At no threshold is the card better than acting on all rows or on none.")
    else:
        low, high = curve.useful
        text = f"The curve is above both from a risk of {share_text(low)} to {share_text(high)}"
        if curve.surely_useful is None:
            text += "; its interval reaches the better of both everywhere."
        else:
            ends = map(share_text, curve.surely_useful)
            text += f", and its whole interval is from {' to '.join(ends)}."
        page.paragraph(text)
    shown = np.array([0.05, 0.1, 0.2, 0.3, 0.5]) if cutoff is None else _around(cutoff)
    at = net_benefit(risks, shown)
    page.table(
        ["threshold probability", "net benefit", "95 % interval", "act on all rows"],
        [
            [share_text(t), f"{value:.4f}", f"{low:.4f} to {high:.4f}", f"{every:.4f}"]
            for t, value, low, high, every in zip(
                at.thresholds, at.values, at.low, at.high, at.treat_all, strict=True
            )
        ],
        highlighted=None if cutoff is None else 2,
    )
    if cutoff is not None:
        page.paragraph("The highlighted line is the risk at the cutoff of the card.", note=True)


def _around(risk: float) -> AnyArray:
    """Return the risk in the middle of others whose odds are halved and doubled."""
    odds = risk / (1.0 - risk) * np.array([0.25, 0.5, 1.0, 2.0, 4.0])
    return np.clip(odds / (1.0 + odds), 1e-4, 1.0 - 1e-4)


def _stability(page: Page, data: DocumentData) -> None:
    page.heading("Stability")
    if data.rows is None:
        page.paragraph(
            "No later rows were given. Give rows of a later time to compare them with the training "
            "rows, column by column."
        )
        return
    if not data.card.counts:
        page.paragraph("The card does not keep the counts of its training rows.")
        return
    y = data.rows.scored.y
    counts = BinCounts.of(data.classifier.binner_, data.rows.X, y)
    found = data.card.stability(counts)
    page.paragraph(
        f"Shares of the bins among {data.which_rows}, against the training rows. PSI is the "
        "population stability index; below the noise, chance explains it. Points is what the "
        "change does to the mean total."
    )
    page.table(
        ["column", "PSI", "noise below", "points", "reading"],
        [
            [c.column, f"{c.psi:.4f}", f"{c.noise:.4f}", f"{c.shift + 0.0:+.2f}", c.reading]
            for c in found.columns[:_LISTED]
        ],
    )
    if len(found.columns) > _LISTED:
        page.paragraph(f"And {len(found.columns) - _LISTED} more.", note=True)


def _sample_size(page: Page, data: DocumentData) -> None:
    page.heading("Sample size")
    n_rows, positives = data.training
    if np.isnan(n_rows):
        page.paragraph("The card does not keep the number of its training rows.")
        return
    classes = ending_with(positive_of(data.classifier), data.classifier.classes_)
    rarer = int(positives <= n_rows - positives)
    point = data.point
    expected = UNKNOWN
    if point.expected is not None and point.intervals is not None:
        expected = Estimate(point.expected.metric, *point.intervals.metric)
    size = SampleSize(
        n_rows,
        min(positives, n_rows - positives),
        data.card.n_lines,
        repr(str(classes[rarer])),
        point.metric.label,
        expected,
    )
    for advice in size.advice:
        page.paragraph(advice)


# ── What a clinical report has more ───────────────────────────────────────────────────────────────


def _predictors(page: Page, data: DocumentData) -> None:
    page.heading("Predictors")
    if data.about.get("predictors"):
        page.paragraph(data.about["predictors"])
    page.paragraph(
        "Every value is in a bin of the table of points. A missing value, also one of a new "
        "patient, is never filled in: it has points of its own, or those of the bin it has joined. "
        "What never occurred in training has the points that are said below the table of points."
    )
    rows = []
    for k in data.used:
        bins, points = data.card.bins[k], data.card.columns[k]
        missing = "-"
        if data.card.counts:
            counts = data.card.counts[k].sum(axis=0)
            missing = share_text(float(counts[0] / (counts.sum() or 1.0)))
            missing = "joined" if bins.missing_cell else missing
        never = 0 in data.card.unlisted(k)
        printed = "none in training" if never else bin_names(data.card, k)[bins.missing_cell]
        rows.append([bins.name, bins.kind, missing, printed, _span(points)])
    page.table(["column", "kind", "missing", "bin of missing values", "points from and to"], rows)


def _span(points: AnyArray) -> str:
    low, high = (points_text(float(end), 1) for end in (points.min(), points.max()))
    return f"{low} to {high}".replace(".0", "")


def _making(page: Page, data: DocumentData) -> None:
    page.heading("How the model was made")
    report = getattr(data.classifier, "report_", None)
    metric = data.point.metric.label
    if data.point.predicted is not None:
        choice = (
            "It was made from counts of rows in bins: its penalty is chosen by what these counts "
            f"predict for {metric} if scores are normal, and no row was held out. The threshold is "
            "predicted in the same way: evaluate the card on rows before it is used."
        )
    else:
        choice = (
            "Its size is chosen on rows that it was not fitted to; merging and rounding are "
            f"repeated without these rows. The threshold for {metric} and the rates to expect come "
            "from the same held-out rows, corrected for the choice."
        )
    page.paragraph(
        "A scorecard: columns are cut into bins without looking at the outcome, and a linear model "
        f"with a penalty that holds neighbouring bins together gives points to each bin. {choice} "
        "Classes are not resampled: probabilities are those of the share of positives among the "
        f"training rows, by a {data.classifier.calibration_.how}."
    )
    if report is not None:
        page.paragraph(" ".join(report.choice))
        page.bullets([*report.oddities, *report.comparisons])


def _discrimination(page: Page, data: DocumentData) -> None:
    page.heading("Discrimination and calibration")
    if data.rows is not None:
        page.table(
            ["", "value", "95 % interval", "method"],
            [
                [m.name, f"{m.value:.4f}", f"{m.low:.4f} to {m.high:.4f}", m.how]
                for m in data.rows.measures.at_threshold
                if m.name in ("AUC", "Brier score")
            ],
        )
    _calibration_body(page, data)


def _tripod(page: Page, data: DocumentData) -> None:
    page.heading("Items of TRIPOD+AI")
    page.paragraph(
        "The items of the guidance for reports on prediction models (Collins et al. 2024), in our "
        "words. What a model and rows cannot tell is left for the author to write in."
    )
    rows, left = [], 0
    for item in ITEMS:
        text = data.about.get(item.key, "") if item.key else ""
        if item.section:
            more = text or item.lacking
            answer = f"section “{item.section}”" + (f"; {more}" if more else "")
        elif text:
            answer = text
        else:
            answer, left = "cannot be known from the model: ______________", left + 1
        rows.append((item.number, item.text, answer))
    page.texts(["item", "what is asked", "here"], rows)
    page.paragraph(f"{left} of {len(ITEMS)} items are left to the author.", note=True)


# ── Documents ─────────────────────────────────────────────────────────────────────────────────────

Section = Callable[["Page", DocumentData], None]


def _document(*sections: Section) -> Section:
    def write(page: Page, data: DocumentData) -> None:
        for section in sections:
            section(page, data)

    return write


COMMITTEE = _document(
    partial(_front, texts={"Owner": "owner"}),
    *(_in_short, _table_of_points, _bands, _operating_point, _segments, _directions, _reasons),
    *(_calibration, _net_benefit, _stability, _sample_size, _scoring_code, _unknown, _sign_off),
)
CLINICAL = _document(
    partial(_front, texts={"Setting": "setting", "Outcome": "outcome"}),
    *(_in_short, _predictors, _sample_size, _making, _table_of_points, _bands),
    *(_operating_point, _segments, _discrimination, _net_benefit, _directions, _reasons),
    *(_stability, _scoring_code, _unknown, _tripod, _sign_off),
)
