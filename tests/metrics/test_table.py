import re
from pathlib import Path

import pytest

import directrix.metrics
from directrix.metrics import AUC, MCC, TABLE, Choice, Curve, FBeta, Metric, resolve

ROOT = Path(__file__).parents[2]
every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def documented():
    """Return the rows of the table in the guide, by name."""
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return {re.findall(r"`([^`]*)`", line)[0]: line for line in lines}


@every_row
def test_row_is_documented(row):
    line = documented()[row.name]
    assert f"`{type(row.example).__name__}" in line
    assert ("lower" if not row.example.greater_is_better else "higher") in line
    assert row.from_moments in line


def test_nothing_else_is_documented():
    assert list(documented()) == [row.name for row in TABLE]


def test_every_metric_has_a_row():
    concrete = {
        kind
        for name in directrix.metrics.__all__
        if isinstance(kind := getattr(directrix.metrics, name), type) and issubclass(kind, Metric)
    }
    assert {type(row.example) for row in TABLE} == concrete - {Metric, Choice, Curve}


@every_row
def test_name_stands_for_the_metric_or_asks_for_parameters(row):
    assert resolve(row.example) is row.example
    if row.needs_parameters:
        message = f"'{row.name}' needs its parameters: give an instance, for example "
        with pytest.raises(ValueError, match=re.escape(message + repr(row.example))):
            resolve(row.name)
    else:
        assert resolve(row.name) is row.example


def test_names_that_need_nothing():
    assert resolve("auc") == AUC()
    assert resolve("f1") == FBeta(1.0)
    assert resolve("mcc") == MCC()


def test_unknown_name_is_told_the_known_ones():
    with pytest.raises(
        ValueError, match=r"no metric named 'f3': give one of 'error', .*'auc'"
    ) as e:
        resolve("f3")
    assert "recall_at_fpr" not in str(e.value)
    assert "or an instance of a metric" in str(e.value)


def test_names_are_unique():
    assert len({row.name for row in TABLE}) == len(TABLE)
