import numpy as np
import pytest

pytest.importorskip("tqdm", reason="the tool needs the group 'benchmarks'")

from benchmarks.harness import same_fits
from benchmarks.harness.data import Rows


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
    assert "54 arrays: 54 are equal" in capsys.readouterr().out
    fits = dict(np.load(first))
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
def test_a_kernel_has_scores_instead_of_coefficients():
    arrays = same_fits.fit("BetaBernoulliClassifier", "kernel", same_fits.rows_of("a"))
    assert arrays.keys() == {"predict_proba", "decision_function"}


def test_there_are_five_settings_of_four_classifiers():
    assert [len(settings) for settings in same_fits.CLASSIFIERS.values()] == [5] * 4
    assert len(same_fits.SETS) == 24
    assert len(same_fits.CARDS) == 16


def test_cards_are_fitted_from_rows_and_from_a_file():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    rows = Rows(pd.DataFrame({"a": rng.normal(size=200)}), rng.random(200) < 0.4)
    for arrays in (
        same_fits.fit_card("monotone, counts", rows),
        same_fits.fit_source(same_fits.ScorecardClassifier("auc", max_crosses=0), rows),
    ):
        assert arrays.keys() == {"predict_proba", "decision_function", "flagged"}
        assert {values.shape for values in arrays.values()} == {(200,)}
