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
    "one class": ("fit {f}/one_class.parquet -t fraud -o {o}", DATA, "1 class (False)"),
    "one class seen": (
        "evaluate {f}/model.dx {f}/one_class.parquet -t fraud",
        DATA,
        "one class",
    ),
    "NaN": (
        "fit {f}/holes.parquet -t fraud -c direct -o {o}",
        DATA,
        "column 'age' holds missing values (NaN) in 1 row: prepare",
    ),
    "NaN summarised": ("summarize {f}/holes.parquet -t fraud -o {o}", DATA, "(use --drop age);"),
    "NaN in two passes": (
        "fit {f}/holes.parquet -t fraud -c direct --two-passes -o {o}",
        DATA,
        "(use --drop age); fit -c scorecard",
    ),
    "NaN scored": (
        "evaluate {f}/model.dx {f}/holes.parquet -t fraud",
        DATA,
        "column 'age' holds missing values (NaN) in 1 row: prepare",
    ),
    "text": ("summarize {f}/rich.parquet -t fraud -o {o}", DATA, "(use --drop country,kind);"),
    "text fitted": (
        "fit {f}/rich.parquet -t fraud -c direct -o {o}",
        DATA,
        "columns 'country', 'kind' hold string, not numbers",
    ),
    "text scored": ("evaluate {f}/model.dx {f}/young.csv -t fraud", DATA, "not numbers: prepare"),
    "text predicted": (
        "predict {f}/model.dx {f}/young.csv -o {o}.csv",
        DATA,
        "not numbers: prepare",
    ),
    "three classes": (
        "fit {f}/rich.parquet -t three --features age -c moment -o {o}",
        DATA,
        "a column that is true for one of them",
    ),
    "no such label in rows": (
        "fit {f}/rich.parquet -t kind --features age --positive ugly -o {o}",
        DATA,
        "(bad, good)",
    ),
    "other labels": (
        "evaluate {f}/model.dx {f}/rich.parquet -t kind",
        DATA,
        "--target is the right column",
    ),
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
    "guarantee": ("fit {f}/monday.moments --guarantee 0.9 -o {o}", USAGE, "need rows"),
    "guarantee of no limit": (
        "fit {f}/monday.parquet -t fraud --guarantee 0.9 -o {o}",
        DATA,
        "guarantee",
    ),
    "no target": ("fit {f}/monday.parquet -o {o}", USAGE, "--target"),
    "no output": ("fit {f}/monday.moments", USAGE, "--output"),
    "no command": ("fitt", USAGE, "fit"),
    "json and rows": ("predict {f}/model.dx {f}/monday.parquet -o - --json", USAGE, "stdout"),
    "kind of output": ("predict {f}/model.dx {f}/monday.parquet -o a.xls", USAGE, ".parquet"),
    "onnx on stdout": ("export {f}/model.dx --to onnx", USAGE, "give a file"),
    "unknown export": ("export {f}/model.dx --to tensorflow", USAGE, "onnx"),
    "unknown suffix": ("export {f}/model.dx -o {o}.doc", USAGE, "give the format"),
    "points of a line": (
        "fit {f}/monday.parquet -t fraud -c direct --points 5 -o {o}",
        USAGE,
        "cards",
    ),
    "guarantee of moments": (
        "fit {f}/monday.parquet -t fraud -c moment --guarantee 0.9 -o {o}",
        USAGE,
        "scorecard or direct",
    ),
    "number of lines": (
        "fit {f}/monday.parquet -t fraud --max-lines many -o {o}",
        DATA,
        "max_lines",
    ),
    "scale of points": ("fit {f}/monday.parquet -t fraud --points few -o {o}", DATA, "points"),
    "kind of document": (
        "report {f}/card.dx --template comittee -o {o}",
        USAGE,
        "'committee'",
    ),
    "segments without rows": ("report {f}/card.dx --segment a -o {o}", USAGE, "give files"),
    "labels without rows": ("report {f}/card.dx -t a -o {o}", USAGE, "give files"),
    "alarm rate": (
        "watch {f}/model.dx {f}/monday.parquet -t fraud -r {f}/monday.parquet --alarm-rate 2",
        USAGE,
        "between 0 and 1",
    ),
    "limit": ("threshold {f}/monday.parquet -s amount -t fraud --limit fpr", USAGE, "fpr=0.01"),
    "limit alone": (
        "threshold {f}/monday.parquet -s amount -t fraud --limit fpr=0.1",
        USAGE,
        "needs a confidence",
    ),
    "alerts": (
        "threshold {f}/monday.parquet -s amount -t fraud --limit alerts=9 --guarantee 0.9",
        USAGE,
        "--budget 9",
    ),
    "written twice": (
        "predict {f}/model.dx {f}/scored.parquet --keep score -o {o}.csv",
        USAGE,
        "also written by predict",
    ),
    "line as PMML": ("export {f}/model.dx --to pmml", DATA, "scorecards"),
    "empty name in SQL": (
        "export {f}/nameless.dx --to sql",
        DATA,
        "feature 1 of 3 has an empty name",
    ),
}


@pytest.fixture(scope="module")
def folder(files):
    content = bytearray((files / "monday.moments").read_bytes())
    content[-1] ^= 1
    (files / "damaged.moments").write_bytes(content)
    (files / "wrong.parquet").write_text("a,b\n1,2\n", encoding="utf-8")
    rows = "".join(f"{k},{k % 3},{-k},{k % 2}\n" for k in range(20))
    (files / "nameless.csv").write_text(f",a,b,y\n{rows}", encoding="utf-8")
    read = summarize(files / "nameless.csv", target="y")
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


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_command_that_fails_says_why(call, folder, tmp_path, name):
    command, code, message = WRONG[name]
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
