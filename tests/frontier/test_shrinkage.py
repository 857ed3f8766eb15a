import time

import numpy as np
import pytest

from directrix import Frontier, Moments
from directrix.frontier import validated_shrinkage
from directrix.frontier.moment_frontier import SHARES, usable_folds
from directrix.metrics import AUC, Error, RecallAtFPR
from directrix.metrics.table import resolve
from directrix.moments.projection import project


def folded(n=300, d=6, gap=0.4, seed=0, mixing=None, weight=None):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, d))
    if mixing is not None:
        X = X @ mixing
    X += gap * y[:, None]
    fold = np.arange(n) % 5
    return Moments.of(X, y, None if weight is None else weight(rng, n), fold=fold)


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.1)], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_each_risk_is_that_of_a_loop_over_the_folds(metric, weighted):
    weight = (lambda rng, n: rng.uniform(0.5, 3.0, n)) if weighted else None
    moments = folded(weight=weight)
    shares = (0.01, 0.1, 0.5, 1.0)
    validated = validated_shrinkage(moments, metric, shares)
    risk = resolve(metric).risk(moments.weight)
    total = np.zeros(4)
    for k, fold in enumerate(moments.folds):
        for index, share in enumerate(shares):
            line = Frontier(moments.without_fold(k), share).minimize_risk(risk).line
            total[index] += fold.weight * risk.value(project(fold, line))
    assert validated.risks == pytest.approx(total / moments.weight, rel=1e-12)
    assert validated.share == shares[int(np.argmin(total))]
    assert validated.shares.tolist() == list(shares)


def test_the_line_is_that_of_the_other_folds_and_the_risk_that_of_the_fold_itself():
    # Fold 1 is the only one where the classes lie the other way round: held out, it is all wrong.
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2 == 0
    fold = np.arange(4000) // 2 % 4
    way = np.where(fold == 1, -1.0, 1.0)
    X = rng.normal(size=(4000, 2)) + 3.0 * (way * (2.0 * y - 1.0))[:, None]
    validated = validated_shrinkage(Moments.of(X, y, fold=fold), AUC(), (0.1,))
    assert validated.risks[0] == pytest.approx(0.25, abs=0.01)


def test_a_prior_that_is_stated_holds_in_every_fold():
    moments = folded(n=2000)
    risks = {
        prior: validated_shrinkage(moments.with_prior(prior), Error(), (0.1,)).risks[0]
        for prior in (0.02, 0.5)
    }
    # Two in a hundred are positive: no line errs more often than always saying no.
    assert risks[0.02] <= 0.021
    assert risks[0.5] > 0.15
    with_share = moments.with_prior(moments.prior)
    np.testing.assert_allclose(
        validated_shrinkage(with_share, Error(), (0.1,)).risks,
        validated_shrinkage(moments, Error(), (0.1,)).risks,
        atol=5e-3,  # the share of the positives differs a little between the folds
    )


def test_a_summary_that_was_saved_says_the_same(tmp_path):
    """No row is needed: a file of numbers is enough."""
    moments = folded()
    moments.save(tmp_path / "some.moments")
    loaded = Moments.load(tmp_path / "some.moments")
    expected = validated_shrinkage(moments, "auc")
    validated = validated_shrinkage(loaded, "auc")
    assert validated.share == expected.share
    np.testing.assert_array_equal(validated.risks, expected.risks)


def test_few_rows_of_like_features_are_shrunk_much():
    assert validated_shrinkage(folded(n=120, d=40), "auc").share >= 0.3


def test_very_many_rows_of_strongly_correlated_features_are_shrunk_little():
    d = 10
    mixing = np.linalg.cholesky(0.02 * np.eye(d) + 0.98).T  # every correlation is 0.98
    rng = np.random.default_rng(3)
    y = rng.random(40_000) < 0.3
    X = rng.normal(size=(40_000, d)) @ mixing
    X[:, :3] += 0.3 * y[:, None]  # seen in the differences of features alone
    validated = validated_shrinkage(Moments.of(X, y, fold=np.arange(40_000) % 5), "auc")
    assert validated.share <= 0.01
    assert validated.risks[0] < validated.risks[-1] - 0.1


def test_the_shares_go_from_hardly_any_to_a_multiple_of_the_identity():
    assert len(SHARES) == 20
    assert SHARES[0] == pytest.approx(1e-4)
    assert SHARES[-1] == 1.0
    assert validated_shrinkage(folded(), "auc").shares.tolist() == list(SHARES)


def test_folds_without_one_of_the_classes_are_passed_over():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    fold = np.arange(300) // 3 % np.where(y, 2, 3)  # no positives in fold 2
    moments = Moments.of(rng.normal(size=(300, 3)) + y[:, None], y, fold=fold)
    assert usable_folds(moments) == [0, 1]
    validated = validated_shrinkage(moments, AUC(), (0.2,))
    by_hand = [
        (fold.weight, AUC().risk().value(project(fold, Frontier(others, 0.2).best("auc").line)))
        for fold, others in ((moments.folds[k], moments.without_fold(k)) for k in (0, 1))
    ]
    expected = sum(w * r for w, r in by_hand) / sum(w for w, _ in by_hand)
    assert validated.risks[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("fold", [None, "one", "one class each"])
def test_a_summary_without_folds_of_both_classes_is_refused(fold):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    folds = {None: None, "one": np.zeros(100, int), "one class each": y}[fold]
    moments = Moments.of(rng.normal(size=(100, 3)), y, fold=folds)
    with pytest.raises(ValueError, match=r"'cv' needs.*two folds.*fold=.*'oas'"):
        validated_shrinkage(moments, "auc")


def test_twenty_shares_on_five_folds_take_little_time(figure):
    moments = folded(n=20_000, d=54, gap=0.1)
    start = time.process_time()
    validated_shrinkage(moments, "auc")
    taken = time.process_time() - start
    figure(
        f"shrinkage: 20 shares on 5 folds for AUC at 54 features in {taken:.2f} s of CPU "
        "(wanted: 0.5 s)"
    )
    # Twice what is wanted, as other work on the machine slows this too.
    assert taken < 1.0
