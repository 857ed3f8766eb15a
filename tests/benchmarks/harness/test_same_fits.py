from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("tqdm", reason="the tool needs the group 'benchmarks'")

from benchmarks.harness import asked_fits, same_fits
from benchmarks.harness.data import Rows
from benchmarks.harness.numbers import numbers_of
from directrix.metrics import Cost


@pytest.fixture
def generated(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.random(150) < 0.3
    rows = Rows(rng.normal(size=(150, 3)) + y[:, None], y)
    monkeypatch.setattr(same_fits, "load", lambda _: rows)


@pytest.mark.usefixtures("generated")
def test_a_record_is_equal_to_itself_and_not_to_another(tmp_path, monkeypatch, capsys):
    few = {"MomentClassifier": same_fits.CLASSIFIERS["MomentClassifier"]}
    monkeypatch.setattr(same_fits, "CLASSIFIERS", few)
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    same_fits.record(first, ("a", "b"))
    same_fits.record(second, ("a",))
    same_fits.record(second, ("a", "b"))
    assert same_fits.compare(first, second, 0.0) == ""
    fits = dict(np.load(first))
    assert f"{len(fits)} arrays of 18 fits: {len(fits)} are equal" in capsys.readouterr().out
    name = "a, MomentClassifier, auc: coef_"
    fits[name] = fits[name] * (1.0 + 1e-6)
    np.savez(second, **fits)
    assert same_fits.compare(first, second, 1e-5) == ""
    assert same_fits.compare(first, second, 1e-9) == "1 arrays are not the same"
    assert name in capsys.readouterr().out
    del fits[name]
    np.savez(second, **fits)
    assert same_fits.compare(first, second, 1.0) == "1 arrays are not the same"


@pytest.mark.usefixtures("generated")
def test_only_the_fits_that_are_named_are_made(tmp_path):
    path = tmp_path / "some.npz"
    same_fits.record(path, ("a",), "MomentClassifier, f1")
    assert {name.partition(": ")[0] for name in same_fits.read(path)} == {"a, MomentClassifier, f1"}


@pytest.mark.usefixtures("generated")
def test_a_fit_that_fails_is_said_and_the_others_are_made(tmp_path, monkeypatch, capsys):
    settings = {
        "fails": lambda: same_fits.MomentClassifier("none"),
        "f1": same_fits.MomentClassifier,
    }
    monkeypatch.setattr(same_fits, "CLASSIFIERS", {"MomentClassifier": settings})
    same_fits.record(tmp_path / "some.npz", ("a",), "MomentClassifier, f")
    assert "a, MomentClassifier, fails failed: " in capsys.readouterr().out
    assert "a, MomentClassifier, f1: coef_" in same_fits.read(tmp_path / "some.npz")


def test_a_field_that_is_gone_is_told_from_a_fit_that_moved(tmp_path, capsys):
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    arrays = {"fit: coef_": np.ones(2), "fit: report_.size.lines": np.ones(1)}
    np.savez(first, **arrays, **{"gone: report_.size.lines": np.ones(1)})
    np.savez(second, **{"fit: coef_": np.ones(2), "fit: report_.lines": np.array([np.nan])})
    assert same_fits.compare(first, second, 0.0) == "1 arrays are not the same"
    out = capsys.readouterr().out
    assert "only in the first: report_.size.lines (1 fits)" in out
    assert "only in the second: report_.lines (1 fits)" in out
    assert "moved: gone" in out


@pytest.mark.parametrize(
    ("other", "size"),
    [([1.0, np.nan, np.inf], 0.0), ([1.0, 2.0, np.inf], np.inf), ([1.5, np.nan, np.inf], 0.5)],
)
def test_numbers_that_are_missing_or_infinite_are_compared_too(other, size):
    fits = ({"a": np.array(values)} for values in ([1.0, np.nan, np.inf], other))
    assert [difference.size for difference in same_fits.differences(*fits)] == [size]


@dataclass
class Kept:
    cost: Cost
    ends: tuple
    parts: list
    text: str = "kept"


class Part(NamedTuple):
    value: float
    is_last: bool


def test_numbers_are_named_by_their_fields():
    parts = [Part(1, is_last=False), Part(2, is_last=True)]
    found = numbers_of(Kept(Cost(1, 5), (0.5, None, {"a": np.ones((2, 2))}), parts), "kept")
    assert {path: values.tolist() for path, values in found.items()} == {
        "kept.ends": [0.5],
        "kept.ends.a": [1.0] * 4,
        "kept.parts.value": [1.0, 2.0],
        "kept.parts.is_last": [0.0, 1.0],
    }


@pytest.mark.usefixtures("generated")
def test_operating_point_report_and_calibration_are_recorded():
    arrays = same_fits.fit("DirectClassifier", "f1", same_fits.rows_of("a"))
    assert {
        "operating_point_.threshold",
        "operating_point_.expected.tpr",
        "operating_point_.intervals.metric",
        "report_.chosen",
        "report_.tried.metric",
        "report_.gap.mean",
        "calibration_.offset",
    } <= arrays.keys()


def test_there_are_five_settings_of_two_classifiers():
    assert [len(settings) for settings in same_fits.CLASSIFIERS.values()] == [5] * 2
    assert len(same_fits.SETS) == 24
    assert len(same_fits.CARDS) == 13


def test_cards_are_fitted_from_rows_and_from_a_file():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    rows = Rows(pd.DataFrame({"a": rng.normal(size=200)}), rng.random(200) < 0.4)
    for arrays in (
        same_fits.fit_card("monotone, recall", rows),
        same_fits.fit_source(same_fits.ScorecardClassifier("auc", max_crosses=0), rows),
    ):
        of_rows = [values for name, values in arrays.items() if "." not in name]
        assert {"predict_proba", "decision_function", "flagged"} <= arrays.keys()
        assert {values.shape for values in of_rows} == {(200,)}
        assert "card_.intercept" in arrays


def test_more_is_asked_of_every_classifier():
    pytest.importorskip("pandas")
    plans = {name: dict(asked_fits.planned(name)) for name in asked_fits.LOADERS}
    fits = [fit for plan in plans.values() for fit in plan]
    assert len(set(fits)) == len(fits) >= 120
    plan = plans["asked, credit"]
    money = plan["asked, credit, given score, money"]()
    assert {"flagged", "operating_point_.money.decisions.cost.value"} <= money.keys()
    segments = plan["asked, credit, direct, limits in segments"]()
    assert segments["operating_point_.segments.fpr.value"].shape == (3,)
    assert plan["asked, credit, moment, fit_summary"]()["predict_proba"].shape == (1000,)
