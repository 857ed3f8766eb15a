"""Reports in words."""

import numpy as np
import pytest

from directrix import DirectClassifier, ScorecardClassifier
from directrix.fit.report import (
    UNKNOWN,
    CandidateResult,
    DirectReport,
    Estimate,
    Gap,
    sentence,
)
from directrix.metrics import AUC, MCC, Cost, Error, RecallAtFPR

VERDICT = "No better than a constant prediction"


def report(metric, expected, chance, **more):
    tried = (CandidateResult("one", expected.value, 0.01),)
    gap = Gap(0.01, -0.01, 0.03)
    return DirectReport(
        metric, "held-out rows", tried, "one", "it is", expected, gap, chance=chance, **more
    )


@pytest.mark.parametrize(
    ("metric", "expected", "chance", "first"),
    [
        (
            AUC(),
            Estimate(0.513, 0.47, 0.55),
            0.5,
            (
                "No better than a constant prediction: AUC expected on new rows is 0.5130 (0.4700 "
                "to 0.5500), and chance is 0.5."
            ),
        ),
        (AUC(), Estimate(0.6, 0.55, 0.65), 0.5, "Chosen for AUC: one."),
        (AUC(), Estimate(0.4, 0.35, 0.45), 0.5, f"{VERDICT}: AUC"),
        (
            Error(),
            Estimate(0.31, 0.28, 0.34),
            0.3,
            f"{VERDICT}: error rate",
        ),
        (Error(), Estimate(0.2, 0.15, 0.25), 0.3, "Chosen for error rate: one."),
        (
            RecallAtFPR(0.05),
            Estimate(0.06, 0.02, 0.1),
            0.05,
            f"{VERDICT}: recall",
        ),
        (AUC(), Estimate(0.513, 0.47, 0.55), float("nan"), "Chosen for AUC: one."),
    ],
)
def test_a_model_no_better_than_a_constant_says_so_first(metric, expected, chance, first):
    made = report(metric, expected, chance)
    assert str(made).splitlines()[0].startswith(first)
    assert made.summary().splitlines()[0].startswith(first)
    assert made.no_better_than_constant == first.startswith("No better")
    assert ("<p><b>No better than a constant" in made._repr_html_()) == first.startswith("No")


def test_what_cannot_be_known_is_not_expected():
    made = report(AUC(), UNKNOWN, 0.5)
    assert "is not known: one class has fewer than two rows" in made.summary()
    assert "Expected on new rows" not in made.summary()
    assert "ot clearly different" not in made.summary()
    assert not made.no_better_than_constant
    assert "is not known" in made._repr_html_()


def test_a_report_names_what_rates_are_weighted_by():
    expected = Estimate(0.5, 0.4, 0.6)
    made = report(RecallAtFPR(0.1), expected, 0.1, weighted_by="sample_weight")
    assert "Rates are weighted by sample_weight." in made.summary().splitlines()
    assert "Rates are weighted by sample_weight." in made._repr_html_()


@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
def test_few_rows_are_said_and_rates_differ_by_one_at_most():
    folds = np.array([1.2, -0.9])
    for metric, most in ((RecallAtFPR(0.1), 1.0), (MCC(), 2.0), (Cost(fp=1, fn=5), np.inf)):
        gap, wide = Gap.of_folds(0.125, folds, metric.largest_gap), Gap.of_folds(0.125, folds)
        assert wide.high > 2.0
        assert gap == (0.125, max(wide.low, -most), min(wide.high, most))
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    few = X[:, 0] + rng.logistic(size=60) > 1.5
    made = DirectClassifier("recall@fpr=0.2", cv=2, warn_baseline=False).fit(X, few).report_
    assert "times because one class has few rows), so the simpler" in made.why


def test_a_sentence_begins_with_a_capital_and_ends_with_a_full_stop():
    assert sentence("better than AUC by +0.1") == "Better than AUC by +0.1."


@pytest.mark.parametrize(
    "classifier",
    [
        DirectClassifier("auc", cv=3),
        ScorecardClassifier("auc", cv=3, max_crosses=0, max_lines=None),
    ],
    ids=["direct", "card"],
)
def test_noise_is_no_better_than_a_constant_and_a_signal_is(classifier):
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(400, 5)), rng.random(400) < 0.3
    of_noise = classifier.fit(X, noise).report_
    assert of_noise.summary().startswith(f"{VERDICT}: AUC")
    assert of_noise.chance == pytest.approx(0.5)
    signal = X[:, 0] + rng.normal(size=400) > 0.5
    assert classifier.set_params(warn_baseline=False).fit(X, signal).report_.verdict == ""
