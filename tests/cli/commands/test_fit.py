import re

import numpy as np
import pandas as pd
import pytest
from card_sources import FEATURES, frame, parts

pytest.importorskip("typer")

from directrix import MomentClassifier, Moments, ScorecardClassifier
from directrix.export import load
from directrix.metrics import RecallAtFPR


def test_a_fit_of_summaries_is_the_library_call(call, files, tmp_path):
    days = [files / "monday.moments", files / "tuesday.moments"]
    result = call("fit", *days, "--metric", "recall@fpr=0.05", "-o", tmp_path / "m.dx")
    assert result.code == 0, result.err
    assert "from a summary of 1,200 rows" in result.out
    moments = Moments.load(days[0]) + Moments.load(days[1])
    expected = MomentClassifier(RecallAtFPR(0.05)).fit_summary(moments)
    model = load(tmp_path / "m.dx")
    assert (model.coef_ == expected.coef_).all()
    assert model.feature_names_in_.tolist() == ["amount", "age", "clock"]


def test_a_prior_is_stated(call, files, tmp_path):
    output = tmp_path / "m.dx"
    call("fit", files / "monday.moments", "--prior", 0.01, "-o", output)
    moments = Moments.load(files / "monday.moments").with_prior(0.01)
    expected = MomentClassifier().fit_summary(moments)
    assert load(output).intercept_ == pytest.approx(expected.intercept_)


def test_rows_are_fitted_by_the_direct_classifier(call, files, tmp_path):
    options = ["-t", "fraud", "-o", tmp_path / "m.dx"]
    result = call("fit", files / "monday.parquet", *options, "--json")
    assert result.code == 0, result.err
    values = result.json
    assert values["classifier"] == "DirectClassifier"
    assert values["chosen"] in [candidate["name"] for candidate in values["candidates"]]
    assert values["operating_point"]["measured"]["metric"] < 0.3
    assert load(tmp_path / "m.dx").feature_names_in_.tolist() == values["features"]


def test_the_text_has_the_choice_among_the_candidates(call, files, tmp_path):
    options = ["-t", "fraud", "-o", tmp_path / "m.dx"]
    result = call("fit", files / "monday.parquet", *options)
    assert result.code == 0, result.err
    choice = result.out[result.out.index("Chosen for") :].splitlines()
    assert re.match(r"Chosen for error rate: .*\.", choice[0])
    assert re.search(r"[Bb]est of \d+ candidates on held-out rows", choice[1])
    interval = r"\(95 % interval 0\.\d{4} to 0\.\d{4}\)\."
    assert re.match(rf"Expected on new rows: 0\.\d{{4}} {interval}", choice[2])
    gap = r"(Better|Worse) than logistic|Not clearly different from logistic|The same as logistic"
    assert re.match(gap, choice[3])


def test_a_fit_to_noise_says_so_first(call, files, tmp_path):
    table = pd.read_parquet(files / "monday.parquet")
    table["fraud"] = table["fraud"].sample(frac=1.0, random_state=0).to_numpy()
    table.to_parquet(tmp_path / "shuffled.parquet", index=False)
    rows = [tmp_path / "shuffled.parquet", "-t", "fraud", "--metric", "auc"]
    result = call("fit", *rows, "-o", tmp_path / "m.dx")
    verdict = "No better than a constant prediction: AUC expected on new rows is 0."
    assert result.out.startswith(verdict)
    values = call("fit", *rows, "-o", tmp_path / "m.dx", "--force", "--json").json
    assert values["no_better_than_constant"] is True
    assert values["chance"] == pytest.approx(0.5)
    assert values["weighted_by"] is None


@pytest.mark.parametrize("name", ["moment", "smooth", "beta-bernoulli"])
def test_other_classifiers(call, files, tmp_path, name):
    options = ["-t", "fraud", "-c", name, "-o", tmp_path / "m.dx"]
    result = call("fit", files / "monday.parquet", *options)
    assert result.code == 0, result.err
    assert type(load(tmp_path / "m.dx")).__name__.lower().startswith(name[:4])
    assert "Chosen for" not in result.out


