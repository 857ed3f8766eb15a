import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import (
    LogLoss,
    LogOdds,
    TableRival,
    text_columns,
    with_categories,
    with_plain_texts,
)
from benchmarks.rivals.tables import SLOW, TABLE_RIVALS, PathLogistic
from directrix.metrics import AUC, Cost, FBeta

METRICS = {"AUC": AUC(), "cost": Cost(fp=1, fn=20), "log-loss": LogLoss()}


def table(n=240, seed=0, *, unseen=False):
    """Return a table in which a number and a text tell the classes apart, and one text is rich."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n) + 2.0 * y,
            "count": rng.integers(0, 5, n),
            "text": np.where(rng.random(n) < 0.8, np.where(y, "yes", "no"), "other"),
            "rich": rng.integers(0, 60, n).astype(str),
        }
    ).astype({"text": "string"})
    X.loc[::9, "number"] = np.nan
    X.loc[::11, "text"] = pd.NA
    if unseen:
        X.loc[::5, "text"] = "never seen"
    return Rows(X, y)


def competitor(name):
    rival = TABLE_RIVALS[name]
    if rival.missing:
        pytest.skip(f"{name} needs the group 'rivals': {rival.missing}")
    return rival


@pytest.mark.filterwarnings("ignore")
class TestEveryCompetitor:
    @pytest.mark.parametrize("name", list(TABLE_RIVALS))
    def test_it_scores_texts_missing_values_and_unseen_levels(self, name):
        train, test = table(), table(seed=1, unseen=True)
        scores = competitor(name).scores(train, test, METRICS)
        assert set(scores) == set(METRICS)
        for metric, values in scores.items():
            assert values.shape == test.y.shape
            assert np.isfinite(values).all()
            value = METRICS[metric].score(test.y, values)
            # The prior alone: 0.5, 0.6 and 0.67.
            assert value > 0.85 if metric == "AUC" else value < 0.6

    @pytest.mark.parametrize("name", [name for name in TABLE_RIVALS if name not in SLOW])
    def test_test_labels_change_nothing(self, name):
        train, test = table(), table(seed=1)
        first, second = (
            competitor(name).scores(train, Rows(test.X, y), METRICS) for y in (test.y, ~test.y)
        )
        for metric in METRICS:
            assert np.array_equal(first[metric], second[metric])

    @pytest.mark.parametrize("name", [name for name in TABLE_RIVALS if name not in SLOW])
    def test_it_takes_numbers_alone(self, name):
        train, test = (
            Rows(part.X[["number", "count"]].fillna(0.0), part.y)
            for part in (table(), table(seed=1))
        )
        scores = competitor(name).scores(train, test, METRICS)
        assert AUC().score(test.y, scores["AUC"]) > 0.8


class Fixed(TableRival):
    """Says what it was told."""

    def __init__(self, said):
        self.said = said

    def log_odds(self, train, test):  # noqa: ARG002
        return self.said


class TestThresholds:
    def test_without_inner_folds_the_cost_has_that_of_decision_theory(self):
        rows = table(n=4)
        odds = np.array([1 / 10, 1 / 19, 1 / 21, 1 / 40])
        scores = Fixed(LogOdds(np.log(odds))).scores(rows, rows, METRICS)
        # A row is worth a false alarm if its odds are above 1 to 20.
        assert (scores["cost"] > 0).tolist() == [True, True, False, False]
        assert np.array_equal(scores["AUC"], np.log(odds))
        assert np.array_equal(scores["log-loss"], np.log(odds))

    def test_no_other_threshold_follows_from_probabilities(self):
        rows = table(n=4)
        with pytest.raises(TypeError, match="no threshold"):
            Fixed(LogOdds(np.zeros(4))).scores(rows, rows, {"F1": FBeta()})

    def test_with_inner_folds_it_is_the_best_one_for_their_scores(self):
        rows = table(n=100)
        held_out = np.random.default_rng(2).normal(size=100) + rows.y
        scores = Fixed(LogOdds(held_out, held_out)).scores(rows, rows, METRICS)
        cost = METRICS["cost"]
        reached = cost.score(rows.y, scores["cost"])
        every = [cost.score(rows.y, held_out - t) for t in [*(held_out - 1e-9), *(held_out + 1e-9)]]
        assert reached == pytest.approx(min(every))


class Watching:
    """A transformer that complains of rows that it was fitted to."""

    def fit_transform(self, frame, y):  # noqa: ARG002
        self.fitted = set(frame.index)
        return frame[["count"]].to_numpy(dtype=float)

    def transform(self, frame):
        assert not self.fitted & set(frame.index), "held-out rows were seen in training"
        return frame[["count"]].to_numpy(dtype=float)


def test_bins_and_levels_are_learned_inside_the_inner_folds():
    train, test = table(), table(seed=1)
    test.X.index += 1000
    said = PathLogistic(lambda _: Watching()).log_odds(train, test)
    assert said.held_out.shape == train.y.shape


class TestFrames:
    def test_texts_are_columns_that_are_no_numbers(self):
        frame = table().X.assign(flag=True, kind=pd.Categorical(["a"] * 240))
        assert text_columns(frame) == ["text", "rich", "kind"]

    def test_plain_texts_have_the_missing_value_that_is_asked_for(self):
        frame = table().X
        assert with_plain_texts(frame)["text"].isna().equals(frame["text"].isna())
        filled = with_plain_texts(frame, missing="none")["text"]
        assert np.array_equal(filled == "none", frame["text"].isna())
        assert with_plain_texts(frame)["number"].equals(frame["number"])

    def test_categories_are_the_most_frequent_levels_of_the_training_rows(self):
        train = pd.DataFrame({"text": ["a"] * 3 + ["b"] * 2 + ["c"]})
        test = pd.DataFrame({"text": ["a", "c", "new", None]})
        _, all_levels = with_categories(train, test)
        assert all_levels["text"].isna().tolist() == [False, False, True, True]
        first, second = with_categories(train, test, most=2)
        assert set(first["text"].cat.categories) == {"a", "b"}
        assert second["text"].isna().tolist() == [False, True, True, True]
        assert first["text"].dtype == second["text"].dtype
