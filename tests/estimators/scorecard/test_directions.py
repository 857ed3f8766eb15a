"""Directions are kept by every card, whatever it is trained for, and their effect is reported."""

import numpy as np
import pandas as pd
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.exceptions import DirectionWarning, FewRowsWarning
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.export import load, save
from directrix.fit.directions import directions_of, flat_columns
from directrix.moments import BinCounts

# Straight lines are not held to a direction.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
MONOTONE = {"risk": "increasing", "income": "decreasing", "grade": ["good", "fair", "poor"]}


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    risk, income = rng.normal(size=n), rng.lognormal(size=n)
    grade = rng.choice(["good", "fair", "poor", "none"], n)
    wave = np.sin(4 * risk)  # what the direction must smooth out
    logit = risk + wave - income / 2 + (grade == "poor") - (grade == "fair") + rng.logistic(size=n)
    X = pd.DataFrame({"risk": risk, "income": income, "grade": grade, "other": rng.normal(size=n)})
    X.loc[::7, "risk"] = np.nan
    return X, logit > 0


def card(metric="recall@fpr=0.05", **kwargs):
    return ScorecardClassifier(
        metric, **{"cv": 3, "monotone": MONOTONE, "max_lines": None, **kwargs}
    )


def falls(fitted):
    """Return the largest fall of points against any direction."""
    directions = directions_of(fitted.monotone, fitted.card_.bins)
    points = [fitted.card_.columns[each.column][each.rising] for each in directions]
    return max(float(np.max(-np.diff(column))) for column in points)


@pytest.mark.parametrize("metric", ["auc", "recall@fpr=0.05", "error", "precision@k=0.05"])
def test_no_card_goes_against_a_direction(metric):
    fitted = card(metric).fit(*table())
    assert falls(fitted) <= 1e-12
    assert not {0, 1, 2} & {k for cross in fitted.card_.crosses for k in cross.columns}


def test_without_directions_the_same_card_would_go_against_them():
    fitted = card(monotone=None).fit(*table())
    fitted.monotone = MONOTONE
    assert falls(fitted) > 0.05


def test_directions_hold_on_raw_rows():
    X, y = table()
    fitted = card("auc").fit(X, y)
    row = X.iloc[[3]]
    for column, wish in (("risk", 1), ("income", -1)):
        many = pd.concat([row] * 60, ignore_index=True)
        many[column] = np.linspace(-3, 6, 60)
        assert (wish * np.diff(fitted.decision_function(many)) >= -1e-9).all()
    many = pd.concat([row] * 3, ignore_index=True)
    many["grade"] = MONOTONE["grade"]
    assert (np.diff(fitted.decision_function(many)) >= -1e-9).all()


def test_counts_alone_keep_directions():
    X, y = table()
    counts = BinCounts.of(Binner().fit(X), X, y)
    fitted = card("auc").fit_summary(counts)
    assert falls(fitted) <= 1e-12
    assert card("auc", monotone=None).fit_summary(counts).card_.columns[0].tolist() != (
        fitted.card_.columns[0].tolist()
    )


def test_the_report_has_the_effect_of_each_direction_and_of_all():
    fitted = card("auc").fit(*table())
    effects = fitted.report_.directions
    assert [effect.column for effect in effects] == ["risk", "income", "grade", "all columns"]
    assert effects[0].effect.mean < -0.001  # the wave is real
    assert effects[2].wish == "good <= fair <= poor"
    said = "Direction of risk (increasing): not clearly different from the model without it: -0.0"
    assert said in str(fitted.report_)
    assert "Direction of risk" in fitted.report_._repr_html_()


def test_a_direction_that_rows_contradict_is_said():
    X, y = table()
    with pytest.warns(
        DirectionWarning, match="contradict the direction asked of 'income'"
    ) as caught:
        fitted = card("auc", monotone={"income": "increasing"}).fit(X, y)
    assert caught[0].message.columns == ("income",)
    assert fitted.report_.directions[0].flat
    assert falls(fitted) <= 1e-12


@pytest.mark.parametrize(
    ("monotone", "error", "message"),
    [
        (["risk"], TypeError, "must be a dict"),
        ({"rsik": "increasing"}, ColumnNotFoundError, "no column named 'rsik'"),
        ({"risk": "up"}, ValueError, "'risk' must be 'increasing' or 'decreasing', not 'up'$"),
        ({"risk": ["a", "b"]}, ValueError, "holds no texts"),
        ({"grade": "increasing"}, ValueError, "holds texts, which have no order"),
        (
            {"grade": ["good", "bad"]},
            ValueError,
            "no level 'bad'.*; there are 'fair', 'good', 'poor'",
        ),
        (
            {"grade": ["good", "Poor"]},
            ValueError,
            "did you mean 'poor'. There are 'fair', 'good', ",
        ),
        ({"grade": ["good"]}, ValueError, "two or more different"),
        ({"grade": ["good", "good"]}, ValueError, "two or more different"),
        ({"risk": "increasing", 0: "increasing"}, ValueError, "twice"),
    ],
)
def test_wrong_directions_are_named(monotone, error, message):
    with pytest.raises(error, match=message):
        card("auc", monotone=monotone).fit(*table(60))


def test_levels_of_few_rows_have_no_direction():
    X, y = table(200)
    X.loc[0, "grade"] = "rare"
    monotone = {"grade": ["good", "rare", "fair", "poor"]}
    with pytest.warns(FewRowsWarning, match="levels 'rare' of column 'grade' have too few rows"):
        fitted = card("auc", monotone=monotone).fit(X, y)
    assert fitted.report_.directions[0].wish == "good <= fair <= poor"
    with pytest.warns(FewRowsWarning, match="'Fair' of column.*; did you mean 'fair'"):
        card("auc", monotone={"grade": ["good", "Fair", "poor"]}).fit(X, y)


def test_flat_columns_are_those_whose_points_are_equal():
    X, y = table()
    fitted = card("auc").fit(X, y)
    directions = directions_of(MONOTONE, fitted.card_.bins)
    columns = [points.copy() for points in fitted.card_.columns]
    assert flat_columns(directions, columns) == []
    columns[1][directions[1].rising] = 0.5
    assert flat_columns(directions, columns) == ["income"]


def test_a_saved_card_remembers_its_directions(tmp_path):
    fitted = card("auc").fit(*table(200))
    save(fitted, tmp_path / "card.model")
    assert load(tmp_path / "card.model").monotone == MONOTONE