def test_two_passes(call, files, tmp_path):
    options = ["-t", "fraud", "-c", "moment", "--two-passes", "-m", "auc", "-o", tmp_path / "m.dx"]
    result = call("fit", files / "*day.parquet", *options)
    assert result.code == 0, result.err
    assert "held-out rows" in result.out


def test_a_label_is_chosen_as_positive(call, files, tmp_path):
    options = ["-t", "kind", "--features", "amount,age,clock", "-c", "moment"]
    output = tmp_path / "m.dx"
    result = call("fit", files / "rich.parquet", *options, "--positive", "bad", "-o", output)
    assert result.code == 0, result.err
    model = load(output)
    assert (model.classes_.tolist(), model.positive_) == (["bad", "good"], "bad")
    assert model.coef_[0, 0] < 0  # scores are in favour of the last label, "good"
    rows = [files / "rich.parquet", "-t", "kind"]
    for more in ([], ["--positive", "bad"]):
        values = call("evaluate", output, *rows, *more, "--json").json
        assert values["at_threshold"]["error rate"]["value"] < 0.3


def test_one_of_three_labels_is_chosen_against_the_others(call, files, tmp_path):
    options = ["-t", "three", "--features", "amount,age,clock", "-c", "moment"]
    output = tmp_path / "m.dx"
    result = call("fit", files / "rich.parquet", *options, "--positive", "1", "-o", output)
    assert result.code == 0, result.err
    assert load(output).classes_.tolist() == [False, True]
    rows = [files / "rich.parquet", "-t", "three"]
    refused = call("evaluate", output, *rows)
    assert refused.code == 1
    assert "--positive" in refused.err
    assert call("evaluate", output, *rows, "--positive", "1").code == 0


def test_weights_count(call, files, tmp_path):
    options = ["-t", "fraud", "--features", "amount,age", "-c", "moment", "-m", "error"]
    for name, more in (("a", []), ("b", ["--weight", "weight"])):
        assert call("fit", files / "rich.parquet", *options, *more, "-o", tmp_path / name).code == 0
    assert load(tmp_path / "b").intercept_[0] != load(tmp_path / "a").intercept_[0]


def test_libsvm(call, files, tmp_path):
    result = call("fit", files / "tuesday.svm", "-c", "moment", "-o", tmp_path / "m.dx")
    assert result.code == 0, result.err
    values = call("evaluate", tmp_path / "m.dx", files / "tuesday.svm", "--json").json
    assert values["rows"] == 600
    assert np.isfinite(values["at_threshold"]["Brier score"]["value"])


# ── scorecards ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def raw_files(tmp_path_factory):
    """Return two Parquet files and a CSV file of raw rows, with texts and missing values."""
    folder, rows = tmp_path_factory.mktemp("raw"), frame(800)
    for number, part in enumerate(parts(rows, 2)):
        part.to_parquet(folder / f"{number}.parquet", index=False)
    rows.to_csv(folder / "rows.csv", index=False)
    return folder


SCORECARD = ["-t", "y", "--drop", "id", "-c", "scorecard", "-m", "recall@fpr=0.1"]


@pytest.fixture(scope="module", params=["in memory", "in passes"])
def card_file(request, raw_files):
    """Return the file of a card, and what the command printed."""
    from tests.cli.conftest import CliRunner, app

    in_passes = request.param == "in passes"
    output = raw_files / f"{request.param}.dx"
    words = ["fit", raw_files / "*.parquet", *SCORECARD, "-o", output]
    words = [*words, "--two-passes"] if in_passes else words
    result = CliRunner().invoke(app, list(map(str, words)), prog_name="directrix")
    assert result.exit_code == 0, result.stderr
    return output, result.stdout, in_passes


