import json
from copy import deepcopy

import numpy as np
import pytest

pytest.importorskip("typer")

from directrix.cli.pages import read_fit_record
from directrix.cli.reply import UsageError

RIGHT = {
    "classifier": "DirectClassifier",
    "candidates": [
        {"name": "moments", "metric": 0.5, "error": 0.02},
        {"name": "logistic", "metric": 1, "error": None},
    ],
    "compared_on": "held-out rows",
    "chosen": "moments",
    "why": "it is better",
    "expected_on_new_rows": {"value": 0.48, "low": 0.4, "high": 0.55},
    "better_than": {"baseline": "logistic regression", "mean": 0.1, "low": None, "high": None},
    "no_better_than_constant": False,
}
MISSING = object()

#: Path to a field, the value that it holds instead, and the message.
WRONG = [
    (["classifier"], MISSING, "it lacks the field 'classifier'"),
    (["classifier"], 3, "its field 'classifier' must be text, not 3"),
    (["chosen"], MISSING, "it lacks the field 'chosen'"),
    (["chosen"], ["moments"], "its field 'chosen' must be text, not [\"moments\"]"),
    (["why"], None, "its field 'why' must be text, not null"),
    (["compared_on"], MISSING, "it lacks the field 'compared_on'"),
    (["candidates"], {"a": 1}, "its field 'candidates' must be a list"),
    (["candidates"], "moments", "its field 'candidates' must be a list"),
    (["candidates", 1], "logistic", "its field 'candidates[1]' must be an object"),
    (["candidates", 1, "name"], MISSING, "it lacks the field 'candidates[1].name'"),
    (["candidates", 0, "metric"], "high", "'candidates[0].metric' must be a number or null"),
    (["candidates", 0, "error"], True, "'candidates[0].error' must be a number or null, not true"),
    (["candidates", 0, "error"], MISSING, "it lacks the field 'candidates[0].error'"),
    (["expected_on_new_rows"], MISSING, "it lacks the field 'expected_on_new_rows'"),
    (["expected_on_new_rows"], 0.48, "its field 'expected_on_new_rows' must be an object"),
    (["expected_on_new_rows", "value"], MISSING, "the field 'expected_on_new_rows.value'"),
    (["expected_on_new_rows", "high"], "x", "'expected_on_new_rows.high' must be a number or null"),
    (["better_than"], MISSING, "it lacks the field 'better_than'"),
    (["better_than"], 0.5, "its field 'better_than' must be an object, not 0.5"),
    (["better_than", "mean"], MISSING, "the field 'better_than.mean'"),
    (["better_than", "low"], "x" * 99, 'must be a number or null, not "xxx'),
    (["no_better_than_constant"], 1, "'no_better_than_constant' must be true or false, not 1"),
]


def changed(path, value):
    record = deepcopy(RIGHT)
    inner = record
    for step in path[:-1]:
        inner = inner[step]
    if value is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return record


@pytest.fixture
def write(tmp_path):
    def to(content):
        path = tmp_path / "fit.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return str(path)

    return to


def test_the_output_of_a_fit_is_read(call, files, tmp_path, write):
    options = ["-t", "fraud", "--time-budget", 0.5, "-o", tmp_path / "m.dx", "--json"]
    fit = call("fit", files / "monday.parquet", *options)
    record = read_fit_record(write(fit.out))
    assert record.chosen == fit.json["chosen"]
    assert [candidate._asdict() for candidate in record.candidates] == fit.json["candidates"]
    assert record.expected._asdict() == fit.json["expected_on_new_rows"]
    assert record.expected.low < record.expected.value < record.expected.high


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_a_wrong_field_is_named(write, field, value, message):
    path = write(changed(field, value))
    with pytest.raises(UsageError) as caught:
        read_fit_record(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(path)
    assert len(str(caught.value)) < len(path) + 200


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1, 2]", b'"text"', b"null", b"\xf6", pytest.param(b"[" * 10**5, id="deep")],
)
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "fit.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"fit\.json is not .*directrix fit --json"):
        read_fit_record(str(path))


def test_unknown_numbers_are_nan(write):
    record = read_fit_record(write(changed(["better_than", "mean"], None)))
    assert np.isnan(record.gap).all()
    text = json.dumps(changed(["candidates", 0, "metric"], float("nan")))
    name, metric, error = read_fit_record(write(text)).candidates[0]
    assert (name, error) == ("moments", 0.02)
    assert np.isnan(metric)
    huge = read_fit_record(write(changed(["candidates", 0, "metric"], 10**400)))
    assert np.isnan(huge.candidates[0].metric)


def test_a_fit_without_candidates_has_no_record(write):
    assert read_fit_record(write({"classifier": "MomentClassifier"})) is None
    assert read_fit_record(write(changed(["candidates"], []))) is None
