"""What holds for all commands: help with an example, errors, the same output twice, and JSON."""

import shlex

import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from typer.main import get_command

from directrix.cli.app import app

#: A call of each command. {f} is the folder of the fixtures and {o} a new file.
CALLS = {
    "fit": "fit {f}/monday.moments -o {o}.dx",
    "predict": "predict {f}/model.dx {f}/tuesday.parquet -o {o}.csv",
    "evaluate": "evaluate {f}/model.dx {f}/tuesday.parquet -t fraud",
    "threshold": "threshold {f}/monday.parquet -s amount -t fraud -m f1",
    "report": "report {f}/card.dx -o {o}.html",
    "export": "export {f}/card.dx -o {o}.sql",
    "show": "show {f}/card.dx",
    "summarize": "summarize {f}/monday.parquet -t fraud -o {o}.moments",
    "watch": "watch {f}/model.dx {f}/tuesday.parquet -r {f}/monday.parquet -t fraud",
}
COMMANDS = get_command(app).commands


def test_there_are_nine_commands():
    assert list(CALLS) == list(COMMANDS)


@pytest.mark.every_case
@pytest.mark.parametrize("name", CALLS)
def test_help_has_a_sentence_and_an_example_of_options_that_exist(call, name):
    text = " ".join(call(name, "--help").out.split())
    assert COMMANDS[name].help.partition("\n")[0] in text
    words = shlex.split(COMMANDS[name].epilog.removeprefix("Example: directrix "))
    assert words[0] == name
    assert f"directrix {name}" in text
    COMMANDS[name].make_context(name, words[1:])  # raises an error for an unknown option


@pytest.mark.parametrize(
    ("name", "option", "text"),
    [
        *((name, "features", "the names that the model") for name in ("evaluate", "predict")),
        ("export", "features", "the names that the model"),
        ("fit", "features", "all columns not used otherwise"),
        ("threshold", "limit", "Needs --guarantee"),
    ],
)
def test_help_of_an_option_says_what_happens_without_it(name, option, text):
    assert text in next(each.help for each in COMMANDS[name].params if each.name == option)


@pytest.mark.every_case
@pytest.mark.parametrize("name", CALLS)
def test_a_missing_file_is_named_without_a_traceback(call, files, tmp_path, name):
    words = CALLS[name].format(f=files, o=tmp_path / "out").split()
    words[1] = tmp_path / "nothing.here"
    result = call(*words, *(["-t", "fraud"] if name == "fit" else []))
    assert result.code == 1
    assert result.err.startswith("Error: ")
    assert "nothing.here" in result.err
    assert "Traceback" not in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.every_case
@pytest.mark.parametrize("name", CALLS)
def test_a_command_says_and_writes_the_same_twice(call, files, tmp_path, name):
    if name == "report":
        pytest.importorskip("matplotlib")
    words = CALLS[name].format(f=files, o=tmp_path / "out").split()
    force = ["--force"] if "-o" in words else []
    results = []
    for more in (force, force, [*force, "--json"]):
        result = call(*words, *more)
        assert result.code == 0, result.err
        results.append((result, [path.read_bytes() for path in tmp_path.iterdir()]))
    (first, written), (second, again), (as_json, _) = results
    assert (first.out, written) == (second.out, again)
    assert "\x1b" not in first.out + first.err
    assert as_json.json["warnings"] == []
    assert as_json.err == ""