def test_a_scorecard_of_raw_rows(card_file, raw_files, call):
    path, printed, in_passes = card_file
    assert printed.startswith("from three passes" if in_passes else "from 800 rows")
    assert "operating point: 'yes' if points > 0" in printed
    assert "the logistic card of the same bins" in printed
    card = load(path)
    assert card.feature_names_in_.tolist() == FEATURES
    assert [bins.kind for bins in card.binner_.bins_] == ["number", "text", "boolean", "date"]
    values = card.decision_function(frame(800)[FEATURES])
    scored = raw_files / f"{path.stem}.csv"
    result = call("predict", path, raw_files / "*.parquet", "--keep", "id", "-o", scored)
    assert result.code == 0, result.err
    predicted = pd.read_csv(scored)
    np.testing.assert_allclose(predicted["score"], values[predicted["id"]], rtol=1e-12)
    assert predicted.notna().all().all()
    measured = call("evaluate", path, raw_files / "rows.csv", "-t", "y", "--json").json
    assert measured["flagged"] == np.sum(values > 0)
    shown = call("show", path).out
    assert 'the "home" of' in shown
    assert str(card.card_) in shown


def test_the_card_of_passes_is_that_of_the_library(raw_files, call, tmp_path):
    options = ["--features", "age,member", "--two-passes", "-o", tmp_path / "m.dx"]
    words = ["-t", "y", "-c", "scorecard", "-m", "auc"]
    result = call("fit", raw_files / "rows.csv", *words, *options)
    assert result.code == 0, result.err
    expected = ScorecardClassifier("auc").fit_source(
        str(raw_files / "rows.csv"), target="y", features=["age", "member"], progress=False
    )
    rows = frame(800)[["age", "member"]]
    scores = load(tmp_path / "m.dx").decision_function(rows)
    np.testing.assert_allclose(scores, expected.decision_function(rows), rtol=1e-9)


@pytest.mark.parametrize(("given", "passes"), [("7", "three"), ("full", "two"), ("auto", "three")])
def test_the_lines_of_a_card(given, passes, raw_files, call, tmp_path):
    output = ["--two-passes", "--max-lines", given, "-o", tmp_path / "m.dx"]
    words = ["-t", "y", "-c", "scorecard", "-m", "auc", "--features", "age,member,since"]
    result = call("fit", raw_files / "rows.csv", *words, *output)
    assert result.code == 0, result.err
    assert result.out.startswith(f"from {passes} passes over the rows")
    card = load(tmp_path / "m.dx")
    assert card.max_lines == {"full": None, "auto": "auto"}.get(given, 7)
    assert given != "7" or card.card_.n_lines <= 7


@pytest.mark.parametrize("given", ["1", "many"])
def test_lines_that_no_card_has(given, raw_files, call, tmp_path):
    words = ["-t", "y", "-c", "scorecard", "--max-lines", given, "-o", tmp_path / "m.dx"]
    result = call("fit", raw_files / "rows.csv", *words)
    assert result.code == 2
    assert f"'{given}' is not a whole number, 2 or more, 'auto' or 'full'" in " ".join(
        result.err.replace("│", " ").split()
    )


@pytest.mark.parametrize("option", ["--max-lines", "--points"])
def test_lines_and_points_belong_to_cards(option, raw_files, call, tmp_path):
    words = ["-t", "y", "-c", "direct", option, "9", "-o", tmp_path / "m.dx"]
    result = call("fit", raw_files / "rows.csv", *words)
    assert result.code == 2
    assert f"only cards have {'points' if option == '--points' else 'lines'}" in result.err


def test_the_scale_of_points(raw_files, call, tmp_path):
    output = tmp_path / "m.dx"
    words = ["-t", "y", "-c", "scorecard", "-m", "auc", "--features", "age,member", "-o", output]
    result = call("fit", raw_files / "rows.csv", *words, "--max-lines", "5", "--points", "5")
    assert result.code == 0, result.err
    assert result.out.endswith(f"wrote {output}; directrix show {output} prints the card\n")
    card = load(output)
    assert card.card_.is_whole
    assert card.points.largest == 5
    # The columns of the reply are those of the card, with as many lines as it prints.
    shown = call("show", output).out
    assert "lowest points" not in shown
    listed = result.out[result.out.index("lowest points") :].splitlines()[1:]
    lines = [line.split()[1] for line in listed[: listed.index("")] if "without" not in line]
    assert sum(map(int, lines)) == card.card_.n_lines
    refused = call("fit", raw_files / "rows.csv", *words, "--force", "--points", "few")
    assert refused.code == 2
    assert "'few' is not 'integer', 'pdo'" in " ".join(refused.err.replace("│", " ").split())


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


