import numpy as np
import pytest

pytest.importorskip("typer")

from directrix import MomentClassifier, Moments
from directrix.export import load
from directrix.metrics import RecallAtFPR


def test_from_a_summary_it_is_the_library_call(call, files, tmp_path):
    days = [files / "monday.moments", files / "tuesday.moments"]
    done = call("fit", *days, "--metric", "recall@fpr=0.05", "-o", tmp_path / "m.dx")
    assert done.code == 0, done.err
    assert "from a summary of 1,200 rows" in done.out
    moments = Moments.load(days[0]) + Moments.load(days[1])
    own = MomentClassifier(RecallAtFPR(0.05)).fit_moments(moments)
    model = load(tmp_path / "m.dx")
    assert (model.coef_ == own.coef_).all()
    assert model.feature_names_in_.tolist() == ["amount", "age", "clock"]


def test_a_prior_is_stated(call, files, tmp_path):
    output = tmp_path / "m.dx"
    call("fit", files / "monday.moments", "--prior", 0.01, "-o", output)
    own = MomentClassifier().fit_moments(Moments.load(files / "monday.moments").with_prior(0.01))
    assert load(output).intercept_ == pytest.approx(own.intercept_)


def test_from_rows_it_is_the_direct_classifier(call, files, tmp_path):
    options = ["-t", "fraud", "--time-budget", 0.5, "-o", tmp_path / "m.dx", "--json"]
    done = call("fit", files / "monday.parquet", *options)
    assert done.code == 0, done.err
    facts = done.json
    assert facts["classifier"] == "DirectClassifier"
    assert facts["chosen"] in [own["name"] for own in facts["candidates"]]
    assert facts["operating_points"][0]["measured"]["metric"] < 0.3
    assert load(tmp_path / "m.dx").feature_names_in_.tolist() == facts["features"]


@pytest.mark.parametrize("kind", ["moment", "beta-bernoulli"])
def test_other_classifiers(call, files, tmp_path, kind):
    options = ["-t", "fraud", "-c", kind, "-o", tmp_path / "m.dx"]
    done = call("fit", files / "monday.csv" if kind == "x" else files / "monday.parquet", *options)
    assert done.code == 0, done.err
    assert type(load(tmp_path / "m.dx")).__name__.lower().startswith(kind[:4])


def test_two_passes(call, files, tmp_path):
    options = ["-t", "fraud", "-c", "moment", "--two-passes", "-m", "auc", "-o", tmp_path / "m.dx"]
    done = call("fit", files / "*day.parquet", *options)
    assert done.code == 0, done.err
    assert "held-out rows" in done.out


def test_a_label_is_chosen_as_positive(call, files, tmp_path):
    options = ["-t", "kind", "--features", "amount,age,clock", "-c", "moment"]
    output = tmp_path / "m.dx"
    done = call("fit", files / "rich.parquet", *options, "--positive", "bad", "-o", output)
    assert done.code == 0, done.err
    model = load(output)
    assert model.classes_.tolist() == [False, True]
    assert model.coef_[0, 0] > 0  # of the bad, and not of the last label, the good
    rows = [files / "rich.parquet", "-t", "kind"]
    refused = call("evaluate", output, *rows)
    assert refused.code == 1
    assert "--positive" in refused.err
    right = call("evaluate", output, *rows, "--positive", "bad", "--json").json
    assert right["at_threshold"]["error"]["value"] < 0.3


def test_weights_count(call, files, tmp_path):
    options = ["-t", "fraud", "--features", "amount,age", "-c", "moment", "-m", "error"]
    for name, more in (("a", []), ("b", ["--weight", "weight"])):
        assert call("fit", files / "rich.parquet", *options, *more, "-o", tmp_path / name).code == 0
    assert load(tmp_path / "b").intercept_[0] != load(tmp_path / "a").intercept_[0]


def test_libsvm(call, files, tmp_path):
    done = call("fit", files / "tuesday.svm", "-c", "moment", "-o", tmp_path / "m.dx")
    assert done.code == 0, done.err
    found = call("evaluate", tmp_path / "m.dx", files / "tuesday.svm", "--json").json
    assert found["rows"] == 600
    assert np.isfinite(found["at_threshold"]["Brier score"]["value"])
