"""THE TABLE, what is looked up in it, and the pages that are made from it."""

import re
from pathlib import Path

import pytest

import directrix.metrics
from directrix.metrics import AUC, MCC, FBeta
from directrix.metrics.base import Metric
from directrix.metrics.table import TABLE, resolve
from docs._ext.tables import TABLES, markdown, with_tables

DOCS = Path(__file__).parents[2] / "docs"
every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def exported(room, base):
    members = [getattr(room, name) for name in room.__all__]
    classes = {member for member in members if isinstance(member, type)}
    return {member for member in classes if issubclass(member, base)} - {base}


@pytest.mark.parametrize("name", TABLES)
def test_one_page_has_the_table(name):
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")]
    (page,) = [text for text in pages if f"<!-- table: {name} -->" in text]
    table = markdown(TABLES[name]())
    assert table in with_tables(page)
    assert len({line.count("|") for line in table.splitlines()}) == 1


@every_row
def test_a_metric_is_in_the_table_of_its_page(row):
    (line,) = [line for line in TABLES["metrics"]() if line[0] == f"`{row.name}`"]
    assert type(row.example).__name__ in line[1]
    assert line[2].endswith(".")
    assert line[3] == ("higher" if row.example.greater_is_better else "lower")
    assert "0x" not in "".join(line)


def test_every_metric_has_a_row():
    assert {type(row.example) for row in TABLE} == exported(directrix.metrics, Metric)


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


def test_a_text_is_read_once():
    assert resolve("recall@fpr=0.0321") is resolve("recall@fpr=0.0321")
