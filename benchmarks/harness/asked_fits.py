"""Fits that ask for more than a metric: what `same_fits` records beside its fits of many sets.

Weights, groups, limits, a guarantee, segments, costs of single rows, budgets of days, summaries
and files, each of the classifiers that take them. Columns that stand beside the rows are drawn
from a seed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from benchmarks.harness.numbers import numbers_of
from benchmarks.harness.runner import quiet
from directrix import (
    Binner,
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
    summarize,
)
from directrix._typing import AnyArray, FloatArray
from directrix.datasets import load_bank, load_credit
from directrix.estimators import evaluate, threshold_for
from directrix.metrics import Budget, Cost, InEverySegment, RecallAtFPR
from directrix.moments import BinCounts

Fits = dict[str, FloatArray]
LOADERS: dict[str, Callable[[], Any]] = {"asked, bank": load_bank, "asked, credit": load_credit}
_ROWS_OF_CLASS = 700


class Asked(NamedTuple):
    """Options of a classifier, columns that `fit` is given, and those that `predict` is given."""

    options: dict[str, Any]
    fit: tuple[str, ...] = ()
    predict: tuple[str, ...] = ()


_METRIC = {"metric": "recall@fpr=0.1"}
_COST = {"metric": Cost(fp=20.0, fn="amount")}
_KEPT = {"guarantee": 0.9}
_DAYS, _TEAMS = (
    {"limits": budget, "guarantee": 0.9}
    for budget in (Budget(4, per="day"), Budget({"a": 3, "b": 2}, per="day", by="team"))
)
#: What scorecards, direct classifiers and thresholds of any score can be asked for.
ASKED: dict[str, Asked] = {
    "weights": Asked({"metric": "f1"}, ("sample_weight",)),
    "weights, a limit": Asked({**_METRIC, **_KEPT}, ("sample_weight",)),
    "groups": Asked({"metric": "auc"}, ("groups",)),
    "groups and weights": Asked(_METRIC, ("groups", "sample_weight")),
    "guarantee": Asked({"metric": RecallAtFPR(0.1), "guarantee": 0.95}),
    "guaranteed recall": Asked({"metric": "fpr@recall=0.8", **_KEPT}),
    "two limits": Asked({"metric": "error", "limits": {"fpr": 0.6, "recall": 0.3}, **_KEPT}),
    "precision and alerts": Asked(
        {"metric": "mcc", "limits": {"precision": 0.35, "alerts": 0.7}, **_KEPT}
    ),
    "segments": Asked(_METRIC, ("segment",)),
    "limits in segments": Asked(
        {"metric": "f1", "limits": InEverySegment({"fpr": 0.25}), **_KEPT}, ("segment",)
    ),
    "money": Asked(_COST, ("amount",), ("amount",)),
    "money in both columns": Asked(
        {"metric": Cost(fp="fee", fn="amount")}, ("amount", "fee"), ("amount", "fee")
    ),
    "money that is not known": Asked({"metric": Cost(20.0, "amount", known=False)}, ("amount",)),
    "money and groups": Asked(_COST, ("amount", "groups"), ("amount",)),
    "budget": Asked({"metric": "auc", **_DAYS}, ("day",)),
    "budget of teams": Asked({"metric": "f1", **_TEAMS}, ("day", "team"), ("team",)),
    "budget of money": Asked({**_COST, **_DAYS}, ("day", "amount"), ("amount",)),
}
BALANCED = Asked({"metric": "error", "class_weight": "balanced"})
#: By name: a classifier, and what it is asked for.
FROM_ROWS: dict[str, tuple[type[Any], dict[str, Asked]]] = {
    "direct": (DirectClassifier, {**ASKED, "balanced": BALANCED}),
    "card": (
        ScorecardClassifier,
        {
            **ASKED,
            "balanced": BALANCED,
            "integer, segments": Asked({**_METRIC, "points": "integer"}, ("segment",)),
            "twelve lines": Asked({"metric": "auc", "max_lines": 12}, ("sample_weight",)),
            "full": Asked({"metric": "auc", "max_lines": None}, ("groups",)),
        },
    ),
    "moment": (
        MomentClassifier,
        {
            "weights": Asked(_METRIC, ("sample_weight",)),
            "balanced": BALANCED,
            "from moments": Asked({"metric": "auc", "sample": 0}, ("sample_weight",)),
        },
    ),
}
#: What is asked of thresholds around a model that is fitted; of given scores, everything.
AROUND = ("weights", "groups", "guarantee", "segments", "money", "budget")


class Table(NamedTuple):
    """Rows with what stands beside them; ``scores`` are those of a model of other rows."""

    X: Any
    y: AnyArray
    beside: dict[str, AnyArray]
    scores: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """The columns of numbers, standardised."""
        return _numbers(self.X)


def table_of(name: str) -> Table:
    """Return a table with drawn columns beside it."""
    X, label = LOADERS[name]()
    y = np.asarray(label) == {"asked, bank": "yes", "asked, credit": "bad"}[name]
    rng = np.random.default_rng(0)
    chosen = [rng.permutation(np.flatnonzero(y == which))[:_ROWS_OF_CLASS] for which in (1, 0)]
    rows = np.sort(np.concatenate(chosen))
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    n_rows = len(y)
    beside = {
        "sample_weight": rng.uniform(0.2, 2.0, n_rows),
        "groups": rng.integers(n_rows // 2, size=n_rows),
        "segment": rng.choice(["east", "south", "west"], n_rows),
        "day": np.arange(n_rows) % 60,
        "team": rng.choice(["a", "b"], n_rows),
        "amount": rng.lognormal(4.0, 1.0, n_rows),
        "fee": rng.uniform(10.0, 30.0, n_rows),
    }
    numbers = _numbers(X)
    part = np.arange(n_rows) % 2 == 0
    scores = GaussianNB().fit(numbers[part], y[part]).predict_proba(numbers)[:, 1]
    return Table(X, y, beside, 0.999 * scores + 0.0005)


def _numbers(X: Any) -> FloatArray:
    values = X.select_dtypes("number").to_numpy(dtype=float)
    values = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    standard: FloatArray = (values - values.mean(axis=0)) / values.std(axis=0)
    return standard


def planned(name: str) -> Iterator[tuple[str, Callable[[], Fits]]]:
    """Yield the fits of a table: a name each, and what makes the arrays."""
    table = table_of(name)
    for kind, (classifier, settings) in FROM_ROWS.items():
        X = table.X if kind == "card" else table.numbers
        for setting, asked in settings.items():
            model = partial(classifier, **_without_warning(classifier), **asked.options)
            yield f"{name}, {kind}, {setting}", partial(_fit, model, asked, X, table)
    for setting, asked in ASKED.items():
        model = partial(OperatingPointClassifier, None, **asked.options)
        yield f"{name}, given score, {setting}", partial(_fit, model, asked, table.scores, table)
    frozen = FrozenEstimator(GaussianNB().fit(table.numbers[::2], table.y[::2]))
    for setting in AROUND:
        asked = ASKED[setting]
        for kind, estimator in (("around", LogisticRegression()), ("frozen", frozen)):
            model = partial(OperatingPointClassifier, estimator, **asked.options)
            yield f"{name}, {kind}, {setting}", partial(_fit, model, asked, table.numbers, table)
    for setting, make in _OTHERS.items():
        yield f"{name}, {setting}", partial(make, table)


def _without_warning(classifier: Any) -> dict[str, Any]:
    return {"warn_baseline": False} if "warn_baseline" in signature(classifier).parameters else {}


def _fit(model: Callable[[], Any], asked: Asked, X: Any, table: Table) -> Fits:
    """Return the arrays of a fit to rows."""
    beside = table.beside
    with quiet():
        fitted = model().fit(X, table.y, **{name: beside[name] for name in asked.fit})
        flagged = fitted.predict(X, **{name: beside[name] for name in asked.predict})
    return {
        "predict_proba": fitted.predict_proba(X)[:, 1],
        "decision_function": fitted.decision_function(X),
        "flagged": np.asarray(flagged, dtype=float),
        **numbers_of(fitted),
    }


# ── summaries, files, and functions of scores ─────────────────────────────────────────────────────


def _of_fitted(model: Any, X: Any) -> Fits:
    return {"predict_proba": model.predict_proba(X)[:, 1], **numbers_of(model)}


def _source(classifier: Any, roles: tuple[str, ...], table: Table) -> Fits:
    """Fit from a Parquet file, with the columns of some roles in it."""
    import pandas as pd  # noqa: PLC0415 - the other fits need none

    is_card = isinstance(classifier, ScorecardClassifier)
    X = table.X if is_card else pd.DataFrame(table.numbers).rename(columns="n{}".format)
    beside = {role: table.beside[role] for role in roles}
    names = {"sample_weight": "weight", "segment": "segment"}
    options: dict[str, Any] = {names[role]: role for role in roles}
    with tempfile.TemporaryDirectory() as place, quiet():
        path = f"{place}/rows.parquet"
        X.assign(label=table.y, **beside).to_parquet(path, row_group_size=300)
        model = classifier.fit_source(path, target="label", progress=False, **options)
        return _of_fitted(model, X)


def _counts(options: dict[str, Any], table: Table) -> Fits:
    """Fit a card to bin counts."""
    with quiet():
        binner = Binner(max_bins=8).fit(table.X)
        counts = BinCounts.of(binner, table.X, table.y)
        return _of_fitted(ScorecardClassifier(**options).fit_summary(counts), table.X)


def _moments(options: dict[str, Any], table: Table) -> Fits:
    """Fit a linear classifier to moments."""
    with quiet():
        moments = summarize(table.numbers, target=table.y, progress=False)
        return _of_fitted(MomentClassifier(**options).fit_summary(moments), table.numbers)


def _several(table: Table) -> Fits:
    """Return several operating points of one model."""
    model = DirectClassifier("auc", warn_baseline=False).fit(table.numbers, table.y)
    with quiet():
        points = model.operating_points(["f1", "recall@fpr=0.1", "precision@recall=0.5"])
    return {
        "predict_proba": model.predict_proba(table.numbers)[:, 1],
        **numbers_of(points, "points"),
    }


def _threshold(options: dict[str, Any], names: tuple[str, ...], table: Table) -> Fits:
    beside = {name: table.beside[name] for name in names}
    point = threshold_for(table.y, table.scores, **options, **beside)
    return {"predict_proba": table.scores, **numbers_of(point, "point")}


def _evaluation(names: tuple[str, ...], table: Table) -> Fits:
    beside = {name: table.beside[name] for name in names}
    found = evaluate(table.y, table.scores, "recall@fpr=0.1", threshold=0.5, **beside)
    return {"predict_proba": table.scores, **numbers_of(found, "evaluation")}


_OTHERS: dict[str, Callable[[Table], Fits]] = {
    **{
        f"{kind}, source, {setting}": partial(
            _source, classifier(**_without_warning(classifier), **options), roles
        )
        for kind, classifier in (("card", ScorecardClassifier), ("direct", DirectClassifier))
        for setting, options, roles in (
            ("plain", {"metric": "auc"}, ()),
            ("weights", {"metric": "f1"}, ("sample_weight",)),
            ("segments", _METRIC, ("segment",)),
            ("guarantee", {**_METRIC, **_KEPT}, ()),
            ("two limits", {"metric": "error", "limits": {"fpr": 0.6, "recall": 0.3}, **_KEPT}, ()),
        )
    },
    "moment, source, weights": partial(_source, MomentClassifier("f1"), ("sample_weight",)),
    "card, fit_summary": partial(_counts, {"metric": "auc"}),
    "card, fit_summary, points": partial(_counts, {**_METRIC, "points": "integer"}),
    "moment, fit_summary": partial(_moments, _METRIC),
    "moment, fit_summary, ranking": partial(_moments, {"metric": "auc"}),
    "several operating points": _several,
    "threshold_for, limits": partial(_threshold, {"limits": {"fpr": 0.3}, **_KEPT}, ()),
    "threshold_for, weights": partial(_threshold, {"metric": "f1"}, ("sample_weight",)),
    "threshold_for, segments": partial(
        _threshold, {"limits": InEverySegment({"fpr": 0.4}), **_KEPT}, ("segment",)
    ),
    "evaluate": partial(_evaluation, ()),
    "evaluate, segments": partial(_evaluation, ("segment", "sample_weight")),
}
