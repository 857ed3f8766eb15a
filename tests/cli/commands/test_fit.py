import re

import numpy as np
import pandas as pd
import pytest
from card_sources import FEATURES, frame, parts

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from directrix import DirectClassifier, MomentClassifier, Moments
from directrix.export import load
from directrix.metrics import RecallAtFPR


def test_a_fit_of_summaries_is_the_library_call(call, files, tmp_path):
    days = [files / "monday.moments", files / "tuesday.moments"]
    result = call("fit", *days, "--metric", "recall@fpr=0.05", "-o", tmp_path / "m.dx")
    assert result.code == 0, result.err
    assert "expected on new rows" in result.out
    moments = Moments.load(days[0]) + Moments.load(days[1])
    expected = MomentClassifier(RecallAtFPR(0.05)).fit_summary(moments)
    model = load(tmp_path / "m.dx")
    assert (model.coef_ == expected.coef_).all()
    assert model.feature_names_in_.tolist() == ["amount", "age", "clock"]


@pytest.mark.parametrize("in_passes", [False, True], ids=["in memory", "in passes"])
def test_a_direct_fit_is_the_library_call(call, files, tmp_path, in_passes):
    output, rows = tmp_path / "m.dx", files / "monday.parquet"
    words = ["fit", rows, "-t", "fraud", "-c", "direct", "-m", "auc", "-o", output]
    result = call(*words, *(["--two-passes"] if in_passes else []), "--json")
    assert result.code == 0, result.err
    expected = DirectClassifier("auc")
    if in_passes:
        expected.fit_source(str(rows), target="fraud")
    else:
        table = pd.read_parquet(rows)
        expected.fit(table.drop(columns="fraud"), table["fraud"])
    np.testing.assert_allclose(load(output).coef_, expected.coef_, rtol=1e-9)
    assert result.json["features"] == ["amount", "age", "clock"]
    assert result.json["report"]["chosen"] == expected.report_.chosen
    assert result.json["operating_point"]["expected"]["tpr"] > 0.5
    assert result.json["operating_point"]["predicted"] is None


def test_a_fit_to_noise_says_so_first(call, files, tmp_path):
    table = pd.read_parquet(files / "monday.parquet")
    table["fraud"] = table["fraud"].sample(frac=1.0, random_state=0).to_numpy()
    table.to_parquet(tmp_path / "shuffled.parquet", index=False)
    rows = [tmp_path / "shuffled.parquet", "-t", "fraud", "-c", "direct", "--metric", "auc"]
    result = call("fit", *rows, "-o", tmp_path / "m.dx")
    verdict = "No better than a constant prediction: AUC expected on new rows is 0."
    assert result.out.startswith(verdict)


def test_weights_count(call, files, tmp_path):
    options = ["-t", "fraud", "--features", "amount,age", "-c", "moment", "-m", "error"]
    for name, more in (("a", []), ("b", ["--weight", "weight"])):
        assert call("fit", files / "rich.parquet", *options, *more, "-o", tmp_path / name).code == 0
    assert load(tmp_path / "b").intercept_[0] != load(tmp_path / "a").intercept_[0]


@pytest.fixture(scope="module")
def raw_files(tmp_path_factory):
    """Return a folder with two Parquet files of raw rows, with texts and missing values."""
    folder, rows = tmp_path_factory.mktemp("raw"), frame(800)
    for number, part in enumerate(parts(rows, 2)):
        part.to_parquet(folder / f"{number}.parquet", index=False)
    return folder


