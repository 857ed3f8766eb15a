"""Messages and exit codes of wrong calls, of data and models that cannot be used, and of bugs."""

import builtins
import errno
import os
import shlex
import sys

import pytest

pytest.importorskip("typer")

from directrix import MomentClassifier, summarize
from directrix.cli.options import parse_columns
from directrix.cli.reply import CALL_ERROR, DATA_ERROR, UsageError, describe_error
from directrix.exceptions import MissingLibraryError
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    suggest_names,
)
from directrix.export import save

DATA, USAGE = DATA_ERROR, CALL_ERROR

#: Command, exit code, and a part of the message. {f} is the folder of the fixtures.
WRONG = {
    "no file": ("summarize {f}/nothing.parquet -t fraud -o {o}", DATA, "no file at"),
    "no match": ("summarize {f}/no*.parquet -t fraud -o {o}", DATA, "or a pattern"),
    "no such model": ("show {f}/nothing.dx", DATA, "no file at"),
    "wrong column": ("summarize {f}/monday.parquet -t fruad -o {o}", DATA, "did you mean 'fraud'?"),
    "wrong feature": (
        "fit {f}/monday.parquet -t fraud --features Amuont,age -o {o}",
        DATA,
        "did you mean 'amount'?",
    ),
    "wrong drop": ("fit {f}/monday.parquet -t fraud --drop klock -o {o}", DATA, "'clock'"),
    "wrong weight": ("summarize {f}/rich.parquet -t fraud --weight wieght -o {o}", DATA, "weight"),
    "column a model needs": (
        "predict {f}/model.dx {f}/model_less.csv -o -",
        DATA,
        "no column named 'age'",
    ),
    "one class": ("fit {f}/one_class.parquet -t fraud -o {o}", DATA, "one class only"),
    "one class seen": (
        "evaluate {f}/model.dx {f}/one_class.parquet -t fraud",
        DATA,
        "rows of both",
    ),
    "NaN": (
        "fit {f}/holes.parquet -t fraud -o {o}",
        DATA,
        "column 'age' holds missing values (NaN) in at least 1 row: impute",
    ),
    "NaN summarised": ("summarize {f}/holes.parquet -t fraud -o {o}", DATA, "use --drop age;"),
    "NaN in two passes": (
        "fit {f}/holes.parquet -t fraud --two-passes -o {o}",
        DATA,
        "use --drop age; fit -c scorecard",
    ),
    "NaN scored": (
        "evaluate {f}/model.dx {f}/holes.parquet -t fraud",
        DATA,
        "column 'age' holds missing values (NaN) in at least 1 row: the model needs",
    ),
    "text": ("summarize {f}/rich.parquet -t fraud -o {o}", DATA, "use --drop country,kind;"),
    "text fitted": (
        "fit {f}/rich.parquet -t fraud -o {o}",
        DATA,
        "columns 'country', 'kind' hold string, not numbers",
    ),
    "text scored": ("evaluate {f}/model.dx {f}/young.csv -t fraud", DATA, "the model needs"),
    "text predicted": ("predict {f}/model.dx {f}/young.csv -o {o}.csv", DATA, "the model needs"),
    "three classes": (
        "fit {f}/rich.parquet -t three --features age -c moment -o {o}",
        DATA,
        "--positive",
    ),
    "no such label": (
        "summarize {f}/rich.parquet -t three --features age --positive 7 -o {o}",
        DATA,
        "the classes are [0, 1, 2]",
    ),
    "no such label in rows": (
        "fit {f}/rich.parquet -t kind --features age --positive ugly -o {o}",
        DATA,
        "(bad, good)",
    ),
    "other labels": ("evaluate {f}/model.dx {f}/rich.parquet -t kind", DATA, "--positive"),
    "summary for model": (
        "evaluate {f}/monday.moments {f}/monday.parquet -t a",
        DATA,
        "directrix fit",
    ),
    "model for summary": ("summarize --add {f}/model.dx -o {o}", DATA, "directrix summarize"),
    "damaged": ("show {f}/damaged.moments", DATA, "damaged"),
    "something else": ("show {f}/monday.parquet", DATA, "monday.parquet"),
    "not Parquet": ("summarize {f}/wrong.parquet -t fraud -o {o}", DATA, "cannot be read"),
    "Latin-1 header": (
        "summarize {f}/latin_header.csv -t fraud -o {o}",
        DATA,
        "latin_header.csv is not UTF-8: line 1",
    ),
    "Latin-1 header and --drop": (
        "fit {f}/latin_header.csv -t fraud --drop age -o {o}",
        DATA,
        "latin_header.csv is not UTF-8: line 1",
    ),
    "Latin-1 labels": (
        "fit {f}/latin_labels.csv -t fraud -o {o}",
        DATA,
        "latin_labels.csv is not UTF-8: line 3",
    ),
    "not LIBSVM": ("summarize {f}/wrong.svm -o {o}", DATA, "LIBSVM"),
    "no folder": ("summarize --add {f}/monday.moments -o {f}/nowhere/m", DATA, "nowhere"),
    "no folder for a model": ("fit {f}/monday.moments -o {f}/nowhere/m.dx", DATA, "make it first"),
    "rows and a summary": (
        "fit {f}/monday.moments {f}/monday.parquet -t fraud -o {o}",
        USAGE,
        "is a summary",
    ),
    "unknown metric": ("fit {f}/monday.moments -m aucc -o {o}", USAGE, "did you mean 'auc'?"),
    "metric without limit": ("fit {f}/monday.moments -m recall_at_fpr -o {o}", USAGE, "fpr=0.01"),
    "unknown classifier": ("fit {f}/monday.moments -c forest -o {o}", USAGE, "direct"),
    "direct of a summary": ("fit {f}/monday.moments -c direct -o {o}", USAGE, "-c moment"),
    "guarantee": ("fit {f}/monday.moments --guarantee 0.9 -o {o}", USAGE, "-c direct"),
    "guarantee of no limit": (
        "fit {f}/monday.parquet -t fraud --guarantee 0.9 -o {o}",
        DATA,
        "guarantee",
    ),
    "no target": ("fit {f}/monday.parquet -o {o}", USAGE, "--target"),
    "no output": ("fit {f}/monday.moments", USAGE, "--output"),
    "no command": ("fitt", USAGE, "fit"),
    "two passes": (
        "fit {f}/monday.parquet -t fraud -c smooth --two-passes -o {o}",
        USAGE,
        "smooth",
    ),
    "json and rows": ("predict {f}/model.dx {f}/monday.parquet -o - --json", USAGE, "stdout"),
    "kind of output": ("predict {f}/model.dx {f}/monday.parquet -o a.xls", USAGE, ".parquet"),
    "onnx on stdout": ("export {f}/model.dx --to onnx", USAGE, "give a file"),
    "unknown type": ("export {f}/model.dx --to onnx --dtype half -o {o}", USAGE, "float32"),
    "type of no ONNX": ("export {f}/model.dx --to sql --dtype float32", USAGE, "--dtype"),
    "unknown export": ("export {f}/model.dx --to tensorflow", USAGE, "onnx"),
    "line as PMML": ("export {f}/model.dx --to pmml", DATA, "scorecards"),
    "empty name in SQL": (
        "export {f}/nameless.dx --to sql",
        DATA,
        "feature 1 of 3 has an empty name",
    ),
    "named columns of LIBSVM": ("summarize {f}/tuesday.svm --features a -o {o}", USAGE, "LIBSVM"),
}


