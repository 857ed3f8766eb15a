from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")

from directrix import BetaBernoulliClassifier, MomentClassifier, Moments
from directrix.cli.formatting import (
    describe_model,
    feature_names_of,
    format_interval,
    format_rate,
    metric_of_model,
    model_json,
    operating_point_table,
)
from directrix.metrics import Cost, Error, RecallAtFPR


def rows(d=2):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2 == 0
    return rng.normal(size=(200, d)) + y[:, None], y


def test_a_metric_is_one_line():
    assert RecallAtFPR(0.01).label == "recall at FPR 1 %"
    assert "\n" not in Cost(fp=1, fn=20).label


def test_a_model_without_a_metric_counts_errors():
    assert metric_of_model(SimpleNamespace()) == Error()
    assert metric_of_model(MomentClassifier("f1")) != Error()


def test_features_without_names_are_numbered():
    assert feature_names_of(SimpleNamespace(n_features_in_=2)) == ["x0", "x1"]
    model = SimpleNamespace(n_features_in_=2, feature_names_in_=np.array(["a", "b"]))
    assert feature_names_of(model) == ["a", "b"]


def test_unknown_numbers_are_empty():
    assert format_rate(0.12345) == "0.1235"
    assert format_rate(np.nan) == ""
    assert format_interval((0.1, 0.2)) == "0.1000 to 0.2000"
    assert format_interval((np.nan, np.nan)) == ""


def test_the_table_of_an_operating_point_has_what_is_known():
    X, y = rows()
    of_moments = MomentClassifier("error").fit_summary(Moments.of(X, y)).operating_point_
    header, *lines = operating_point_table(of_moments).splitlines()
    assert header.split() == ["if", "scores", "were", "normal"]
    assert [line.split()[0] for line in lines] == ["recall", "FPR", "precision", "error"]
    of_rows = MomentClassifier("error").fit(X, y).operating_point_
    header = operating_point_table(of_rows).splitlines()[0]
    assert header.strip().startswith("expected on new rows     95 % interval")


def test_a_model_with_many_features_lists_some():
    X, y = rows(30)
    model = MomentClassifier("error").fit(X, y)
    text = describe_model(model)
    assert "and 10 more, smaller" in text
    assert len(model_json(model)["coefficients"][0]) == 30


def test_a_kernel_model_has_no_coefficients():
    X, y = rows()
    model = BetaBernoulliClassifier(kernel="rbf").fit(X[:40], y[:40])
    assert "kernel expansion over 40 rows" in describe_model(model)
    assert "coefficients" not in model_json(model)
