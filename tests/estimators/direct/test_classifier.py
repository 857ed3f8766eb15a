import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import DirectClassifier
from directrix.exceptions import DirectionWarning
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.fit.report import sentence
from directrix.linear import batch_solver
from directrix.metrics import AUC, RecallAtFPR
from directrix.metrics.table import TABLE

DATA = Path(os.environ.get("DIRECTRIX_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))

# On easy rows logistic regression is as good, and it says so.
pytestmark = pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")


def rows(n=600, d=5, seed=0, share=0.3):
    """Two classes that a line tells apart, and a tenth of the negatives far out."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d))
    X[:, 0] += 2.0 * y
    far = ~y & (rng.random(n) < 0.1)
    X[far, 1] += 6.0
    X[far, 0] += 4.0
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = rows()
    return DirectClassifier(RecallAtFPR(0.05)).fit(X, y)


@pytest.mark.skipif(
    not (DATA / "magic04.svm.bz2").exists(), reason="the folder DIRECTRIX_DATA has no magic04"
)
def test_at_few_false_positives_it_catches_twice_as_many(figure):
    X, y = load_svmlight_file(str(DATA / "magic04.svm.bz2"))
    X, y = X.toarray(), y > 0
    kept = np.random.default_rng(0).permutation(len(y))
    train, test = kept[:4000], kept[4000:]
    metric = RecallAtFPR(0.01)
    ours = DirectClassifier(metric).fit(X[train], y[train])
    theirs = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])
    caught = [metric.score(y[test], each.decision_function(X[test])) for each in (ours, theirs)]
    figure(f"magic04, recall at FPR 1 %: {caught[0]:.3f}, logistic {caught[1]:.3f}")
    assert caught[0] > 2 * caught[1]
    assert ours.report_.gap.mean > 0.05


def test_on_real_rows_it_is_no_worse_than_logistic_regression(figure):
    X, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    ours = cross_val_score(DirectClassifier(), X, y, cv=folds)
    theirs = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=folds)
    figure(f"breast cancer: accuracy {ours.mean():.3f}, logistic {theirs.mean():.3f}")
    assert ours.mean() > theirs.mean() - 0.01


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.filterwarnings("ignore:.*every row:UserWarning")
def test_every_metric_can_be_asked_for(row):
    X, y = rows(200, 3)
    ours = DirectClassifier(row.example, cv=2).fit(X, y)
    assert np.isfinite(ours.decision_function(X)).all()
    assert ours.operating_point_.metric == row.example


class TestReport:
    def test_it_names_what_was_chosen_and_why(self, fitted):
        report = fitted.report_
        text = str(report)
        assert report.chosen in [own.name for own in report.tried]
        assert report.why in text
        assert sentence(report.gap.text("logistic regression")) in text
        assert text.startswith(report.summary() + "\n\ncandidate")
        assert all(own.error >= 0 for own in report.tried)
        # What decided orders what is shown: best first, and the reason agrees with it.
        values = [own.criterion for own in report.tried]
        assert values == sorted(values, reverse=report.metric.greater_is_better)
        low, high = report.expected.low, report.expected.high
        assert low <= report.expected.value <= high
        assert f"Expected on new rows: {report.expected.value:.4f} (95 % interval" in text

    @pytest.mark.parametrize("seed", range(6))
    def test_the_best_is_called_so_only_where_it_is_first(self, seed):
        report = DirectClassifier("f1", cv=3).fit(*rows(200, seed=seed)).report_
        first = report.tried[0].name == report.chosen
        assert ("It was the best of" in report.why) == first
        assert ("so the simpler one was kept" in report.why) != first

    def test_html_says_the_same_and_escapes(self, fitted):
        html = fitted.report_._repr_html_()
        assert fitted.report_.chosen in html
        assert "<table>" in html

    @pytest.mark.filterwarnings("default:logistic regression is as good:UserWarning")
    def test_where_nothing_beats_logistic_regression_it_says_so(self):
        rng = np.random.default_rng(1)  # with others it is itself what is chosen
        X = rng.normal(size=(200, 3))
        y = rng.random(200) < 1 / (1 + np.exp(-3 * X[:, 0]))
        with pytest.warns(UserWarning, match="logistic regression is as good"):
            ours = DirectClassifier().fit(X, y)
        assert ours.report_.gap.mean <= 0
        assert not ours.report_.chosen.startswith("logistic regression")


@pytest.mark.parametrize("guarantee", [0.0, 1.0, 2.0])
def test_a_confidence_is_between_zero_and_one(guarantee):
    with pytest.raises(ValueError, match="between 0 and 1"):
        DirectClassifier(RecallAtFPR(0.1), guarantee=guarantee).fit(*rows(50))


@pytest.mark.parametrize("metric", ["error", AUC()], ids=str)
def test_the_number_of_jobs_changes_nothing(metric, monkeypatch):
    monkeypatch.setattr(batch_solver, "_SCORES_OF_BLOCK", 1)  # several blocks of few rows
    X, y = rows(2000)
    one, two = (DirectClassifier(metric, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert one.report_.tried == two.report_.tried


def test_sparse_rows_are_fitted_as_dense_ones_nearly():
    X, y = rows(500)
    X *= np.random.default_rng(1).random(X.shape) < 0.7
    dense = DirectClassifier("auc", cv=2).fit(X, y)
    thin = DirectClassifier("auc", cv=2).fit(sparse.csr_array(X), y)
    apart = [AUC().score(y, each.decision_function(X)) for each in (dense, thin)]
    assert apart[0] == pytest.approx(apart[1], abs=0.01)


@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
@pytest.mark.parametrize("metric", ["auc", "recall@fpr=0.05", "error"])
def test_signs_are_kept_in_any_unit(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] - X[:, 1] + rng.normal(size=400) > 1
    X = X * [1e-6, 1e6, 1.0] + [0.0, 1e9, 0.0]
    with pytest.warns(DirectionWarning, match="direction asked of 'feature 1'"):
        fitted = DirectClassifier(metric, cv=3, monotone={0: "increasing", 1: "increasing"}).fit(
            X, y
        )
    assert fitted.coef_[0, 0] > 0
    assert fitted.coef_[0, 1] == 0
    first, second, _ = fitted.report_.directions
    assert second.flat
    assert -second.effect.mean > 0.01 > abs(first.effect.mean)


def test_signs_of_names_and_of_no_source():
    pd = pytest.importorskip("pandas")
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    frame = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(ColumnNotFoundError, match="no column named 'c'"):
        DirectClassifier(monotone={"c": "increasing"}).fit(frame, y)
    with pytest.raises(ValueError, match="fit_source has no monotone="):
        DirectClassifier(monotone={"a": "increasing"}).fit_source(X, target=y)
