"""Bands of total points: what held-out rows show, what is expected, and in which formats."""

import pickle

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from directrix import Binner, ScorecardClassifier
from directrix.cards.risk_bands import HeldOutPoints
from directrix.estimators import RiskBands
from directrix.exceptions import NoHeldOutPointsError
from directrix.export import load, save, to_sql
from directrix.fit.operating_point import Calibration
from directrix.moments import BinCounts

RNG = np.random.default_rng(7)
N = 3000
X = pd.DataFrame(
    {"age": RNG.integers(18, 75, N), "late": RNG.poisson(0.7, N), "z": RNG.normal(size=N)}
)
Y = RNG.logistic(size=N) < 0.9 * X["late"] + np.abs(X["age"] - 45) / 12 - 4
NEW = pd.DataFrame(
    {"age": RNG.integers(18, 75, N), "late": RNG.poisson(0.7, N), "z": RNG.normal(size=N)}
)
Y_NEW = RNG.logistic(size=N) < 0.9 * NEW["late"] + np.abs(NEW["age"] - 45) / 12 - 4
OPTIONS = {
    "binner": Binner(max_bins=8),
    "max_crosses": 0,
    "max_lines": None,
    "cv": 4,
    "warn_baseline": False,
}
SETTINGS = {
    "real points": {"points": "log-odds"},
    "whole points": {"points": "pdo"},
    "small points": {"points": "integer"},
    "first label": {"points": "pdo", "positive": False},
    "guaranteed": {"points": "log-odds", "guarantee": 0.9, "metric": "recall@fpr=0.2"},
}


@pytest.fixture(scope="module")
def cards():
    made = {}
    for name, settings in SETTINGS.items():
        made[name] = ScorecardClassifier(**{"metric": "auc"} | OPTIONS | settings).fit(X, Y)
    return made


@pytest.mark.every_case
@pytest.mark.parametrize("name", list(SETTINGS))
class TestLaws:
    def test_bands_divide_the_held_out_rows(self, cards, name):
        card = cards[name].card_
        for bands in (card.bands(), card.bands(3), card.bands(1), card.bands(card.bands(4).cuts)):
            total = (card.held_out.negatives + card.held_out.positives).sum()
            assert sum(band.rows for band in bands) == pytest.approx(total)
            assert sum(band.share for band in bands) == pytest.approx(1.0)
            assert bands[0].above == -np.inf
            assert bands[-1].up_to == np.inf
            assert [band.up_to for band in bands[:-1]] == [band.above for band in bands[1:]]
        expected = N if name != "guaranteed" else N / 3
        assert total == pytest.approx(expected, rel=0.01)

    def test_rates_and_intervals_are_in_order(self, cards, name):
        for band in cards[name].card_.bands(6):
            assert 0 <= band.low < band.expected < band.high <= 1
            between = sorted([band.observed, band.predicted, 0.5])
            assert between[0] - 1e-12 <= band.expected <= between[-1] + 1e-12

    def test_probabilities_are_those_of_the_classifier(self, cards, name):
        model = cards[name]
        points = model.predict_points(NEW)
        positive = model.predict_proba(NEW)[:, model.classes_.tolist().index(model.positive_)]
        held_out = model.card_.held_out
        inside = (points >= held_out.points[0]) & (points <= held_out.points[-1])
        near = np.interp(points[inside], held_out.points, held_out.probability)
        assert np.abs(near - positive[inside]).max() < 0.01

    def test_new_rows_are_near_what_is_expected(self, cards, name):
        model = cards[name]
        bands, is_positive = model.card_.bands(5), model.positive_ == Y_NEW
        index = bands.positions(model.predict_points(NEW))
        inside = []
        for k, band in enumerate(bands):
            n_rows = int((index == k).sum())
            low, high = band.interval_among(n_rows, 0.999)
            inside.append(low <= is_positive[index == k].mean() <= high)
        assert all(inside)

    def test_files_keep_the_bands(self, cards, name, tmp_path):
        model = cards[name]
        save(model, tmp_path / "card.dx")
        again = load(tmp_path / "card.dx")
        assert again.card_.bands() == model.card_.bands()
        assert pickle.loads(pickle.dumps(model)).card_.bands() == model.card_.bands()  # noqa: S301

    def test_sql_gives_the_band_of_python(self, cards, name):
        model = cards[name]
        bands = model.card_.bands(6)
        points = to_sql(model).points
        expressions = [bands.to_sql(f"({points})", value) for value in ("points", "expected")]
        with duckdb.connect() as connection:
            connection.register("t", NEW)
            found = connection.execute(f"SELECT {', '.join(expressions)} FROM t").fetchall()  # noqa: S608
        expected = [bands[k] for k in bands.positions(model.predict_points(NEW))]
        assert found == [(band.points, band.expected) for band in expected]


