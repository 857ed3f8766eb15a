"""Every entry and every array of a model file, wrong in turn, is refused in words."""

import json
import sys
from functools import partial

import numpy as np
import pytest
from safetensors.numpy import save_file
from summary_files import put_together, resign, take_apart

from directrix import Moments, OperatingPointClassifier
from directrix.export import ModelFileError, load, save

BASES = ("odd_names", "text_labels")


@pytest.fixture(params=BASES)
def saved(request, fitted, path):
    save(fitted(request.param), path)
    return path


@pytest.fixture
def line(fitted, path):
    save(fitted("odd_names"), path)
    return path


def setting(*keys, to):
    """Return an edit that puts a value at the end of a way through the header."""

    def edit(header):
        where = header
        for key in keys[:-1]:
            where = where[key]
        where[keys[-1]] = to

    return edit


def refused(path, words, header_edit=None, arrays_edit=None):
    resign(path, header_edit, arrays_edit)
    with pytest.raises(ModelFileError, match=words) as caught:
        load(path)
    assert str(caught.value).startswith("some.model cannot be read as a model: ")


# ── the header ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", [0, 2, 10**9])
def test_another_version_is_named(version, line):
    words = f"it is a file of another version: {version}, and this program reads 1"
    refused(line, words, setting("version", to=version))


WRONG_HEADERS = {
    "a summary": (setting("format", to="directrix.moments"), "something else"),
    "a list": (lambda _: "[]", "something else"),
    "no JSON": (lambda _: "{", "not JSON"),
    "another class": (setting("class", to="Pipeline"), "does not know: 'Pipeline'"),
    "a class of Python": (setting("class", to="os.system"), "does not know"),
    "a class without a name": (setting("class", to=["MomentClassifier"]), "does not know"),
    "a class with other lines": (setting("class", to="DirectClassifier"), "parameters"),
    "one more": (setting("x", to=1), "one too many"),
    "a parameter more": (setting("params", "x", to=1), "parameters are not those"),
    "no parameters": (setting("params", to=[]), "parameters are not those"),
    "one label": (setting("classes", "values", to=[True]), "number of classes"),
    "labels of code": (setting("classes", "dtype", to="S5"), "wrong type"),
    "no metric": (setting("params", "metric", to=None), "its metric is not one: None"),
    "a metric of Python": (
        setting("params", "metric", to={"metric": "eval", "fields": {"x": "1"}}),
        "a metric that this version does not know: 'eval'",
    ),
    "a metric with text": (
        setting("params", "metric", "fields", "fpr", to="0.1"),
        "fpr of RecallAtFPR is of the wrong type",
    ),
    "a metric with a truth": (setting("params", "metric", "fields", "fpr", to=True), "wrong type"),
    "a metric that cannot be": (
        setting("params", "metric", "fields", "fpr", to=2.0),
        "fpr must be a share",
    ),
    "a metric with other fields": (
        setting("params", "metric", "fields", to={"recall": 0.1}),
        "fields of the metric RecallAtFPR",
    ),
    "an unknown parameter": (setting("params", "metric", to={"code": "1"}), "of an unknown type"),
    "a parameter beyond": (setting("params", "sample", to={"float": "1e5"}), "not a number"),
    "an array of text": (
        setting("params", "sample", to={"array": ["a"], "dtype": "float64"}),
        "something else than its type",
    ),
    "an array of objects": (
        setting("params", "sample", to={"array": [1], "dtype": "O"}),
        "an array of an unknown type",
    ),
    "an array beyond 64 bits": (
        setting("params", "sample", to={"array": [2**63], "dtype": "int64"}),
        "64 bits",
    ),
    "a key that is a list": (
        setting("params", "class_weight", to={"dict": [[[], 1]]}),
        "not a list of pairs",
    ),
    "a key that is NaN": (
        setting("params", "class_weight", to={"dict": [[float("nan"), 1]]}),
        "not a number",
    ),
    "a splitter of many": (
        setting("params", "class_weight", to={"splitter": "KFold", "fields": {}}),
        "fields of the splitter",
    ),
    "no calibration": (setting("calibration", to=None), "does not have a calibration"),
    "facts": (setting("facts", to={"code": 1}), "facts are not those"),
}


