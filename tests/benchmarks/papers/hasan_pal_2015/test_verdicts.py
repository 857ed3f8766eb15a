"""Verdicts on the paper's claims, and the counts that they are made of."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.base import clone

from benchmarks.papers.hasan_pal_2015 import kernels, report
from benchmarks.papers.hasan_pal_2015.methods import (
    METHODS,
    PROTOCOLS,
    RECORD,
    measured,
    rows_of,
)
from benchmarks.papers.hasan_pal_2015.noise import SETS
from benchmarks.papers.hasan_pal_2015.report import Measured, Pair
from directrix.linear.objectives import DataObjective
from directrix.papers.hasan_pal_2015.losses import ZeroOne
from directrix.papers.hasan_pal_2015.plateaus import even_score


def test_records_have_known_methods_and_protocols_only_and_each_fit_once():
    rows = RECORD.rows()
    for row in rows:
        assert row["method"] in METHODS
        assert row["protocol"] in PROTOCOLS
    assert len(rows) == len(RECORD.done())


def test_training_errors_of_a_search_are_those_of_its_line():
    X, y = rows_of("diabetes")
    model = clone(METHODS["BBLR3"].make).fit(X, y)
    wrong = (model.decision_function(X) + even_score(model[-1].loss_) > 0) != y
    assert (measured("train", "diabetes", "BBLR3", 0, 0).wrong == wrong).all()
    assert (model.predict(X) != y).sum() != wrong.sum()  # at a probability of one half


@pytest.mark.parametrize("name", ["BBLR1", "BBLR2", "BBLR3", "BBLR4"])
def test_names_of_the_paper_are_for_its_methods(name):
    asked = {"variant": name, "lam": 1.0, "fit_intercept": True}
    assert METHODS[name].make[-1].get_params() == asked


def test_sla_predicts_with_the_line_of_the_search():
    X, y = rows_of("heart")
    model = clone(METHODS["SLA"].make).fit(X, y)
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    line = np.append(model[-1].coef_, model[-1].intercept_)
    error, _ = DataObjective(rows, y, np.ones(len(y)), ZeroOne())(line)
    assert (model.predict(X) != y).mean() == pytest.approx(error)
    assert (model.predict(X) != y).sum() < 33  # a linear SVM has 40


def test_training_errors_of_sla_are_those_of_its_search():
    recorded = {name: Measured().errors("train", name, "SLA")[0] for name in SETS}
    fit = measured("train", "heart", "SLA", 0, 0)
    assert fit.wrong.sum() == recorded["heart"]
    assert sum(recorded.values()) < 285  # the sum that Nguyen and Sanner publish


def test_mcnemar_has_no_continuity_correction():
    first, second = np.zeros(100, dtype=bool), np.zeros(100, dtype=bool)
    first[:10], second[5:40] = True, True
    pair = Pair.of(first, second, 1)
    assert (pair.only_first, pair.only_second) == (5, 30)
    assert pair.z == pytest.approx(25.0 / 35.0**0.5)
    assert pair.p == pytest.approx(chi2.sf(25.0**2 / 35.0, 1))
    assert Pair.of(first, first, 1) == Pair(1, 0, 0, 0.0, 1.0)


def test_sparsity_is_judged_on_the_folds_and_sets_that_both_have(monkeypatch, tmp_path):
    record = replace(kernels.TABLES, path=tmp_path / "folds.csv")
    sparse, svm = kernels.PAPERS_SPARSE, kernels.SVM
    fits = [(sparse, 0, 20), (svm, 0, 30), (svm, 1, 4)]
    record.append([("heart", method, 0, fold, 54, 9, kept) for method, fold, kept in fits])
    monkeypatch.setattr(kernels, "TABLES", record)
    (claim,) = [one for one in report.claims() if "sparser" in one.claim]
    assert claim.verdict == "holds on the 1 of 4 sets that are measured"
    assert claim.figure.endswith("heart 20 and 30 (folds: 1)")