@pytest.mark.every_case
@pytest.mark.parametrize("in_passes", [False, True], ids=["in memory", "in passes"])
def test_a_scorecard_of_raw_rows(raw_files, call, tmp_path, in_passes):
    path, rows = tmp_path / "card.dx", raw_files / "*.parquet"
    words = ["-t", "y", "--drop", "id", "-m", "recall@fpr=0.1", "--max-lines", "9", "-o", path]
    result = call("fit", rows, *words, *(["--two-passes"] if in_passes else []))
    assert result.code == 0, result.err
    assert result.out.startswith("Model for recall at FPR 10 %: ")
    assert re.search(r"positive is yes, above \d+\.5 points", result.out)
    card = load(path)
    assert card.feature_names_in_.tolist() == FEATURES
    assert card.card_.n_lines <= 9
    values = card.decision_function(frame(800)[FEATURES])
    scored = tmp_path / "scored.csv"
    assert call("predict", path, rows, "--keep", "id", "-o", scored).code == 0
    written = pd.read_csv(scored)
    np.testing.assert_allclose(written["score"], values[written["id"]], rtol=1e-12)
    assert written.columns.tolist() == ["id", "points", "score", "probability_yes", "prediction"]
    measured = call("evaluate", path, rows, "-t", "y", "--json").json
    assert measured["flagged"] == np.sum(values > 0)
    assert str(card.card_) in call("show", path).out


def test_the_scale_of_points(raw_files, call, tmp_path):
    output = tmp_path / "m.dx"
    words = ["-t", "y", "-m", "auc", "--features", "age,member", "--max-lines", "5", "-o", output]
    result = call("fit", raw_files / "*.parquet", *words, "--points", "5")
    assert result.code == 0, result.err
    assert load(output).card_.is_whole
    assert load(output).points.largest == 5


def loans(folder, *, with_index=False):
    """Write rows of loans that are bad or good; return the path."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"income": rng.normal(size=400), "age": rng.normal(size=400)})
    rows["paid"] = np.where(rows["income"] + rng.normal(size=400) < 0, "bad", "good")
    if with_index:  # a file of rows that were selected
        rows = rows[rng.random(400) < 0.9]
    path = folder / "loans.parquet"
    rows.to_parquet(path)
    return path


@pytest.mark.every_case
@pytest.mark.parametrize(
    "more",
    [["-c", "moment"], ["-c", "moment", "--two-passes"], ["--max-lines", "6"], None],
    ids=["in memory", "in passes", "card", "summary"],
)
def test_a_model_is_for_the_label_that_is_named(call, tmp_path, more):
    rows, model = loans(tmp_path), tmp_path / "m.dx"
    words = [rows, "-t", "paid", *(more or ())]
    if more is None:
        words = [tmp_path / "a.moments"]
        assert call("summarize", rows, "-t", "paid", "-o", words[0]).code == 0
    result = call("fit", *words, "--positive", "bad", "-m", "auc", "-o", model)
    assert result.code == 0, result.err
    fitted = load(model)
    assert (fitted.classes_.tolist(), fitted.positive_) == (["bad", "good"], "bad")
    result = call("evaluate", model, rows, "-t", "paid", "--json")
    assert result.json["positives"] == (pd.read_parquet(rows)["paid"] == "bad").sum()
    assert result.json["measures"]["AUC"]["value"] > 0.7
    output = tmp_path / "out.parquet"
    assert call("predict", model, rows, "-o", output).code == 0
    table = pd.read_parquet(rows)
    probability = fitted.predict_proba(table.drop(columns="paid"))[:, 0]
    np.testing.assert_allclose(pd.read_parquet(output)["probability_bad"], probability)


def test_the_index_of_pandas_is_no_feature(call, tmp_path):
    rows, model = loans(tmp_path, with_index=True), tmp_path / "m.dx"
    words = ["fit", rows, "-t", "paid", "-c", "moment", "-m", "auc", "-o", model, "--force"]
    result = call(*words)
    assert result.code == 0, result.err
    assert "Note: left out the index of a pandas data frame (__index_level_0__)" in result.err
    assert load(model).feature_names_in_.tolist() == ["income", "age"]
    result = call(*words, "--features", "income,__index_level_0__")
    assert "left out" not in result.err