@pytest.mark.parametrize("estimator", [[], True, "x"])
def test_a_file_of_given_scores_names_no_estimator(estimator, path):
    scores = np.arange(100.0)
    save(OperatingPointClassifier(None, "f1").fit(scores, scores > 60), path)
    refused(path, "names an estimator", setting("params", "estimator", to=estimator))


@pytest.mark.parametrize("case", WRONG_HEADERS)
def test_a_wrong_header_is_refused(case, line):
    edit, words = WRONG_HEADERS[case]
    refused(line, words, edit)


@pytest.mark.parametrize("depth", [100, 50_000])
def test_a_nested_parameter_is_refused_at_any_depth(depth, line, request):
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(5_000)  # as some libraries do; the law is the file's, not theirs

    def nested(header):
        text = json.dumps(header).replace('"deep"', "@", 1)
        return text.replace("@", '{"tuple": [' * depth + "]}" * depth, 1)

    text, arrays = take_apart(line.read_bytes())
    header = json.loads(text)
    header["params"]["sample"] = "deep"
    line.write_bytes(put_together(nested(header), arrays))
    if depth == 100:
        assert isinstance(load(line).sample, tuple)
        return
    with pytest.raises(ModelFileError, match="not JSON"):
        load(line)


# ── the arrays ────────────────────────────────────────────────────────────────────────────────────


def arrays_in(path):
    return sorted(take_apart(path.read_bytes())[1])


def test_an_array_missing_or_too_many_is_refused(saved):
    content = saved.read_bytes()
    # No scales while one class has no rows, and nothing was seen where only a summary was.
    for name in set(arrays_in(saved)) - {"scale", "seen"}:
        refused(saved, "lacks the array|support", arrays_edit=lambda arrays, n=name: arrays.pop(n))
        saved.write_bytes(content)
    refused(saved, "do not belong there: x", arrays_edit=lambda entry: entry.update(x=np.ones(2)))


@pytest.mark.parametrize("dtype", ["float16", "int8", "int32", "bool", "uint64"])
def test_an_array_of_another_type_is_refused(dtype, saved):
    content = saved.read_bytes()
    for name in arrays_in(saved):

        def edit(arrays, name=name):
            arrays[name] = np.abs(arrays[name]).astype(dtype)

        refused(saved, f"{name} has type {dtype}", arrays_edit=edit)
        saved.write_bytes(content)


def test_an_array_of_another_shape_is_refused(saved):
    content = saved.read_bytes()
    for name in arrays_in(saved):
        for change in (
            lambda array: array[..., :-1],
            lambda array: array[None],
            lambda array: np.concatenate([array, array]),
            lambda array: array.ravel()[:0],
        ):

            def edit(arrays, name=name, change=change):
                arrays[name] = change(arrays[name])

            refused(saved, "has type|contradict|support", arrays_edit=edit)
            saved.write_bytes(content)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_refused(value, saved):
    content = saved.read_bytes()
    for name in arrays_in(saved):
        if take_apart(content)[1][name].dtype.kind != "f":
            continue

        def edit(arrays, name=name):
            arrays[name].flat[-1] = value

        refused(saved, f"{name} is not finite", arrays_edit=edit)
        saved.write_bytes(content)


# ── the container ─────────────────────────────────────────────────────────────────────────────────


def test_damage_shows_in_the_checksum(line):
    content = bytearray(line.read_bytes())
    content[-1] ^= 1
    line.write_bytes(content)
    with pytest.raises(ModelFileError, match="checksum does not match: it is damaged"):
        load(line)


def test_a_file_cut_short_anywhere_is_refused(line):
    content = line.read_bytes()
    for length in range(0, len(content), 7):
        line.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"cut short|safetensors|something"):
            load(line)


@pytest.mark.parametrize("length", [2**20, 2**40, 2**63, 2**64 - 1])
def test_a_huge_length_is_refused_before_it_is_believed(length, line):
    content = line.read_bytes()
    line.write_bytes(length.to_bytes(8, "little") + content[8:])
    with pytest.raises(ModelFileError, match="cut short or was never a model"):
        load(line)


def test_other_files_are_refused(path, tmp_path):
    save_file({"coef": np.ones(3)}, path)
    with pytest.raises(ModelFileError, match="something else"):
        load(path)
    Moments.of([[1.0], [2.0]], [0, 1]).save(path)
    with pytest.raises(ModelFileError, match="something else"):
        load(path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ModelFileError, match="cut short"):
        load(tmp_path / "empty")
