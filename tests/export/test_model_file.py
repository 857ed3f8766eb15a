import os
import stat

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import (
    DirectClassifier,
    MomentClassifier,
    summarize,
)
from directrix.export import load, save, to_sql
from directrix.files import layout
from directrix.metrics import FromRates

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + RNG.normal(size=60) > 0


def answers(classifier, X):
    methods = (classifier.decision_function, classifier.predict_proba, classifier.predict)
    return [method(X) for method in methods]


def inputs(classifier):
    X = np.abs(RNG.normal(size=(70, classifier.n_features_in_)))
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None:
        return [pd.DataFrame(X, columns=names)]
    return [X, X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X)]


def test_scores_labels_and_probabilities_are_equal_to_the_last_bit(classifier, path):
    save(classifier, path)
    again = load(path)
    assert type(again) is type(classifier)
    for X in inputs(classifier):
        for before, after in zip(answers(classifier, X), answers(again, X), strict=True):
            np.testing.assert_array_equal(before, after)
            assert before.dtype.kind == after.dtype.kind
            if before.dtype.kind == "f":
                assert before.tobytes() == after.tobytes()


@pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
@pytest.mark.parametrize("kind", [DirectClassifier, MomentClassifier])
def test_a_model_of_a_raw_table_keeps_its_map(kind, path):
    table = pd.DataFrame(X, columns=["a", "b"]).assign(town=np.where(Y, "x", None))
    model = kind("auc").fit_summary(summarize(table, target=Y, features="auto"))
    save(model, path)
    for before, after in zip(answers(model, table), answers(load(path), table), strict=True):
        np.testing.assert_array_equal(before, after)
    assert to_sql(load(path)).score == to_sql(model).score
    assert model.fit(X, Y).predict(X).shape == Y.shape  # the map is gone


def test_what_the_model_knows_is_kept(classifier, path):
    save(classifier, path)
    again = load(path)
    assert again.get_params() == classifier.get_params()
    assert repr(again) == repr(classifier)
    gone = set(vars(classifier)) - set(vars(again))
    about_the_fit = {"moments_", "_report", "candidates_", "history_", "_held_out", "_sizes"}
    assert gone <= about_the_fit | {"certified_gap_", "_units", "_findings"}
    assert set(vars(again)) <= set(vars(classifier))
    for name in ("calibration_", "operating_point_"):
        assert getattr(again, name, None) == getattr(classifier, name, None)
    for name in ("held_out_", "n_iter_", "n_features_in_", "n_support_", "_shift"):
        assert getattr(again, name, None) == getattr(classifier, name, None)
    for name in ("classes_", "feature_names_in_", "support_", "coef_", "intercept_", "dual_coef_"):
        before, after = getattr(classifier, name, None), getattr(again, name, None)
        np.testing.assert_array_equal(before, after)
        if before is not None:
            assert before.dtype.kind == after.dtype.kind


def test_intervals_and_text_of_operating_points_are_kept(fitted, path):
    for name in ("odd_names", "direct", "text_labels"):
        save(fitted(name), path)
        point, again = fitted(name).operating_point_, load(path).operating_point_
        assert str(point) == str(again)
        assert point.intervals == again.intervals is not None


def test_equal_models_give_equal_bytes(classifier, path, tmp_path):
    save(classifier, path)
    save(load(path), tmp_path / "again.model")
    assert path.read_bytes() == (tmp_path / "again.model").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX")
def test_a_link_stays_a_link_and_a_private_file_private(fitted, path):
    real = path.with_name("real")
    real.write_bytes(b"")
    real.chmod(0o600)
    path.symlink_to(real)
    save(fitted("one_feature"), path)
    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert load(real).coef_ == fitted("one_feature").coef_


def test_two_fits_to_the_same_rows_give_equal_bytes(path, tmp_path):
    for file in (path, tmp_path / "other"):
        save(MomentClassifier("f1").fit(X, Y), file)
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("dtype", [bool, "int8", "uint16", "int64", "float32", "float64", str, "O"])
def test_labels_keep_their_type(dtype, path):
    labels = np.array(["no", "yes"] if dtype in (str, "O") else [0, 1], dtype=dtype)
    classifier = MomentClassifier().fit(X, labels[Y.astype(int)])
    save(classifier, path)
    again = load(path).predict(X)
    assert again.dtype == classifier.predict(X).dtype
    assert again.tolist() == classifier.predict(X).tolist()


def test_labels_that_are_dates_are_kept(path):
    days = np.array(["2024-01-01", "2024-02-01"], dtype="M8[D]")
    for labels in (days, days.astype(object), days.astype("M8[s]").astype(object)):
        classifier = DirectClassifier(positive=days[0].item(), cv=2).fit(X, labels[Y.astype(int)])
        save(classifier, path)
        again = load(path)
        assert again.predict(X).tolist() == classifier.predict(X).tolist()
        assert again.positive_ == classifier.positive_ == days[0].astype("M8[s]").item()
        assert again.classes_.dtype == "M8[us]"
        correct = np.mean(classifier.predict(X) == days[Y.astype(int)])
        assert classifier.score(X, labels[Y.astype(int)]) == pytest.approx(correct)


def test_a_model_that_waits_for_the_other_class_is_kept(path):
    with pytest.warns(UserWarning, match="rows of the other"):
        classifier = MomentClassifier().partial_fit(X, np.zeros(60), classes=[0, 1])
    save(classifier, path)
    assert not hasattr(load(path), "operating_point_")
    assert load(path).predict(X).tolist() == classifier.predict(X).tolist()


def test_a_loaded_classifier_can_be_fitted_again(path):
    splitter = KFold(3, shuffle=True, random_state=5)
    classifier = DirectClassifier(cv=splitter)
    save(classifier.fit(X, Y), path)
    again = load(path)
    assert repr(again.cv) == repr(splitter)
    assert again.fit(X, Y).coef_.tolist() == classifier.coef_.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": FromRates(max)}, "a metric of your own"),
        ({"class_weight": {False: object()}}, "holds no code"),
        ({"metric": max}, "holds no code"),
        ({"sample": np.ones((2, 2))}, "a list of numbers"),
    ],
)
def test_a_parameter_that_is_code_is_refused(change, words, path):
    classifier = MomentClassifier().fit(X, Y).set_params(**change)
    with pytest.raises(TypeError, match=words):
        save(classifier, path)
    assert not path.exists()


def test_other_estimators_and_unfitted_ones_are_refused(path):
    with pytest.raises(TypeError, match="give the last step"):
        save(make_pipeline(StandardScaler(), MomentClassifier()), path)
    with pytest.raises(NotFittedError):
        save(MomentClassifier(), path)


def test_a_model_that_could_not_be_read_is_not_written(path, monkeypatch):
    classifier = MomentClassifier().fit(X, Y)
    classifier.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="this model cannot be saved: coef is not finite"):
        save(classifier, path)
    monkeypatch.setattr(layout, "LONGEST_PREAMBLE", 2**16)
    classifier = MomentClassifier().fit(X, Y).set_params(class_weight={"a" * 2**16: 1.0})
    with pytest.raises(ValueError, match="take over 100 MB"):
        save(classifier, path)
    assert not path.exists()


def test_a_missing_file_is_a_missing_file(path):
    with pytest.raises(FileNotFoundError):
        load(path)
