import pytest

pytest.importorskip("typer")

from directrix.cli.options import file_type, load_model, load_summary, matching_paths
from directrix.cli.reply import UsageError


def test_the_type_of_a_file_is_in_its_header(files, tmp_path):
    assert file_type(str(files / "monday.moments")) == "summary"
    assert file_type(str(files / "model.dx")) == "model"
    assert file_type(str(files / "monday.parquet")) is None
    assert file_type(str(files)) is None
    assert file_type(str(tmp_path / "nothing")) is None


def test_summaries_and_models_are_told_apart(files):
    summary, model = str(files / "monday.moments"), str(files / "model.dx")
    assert load_summary(summary).count == 600
    assert load_model(model).n_features_in_ == 3
    with pytest.raises(UsageError, match="is a model, and this needs a summary"):
        load_summary(model)
    with pytest.raises(UsageError, match="is a summary, and this needs a model"):
        load_model(summary)


def test_patterns_match_data_files_only(tmp_path):
    for name in ("b.csv", "a.csv", "_SUCCESS.csv", ".hidden.csv", "odd[1].csv"):
        (tmp_path / name).touch()
    matches = matching_paths(str(tmp_path / "?.csv"))
    assert matches == [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert matching_paths(str(tmp_path / "*.csv"))[-1] == str(tmp_path / "odd[1].csv")
    # A file whose name looks like a pattern is itself.
    assert matching_paths(str(tmp_path / "odd[1].csv")) == [str(tmp_path / "odd[1].csv")]
    assert matching_paths(str(tmp_path / "missing.csv")) == []
