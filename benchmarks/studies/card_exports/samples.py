"""Raw rows of every kind of column, and scorecards fitted to such rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from directrix import Binner, ScorecardClassifier
from directrix.classifiers import PointsToDoubleOdds

TRAINING_ROWS = 1_200
#: Texts of training rows, and those that only new rows have.
TEXTS = ("rent", "it's own", 'a "house"', "back\\slash", "two\nlines", "日本", "", "NULL")
NEW_TEXTS = ("never seen", "Rent", "rent ")
#: Means "no record".
SPECIAL = -999.0
_DAY = 86_400 * 10**6
_START = int(datetime(2015, 1, 1, tzinfo=UTC).timestamp()) * 10**6


def raw_rows(n: int, seed: int, *, new: bool) -> pa.Table:
    """Return an Arrow table of numbers, texts, booleans and dates, with missing values.

    ``new``: whether there are also values that training rows do not have.
    """
    rng = np.random.default_rng(seed)
    wide = 3.0 if new else 1.0
    amount = np.round(wide * rng.normal(size=n), 3)
    amount[rng.random(n) < 0.1] = SPECIAL
    amount[rng.random(n) < 0.02] = np.nan
    if new:
        ends = [np.inf, -np.inf, np.finfo(float).max, 5e-324, -0.0]
        amount[rng.random(n) < 0.05] = rng.choice(ends)
    texts = (*TEXTS, *NEW_TEXTS) if new else TEXTS
    micro = _START + rng.integers(0, int(wide * 2_000 * _DAY), size=n)
    whole = micro // _DAY
    columns = {
        'amount "€"': pa.array(amount),
        "select": pa.array(rng.integers(-20, 100, size=n)),
        "it's\nhome": pa.array(np.array(texts, dtype=object)[rng.integers(len(texts), size=n)]),
        "flag": pa.array(rng.random(n) < 0.4),
        "opened": pa.array(whole.astype(np.int32), pa.date32()),
        "at": pa.array(micro, pa.timestamp("us")),
        "constant": pa.array(np.full(n, 7.0)),
    }
    masks = {name: rng.random(n) < 0.08 for name in columns}
    present = {
        name: pa.array(values.to_pylist(), values.type, mask=masks[name])
        for name, values in columns.items()
    }
    return pa.table(present)


def labels(rows: pa.Table, seed: int = 1) -> np.ndarray:
    """Return which rows are positive: they depend on columns alone and on one cross."""
    rng = np.random.default_rng(seed)
    amount = np.nan_to_num(rows.column(0).to_numpy(), nan=0.5)
    home = np.array([text in {"rent", "it's own"} for text in rows.column(2).to_pylist()])
    age = np.nan_to_num(rows.column(1).to_numpy().astype(float), nan=30.0)
    clipped = np.clip(amount, -2.0, 2.0)
    risk = clipped * (age - 40.0) / 25.0 + home + 0.01 * age
    return risk + rng.normal(size=len(rows)) > 1.0


def _fit(y: Callable[[pa.Table], Any] = labels, **options: Any) -> ScorecardClassifier:
    rows = raw_rows(TRAINING_ROWS, 0, new=False)
    binner = Binner(max_bins=12, special_values={'amount "€"': [SPECIAL]})
    classifier = ScorecardClassifier("auc", binner=binner, train_on="counts", cv=2, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is not the quality of the cards that is compared
        return classifier.fit(rows, y(rows))


def additive() -> ScorecardClassifier:
    """Return a card without crosses."""
    return _fit(max_crosses=0)


def crossed() -> ScorecardClassifier:
    """Return a card with crosses."""
    return _fit()


def rescaled() -> ScorecardClassifier:
    """Return a card in which more points are better, and not those of the positives."""
    return with_cards(crossed(), lambda points: -28.8 * points, intercept=600.3, cutoff=583.7)


def integer() -> ScorecardClassifier:
    """Return a card of whole numbers with crosses and a cutoff between two of them."""
    return with_cards(crossed(), lambda points: np.rint(-90.0 * points), intercept=600, cutoff=587)


def searched() -> ScorecardClassifier:
    """Return a card of small whole numbers, as it is trained."""
    return _fit(points="integer", max_crosses=0)


def doubling() -> ScorecardClassifier:
    """Return a card of exact points that double the odds, as it is trained, with crosses."""
    return _fit(points=PointsToDoubleOdds(rounded=False))


def three_classes() -> ScorecardClassifier:
    """Return a card for each of three classes."""

    def by_amount(rows: pa.Table) -> np.ndarray:
        high = np.nan_to_num(rows.column(0).to_numpy(), nan=0.0) > 0.3
        return np.array(["it's", "b", "c"])[labels(rows).astype(int) + high]

    return _fit(by_amount, max_crosses=1)


def three_integer_classes() -> ScorecardClassifier:
    """Return a card of whole numbers for each of three classes."""
    return with_cards(three_classes(), lambda points: np.rint(40.0 * points), 3, 2.5, higher=True)


def with_cards(
    classifier: ScorecardClassifier,
    change: Callable[[np.ndarray], np.ndarray],
    intercept: float,
    cutoff: float,
    *,
    higher: bool = False,
) -> ScorecardClassifier:
    """Return a classifier whose cards have other points, another intercept and cutoff."""
    changed = copy(classifier)
    changed.cards_ = tuple(
        replace(
            card,
            intercept=float(intercept),
            columns=tuple(change(points) for points in card.columns),
            crosses=tuple(replace(cross, points=change(cross.points)) for cross in card.crosses),
            cutoff=float(cutoff),
            higher_is_positive=higher,
        )
        for card in classifier.cards_
    )
    return changed


CARDS: dict[str, Callable[[], ScorecardClassifier]] = {
    make.__name__: lru_cache(make)
    for make in (
        *(additive, crossed, rescaled, integer, searched, doubling),
        *(three_classes, three_integer_classes),
    )
}
INTEGER = ("integer", "searched", "three_integer_classes")
