"""Documents of a card to sign: what a committee, or readers of a clinical model, must be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix.displays import style
from directrix.documents.page import Page
from directrix.documents.sections import CLINICAL, COMMITTEE, DocumentData, GivenRows
from directrix.documents.tripod import KEYS
from directrix.estimators.evaluation import ScoredRows, measure_binary
from directrix.exceptions.columns import suggest_names
from directrix.fit.report import DirectionEffect
from directrix.metrics.table import resolve
from directrix.rows.classes import ending_with, positive_of, toward_positive

#: What authors can say in both documents; the clinical one takes a text for any of its items too.
_ABOUT = ("title", "purpose", "author", "period", "source", "owner", "limitations", "roles")
_TEMPLATES = {"committee": COMMITTEE, "clinical": CLINICAL}


def to_document(
    classifier: Any,
    X: Any = None,
    y: Any = None,
    *,
    template: str = "committee",
    about: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    segment: Any = None,
    directions: Sequence[DirectionEffect] | None = None,
    dialect: str = "duckdb",
) -> str:
    """Return a document about a scorecard as HTML that prints well, to be read and signed.

    Both templates have the table of points, total points and risk, the operating point with its
    guarantee, directions with prices, reasons, calibration slope and intercept, net benefit,
    stability, sample size, the checksum of the SQL and a block of signatures. "clinical" has them
    in the order of a report on a prediction model, and a list of the items of TRIPOD+AI: which of
    them it answers, which the author has, and which cannot be known from a model and rows.

    Parameters
    ----------
    classifier : ScorecardClassifier
        Fitted, with two classes.
    X, y : table and labels, optional
        Rows to evaluate the card on, which had no part in the fit. Without them, what can be said
        is said of the rows that were held out of the fit.
    template : {"committee", "clinical"}
    about : dict, optional
        Texts that only people know: "title", "purpose", "author", "period" (of the data), "source",
        "owner", "limitations", and "roles", a list of those who sign. The clinical document takes
        a text for each item of TRIPOD+AI; what is missing is left to be written in.
    sample_weight : array, optional
        Weights of the rows.
    segment : array, optional
        Segment of each row, such as a country: the document shows the rates in each. By default
        those of the fit, if it was given segments.
    directions : sequence of DirectionEffect, optional
        Prices of directions, for a card that was read from a file; by default those of the fit.
    dialect : str
        Of the SQL whose checksum is stated, as in `to_sql`.

    Returns
    -------
    str
    """
    if not hasattr(classifier, "predict_points"):
        msg = f"documents are about scorecards, not about {type(classifier).__name__}"
        raise TypeError(msg)
    check_is_fitted(classifier)
    if template not in _TEMPLATES:
        known = " or ".join(map(repr, _TEMPLATES))
        msg = f"template must be {known}, not {template!r}{suggest_names(template, _TEMPLATES)}"
        raise ValueError(msg)
    texts = _checked_about(about or {}, template)
    if (X is None) != (y is None):
        msg = "give both X and y, or neither"
        raise ValueError(msg)
    if X is None and segment is not None:
        msg = "segment= is that of each row: give X and y too"
        raise ValueError(msg)
    style.pyplot("the pictures of a document")
    rows = None if X is None else _given_rows(classifier, X, y, sample_weight, segment)
    if directions is None:
        report = getattr(classifier, "report_", None)
        directions = None if report is None else report.directions
    known_prices = None if directions is None else tuple(directions)
    data = DocumentData(classifier, texts, rows, known_prices, dialect)
    today = datetime.now(UTC).date().isoformat()
    page = Page(texts.get("title") or "Scorecard", _lead(template, today))
    _TEMPLATES[template](page, data)
    return page.html()


def _checked_about(about: Mapping[str, Any], template: str) -> dict[str, Any]:
    """Return texts of the author by name; refuse names that the document has no room for."""
    allowed = dict.fromkeys((*_ABOUT, *(KEYS if template == "clinical" else ())))
    for key, value in about.items():
        if key not in allowed:
            suggestion = suggest_names(str(key), list(allowed)) or "."
            msg = f"about has no {key!r}{suggestion} It has {', '.join(allowed)}."
            raise ValueError(msg)
        if key == "roles" and (isinstance(value, str) or not isinstance(value, Sequence)):
            msg = f"roles must be a list of those who sign, not {value!r}"
            raise TypeError(msg)
    return {key: value if key == "roles" else str(value) for key, value in about.items()}


def _given_rows(
    classifier: Any, X: Any, y: Any, sample_weight: Any, segment: Any = None
) -> GivenRows:
    """Score the rows that a document evaluates the card on."""
    label = positive_of(classifier)
    classes = ending_with(label, classifier.classes_)
    labels = np.asarray(y)
    unknown = sorted(set(np.unique(labels).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        msg = f"y has labels that the card does not know, {unknown[:5]}: drop these rows"
        raise ValueError(msg)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    scores = toward_positive(classifier, classifier.decision_function(X))
    column = classifier.classes_.tolist().index(label)
    probability = classifier.predict_proba(X)[:, column]
    scored = ScoredRows(labels, scores, probability, weight, segment=segment)
    metric = resolve(classifier.metric)
    measures = measure_binary(scored, metric, classes)
    return GivenRows(X, labels == label, scored, measures, scored.segment_rates(label))


def _lead(template: str, today: str) -> str:
    from importlib.metadata import version

    name = {"committee": "Scorecard document", "clinical": "Report of a clinical score"}[template]
    return f"{name}, {today}. Made by directrix {version('directrix')} from the card itself."
