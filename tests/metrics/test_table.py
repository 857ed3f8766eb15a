"""THE TABLE, what is looked up in it, and the pages that are made from it."""

import re
from pathlib import Path

import pytest

import directrix.losses
import directrix.metrics
from directrix.losses import Logistic, PairwiseHinge, Ramp
from directrix.losses.base import Loss
from directrix.metrics import AUC, MCC, FBeta
from directrix.metrics.base import Metric
from directrix.metrics.table import TABLE, metric_for, resolve, resolve_loss
from docs._ext.tables import TABLES, markdown, with_tables

DOCS = Path(__file__).parents[2] / "docs"
LOSSES = [(row, loss) for row in TABLE for loss in row.losses]
every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
every_loss = pytest.mark.parametrize(("row", "loss"), LOSSES, ids=lambda value: value.name)


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


@every_loss
def test_a_loss_is_in_the_table_of_its_page(row, loss):
    (line,) = [line for line in TABLES["losses"]() if line[1] == f'`"{loss.name}"`']
    assert (line[0], line[2]) == (row.name, f"`{type(loss).__name__}`")


def test_every_loss_has_a_row():
    assert {type(loss) for _, loss in LOSSES} == exported(directrix.losses, Loss)


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


@every_loss
def test_a_name_is_the_loss_of_the_table(row, loss):  # noqa: ARG001
    assert resolve_loss(loss.name) == loss
    assert resolve_loss(loss) is loss


def test_a_text_is_read_once():
    assert resolve("recall@fpr=0.0321") is resolve("recall@fpr=0.0321")


def test_the_metric_of_a_ramp_is_that_of_what_it_is_made_of():
    assert metric_for(Ramp(Ramp(PairwiseHinge()))) == AUC()


@every_loss
def test_the_metric_of_a_loss_is_that_of_its_row(row, loss):
    assert metric_for(loss) == row.example


def test_a_loss_that_is_not_in_the_table_has_no_metric():
    assert metric_for(type("Other", (Logistic,), {})()) is None


def test_an_unknown_name_of_a_loss_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"no loss named 'log'.*'logistic'"):
        resolve_loss("log")
