"""Messages and exit codes of wrong calls, of data and models that cannot be used, and of bugs."""

import builtins
import errno
import shlex
import sys

import pytest

pytest.importorskip("typer")

from pyarrow import parquet

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

MISSING = "column 'age' holds missing values (NaN) in 1 row: prepare"
#: Commands, and a part of the message; {f} is the folder of the fixtures.
WRONG_DATA = {
    "summarize {f}/nothing.parquet -t fraud -o {o}": "no file at",
    "summarize {f}/no*.parquet -t fraud -o {o}": "or a pattern",
    "show {f}/nothing.dx": "no file at",
    "summarize {f}/monday.parquet -t fruad -o {o}": "did you mean 'fraud'?",
    "fit {f}/monday.parquet -t fraud --features Amuont,age -o {o}": "did you mean 'amount'?",
    "fit {f}/monday.parquet -t fraud --drop klock -o {o}": "'clock'",
    "summarize {f}/rich.parquet -t fraud --weight wieght -o {o}": "weight",
    "fit {f}/monday.parquet -t fraud --features age,fraud -o {o}": "both target= and a feature",
    "predict {f}/model.dx {f}/model_less.csv -o -": "no column named 'age'",
    "fit {f}/one_class.parquet -t fraud -o {o}": "1 class (False)",
    "evaluate {f}/model.dx {f}/one_class.parquet -t fraud": "one class",
    "fit {f}/holes.parquet -t fraud -c direct -o {o}": MISSING,
    "summarize {f}/holes.parquet -t fraud -o {o}": "(use --drop age);",
    "fit {f}/holes.parquet -t fraud -c direct --two-passes -o {o}": (
        "(use --drop age); fit -c scorecard"
    ),
    "evaluate {f}/model.dx {f}/holes.parquet -t fraud": MISSING,
    "summarize {f}/rich.parquet -t fraud -o {o}": "(use --drop country,kind);",
    "fit {f}/rich.parquet -t fraud -c direct -o {o}": (
        "columns 'country', 'kind' hold string, not numbers"
    ),
    "evaluate {f}/model.dx {f}/young.csv -t fraud": "not numbers: prepare",
    "predict {f}/model.dx {f}/young.csv -o {o}.csv": "not numbers: prepare",
    "fit {f}/rich.parquet -t three --features age -c moment -o {o}": (
        "a column that is true for one of them"
    ),
    "fit {f}/rich.parquet -t kind --features age --positive ugly -o {o}": "(bad, good)",
    "evaluate {f}/model.dx {f}/rich.parquet -t kind": "--target is the right column",
    "evaluate {f}/monday.moments {f}/monday.parquet -t a": "directrix fit",
    "summarize --add {f}/model.dx -o {o}": "directrix summarize",
    "show {f}/damaged.moments": "damaged",
    "show {f}/monday.parquet": "monday.parquet",
    "summarize {f}/wrong.parquet -t fraud -o {o}": "cannot be read",
    "summarize {f}/latin_header.csv -t fraud -o {o}": "latin_header.csv is not UTF-8: line 1",
    "fit {f}/latin_header.csv -t fraud --drop age -o {o}": "latin_header.csv is not UTF-8: line 1",
    "fit {f}/latin_labels.csv -t fraud -o {o}": "latin_labels.csv is not UTF-8: line 3",
    "summarize --add {f}/monday.moments -o {f}/nowhere/m": "nowhere",
    "fit {f}/monday.moments -o {f}/nowhere/m.dx": "make it first",
    "fit {f}/monday.parquet -t fraud --guarantee 0.9 -o {o}": "guarantee",
    "fit {f}/monday.parquet -t fraud --points few -o {o}": "points",
    "export {f}/model.dx --to pmml": "scorecards",
    "export {f}/nameless.dx --to sql": "feature 1 of 3 has an empty name",
}
WRONG_CALLS = {
    "fit {f}/monday.moments {f}/monday.parquet -t fraud -o {o}": "is a summary",
    "fit {f}/monday.moments -m aucc -o {o}": "did you mean 'auc'?",
    "fit {f}/monday.moments -m recall_at_fpr -o {o}": "fpr=0.01",
    "fit {f}/monday.moments -c forest -o {o}": "direct",
    "fit {f}/monday.moments -c scorecard -o {o}": "-c moment",
    "fit {f}/monday.moments --two-passes --drop age --weight w -t fraud -o {o}": (
        "a summary has no columns to choose: leave out --two-passes, --target, --drop, --weight"
    ),
    "fit {f}/monday.moments --features amount -o {o}": "leave out --features",
    "fit {f}/monday.parquet -t fraud --max-lines none -o {o}": (
        "'none' is not a number, 'auto' or 'full'"
    ),
    "evaluate {f}/model.dx {f}/monday.parquet -t fraud --features age": (
        "the model has the features 'amount', 'age', 'clock': leave the option out"
    ),
    "fit {f}/monday.parquet -o {o}": "--target",
    "fit {f}/monday.moments": "--output",
    "fitt": "fit",
    "predict {f}/model.dx {f}/monday.parquet -o - --json": "stdout",
    "predict {f}/model.dx {f}/monday.parquet -o a.xls": ".parquet",
    "export {f}/model.dx --to onnx": "give a file",
    "export {f}/model.dx --to tensorflow": "onnx",
    "export {f}/model.dx -o {o}.doc": "give the format",
    "fit {f}/monday.parquet -t fraud -c direct --points 5 -o {o}": "cards",
    "report {f}/card.dx --template comittee -o {o}": "'committee'",
    "report {f}/card.dx --segment a -o {o}": "give files",
    "report {f}/card.dx -t a -o {o}": "give files",
    "watch {f}/model.dx {f}/monday.parquet -t fraud -r {f}/monday.parquet --alarm-rate 2": (
        "between 0 and 1"
    ),
    "threshold {f}/monday.parquet -s amount -t fraud --limit fpr": "fpr=0.01",
    "threshold {f}/monday.parquet -s amount -t fraud --limit fpr=0.1": "needs a confidence",
    "threshold {f}/monday.parquet -s amount -t fraud --limit alerts=9 --guarantee 0.9": (
        "--budget 9"
    ),
    "predict {f}/model.dx {f}/scored.parquet --keep score -o {o}.csv": "also written by predict",
}
WRONG = [
    *((command, DATA, message) for command, message in WRONG_DATA.items()),
    *((command, USAGE, message) for command, message in WRONG_CALLS.items()),
]