@pytest.fixture(scope="module")
def folder(files):
    content = bytearray((files / "monday.moments").read_bytes())
    content[-1] ^= 1
    (files / "damaged.moments").write_bytes(content)
    (files / "wrong.parquet").write_text("a,b\n1,2\n", encoding="utf-8")
    (files / "wrong.svm").write_text("a,b\n1,2\n", encoding="utf-8")
    rows = "".join(f"{k},{k % 3},{-k},{k % 2}\n" for k in range(20))
    (files / "nameless.csv").write_text(f",a,b,y\n{rows}", encoding="utf-8")
    read = summarize(files / "nameless.csv", target="y")
    save(MomentClassifier("auc").fit_summary(read), files / "nameless.dx")
    header = "größe,age,fraud\n1,2,0\n2,1,1\n".encode("latin-1")
    (files / "latin_header.csv").write_bytes(header)
    labels = "amount,age,fraud\n1,2,no\n2,1,möglich\n".encode("latin-1")
    (files / "latin_labels.csv").write_bytes(labels)
    (files / "young.csv").write_text("amount,age,clock,fraud\n1,old,2,true\n", encoding="utf-8")
    (files / "model_less.csv").write_text("amount,clock\n1.5,2.5\n", encoding="utf-8")
    return files


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_command_that_fails_says_why(call, folder, tmp_path, name):
    command, code, message = WRONG[name]
    result = call(*command.format(f=folder, o=tmp_path / "out").split())
    assert result.code == code, result.err
    assert message in result.err
    assert "Traceback" not in result.err
    assert result.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("library", "command", "extra"),
    [
        ("pyarrow", "summarize {f}/monday.parquet -t fraud -o {o}", "directrix[arrow]"),
        (
            "pyspark",
            "summarize {f}/monday.parquet -t fraud --spark local -o {o}",
            "directrix[spark]",
        ),
        ("matplotlib", "report {f}/card.dx -o {o}", "directrix[plot]"),
        ("onnx", "export {f}/model.dx --to onnx -o {o}", "directrix[onnx]"),
    ],
    ids=["pyarrow", "pyspark", "matplotlib", "onnx"],
)
def test_a_missing_library_is_named_with_its_extra(
    call, folder, tmp_path, monkeypatch, library, command, extra
):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    real_import = builtins.__import__

    def import_without(name, *rest):
        if name.partition(".")[0] == library:
            msg = f"No module named {name!r}"
            raise ModuleNotFoundError(msg, name=name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without)
    result = call(*command.format(f=folder, o=tmp_path / "out").split())
    assert result.code == USAGE
    assert extra in result.err


