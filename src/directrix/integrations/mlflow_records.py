"""What MLflow records of a fit: parameters, metrics with intervals, and documents."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import isfinite
from typing import Any

from directrix.classifiers.fitting.intervals import Rates
from directrix.classifiers.state import model_params

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }}
table {{ border-collapse: collapse; margin: .7rem 0; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .2rem .6rem; border-bottom: 1px solid #d8dee4; text-align: left; }}
</style></head><body>{body}</body></html>
"""


def fit_params(classifier: Any) -> dict[str, str]:
    """Return the class and the parameters of a classifier as text."""
    texts = {name: str(value) for name, value in model_params(classifier).items()}
    return {"classifier": type(classifier).__name__} | texts


def fit_metrics(classifier: Any) -> dict[str, float]:
    """Return what to expect on new rows, and how much better that is than logistic regression.

    Expected rates are those of the operating point, with the ends of their 95 % intervals. With
    more than two classes each name begins with ``class_0/`` and so on, in the order of
    ``classes_``. Numbers that are not known are left out.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
    """
    points = getattr(classifier, "operating_points_", ())
    reports = getattr(classifier, "reports_", ())
    prefixes = [f"class_{k}/" for k in range(len(classifier.classes_))]
    metrics: dict[str, float] = {}
    for parts, named in ((points, _of_point), (reports, _of_report)):
        for part, prefix in zip(parts, [""] if len(parts) == 1 else prefixes, strict=False):
            metrics |= {f"{prefix}{name}": value for name, value in named(part)}
    return {name: float(value) for name, value in metrics.items() if isfinite(value)}


def _of_point(point: Any) -> Iterator[tuple[str, float]]:
    yield "threshold", point.threshold
    if point.expected is None:
        return
    for name in Rates._fields:
        yield f"expected_{name}", getattr(point.expected, name)
        if point.intervals is not None:
            low, high = getattr(point.intervals, name)
            yield f"expected_{name}_low", low
            yield f"expected_{name}_high", high


def _of_report(report: Any) -> Iterator[tuple[str, float]]:
    # A card is compared with the simplest card, and with logistic regression without bins.
    gaps = {
        "logistic_regression": report.gap if report.straight is None else report.straight,
        "simplest_card": None if report.straight is None else report.gap,
        "unrounded_card": report.rounding,
    }
    for name, gap in gaps.items():
        if gap is not None:
            yield f"gap_to_{name}", gap.mean
            yield f"gap_to_{name}_low", gap.low
            yield f"gap_to_{name}_high", gap.high


def fit_documents(classifier: Any) -> dict[str, str]:
    """Return the report and the card of a classifier as texts, by the name of their file.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
        One that was loaded from a file has no report; its operating points stand for it.

    Returns
    -------
    dict of str
        ``report.txt`` and ``report.html`` unless there is nothing to report, and for scorecards
        ``card.html``.
    """
    name, labels = type(classifier).__name__, classifier.classes_.tolist()
    points = getattr(classifier, "operating_points_", ())
    reports = getattr(classifier, "reports_", ())
    cards = getattr(classifier, "cards_", ())
    documents, texts, pieces = {}, [], []
    for k, title in enumerate(_titles(labels, max(len(points), len(reports)))):
        texts += [title] if title else []
        pieces += [_heading(title)]
        if reports:
            texts.append(str(reports[k]))
            pieces.append(reports[k]._repr_html_())
        if points:
            texts.append(str(points[k]))
            pieces.append(f"<pre>{escape(str(points[k]))}</pre>")
    if texts:
        documents["report.txt"] = "\n\n".join(texts) + "\n"
        documents["report.html"] = _page(name, pieces)
    if cards:
        titles = _titles(labels, len(cards))
        pieces = [
            _heading(title) + card.to_html() for title, card in zip(titles, cards, strict=True)
        ]
        documents["card.html"] = _page(name, pieces)
    return documents


def _titles(labels: list[Any], n_parts: int) -> list[str]:
    """Return a title for each part: its class, or nothing if there is one part for two classes."""
    return [""] * n_parts if n_parts < len(labels) else [f"class {label}" for label in labels]


def _heading(title: str) -> str:
    return f"<h2>{escape(title)}</h2>" if title else ""


def _page(title: str, pieces: list[str]) -> str:
    heading = f"<h1>{escape(title)}</h1>"
    return _PAGE.format(title=escape(title), body=heading + "".join(pieces))
