import json
import warnings

import numpy as np
import pytest

pytest.importorskip("typer")

import typer

from directrix.cli.reply import (
    Reply,
    UsageError,
    render_reply,
    show_status,
    to_json_value,
)
from directrix.fit.operating_point import Rates
from directrix.metrics import Error


def run(reply, **options):
    @render_reply
    def command(**_):
        if isinstance(reply, BaseException):
            raise reply
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        warnings.warn("an internal matter", DeprecationWarning, stacklevel=1)
        return reply

    command(**options)


def test_text_on_stdout_and_distinct_warnings_on_stderr(capsys):
    run(Reply("the text", {"a": 1}))
    assert capsys.readouterr() == ("the text\n", "Note: mind the gap\n")


def test_text_on_stderr(capsys):
    run(Reply("the text", {"a": 1}, on_stderr=True))
    assert capsys.readouterr() == ("", "the text\nNote: mind the gap\n")


def test_json_on_stdout_and_nothing_else(capsys):
    run(Reply("the text", {"a": np.float64(np.nan)}), as_json=True)
    output = capsys.readouterr()
    assert json.loads(output.out) == {"a": None, "warnings": ["mind the gap"]}
    assert output.err == ""


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no rows"), 1, "Error: no rows\n"),
        (ImportError("No module named 'pyarrow'", name="pyarrow"), 2, "directrix[arrow]"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
    ],
)
def test_an_error_is_a_message_and_an_exit_code(capsys, error, code, message):
    with pytest.raises(typer.Exit) as exit_info:
        run(error)
    assert exit_info.value.exit_code == code
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""


def test_usage_errors_of_typer_are_left_to_typer():
    with pytest.raises(typer.BadParameter):
        run(typer.BadParameter("no such option"))


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DEBUG", "1")
    with pytest.raises(UsageError):
        run(UsageError("no rows"))


def test_an_interrupt_of_a_command_is_one_line(call, files, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("directrix.cli.commands.summaries.file_type", interrupt)
    result = call("show", files / "model.dx")
    assert (result.code, result.out, result.err) == (130, "", "Interrupted.\n")


def test_warnings_of_a_fit_are_notes(call, files, tmp_path):
    # A feature without information: no candidate beats logistic regression.
    command = ["fit", files / "monday.parquet", "-t", "fraud", "--features", "clock"]
    command += ["-c", "direct"]
    command += ["-o", tmp_path / "m.dx"]
    result = call(*command)
    assert result.code == 0, result.err
    as_json = call(*command, "--force", "--json")
    assert as_json.err == ""
    notes = as_json.json["warnings"]
    assert notes
    assert all(f"Note: {note}" in result.err for note in notes)


def test_values_for_json():
    value = {1: (np.int64(2), float("inf"), None, True, np.array([0.5])), "path": Reply}
    assert to_json_value(value) == {"1": [2, None, None, True, [0.5]], "path": str(Reply)}
    record = {"rates": Rates(0.5, 0.1, np.nan, 0.5), "metric": Error()}
    rates = {"tpr": 0.5, "fpr": 0.1, "precision": None, "metric": 0.5}
    assert to_json_value(record) == {"rates": rates, "metric": "Error()"}
    assert to_json_value(Reply("a"))["exit_code"] == 0


def test_status_is_not_shown_without_a_terminal(capsys):
    with show_status("working"):
        pass
    assert capsys.readouterr() == ("", "")
