import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from directrix import MomentClassifier
from directrix.cli.formatting import describe_terms
from directrix.cli.options import file_type, load_model, load_summary, parse_columns
from directrix.cli.reply import UsageError
from directrix.cli.rows import RowFiles, label_of, score_rows
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.export import load


def test_all_columns_without_another_use_are_features(files):
    path = str(files / "rich.parquet")
    dropped = RowFiles.of([path], "fraud", drop=["country,kind", "id"], weight="weight")
    assert dropped.features == ("amount", "age", "clock", "three")
    assert RowFiles.of([path], "fraud", features=["age,id"], drop=["id"]).features == ("age",)
    with pytest.raises(ColumnNotFoundError, match="did you mean 'clock'"):
        RowFiles.of([path], "fraud", drop=["klock"])


def test_rows_are_read_with_their_roles(files):
    days = [str(files / "monday.parquet"), str(files / "tuesday.parquet")]
    rows = RowFiles.of(days, "fraud", features=["age", "amount"]).read()
    assert rows.X.column_names == ["age", "amount"]
    assert rows.X.num_rows == len(rows.y) == 1200
    assert rows.y.dtype == bool
    assert rows.weight is rows.segment is None
    rich = RowFiles.of([str(files / "rich.parquet")], "kind", weight="weight", segment="country")
    assert rich.read().weight.dtype == float
    assert rich.read().segment[0] in ("bad", "good")
    assert rich.labels() == ["bad", "good"]


def test_scores_are_those_of_the_columns_of_the_model(files):
    model = load(files / "model.dx")
    files_of_model = RowFiles.for_model(model, [str(files / "rich.parquet")], target="fraud")
    assert files_of_model.features == ("amount", "age", "clock")
    scores, rows = score_rows(model, files_of_model)
    again = RowFiles.for_model(model, [str(files / "rich.parquet")], ["clock,amount,age"])
    assert again.features == files_of_model.features
    assert scores == pytest.approx(model.decision_function(files_of_model.read().X))
    assert rows.X is None
    assert rows.y.sum() > 0


def test_labels_and_columns_are_given_as_texts():
    assert label_of("2", [0, 1, 2]) == 2
    assert label_of("1", [0.0, 1.0]) == label_of("1.0", [0.0, 1.0]) == 1
    assert label_of(None, ["a", "b"]) is None
    with pytest.raises(UsageError, match=r"no label '7' .* \(0, 1, 2, 3, 4 and more\)"):
        label_of("7", list(range(7)))
    assert parse_columns(None) is None
    assert parse_columns(["a, b", "c", '"d,e",']) == ["a", "b", "c", "d,e"]


def test_files_are_told_apart_by_their_header(files, tmp_path):
    summary, model = str(files / "monday.moments"), str(files / "model.dx")
    assert (file_type(summary), file_type(model)) == ("summary", "model")
    assert file_type(str(files / "monday.parquet")) is file_type(str(tmp_path / "nothing")) is None
    assert load_summary(summary).count == 600
    with pytest.raises(UsageError, match="is a model, and this needs a summary"):
        load_summary(model)
    with pytest.raises(UsageError, match="is a summary, and this needs a model"):
        load_model(summary)


def test_a_model_with_many_features_lists_some():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2 == 0
    model = MomentClassifier("error").fit(rng.normal(size=(200, 30)) + y[:, None], y)
    assert "and 10 more, smaller" in describe_terms(model)
