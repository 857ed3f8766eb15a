import pytest

pytest.importorskip("typer")

import typer

from directrix.cli.options import DIALECTS, check_choice, parse_columns, parse_metric, require
from directrix.engines.sql_dialects import DIALECTS as ENGINE_DIALECTS
from directrix.metrics import AUC, RecallAtFPR


def test_metrics():
    assert parse_metric("auc") == AUC()
    assert parse_metric("recall@fpr=0.01") == RecallAtFPR(0.01)
    with pytest.raises(typer.BadParameter) as caught:
        parse_metric("aucc")
    assert str(caught.value).count("did you mean 'auc'") == 1


def test_columns_are_separated_by_commas():
    assert parse_columns(None) is None
    assert parse_columns([]) is None
    assert parse_columns(["a, b", "c"]) == ["a", "b", "c"]
    assert parse_columns(['"a,b",c,']) == ["a,b", "c"]


def test_choices():
    assert check_choice("sql", ("sql", "onnx"), "--to") == "sql"
    with pytest.raises(typer.BadParameter, match="'onyx' is not one of sql, onnx; did you mean"):
        check_choice("onyx", ("sql", "onnx"), "--to")


def test_requirements():
    require(1, "never raised")
    with pytest.raises(typer.BadParameter, match="give a file"):
        require(None, "give a file", "--output")


def test_help_lists_the_dialects_of_the_engine():
    assert tuple(ENGINE_DIALECTS) == DIALECTS
