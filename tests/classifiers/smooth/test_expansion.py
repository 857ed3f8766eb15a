import os
from pathlib import Path

import numpy as np
import pytest
from kernel_problems import counts, rings
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from directrix import BetaBernoulliClassifier, SmoothClassifier
from directrix.classifiers import alpha_from_svc
from directrix.export import load, save
from directrix.linear import Logistic

DATA = Path(os.environ.get("DIRECTRIX_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))
SETS = ("heart", "liver-disorders", "diabetes")


def support_vector_machine(X, y, C, **options):
    """Return ours with the units of SVC: no rows held out, and the ridge of its C."""
    alpha = alpha_from_svc(C, len(y))
    return SmoothClassifier(loss="hinge", kernel="rbf", alpha=alpha, cv=None, **options).fit(X, y)


def objective_of_svc(svc, X, y, gamma):
    """Return the mean hinge and the ridge at the solution of an SVC."""
    coef, centers = svc.dual_coef_[0], X[svc.support_]
    norm = coef @ rbf_kernel(centers, gamma=gamma) @ coef
    hinge = np.maximum(1.0 - np.where(y, 1.0, -1.0) * svc.decision_function(X), 0.0)
    return hinge.mean() + 0.5 * norm / (svc.C * len(y))


@pytest.mark.skipif(
    not all((DATA / f"{name}.svm.bz2").is_file() for name in SETS),
    reason="the folder DIRECTRIX_DATA has not all of heart, liver-disorders and diabetes",
)
@pytest.mark.parametrize("name", SETS)
def test_the_hinge_is_the_support_vector_machine_of_scikit_learn(name, figure):
    X, y = load_svmlight_file(str(DATA / f"{name}.svm.bz2"))
    X, y = X.toarray(), y > 0
    ours = support_vector_machine(X, y, C=1.0, solver="bundle")
    units, gamma = StandardScaler().fit(X), 1.0 / X.shape[1]
    svc = SVC(C=1.0, gamma=gamma, tol=1e-6).fit(units.transform(X), y)
    least, value = objective_of_svc(svc, units.transform(X), y, gamma), ours.history_[-1].value
    same = np.mean(ours.predict(X) == svc.predict(units.transform(X)))
    figure(f"{name}: objective {value:.7f}, SVC {least:.7f}; {same:.1%} of predictions the same")
    assert least - 1e-6 <= value <= least + ours.certified_gap_
    assert ours.certified_gap_ <= 1.1e-3 * value
    assert same >= 0.99


def test_a_bandwidth_is_a_gamma_and_all_rows_are_kept():
    X, y = rings()
    ours, other = (
        support_vector_machine(X, y, C=1.0, kernel_params=params)
        for params in ({"gamma": 0.125}, {"bandwidth": 2.0})
    )
    np.testing.assert_array_equal(ours.decision_function(X), other.decision_function(X))
    assert ours.n_support_ == len(X)
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    assert (np.diff(ours.support_) > 0).all()


@pytest.mark.parametrize("loss", [None, "logistic", "hinge", "squared_hinge", "pairwise_hinge"])
def test_any_loss_takes_a_kernel_and_held_out_rows_set_its_threshold(loss):
    X, y = rings()
    ours = SmoothClassifier(loss=loss, kernel="rbf", alpha=1e-2, cv=3).fit(X, y)
    new, truth = rings(500, seed=1)
    assert ours.score(new, truth) > 0.93
    assert ours.operating_point_.rows == "held-out rows"
    probability = ours.predict_proba(new)[:, 1]
    assert probability[truth].mean() > 0.7
    assert probability[~truth].mean() < 0.3


def test_rows_of_a_fold_have_no_part_in_its_scores():
    X, y = rings(60)
    fold = np.arange(60) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    options = {"loss": "hinge", "kernel": "min", "alpha": 0.02}  # of features as given
    X = np.abs(X)
    chosen = SmoothClassifier(cv=splits, **options).fit(X, y).candidates_[0]
    apart = np.empty(60)
    for train, test in splits:
        part = SmoothClassifier(cv=None, **options).fit(X[train], y[train])
        scores = part.decision_function(X[train])
        means = [scores[y[train] == side].mean() for side in (True, False)]
        spread = np.sqrt(np.mean([scores[y[train] == side].var() for side in (True, False)]))
        apart[test] = (part.decision_function(X[test]) - np.mean(means)) / spread
    least = min(np.mean((apart > cut) != y) for cut in [*apart, apart.min() - 1.0])
    assert chosen.metric == pytest.approx(least, abs=1e-12)


def test_the_logistic_loss_is_the_kernel_logistic_regression_of_the_other_classifier():
    X, y = counts()
    ours = SmoothClassifier(loss=Logistic(), kernel="rbf", alpha=0.1 / 90, cv=None).fit(X, y)
    other = BetaBernoulliClassifier(plateaus=(0.0, 1.0), kernel="rbf", alpha=0.1).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), other.decision_function(X), rtol=0, atol=0.05
    )


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_file_scores_as_the_model_did(container, tmp_path):
    X, y = counts()
    for options in ({"kernel": "min"}, {"kernel": "rbf", "kernel_params": {"bandwidth": 2.0}}):
        ours = SmoothClassifier(loss="hinge", alpha=1e-2, cv=2, **options).fit(container(X), y)
        save(ours, tmp_path / "kernel.model")
        again = load(tmp_path / "kernel.model")
        rows = container(X)
        np.testing.assert_array_equal(again.decision_function(rows), ours.decision_function(rows))
        np.testing.assert_array_equal(again.predict_proba(rows), ours.predict_proba(rows))
        np.testing.assert_array_equal(again.support_, ours.support_)


def test_either_class_may_be_the_positive_one():
    X, y = rings(60)
    ours, turned = (
        SmoothClassifier(loss="hinge", kernel="rbf", alpha=1e-2, cv=None, positive=label).fit(X, y)
        for label in (True, False)
    )
    np.testing.assert_allclose(
        ours.decision_function(X), turned.decision_function(X), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("start", ["previous", np.zeros(3)])
def test_a_start_is_a_line_and_not_for_kernels(start):
    X, y = rings(40)
    with pytest.raises(ValueError, match="is for classifiers without a kernel"):
        SmoothClassifier(loss="hinge", kernel="rbf", start=start).fit(X, y)


def test_stochastic_gradients_warn_of_a_large_ridge():
    X, y = rings(40)
    ours = SmoothClassifier(
        loss="hinge", kernel="rbf", solver="sgd", alpha=0.2, cv=None, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match=r"alpha=0\.2 is large for solver='sgd'"):
        ours.fit(X, y)
