"""A file of settings gives the card that the same parameters give in Python."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from directrix import Binner, ScorecardClassifier
from directrix.cli.reply import UsageError
from directrix.cli.settings import CardSettings
from directrix.estimators import IntegerPoints
from directrix.export import load

TOML = """
target = "status"
positive = "bad"
columns = ["age", "wealth, in euro", "home"]
metric = "recall@fpr=0.1"
points = { largest = 5 }
monotone = { "wealth, in euro" = "decreasing" }
max_lines = "none"
max_crosses = 0
cv = 2

[binner]
special_values = { age = [-999] }
groups = { home = [["tent", "boat"]] }
missing_with = { age = "> 50" }

[binner.cuts]
age = [25, 35, 50]
"""


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 600
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 80, n).astype(float),
            "wealth, in euro": np.exp(rng.normal(8, 1, n)),
            "home": rng.choice(["own", "rent", "boat", "tent"], n),
        }
    )
    table.loc[::9, "age"] = np.nan
    risk = (table["age"] < 35) + (table["wealth, in euro"] < 2000) + (table["home"] == "boat")
    table["status"] = np.where(risk + rng.normal(size=n) > 1, "bad", "good")
    table.to_parquet(tmp_path / "rows.parquet")
    return table


def test_a_file_of_settings_is_the_call_in_python(call, rows, tmp_path):
    (tmp_path / "card.toml").write_text(TOML)
    options = ["--config", tmp_path / "card.toml", "-o", tmp_path / "card.dx"]
    result = call("fit", tmp_path / "rows.parquet", *options)
    assert result.code == 0, result.err
    binner = Binner(
        special_values={"age": [-999]},
        groups={"home": [["tent", "boat"]]},
        missing_with={"age": "> 50"},
        cuts={"age": [25, 35, 50]},
    )
    expected = ScorecardClassifier(
        "recall@fpr=0.1",
        positive="bad",
        binner=binner,
        points=IntegerPoints(5),
        monotone={"wealth, in euro": "decreasing"},
        max_lines=None,
        max_crosses=0,
        cv=2,
        warn_baseline=False,
    ).fit(rows[["age", "wealth, in euro", "home"]], rows["status"])
    assert str(load(tmp_path / "card.dx").card_) == str(expected.card_)
    assert "25 to 35" in str(expected.card_)


@pytest.mark.usefixtures("rows")
def test_options_of_the_command_line_come_first(call, tmp_path):
    settings = {"target": "home", "columns": ["age"], "metric": "auc", "cv": 2, "max_lines": None}
    (tmp_path / "card.json").write_text(json.dumps(settings))
    options = ["--config", tmp_path / "card.json", "-t", "status", "--positive", "bad"]
    result = call("fit", tmp_path / "rows.parquet", *options, "-o", tmp_path / "m.dx", "--json")
    assert result.code == 0, result.err
    assert result.json["classes"] == ["bad", "good"]
    assert result.json["features"] == ["age"]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pionts = 'pdo'", "unknown key 'pionts'; did you mean 'points'?"),
        ("[binner]\ncut = {}", "unknown key 'binner.cut'; did you mean 'cuts'?"),
        ("columns = 'age'", "columns must be a list of columns, not 'age'"),
        ("target = 3", "target must be a text, not 3"),
        ("binner = 3", "binner must be a table of parameters, not 3"),
        ("a = ", "is not TOML"),
        (
            "points = { pdq = 20 }",
            "points must be 'integer', 'pdo', 'log-odds', or a table with pdo",
        ),
    ],
)
def test_a_wrong_file_is_refused_by_its_key(tmp_path, text, message):
    path = tmp_path / "card.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        CardSettings.read(str(path)).parameters()


def test_json_must_be_an_object(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(UsageError, match="must be a table of settings"):
        CardSettings.read(str(tmp_path / "a.json"))


@pytest.mark.usefixtures("rows")
def test_settings_are_those_of_a_scorecard(call, tmp_path):
    (tmp_path / "card.toml").write_text("cv = 2")
    options = ["--config", tmp_path / "card.toml", "-c", "direct", "-o", tmp_path / "m.dx"]
    result = call("fit", tmp_path / "rows.parquet", *options, "-t", "status")
    assert result.code == 2
    assert "settings are those of a scorecard" in result.err
