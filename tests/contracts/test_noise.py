"""Laws of promises: where labels are independent of all columns, no classifier expects otherwise.

Every family is a classifier, its metrics and the way that its rows are given. A family is fitted to
many small samples, each drawn by itself, and its claims are compared with the truth on new rows.
Bounds are quantiles: where claims are honest, one of 1,000 choices of seeds breaks any of them. The
quick form of the suite has fewer fits of each family, and bounds that are as rarely broken. Fits to
summaries of weighted rows keep the laws with signal too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from few_cases import SELECTION
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from directrix import (
    DirectClassifier,
    MomentClassifier,
    Moments,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import OneClassPredictedWarning
from directrix.metrics import Cost, PartialAUC, PrecisionAtK, RecallAtFPR

# Samples are small, which some metrics warn of, and nothing is better than logistic regression.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N_ROWS, N_NEW_ROWS, N_COLUMNS = 200, 20_000, 6
#: Chance of each of three bounds on a family to be broken by claims that are honest.
LEVEL = 4e-5
METRICS = (
    "error",
    "balanced_error",
    "f1",
    "average_precision",
    Cost(fp=1, fn=20),
    PrecisionAtK(k=0.1),
    PartialAUC(max_fpr=0.2),
    RecallAtFPR(0.05),
)


# ── rows without signal ───────────────────────────────────────────────────────────────────────────


def numbers(n, rng):
    return rng.normal(size=(n, N_COLUMNS))


def texts(n, rng):
    levels = np.array([f"level {k}" for k in range(15)], dtype=object)
    return pd.DataFrame(levels[rng.integers(0, 15, (n, 4))], columns=list("abcd"))


def mixed(n, rng):
    """Return columns as tables have them, which depend on each other but not on the labels."""
    age = rng.integers(18, 80, n).astype(float)
    income = rng.lognormal(0.02 * age, 1.0)
    income[rng.random(n) < 0.2] = np.nan
    frame = pd.DataFrame({"age": age, "income": income, "visits": rng.poisson(1.0, n)})
    frame["home"] = np.where(age + rng.normal(0, 20, n) > 50, "own", "rent")
    frame["area"] = [f"area {k}" for k in rng.integers(0, 40, n)]
    frame["name"] = [f"name {k}" for k in rng.integers(0, 10**9, n)]
    return frame


def labels(n, rng, share=0.3):
    return rng.permutation(n) < round(share * n)


# ── families ──────────────────────────────────────────────────────────────────────────────────────


def fit_rows(classifier, X, y):
    return classifier.fit(X, y)


def fit_weighted(classifier, X, y):
    return classifier.fit(X, y, sample_weight=np.random.default_rng(0).lognormal(0.0, 0.5, len(y)))


def fit_whole_weights(classifier, X, y):
    return classifier.fit(X, y, sample_weight=np.random.default_rng(0).integers(1, 10, len(y)))


def fit_source(classifier, X, y):
    return classifier.fit_source(X, target=y, progress=False)


WEIGHTS = {
    "none": lambda _rng, _n: None,
    "whole": lambda rng, n: rng.integers(1, 10, n),
    "lognormal": lambda rng, n: rng.lognormal(0.0, 1.0, n),
    "Pareto": lambda rng, n: 1.0 + rng.pareto(1.1, n),
}


def fit_summary(classifier, X, y, *, weights):
    weight = WEIGHTS[weights](np.random.default_rng([int(y.sum()), len(y)]), len(y))
    return classifier.fit_summary(Moments.of(X, y, weight))


@dataclass(frozen=True)
class Member:
    """A classifier that is fitted several times, each time to rows of its own.

    ``signal`` moves the first column of the positives.
    """

    make: Callable
    fits: int
    rows: Callable = numbers
    fit: Callable = fit_rows
    share: float = 0.3
    n_rows: int = N_ROWS
    signal: float = 0.0

    def draw(self, n, rng):
        X, y = self.rows(n, rng), labels(n, rng, self.share)
        if self.signal:
            X[:, 0] += self.signal * y
        return X, y


def card(metric="auc", **parameters):
    return partial(ScorecardClassifier, metric, **parameters)


FAMILIES = {
    "card": [Member(card(), 10), Member(card(max_crosses=0), 5), Member(card(), 5, texts)],
    "full card": [Member(card(max_lines=None), 5), Member(card(max_lines=None), 3, mixed)],
    "card, other metrics": [
        Member(card(metric), fits) for metric, fits in zip(METRICS, 4 * (2, 3), strict=True)
    ],
    "card, other rows": [Member(card(), 8, mixed), Member(card(), 6, fit=fit_weighted)],
    "whole weights": [
        Member(card(), 7, fit=fit_whole_weights),
        Member(partial(DirectClassifier, "auc"), 3, fit=fit_whole_weights),
        Member(partial(MomentClassifier, "auc"), 3, fit=fit_whole_weights),
    ],
    "card, few columns, whole points, directions": [
        Member(card(points="integer", max_columns=3), 3),
        Member(card(max_columns="auto"), 4),
        Member(card(monotone={0: "increasing", 1: "decreasing"}), 4),
    ],
    "card of a source": [
        Member(card(), 10, fit=fit_source),
        *[Member(card(metric), 1, fit=fit_source) for metric in METRICS],
    ],
    "line": [
        Member(partial(DirectClassifier, "auc"), 6),
        *[Member(partial(DirectClassifier, metric), 1) for metric in METRICS],
        *[Member(partial(MomentClassifier, metric), 2) for metric in ("auc", "error", "f1")],
    ],
    "line of a source": [
        Member(partial(DirectClassifier, "auc"), 5, fit=fit_source),
        *[Member(partial(DirectClassifier, metric), 1, fit=fit_source) for metric in METRICS],
        Member(partial(MomentClassifier, "auc"), 2, fit=fit_source),
    ],
    "any model": [
        Member(partial(OperatingPointClassifier, LogisticRegression(), metric), fits, share=share)
        # Where positives are rare, the final estimator is farthest from its copies.
        for metric, fits, share in (
            *(("f1", 120, 0.1), ("f1", 9, 0.3)),
            *(("error", 9, 0.3), (RecallAtFPR(0.05), 9, 0.3)),
        )
    ],
    # As many rows as need no folds if all have the same weight.
    **{
        f"summary, weights: {name}": [
            Member(
                partial(MomentClassifier, "auc"),
                *(20, numbers, partial(fit_summary, weights=name)),
                n_rows=2_500,
                signal=signal,
            )
            for signal in (0.0, 0.6)
        ]
        for name in WEIGHTS
    },
}


class Outcome(NamedTuple):
    """What a fit claims, and the truth.

    Attributes
    ----------
    name : str
    sign : float
        1 if more of the metric is better, else -1.
    expected, low, high, empirical, truth : float
    gaps : dict
        By name, those of the report.
    rates : dict
        By name, the interval of each rate at the threshold, and the rate of new rows.
    """

    name: str
    sign: float
    expected: float
    low: float
    high: float
    empirical: float
    truth: float
    gaps: dict
    rates: dict

    @property
    def bias(self):
        """The bias in standard errors that the interval claims; above zero is optimistic."""
        width = self.high - self.low
        return self.sign * (self.expected - self.truth) / (width / (2 * stats.norm.isf(0.025)))


def outcome(member, rng):
    X, y = member.draw(member.n_rows, rng)
    X_new, y_new = member.draw(N_NEW_ROWS, rng)
    fitted = member.fit(member.make(), X, y)
    point, scores = fitted.operating_point_, fitted.decision_function(X_new)
    if point.intervals is None:  # one row has most of the weight: nothing is claimed
        return None
    metric = point.metric
    truth = metric.score(y_new, scores)
    if metric.limit is not None:  # at the threshold of the classifier, not at that of the new rows
        truth = float((scores[y_new] > 0).mean())
    report = getattr(fitted, "report_", None)
    names = ("gap", "unbinned_baseline")
    gaps = {name: getattr(report, name, None) for name in names}
    return Outcome(
        metric.label,
        1.0 if metric.greater_is_better else -1.0,
        point.expected.metric,
        *point.intervals.metric,
        point.empirical.metric,
        truth,
        {name: gap for name, gap in gaps.items() if gap is not None},
        rates_of(point, y_new, fitted.predict(X_new) == fitted.positive_),
    )


def rates_of(point, y_new, flagged):
    """Return the interval of each rate with what new rows show; no precision of no rows."""
    shown = {"tpr": flagged[y_new].mean(), "fpr": flagged[~y_new].mean()}
    if flagged.any():
        shown["precision"] = y_new[flagged].mean()
    return {name: (*getattr(point.intervals, name), rate) for name, rate in shown.items()}


def n_fits(member, index):
    """Return the number of fits: in the quick form a third, or one, and every other one of one."""
    if SELECTION.limit is None:
        return member.fits
    return index % 2 if member.fits == 1 else max(1, member.fits // 3)


def outcomes(family):
    members = enumerate(FAMILIES[family])
    seed = list(FAMILIES).index(family)
    fits = [
        outcome(member, np.random.default_rng([seed, index, repeat]))
        for index, member in members
        for repeat in range(n_fits(member, index))
    ]
    return [each for each in fits if each is not None]


# ── the laws ──────────────────────────────────────────────────────────────────────────────────────


def no_more_is_expected_than_new_rows_show(fits):
    bias = np.array([each.bias for each in fits])
    total = bias.mean() * np.sqrt(len(bias))
    assert total <= stats.norm.isf(LEVEL)
    # Not even if intervals are wide.
    assert total <= stats.t.isf(LEVEL, len(bias) - 1) * bias.std(ddof=1)


def intervals_contain_the_truth(fits):
    excluded = [each for each in fits if not each.low <= each.truth <= each.high]
    assert len(excluded) <= stats.binom.isf(LEVEL, len(fits), 0.05)


def intervals_contain_the_rates(fits):
    for name in ("tpr", "fpr", "precision"):
        of_rate = [each.rates[name] for each in fits if name in each.rates]
        excluded = [rate for low, high, rate in of_rate if not low <= rate <= high]
        assert len(excluded) <= stats.binom.isf(LEVEL, len(of_rate), 0.08)


def expected_is_no_better_than_what_rows_showed_to_the_choice(fits):
    rosy = [each for each in fits if each.sign * (each.expected - each.empirical) > 1e-9]
    assert rosy == []


def gaps_to_other_models_have_a_width(fits):
    # The choice may be the baseline itself: then, and only then, the gap is known to be zero. A
    # fit to a source may have no interval of it.
    for each in fits:
        for name, gap in each.gaps.items():
            is_baseline = name == "gap" and tuple(gap) == (0.0, 0.0, 0.0)
            assert is_baseline or gap.low != gap.high


@pytest.mark.every_case
@pytest.mark.parametrize("family", FAMILIES)
def test_claims_are_honest(family):
    fits = outcomes(family)
    no_more_is_expected_than_new_rows_show(fits)
    intervals_contain_the_truth(fits)
    intervals_contain_the_rates(fits)
    expected_is_no_better_than_what_rows_showed_to_the_choice(fits)
    gaps_to_other_models_have_a_width(fits)


# ── tables that tell no rows apart ────────────────────────────────────────────────────────────────

RNG = np.random.default_rng(3)
TABLES = {
    "numbers": np.ones((N_ROWS, 2)),
    "large numbers": np.full((N_ROWS, 1), 1e12),
    "texts": pd.DataFrame({"a": ["q"] * N_ROWS, "b": ["z"] * N_ROWS}),
    "identifiers": pd.DataFrame({k: RNG.integers(0, 10**5, N_ROWS).astype(str) for k in "abc"}),
}
MODELS = {
    "Direct": DirectClassifier("auc"),
    "Moment": MomentClassifier("auc"),
    "Scorecard": ScorecardClassifier("auc"),
    "Scorecard, integer": ScorecardClassifier("auc", points="integer"),
    "Scorecard, double odds": ScorecardClassifier("auc", points="pdo"),
}
CASES = {
    f"{name}, {table}": (model, TABLES[table])
    for name, model in MODELS.items()
    for table in TABLES
    if name.startswith("Scorecard") or "numbers" in table
}


@pytest.mark.parametrize("source", [False, True], ids=["rows", "source"])
@pytest.mark.parametrize(("model", "X"), CASES.values(), ids=CASES)
def test_a_table_of_no_information_gives_the_prior(model, X, source):
    y = np.random.default_rng(0).random(N_ROWS) < 0.3
    fit = clone(model).fit
    if source and hasattr(model, "fit_source"):
        fit = partial(clone(model).fit_source, target=y, progress=False)
    with pytest.warns(OneClassPredictedWarning):
        fitted = fit(X) if isinstance(fit, partial) else fit(X, y)
    assert fitted.operating_point_.expected.metric == pytest.approx(0.5, abs=1e-9)
    new = X + 1 if isinstance(X, np.ndarray) else X + "?"
    if isinstance(X, pd.DataFrame):
        new.loc[::2] = None
    if isinstance(model, ScorecardClassifier):
        assert not any(points.any() for points in fitted.card_.blocks)
    else:
        assert not fitted.coef_.any()
    np.testing.assert_allclose(fitted.predict_proba(new)[:, 1], y.mean(), atol=0.01)
