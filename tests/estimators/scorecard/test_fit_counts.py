import numpy as np
import pytest
from scipy.stats import norm

from directrix import Binner, ScorecardClassifier
from directrix.metrics import AUC
from directrix.moments import BinCounts


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n) > 1.0
    X[::11, 2] = np.nan
    return X, y


X, Y = rows()
BINNER = Binner(max_bins=16).fit(X)


def counts(index=slice(None), y=Y, **options):
    fold = np.arange(len(X))[index] % 5
    return BinCounts.of(BINNER, X[index], y[index], fold=fold, **options)


def test_a_fold_of_one_class_is_named():
    few = BinCounts.of(BINNER, X, Y & (np.arange(len(X)) % 5 != 1), fold=np.arange(len(X)) % 5)
    with pytest.raises(ValueError, match=r"fold 1 has no rows of one class: .* for these folds"):
        ScorecardClassifier("auc").fit_summary(few)


def test_a_card_from_counts_bends():
    card = ScorecardClassifier("auc").fit_summary(counts())
    new, labels = rows(seed=1)
    assert AUC().score(labels, card.decision_function(new)) > 0.9


def test_days_that_are_added_are_rows_that_are_counted_together():
    whole = ScorecardClassifier("recall@fpr=0.05").fit_summary(counts())
    days = counts(slice(0, 700)) + counts(slice(700, None))
    again = ScorecardClassifier("recall@fpr=0.05").fit_summary(days)
    np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))


def test_the_predicted_rates_are_those_of_the_threshold():
    card = ScorecardClassifier("recall@fpr=0.05").fit_summary(counts())
    assert card.operating_point_.predicted.fpr == pytest.approx(0.05, abs=1e-6)
    assert np.mean(card.predict(X[~Y])) == pytest.approx(0.05, abs=0.05)


@pytest.mark.parametrize(("copies", "gained"), [(1, True), (10_000, False)])
def test_only_a_card_of_few_rows_gains_by_fitting_errors(copies, gained):
    card = ScorecardClassifier("auc", max_lines=None)
    card.fit_summary(copies * counts())
    scores = card.decision_function(X)
    gap = scores[Y].mean() - scores[~Y].mean()
    on_these_rows = norm.cdf(gap / np.sqrt(scores[Y].var() + scores[~Y].var()))
    too_much = on_these_rows - card.operating_point_.predicted.metric
    assert too_much > 1e-3 if gained else too_much == pytest.approx(0.0, abs=1e-5)


def test_counts_without_folds_have_a_cautious_ridge():
    plain = counts().unfolded()
    card = ScorecardClassifier("auc").fit_summary(plain)
    assert AUC().score(Y, card.decision_function(X)) > 0.9


def test_one_class_three_and_a_guarantee_are_refused():
    with pytest.raises(ValueError, match=r"3 labels, 0, 1, 2\. Fit one classifier for each"):
        ScorecardClassifier().fit_summary(counts(y=np.arange(len(Y)) % 3))
    with pytest.raises(ValueError, match="one class only"):
        ScorecardClassifier().fit_summary(counts(y=np.zeros(len(Y), dtype=int)))
    with pytest.raises(ValueError, match="needs rows"):
        ScorecardClassifier("recall@fpr=0.05", guarantee=0.9).fit_summary(counts())
