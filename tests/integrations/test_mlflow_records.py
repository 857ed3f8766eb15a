"""What MLflow is told about a fit: names and values."""

import card_problems
import numpy as np
import pytest

from directrix import DirectClassifier, MomentClassifier
from directrix.estimators import ScorecardClassifier
from directrix.export import load, save
from directrix.integrations.mlflow import fit_documents, fit_metrics, fit_params
from directrix.metrics import RecallAtFPR

# Bad models are good enough here.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 2))
SUM = X[:, 0] + RNG.normal(size=90)
RATES = ("tpr", "fpr", "precision", "metric")


@pytest.fixture(scope="module")
def direct():
    return DirectClassifier("auc", cv=3).fit(X, SUM > 0)


def test_rates_come_with_the_ends_of_their_intervals(direct):
    metrics, point = fit_metrics(direct), direct.operating_point_
    assert metrics["threshold"] == point.threshold
    for rate in RATES:
        ends = metrics[f"expected_{rate}_low"], metrics[f"expected_{rate}_high"]
        assert metrics[f"expected_{rate}"] == getattr(point.expected, rate)
        assert ends == getattr(point.intervals, rate)


def test_the_gap_to_logistic_regression_is_that_of_the_report(direct):
    metrics, gap = fit_metrics(direct), direct.report_.gap
    names = [f"gap_to_logistic_regression{end}" for end in ("", "_low", "_high")]
    assert tuple(metrics[name] for name in names) == tuple(gap)


def test_a_card_is_compared_with_logistic_regression_without_bins():
    card = ScorecardClassifier("auc", cv=2, max_crosses=0).fit(X, SUM > 0)
    gap = card.report_.unbinned_baseline
    assert fit_metrics(card)["gap_to_logistic_regression"] == gap.mean


def test_numbers_that_are_not_known_are_left_out():
    moment = MomentClassifier("auc", sample=0).fit(X, SUM > 0)
    assert all(np.isfinite(value) for value in fit_metrics(moment).values())
    assert not [name for name in fit_metrics(moment) if name.startswith("gap_to")]


def test_a_loaded_classifier_reports_its_operating_point(direct, tmp_path):
    save(direct, tmp_path / "some.model")
    loaded = load(tmp_path / "some.model")
    assert fit_metrics(loaded) == {
        name: value for name, value in fit_metrics(direct).items() if "gap" not in name
    }
    assert fit_documents(loaded)["report.txt"].strip() == str(direct.operating_point_)


def test_documents_escape_names():
    pages = fit_documents(card_problems.fitted_card())
    assert sorted(pages) == ["card.html", "report.html", "report.txt"]
    assert "&lt;c&gt; &amp; d" in pages["card.html"]
    assert "<c>" not in pages["card.html"]


def test_params_are_texts_and_leave_out_how_a_fit_was_run():
    classifier = MomentClassifier(RecallAtFPR(0.01), sample=500, verbose=2)
    params = fit_params(classifier)
    assert params["classifier"] == "MomentClassifier"
    assert params["metric"] == "RecallAtFPR(fpr=0.01)"
    assert params["sample"] == "500"
    assert "verbose" not in params