@pytest.mark.parametrize("classifier", ["moment", "scorecard"])
def test_a_model_for_one_of_two_labels_keeps_them(call, tmp_path, classifier):
    rows, model = loans(tmp_path), tmp_path / "m.dx"
    options = ["-t", "paid", "--positive", "bad", "-c", classifier, "-m", "auc", "-o", model]
    assert call("fit", rows, *options).code == 0
    fitted = load(model)
    assert (fitted.classes_.tolist(), fitted.positive_) == (["bad", "good"], "bad")
    for more in ([], ["--positive", "bad"]):
        result = call("evaluate", model, rows, "-t", "paid", *more, "--json")
        assert result.code == 0, result.err
        assert result.json["positives"] == (pd.read_parquet(rows)["paid"] == "bad").sum()
        assert result.json["metric"]["value"] > 0.7
    result = call("evaluate", model, rows, "-t", "paid", "--positive", "good")
    assert result.code == 1
    assert "for the label 'bad', not 'good'" in result.err
    output = tmp_path / "out.parquet"
    assert call("predict", model, rows, "-o", output).code == 0
    assert "probability_bad" in pd.read_parquet(output)


def test_a_model_of_a_summary_keeps_two_labels(call, tmp_path):
    rows, summary, model = loans(tmp_path), tmp_path / "a.moments", tmp_path / "m.dx"
    assert call("summarize", rows, "-t", "paid", "-o", summary).code == 0
    options = ["--positive", "bad", "--prior", 0.2, "-m", "auc", "-o", model]
    result = call("fit", summary, *options)
    assert result.code == 0, result.err
    assert load(model).positive_ == "bad"
    assert call("evaluate", model, rows, "-t", "paid").code == 0


@pytest.mark.parametrize("classifier", ["moment", "scorecard"])
def test_the_index_of_pandas_is_no_feature(call, tmp_path, classifier):
    rows, model = loans(tmp_path, with_index=True), tmp_path / "m.dx"
    result = call("fit", rows, "-t", "paid", "-c", classifier, "-m", "auc", "-o", model)
    assert result.code == 0, result.err
    assert "Note: left out the index of a pandas data frame (__index_level_0__)" in result.err
    assert load(model).feature_names_in_.tolist() == ["income", "age"]
    named = ["--features", "income,__index_level_0__", "-o", model, "--force"]
    result = call("fit", rows, "-t", "paid", "-c", classifier, "-m", "auc", *named)
    assert result.code == 0, result.err
    assert "left out" not in result.err
    dropped = ["--drop", "income", "-o", model, "--force"]
    result = call("fit", rows, "-t", "paid", "-c", classifier, "-m", "auc", *dropped)
    assert "left out the index" in result.err
    assert load(model).feature_names_in_.tolist() == ["age"]
    result = call("summarize", rows, "-t", "paid", "-o", tmp_path / "a.moments", "--json")
    assert result.json["features"] == 2
    assert "__index_level_0__" in result.json["warnings"][0]


@pytest.mark.parametrize(
    ("classifier", "baseline"),
    [("direct", "logistic regression"), ("scorecard", "the logistic card of the same bins")],
)
def test_the_json_names_what_a_model_is_compared_with(call, tmp_path, classifier, baseline):
    rows = loans(tmp_path)
    options = ["-t", "paid", "-c", classifier, "-m", "auc", "-o", tmp_path / "m.dx", "--json"]
    made = call("fit", rows, *options).json
    assert made["better_than"]["baseline"] == baseline
    assert sorted(made["better_than"]) == ["baseline", "high", "low", "mean"]