def test_a_band_is_known_by_its_rows_and_the_probabilities():
    calibration = Calibration(0.0, 1.0, 1.0, "by hand")
    scores = np.linspace(-2, 2, 9)
    p = calibration(scores)
    weights = 400 * np.stack([1 - p, p])  # as if the probabilities were true
    kept = HeldOutPoints.of_scores(
        scores, weights, calibration, cutoff=10.0, rises=False, whole=False, effective=1.0
    )
    np.testing.assert_allclose(kept.points, 10.0 - scores[::-1])
    np.testing.assert_allclose(kept.probability, p[::-1])
    assert kept.slope == 1.0
    bands = kept.bands([9.0, 11.0], 0.9)
    assert [band.rows for band in bands] == pytest.approx([1200, 1600, 800])
    for band in bands:
        assert band.observed == pytest.approx(band.predicted)
        # Probabilities are worth half of the rows at most.
        assert band.alpha + band.beta == pytest.approx(1.5 * band.rows + 1)
        assert band.low == pytest.approx(stats.beta.ppf(0.05, band.alpha, band.beta))
    assert bands.level == 0.9
    assert "90 % interval" in str(bands)


def test_probabilities_that_are_wrong_are_worth_little():
    wrong = HeldOutPoints(
        np.arange(4.0), np.full(4, 900.0), np.full(4, 100.0), np.full(4, 0.5), 1.0, 1.0
    )
    for band in wrong.bands([0.5, 1.5, 2.5], 0.95):
        assert band.observed == 0.1
        assert band.expected == pytest.approx(0.1, abs=0.005)


def test_weights_that_vary_make_intervals_wider(cards):
    held_out = cards["whole points"].card_.held_out
    sure = held_out.bands([480.0], 0.95)
    less = HeldOutPoints(
        held_out.points, held_out.negatives, held_out.positives, held_out.probability, 0.25, 1.0
    ).bands([480.0], 0.95)
    for one, other in zip(sure, less, strict=True):
        assert other.rows == one.rows
        assert other.high - other.low > 1.5 * (one.high - one.low)


def test_a_band_without_rows_is_unknown(cards):
    bands = cards["whole points"].card_.bands([0, 500, 9999])
    first, *_, last = bands
    for band in (first, last):
        assert band.rows == 0
        assert np.isnan([band.observed, band.predicted, band.expected, band.low, band.high]).all()
        assert band.interval_among(10) == (0.0, 1.0)
    assert "THEN NULL" in bands.to_sql()
    assert str(bands).splitlines()[1].split() == ["<=", "0", "0", "0.0", "%", *["-"] * 4]
    assert bands[1].interval_among(0) == (0.0, 1.0)


def test_an_observed_rate_has_a_wider_interval_than_the_rate_itself(cards):
    for band in cards["whole points"].card_.bands(5):
        few, many = band.interval_among(50), band.interval_among(10**5)
        assert few[1] - few[0] > many[1] - many[0]
        assert many == pytest.approx((band.low, band.high), abs=1e-3)