def test_debug_shows_the_traceback(call, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DEBUG", "1")
    with pytest.raises(ColumnNotFoundError):
        call("summarize", folder / "monday.parquet", "-t", "fruad", "-o", tmp_path / "out")


COLUMNS = [f"column{index}" for index in range(14)]
MANY = "The columns are " + ", ".join(COLUMNS[:12]) + " and 2 more."
#: Errors, and the messages that are made from their fields.
DESCRIPTIONS = [
    (
        ColumnNotFoundError("fruad", ["amount", "fraud"]),
        "no column named 'fruad'; did you mean 'fraud'? The columns are amount, fraud.",
    ),
    (ColumnNotFoundError("x", COLUMNS), f"no column named 'x'. {MANY}"),
    (
        NotNumericError(["town"], ["string"], "what another program would do"),
        (
            "column 'town' holds string, not numbers: encode such columns as numbers, or use "
            "--drop town; fit -c scorecard takes text and missing values as they are"
        ),
    ),
    (
        MissingValuesError(["age", "clock"], 7),
        (
            "columns 'age', 'clock' hold missing values (NaN) in 7 rows: impute them, leave those "
            "rows out, or use --drop age,clock; fit -c scorecard takes text and missing values "
            "as they are"
        ),
    ),
    (
        InfiniteValuesError([0], 7),
        "column 0 holds infinity in 7 rows: replace it, or leave those rows out",
    ),
    (
        InfiniteValuesError(COLUMNS, 7),
        (
            "columns 'column0', 'column1', 'column2', 'column3', 'column4' and 9 more hold "
            "infinity in 7 rows: replace it, leave those rows out, or use --drop"
        ),
    ),
    (
        MissingLibraryError("displays are drawn with matplotlib", "matplotlib"),
        "displays are drawn with matplotlib: pip install 'directrix[plot]'",
    ),
    (
        ModuleNotFoundError("No module named 'dask.array'", name="dask.array"),
        "this needs dask: pip install 'directrix[dask]'",
    ),
    (ImportError("cannot import name 'a'", name="numpy"), "cannot import name 'a'"),
    (UsageError("no rows"), "no rows"),
    (ValueError("wrong value"), "wrong value"),
    (KeyError("a message, not a repr"), "a message, not a repr"),
    (
        FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a.csv"),
        "a.csv: there is no such file or folder",
    ),
    (
        IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), "rows"),
        "rows: it is a folder, not a file",
    ),
    (
        PermissionError(errno.EACCES, os.strerror(errno.EACCES), "a.csv"),
        "a.csv: permission to read or write it is denied",
    ),
    (OSError(errno.ENOSPC, "disk full", "a.csv"), "a.csv: disk full"),
    (OSError("disk full"), "disk full"),
    (
        MemoryError("3 GB"),
        "the rows do not fit in memory: fit with --two-passes, or from a summary. 3 GB",
    ),
    (
        ZeroDivisionError("division by zero"),
        "ZeroDivisionError: division by zero. Set DIRECTRIX_DEBUG=1 to see the traceback.",
    ),
]


@pytest.mark.parametrize(("error", "message"), DESCRIPTIONS)
def test_a_message_is_made_from_the_fields_of_an_error(error, message):
    code = USAGE if isinstance(error, ImportError) else DATA
    assert describe_error(error) == (message, code)


@pytest.mark.parametrize(
    "names", [["a"], ["a", "b"], ["a,b", 'size "9"'], ["two words", "it's"], ["größe", "$x", "#"]]
)
def test_the_option_of_a_message_names_the_columns_in_a_shell(names):
    message, _ = describe_error(NotNumericError(names, ["string"] * len(names)))
    words = shlex.split(message.partition("use ")[2].partition("; fit -c")[0])
    assert words[0] == "--drop"
    assert parse_columns(words[1:]) == names


def test_what_a_message_recommends_succeeds(call, folder, tmp_path):
    command = ["fit", folder / "rich.parquet", "-t", "fraud", "-c", "moment"]
    refused = call(*command, "-o", tmp_path / "out.dx")
    option = refused.err.partition("use ")[2].partition(";")[0]
    assert call(*command, *shlex.split(option), "-o", tmp_path / "out.dx").code == 0


def test_the_error_of_a_spark_worker_is_its_last_line():
    error = type("PythonException", (Exception,), {"__module__": "pyspark.errors"})
    text = "Traceback:\n  File 'a.py'\nValueError: the row\n\nJVM stacktrace:\nat java.lang\n"
    assert describe_error(error(text)) == ("Spark: ValueError: the row", DATA)


def test_similar_names_are_suggested():
    assert suggest_names("Amuont", ["amount", "age"]) == "; did you mean 'amount'?"
    assert suggest_names("xyz", ["amount", "age"]) == ""
