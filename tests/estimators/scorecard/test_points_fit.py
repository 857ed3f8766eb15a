"""Points on a scale: what they mean, their cutoff, and the price of rounding."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.estimators import IntegerPoints, PointsToDoubleOdds
from directrix.export import load, save
from directrix.moments import BinCounts

SCALES = {
    "pdo": PointsToDoubleOdds(),
    "pdo, exact": PointsToDoubleOdds(40.0, 500.0, 1.0, rounded=False),
    "integer": IntegerPoints(),
    "integer, small": IntegerPoints(4),
}
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
every_scale = pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)


def table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.lognormal(size=n),
            "home": rng.choice(["own", "rent", "none"], n),
        }
    )
    X.loc[::9, "income"] = np.nan
    risk = np.abs(X["age"] - 45) / 10 + (X["home"] == "rent") - X["income"].fillna(0)
    return X, (risk + rng.logistic(size=n) > 1.5).to_numpy()


def card(metric="recall@fpr=0.1", **kwargs):
    return ScorecardClassifier(metric, **{"cv": 3, "max_lines": None, **kwargs})


@every_scale
def test_the_cutoff_decides_and_probabilities_rise_with_the_score(scale):
    X, y = table()
    fitted = card(points=scale).fit(X, y)
    points, made = fitted.predict_points(X), fitted.card_
    above = points > made.cutoff
    np.testing.assert_array_equal(fitted.predict(X), above if made.higher_is_positive else ~above)
    assert fitted.operating_point_.threshold == made.cutoff
    order = np.argsort(fitted.decision_function(X), kind="stable")
    assert (np.diff(fitted.predict_proba(X)[order, 1]) >= 0).all()
    if made.is_whole:
        assert made.cutoff % 1 == 0.5
        assert (points == np.rint(points)).all()


@pytest.mark.parametrize("pdo", [10.0, 20.0, 50.0])
def test_so_many_points_double_the_odds(pdo):
    X, y = table(2000)
    scale = PointsToDoubleOdds(pdo, 600.0, 50.0, rounded=False)
    fitted = card("auc", points=scale, max_crosses=0).fit(X, y)
    chance = np.clip(fitted.predict_proba(X)[:, 1], 1e-9, 1 - 1e-9)
    doublings = np.log2((1 - chance) / chance / 50.0)
    slope = np.polyfit((fitted.predict_points(X) - 600.0) / pdo, doublings, 1)
    assert slope == pytest.approx([1.0, 0.0], abs=1e-6)


def test_exact_points_are_the_plain_card_in_other_words():
    X, y = table()
    plain, fitted = (card(points=k).fit(X, y) for k in ("log-odds", SCALES["pdo, exact"]))
    np.testing.assert_array_equal(plain.predict(X), fitted.predict(X))
    np.testing.assert_allclose(plain.predict_proba(X), fitted.predict_proba(X), atol=1e-9)
    scores, points = plain.decision_function(X), fitted.predict_points(X)
    assert np.corrcoef(scores, points)[0, 1] == pytest.approx(-1.0)


@every_scale
def test_new_rows_keep_the_limit(scale):
    X, y = table(3000)
    fitted = card(points=scale).fit(X[::2], y[::2])
    rate = fitted.predict(X[1::2])[~y[1::2]].mean()
    # Totals of four points are so few that none has a rate near the limit: it is not used up.
    least = 0.02 if scale == SCALES["integer, small"] else 0.06
    assert least < rate < 0.14


@every_scale
@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")
def test_a_guarantee(scale):
    X, y = table(300)
    kept = card("recall@fpr=0.2", points=scale, guarantee=0.9).fit(X, y)
    above = kept.predict_points(X) > kept.card_.cutoff
    np.testing.assert_array_equal(
        kept.predict(X), above if kept.card_.higher_is_positive else ~above
    )


@every_scale
def test_directions_survive_rounding(scale):
    X, y = table()
    fitted = card(points=scale, monotone={"income": "decreasing"}).fit(X, y)
    points = fitted.card_.columns[1][1:]
    if not fitted.card_.higher_is_positive:
        points = -points
    assert (np.diff(points) <= 1e-9).all()


@every_scale
def test_counts_alone_and_files(scale, tmp_path):
    X, y = table()
    counts = BinCounts.of(Binner().fit(X), X, y, fold=np.arange(len(y)) % 3)
    plain = card("error", points="log-odds").fit_summary(counts)
    fitted = card("error", points=scale).fit_summary(counts)
    agree = (plain.predict(X) == fitted.predict(X)).mean()
    assert agree >= (0.9 if scale == SCALES["integer, small"] else 0.97)
    np.testing.assert_allclose(
        fitted.predict_proba(X)[:, 1].mean(), plain.predict_proba(X)[:, 1].mean(), atol=0.05
    )
    save(fitted, tmp_path / "card.model")
    again = load(tmp_path / "card.model")
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert again.card_.cutoff == fitted.card_.cutoff


def test_units_of_a_card_do_not_matter():
    X, y = table()
    fitted = card(points="integer").fit(X, y)
    scaled = replace(fitted.card_, cutoff=fitted.card_.cutoff * 3).affine(3.0, 0.0)
    cells = fitted.binner_.cells(X)
    np.testing.assert_array_equal(scaled.scores(cells) > 0, fitted.card_.scores(cells) > 0)