@pytest.fixture(scope="module")
def folder(files):
    content = bytearray((files / "monday.moments").read_bytes())
    content[-1] ^= 1
    (files / "damaged.moments").write_bytes(content)
    (files / "wrong.parquet").write_text("a,b\n1,2\n", encoding="utf-8")
    rows = "".join(f"{k},{k % 3},{-k},{k % 2}\n" for k in range(20))
    (files / "nameless.csv").write_text(f",a,b,y\n{rows}", encoding="utf-8")
    read = summarize(files / "nameless.csv", target="y", sample=0)
    save(MomentClassifier("auc").fit_summary(read), files / "nameless.dx")
    header = "größe,age,fraud\n1,2,0\n2,1,1\n".encode("latin-1")
    (files / "latin_header.csv").write_bytes(header)
    labels = "amount,age,fraud\n1,2,no\n2,1,möglich\n".encode("latin-1")
    (files / "latin_labels.csv").write_bytes(labels)
    rows = parquet.read_table(files / "monday.parquet")
    parquet.write_table(rows.append_column("score", rows["age"]), files / "scored.parquet")
    (files / "young.csv").write_text("amount,age,clock,fraud\n1,old,2,true\n", encoding="utf-8")
    (files / "model_less.csv").write_text("amount,clock\n1.5,2.5\n", encoding="utf-8")
    return files


@pytest.mark.parametrize(("command", "code", "message"), WRONG)
def test_a_command_that_fails_says_why(call, folder, tmp_path, command, code, message):
    result = call(*command.format(f=folder, o=tmp_path / "out").split())
    assert result.code == code, result.err
    assert message in " ".join(result.err.split())
    assert "Traceback" not in result.err
    assert result.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("library", "command", "extra"),
    [
        ("pyarrow", "summarize {f}/monday.parquet -t fraud -o {o}", "directrix[arrow]"),
        ("matplotlib", "report {f}/card.dx -o {o}", "directrix[plot]"),
        ("onnx", "export {f}/model.dx --to onnx -o {o}", "directrix[onnx]"),
    ],
    ids=["pyarrow", "matplotlib", "onnx"],
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


REMEDY = "prepare such values, or fit without them"
AS_THEY_ARE = "; fit -c scorecard takes text and missing values as they are"
#: Errors, and the messages that are made from their fields.
DESCRIPTIONS = [
    (
        ColumnNotFoundError("fruad", ["amount", "fraud"]),
        "no column named 'fruad'; did you mean 'fraud'? The columns are ['amount', 'fraud']",
    ),
    (
        NotNumericError(["town"], ["string"], "what another program would do"),
        f"column 'town' holds string, not numbers: {REMEDY} (use --drop town){AS_THEY_ARE}",
    ),
    (
        MissingValuesError(["age", "b"], 7),
        f"columns 'age', 'b' hold missing values (NaN) in 7 rows: {REMEDY} (use --drop age,b)"
        + AS_THEY_ARE,
    ),
    (
        InfiniteValuesError([0], 7),
        f"column 0 holds infinity in 7 rows: {REMEDY} (use --drop)",
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
        FileNotFoundError(errno.ENOENT, "No such file or directory", "a.csv"),
        "a.csv: No such file or directory",
    ),
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
    words = shlex.split(message.partition("(use ")[2].partition(AS_THEY_ARE)[0].removesuffix(")"))
    assert words[0] == "--drop"
    assert parse_columns(words[1:]) == names


def test_what_a_message_recommends_succeeds(call, folder, tmp_path):
    command = ["fit", folder / "rich.parquet", "-t", "fraud", "-c", "moment"]
    refused = call(*command, "-o", tmp_path / "out.dx")
    option = refused.err.partition("(use ")[2].partition(");")[0]
    assert call(*command, *shlex.split(option), "-o", tmp_path / "out.dx").code == 0


def test_similar_names_are_suggested():
    assert suggest_names("Amuont", ["amount", "age"]) == "; did you mean 'amount'?"
    assert suggest_names("xyz", ["amount", "age"]) == ""
