import pytest
from sklearn import metrics

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from pyarrow import parquet

from directrix.export import load
from directrix.metrics import RecallAtFPR


@pytest.fixture
def tuesday(files):
    rows = parquet.read_table(files / "tuesday.parquet").to_pandas()
    return rows[["amount", "age", "clock"]], rows["fraud"].to_numpy()


def test_values_are_those_of_scikit_learn(call, files, tuesday):
    command = ["evaluate", files / "model.dx", files / "tuesday.parquet", "-t", "fraud"]
    result = call(*command, "--json")
    assert result.code == 0, result.err
    X, y = tuesday
    model = load(files / "model.dx")
    scores, predicted = model.decision_function(X), model.predict(X)
    values = {name: measure["value"] for name, measure in result.json["at_threshold"].items()}
    assert values == pytest.approx(
        {
            "error rate": 1 - metrics.accuracy_score(y, predicted),
            "AUC": metrics.roc_auc_score(y, scores),
            "recall": metrics.recall_score(y, predicted),
            "FPR": predicted[~y].mean(),
            "precision": metrics.precision_score(y, predicted),
            "F1": metrics.f1_score(y, predicted),
            "Brier score": metrics.brier_score_loss(y, model.predict_proba(X)[:, 1]),
        }
    )
    name = "recall at FPR 10 %"
    assert result.json["metric"] == result.json["at_threshold"]["recall"] | {"name": name}
    (best,) = result.json["best_cutoff_on_these_rows"].values()
    assert best["name"] == f"{name}, best cutoff on these rows"
    assert best["value"] == pytest.approx(RecallAtFPR(0.1).score(y, scores))
    assert result.json["no_better_than_constant"] is result.json["weighted"] is False
    assert result.json["chance"] == pytest.approx(0.1)
    assert result.json["limit"].startswith("FPR at most 10 % is ")
    for measure in (*result.json["at_threshold"].values(), result.json["metric"]):
        assert measure["low"] < measure["value"] < measure["high"]


def test_another_metric_and_text(call, files):
    rows = [files / "tuesday.csv", "-t", "fraud"]
    result = call("evaluate", files / "model.dx", *rows, "--metric", "f1")
    assert result.code == 0
    first, _, heading, *_ = result.out.splitlines()
    assert first.startswith("600 rows, ")
    assert "of class True" in first
    assert heading == "at the cutoff of the model"
    assert result.out.count("F1 ") == 1
    assert "best cutoff" not in result.out
    assert "\x1b" not in result.out + result.err


def test_columns_are_selected_by_name(call, files, tmp_path):
    table = parquet.read_table(files / "tuesday.parquet")
    permuted = table.select(["fraud", "clock", "age", "amount"])
    parquet.write_table(permuted, tmp_path / "permuted.parquet")
    values = [
        call("evaluate", files / "model.dx", path, "-t", "fraud", "--json").json["metric"]
        for path in (files / "tuesday.parquet", tmp_path / "permuted.parquet")
    ]
    assert values[0] == values[1]


def test_weights_need_not_be_whole(call, files, tmp_path):
    table = parquet.read_table(files / "rich.parquet")
    half = table.append_column("half", [[0.5] * 599 + [0.75]])
    parquet.write_table(half, tmp_path / "half.parquet")
    rows = [tmp_path / "half.parquet", "-t", "fraud", "--weight", "half"]
    result = call("evaluate", files / "model.dx", *rows)
    assert result.code == 0, result.err
    first, second, *_ = result.out.splitlines()
    assert first.startswith("600 rows of weight 300.25, ")
    assert second == "rates are weighted by the column half"


def test_the_delivered_cutoff_is_first_and_the_other_is_called_so(call, files):
    result = call("evaluate", files / "model.dx", files / "tuesday.csv", "-t", "fraud")
    lines = result.out.splitlines()
    delivered, best = (
        next(k for k, line in enumerate(lines) if line.startswith(start))
        for start in ("recall at FPR 10 %  ", "recall at FPR 10 %, best cutoff on these rows")
    )
    assert lines.index("at the cutoff of the model") < delivered < best
    assert lines.index("best cutoff on these rows, not that of the model") < best


def test_rows_that_a_model_cannot_tell_apart_say_so_first(call, files, tmp_path):
    table = parquet.read_table(files / "tuesday.parquet").to_pandas()
    table["fraud"] = table["fraud"].sample(frac=1.0, random_state=0).to_numpy()
    table.to_parquet(tmp_path / "shuffled.parquet", index=False)
    rows = [tmp_path / "shuffled.parquet", "-t", "fraud", "--metric", "auc"]
    result = call("evaluate", files / "model.dx", *rows)
    assert result.out.startswith("No better than a constant prediction: AUC on these rows is 0.")
    assert "on these rows" in result.out.splitlines()[0]
    assert call("evaluate", files / "model.dx", *rows, "--json").json["no_better_than_constant"]
