import pytest

pytest.importorskip("typer")

from directrix.cli.options import file_type, load_model, load_summary
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