def test_every_format_has_the_same_numbers(cards):
    bands = cards["whole points"].card_.bands(4)
    assert isinstance(bands, RiskBands)
    assert len(bands) == 4
    lines = str(bands).splitlines()
    assert lines[0].split() == [
        "points",
        "rows",
        "share",
        "observed",
        "predicted",
        "expected",
        "on",
        "new",
        "rows",
        "95",
        "%",
        "interval",
    ]
    numbers = [f"{100 * band.expected:.1f} %" for band in bands]
    for text in (str(bands), bands.to_html(), bands.to_markdown(), bands._repr_html_()):
        assert all(number in text for number in numbers)
    assert bands.to_markdown().startswith("| points | rows |")
    frame = bands.to_frame()
    assert frame["expected"].tolist() == [band.expected for band in bands]
    assert len(frame) == 4


@pytest.mark.parametrize(
    ("bands", "message"),
    [
        (0, "one band at least"),
        ([500, 490], "finite and increase"),
        ([np.nan], "finite and increase"),
    ],
)
def test_what_cannot_be_is_refused(cards, bands, message):
    with pytest.raises(ValueError, match=message):
        cards["whole points"].card_.bands(bands)


def test_other_values_are_refused(cards):
    card = cards["whole points"].card_
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        card.bands(level=95)
    with pytest.raises(ValueError, match="value must be one of"):
        card.bands().to_sql(value="risk")


def test_cards_without_held_out_rows_have_no_bands(cards):
    counts = BinCounts.of(Binner(max_bins=8).fit(X), X, Y, fold=np.arange(N) % 4)
    by_counts = ScorecardClassifier("auc", warn_baseline=False).fit_summary(counts)
    with pytest.raises(NoHeldOutPointsError, match="fit it to rows"):
        by_counts.card_.bands()
    assert by_counts.card_.to_frame()[["low", "high"]].isna().all(axis=None)
    model = cards["whole points"]
    with pytest.raises(NoHeldOutPointsError):
        model.card_.affine(2.0, 0.0).bands()
    (point,) = model.operating_points(["recall@fpr=0.3"])
    moved = model.with_threshold(point)
    assert moved.card_.bands() == model.card_.bands()
    other = model.with_threshold(point, model.calibration_)
    with pytest.raises(NoHeldOutPointsError):
        other.card_.bands()


def test_bands_of_whole_points_are_named_by_the_points_in_them(cards):
    card = cards["small points"].card_
    names = [band.points for band in card.bands([3, 4, 7.5, 20])]
    assert names == ["<= 3", "4", "5 to 7", "8 to 20", ">= 21"]
    assert [band.points for band in card.bands([3.2, 3.7])][1] == "3.2 to 3.7"
    real = cards["real points"].card_
    assert [band.points for band in real.bands([-1, 1])] == ["<= -1", "-1 to 1", "> 1"]


def test_a_fit_in_passes_has_bands():
    model = ScorecardClassifier("auc", **OPTIONS, points="pdo")
    model.fit_source(X.assign(y=Y), target="y", progress=False)
    assert sum(band.rows for band in model.card_.bands()) == N


def test_frames_have_intervals_of_points(cards):
    for name in ("whole points", "real points"):
        model = cards[name]
        frame = model.card_.to_frame()
        with_rows = frame[frame["rows"] > 0]
        assert (with_rows["low"] < with_rows["points"]).all()
        assert (with_rows["points"] < with_rows["high"]).all()
        slope = (model.calibration_.below + model.calibration_.above) / 2
        late = with_rows[(with_rows["column"] == "late") & (with_rows["share"] > 0.1)].iloc[0]
        positive = late["rows"] * late["positive_rate"]
        error = np.sqrt(1 / (positive + 0.5) + 1 / (late["rows"] - positive + 0.5))
        width = late["high"] - late["low"]
        assert width == pytest.approx(2 * 1.959964 * error / slope)
