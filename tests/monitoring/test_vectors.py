import numpy as np
import pandas as pd
import pytest

from directrix import Binner, Moments
from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts
from directrix.monitoring.vectors import compare_columns, compare_scores, labelled_pair


def test_moments_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = rng.random(4000) < 0.3
    X[y] += 0.7
    fits = []
    for offset in (0.0, 1e9):
        reference = Moments.of(X[:3000] + offset, y[:3000])
        day = Moments.of(X[3000:] + offset, None)
        fits.append(compare_columns(day, reference).fit())
    assert fits[0].share == pytest.approx(fits[1].share, abs=1e-5)


def test_counts_of_a_day_are_shares_of_cells():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y", "z"], 3000), "b": rng.normal(size=3000)})
    y = rng.random(3000) < 0.3
    binner = Binner(max_bins=4).fit(frame)
    reference = BinCounts.of(binner, frame, y)
    day = BinCounts.of(binner, frame[:1000], None)
    found = compare_columns(day, reference)
    # The most frequent cell of each column is left out.
    assert found.names.count("a") == 2
    shares = {float(value) for value in (frame["a"][:1000].value_counts() / 1000)}
    for k, name in enumerate(found.names):
        if name == "a":
            assert any(found.mean[k] == pytest.approx(share) for share in shares)
    assert found.n_rows == 1000


def test_rare_cells_are_joined():
    frame = pd.DataFrame({"a": ["x"] * 960 + ["y"] * 30 + [f"r{k}" for k in range(10)]})
    y = np.arange(1000) % 3 == 0
    binner = Binner(min_level_rows=1).fit(frame)
    reference = BinCounts.of(binner, frame, y)
    found = compare_columns(BinCounts.of(binner, frame, None), reference)
    assert found.names == ("a",)
    assert found.mean == pytest.approx([0.04])


def test_neighbouring_bins_of_numbers_are_joined():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=2000)})
    frame.loc[:99, "a"] = None
    y = rng.random(2000) < 0.3
    reference = BinCounts.of(Binner(max_bins=40).fit(frame), frame, y)
    found = compare_columns(BinCounts.of(reference.binner, frame, None), reference)
    # Missing values and fifths of the numbers, less the most frequent group.
    assert 4 <= len(found.names) <= 5
    assert found.mean == pytest.approx([0.19] * len(found.mean), abs=0.15)
    assert any(share == pytest.approx(0.05) for share in found.mean)


def test_types_must_agree():
    frame = pd.DataFrame({"a": ["x", "y"] * 20})
    counts = BinCounts.of(Binner().fit(frame), frame, [0, 1] * 20)
    with pytest.raises(TypeError, match="they must be of one type"):
        compare_columns(Moments.of([[0.0]], [0]), counts)
    with pytest.raises(ValueError, match="1 features and the reference 2"):
        compare_columns(Moments.of([[0.0]], [0]), Moments.of([[0.0, 1.0], [1.0, 2.0]], [0, 1]))


def test_the_threshold_divides_the_cells_of_scores():
    rng = np.random.default_rng(0)
    y = rng.random(5000) < 0.1
    scores = rng.normal(size=5000) + 2 * y - 1.5
    reference = ScoreHistogram.of_scores(y, scores)
    day = ScoreHistogram.of_scores(None, scores[:2000])
    found = compare_scores(day, reference)
    assert found.mean.sum() == pytest.approx(1.0)
    assert found.combination @ found.mean == pytest.approx((scores[:2000] > 0).mean())
    assert (found.mean * 2000 >= 1).all()


def test_scores_of_another_model_are_refused():
    both = ScoreHistogram.of_scores([0, 1], [0.0, 1.0], model="a")
    day = ScoreHistogram.of_scores(None, [0.0], model="b")
    with pytest.raises(ValueError, match="not of one model"):
        compare_scores(day, both)


def test_the_positive_label_comes_last():
    frame = pd.DataFrame({"a": ["x", "y"] * 20})
    labels = ["bad", "good"] * 20
    counts = BinCounts.of(Binner().fit(frame), frame, labels)
    assert labelled_pair(counts, "good") is counts
    turned = labelled_pair(counts, "bad")
    assert turned.cells("a")[1].tolist() == counts.cells("a")[0].tolist()
    moments = Moments.of(np.ones((40, 1)), labels)
    assert labelled_pair(moments, "bad").classes.tolist() == ["good", "bad"]


def test_features_of_other_names_are_not_compared():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    reference = Moments.of(X, y, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="feature 'b' where the reference has 'a'"):
        compare_columns(Moments.of(X, None, feature_names=["b", "a"]), reference)
