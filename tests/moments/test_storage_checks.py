import json
import tracemalloc

import numpy as np
import pytest
from summary_files import preamble, put_together, resign

from directrix import Moments
from directrix.moments import MomentsFileError


@pytest.mark.parametrize("version", [0, 2, -1, 10**9])
def test_another_version_is_named(version, saved):
    resign(saved, lambda header: header.update(version=version))
    with pytest.raises(MomentsFileError, match=f"file of another version: {version}, "):
        Moments.load(saved)


def renamed(entry):
    def edit(header):
        header[entry + "s"] = header.pop(entry)

    return edit


@pytest.mark.parametrize(
    "entry",
    ["classes", "feature_names", "folded", "format", "n_features", "prior", "version", "writer"],
)
def test_a_missing_header_entry_is_refused(entry, saved):
    resign(saved, renamed(entry))
    with pytest.raises(MomentsFileError, match=r"lacks an entry|something else|version"):
        Moments.load(saved)


def setting(**entries):
    return lambda header: header.update(entries)


def classes(dtype, values):
    return setting(classes={"dtype": dtype, "values": values})


WRONG_HEADERS = {
    "an entry too many": (setting(extra=1), "one too many"),
    "another format": (setting(format="directrix.model"), "something else"),
    "format in capitals": (setting(format="Directrix.Moments"), "something else"),
    "n_features 2": (setting(n_features=2), "not 2 different names"),
    "n_features 4": (setting(n_features=4, feature_names=None), "has type .* and shape"),
    "version of 4,000 digits": (setting(version=10**4000 - 1), "version"),
    "two names": (setting(feature_names=["a", "b"]), "not 3 different names"),
    "a name twice": (setting(feature_names=["a", "b", "a"]), "not 3 different names"),
    "100,000 names": (setting(feature_names=["a"] * 100_000), "not 3 different names"),
    "not folded": (setting(folded=False), "folds do not match"),
    "two classes": (classes("int64", [0, 1]), "has type .* and shape"),
    "four classes": (classes("int64", [0, 1, 2, 3]), "has type .* and shape"),
    "no classes": (classes("int64", []), "folds do not match"),
    "objects as labels": (classes("O", [0, 1, 2]), "of the wrong type"),
    "another type of int": (classes("int32", [0, 1, 2]), "of the wrong type"),
    "a type that is a list": (classes(["int64"], [0, 1, 2]), "of the wrong type"),
    "a list": (lambda _: "[]", "something else"),
    "a number": (lambda _: "1", "something else"),
    "null": (lambda _: "null", "something else"),
    "no text": (lambda _: " ", "not JSON"),
    "cut JSON": (lambda header: json.dumps(header)[:-1], "not JSON"),
    "two JSONs": (lambda header: json.dumps(header) * 2, "not JSON"),
    "100,000 lists in each other": (lambda _: "[" * 100_000 + "]" * 100_000, "not JSON"),
    "100,000 dicts in each other": (lambda _: '{"a":' * 50_000 + "0" + "}" * 50_000, "not JSON"),
    "an integer of 5,000 digits": (
        lambda header: json.dumps(header).replace('"n_features": 3', '"n_features": ' + "9" * 5000),
        "not JSON",
    ),
}


@pytest.mark.parametrize("case", WRONG_HEADERS)
def test_a_wrong_header_is_refused(case, saved):
    edit, reason = WRONG_HEADERS[case]
    resign(saved, edit)
    with pytest.raises(MomentsFileError, match=reason):
        Moments.load(saved)


@pytest.mark.parametrize("depth", range(0, 1200, 7))
def test_a_nested_header_is_refused_at_any_depth(depth, saved):
    nested = "[" * depth + "]" * depth if depth else "0.5"
    resign(
        saved,
        lambda header: json.dumps(header).replace('"version": 1', f'"version": {nested}'),
    )
    with pytest.raises(MomentsFileError):
        Moments.load(saved)


ARRAYS = ("count", "weight", "weight_sq", "mean", "mean_tail", "scatter")


@pytest.mark.parametrize("name", ARRAYS)
def test_a_missing_array_is_refused(name, saved):
    resign(saved, None, lambda arrays: arrays.pop(name))
    with pytest.raises(MomentsFileError, match="arrays are not those of a summary"):
        Moments.load(saved)


def test_an_array_too_many_is_refused(saved):
    resign(saved, None, lambda arrays: arrays.update(more=np.zeros(3)))
    with pytest.raises(MomentsFileError, match="arrays are not those of a summary"):
        Moments.load(saved)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int32", "bool", "uint64"])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_type_is_refused(name, dtype, saved):
    resign(saved, None, lambda arrays: arrays.update({name: arrays[name].astype(dtype)}))
    with pytest.raises(MomentsFileError, match=f"{name} has type {dtype}"):
        Moments.load(saved)


@pytest.mark.parametrize(
    ("name", "dtype"), [("count", "float64"), ("weight", "int64"), ("mean", "int64")]
)
def test_whole_numbers_and_floats_are_told_apart(name, dtype, saved):
    resign(saved, None, lambda arrays: arrays.update({name: arrays[name].astype(dtype)}))
    with pytest.raises(MomentsFileError, match=f"{name} has type {dtype}"):
        Moments.load(saved)


SHAPES = {
    "flat": np.ravel,
    "one axis more": lambda array: array[None],
    "one axis more in the end": lambda array: array[..., None],
    "a fold fewer": lambda array: array[:-1],
    "a fold more": lambda array: np.concatenate([array, array[:1]]),
    "a class fewer": lambda array: array[:, :-1],
    "turned": lambda array: np.moveaxis(array, 0, -1)[..., :1],
    "empty": lambda array: array[:0],
    "a single number": lambda array: array.ravel()[:1].reshape(()),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_shape_is_refused(name, shape, saved):
    resign(saved, None, lambda arrays: arrays.update({name: SHAPES[shape](arrays[name])}))
    with pytest.raises(MomentsFileError, match=r"and shape|folds do not match"):
        Moments.load(saved)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ARRAYS[1:])
def test_a_number_that_is_none_is_refused(name, value, saved):
    def edit(arrays):
        arrays[name].flat[-1] = value

    resign(saved, None, edit)
    with pytest.raises(MomentsFileError, match=f"{name} is not finite"):
        Moments.load(saved)


@pytest.mark.parametrize(
    ("shape", "offsets"),
    [
        ([0, 2**63], [0, 0]),
        ([0, 2**64 - 1], [0, 0]),
        ([2**62, 2**62, 0], [0, 0]),
        ([0] * 70, [0, 0]),
        ([2**64], [0, 8]),
        ([-1], [0, 8]),
        ([1], [0, 2**64]),
        ([1], [8, 0]),
        ([2], [0, 8]),
        ([], []),
        ("3", [0, 8]),
        (None, None),
    ],
)
def test_a_container_that_lies_about_an_array_is_refused(shape, offsets, path):
    entry = {"dtype": "F64", "shape": shape, "data_offsets": offsets}
    path.write_bytes(preamble({"__metadata__": {}, "mean": entry}) + bytes(8))
    with pytest.raises(MomentsFileError, match=r"not a safetensors file|something else"):
        Moments.load(path)


@pytest.mark.parametrize("code", ["BF16", "F8_E4M3", "F8_E5M2", "F4", "C64", "X", "", "f64"])
def test_a_container_with_numbers_of_another_type_is_refused(code, path):
    entry = {"dtype": code, "shape": [4], "data_offsets": [0, 8]}
    path.write_bytes(preamble({"__metadata__": {}, "mean": entry}) + bytes(8))
    with pytest.raises(MomentsFileError, match=r"not a safetensors file|something else"):
        Moments.load(path)


def empty_arrays(n_parts, n_features, n_classes=0):
    """Return arrays of no rows; of no class they take no room, whatever their shapes say."""
    shape = (n_parts, n_classes)
    last = {
        "mean": (n_features,),
        "mean_tail": (n_features,),
        "scatter": (n_features * (n_features + 1) // 2,),
    }
    moments = {
        name: np.zeros(shape + last.get(name, ()), np.int64 if name == "count" else float)
        for name in ARRAYS
    }
    rows = {"class": "i4", "weight": "f8", "fold": "i4", "hash": "u8", "identity": "u8"}
    rows["segment"] = "i4"
    return moments | {
        "sample_X": np.zeros((0, n_features), np.float32),
        "sample_threshold": np.zeros(n_classes, np.uint64),
        **{f"sample_{name}": np.zeros(0, dtype) for name, dtype in rows.items()},
    }


def header(**changes):
    entries = {
        "classes": {"dtype": "int64", "values": []},
        "feature_names": None,
        "folded": False,
        "format": "directrix.moments",
        "map": None,
        "n_features": 1,
        "prior": None,
        "sample": None,
        "segments": None,
        "version": 1,
        "writer": "a test",
    }
    return json.dumps(entries | changes)


def test_an_empty_summary_needs_no_memory_however_many_its_features(path):
    path.write_bytes(put_together(header(n_features=10**9), empty_arrays(1, 10**9)))
    assert peak_of_loading(path) <= 2**20
    assert Moments.load(path).n_features == 10**9


HOSTILE = {
    "10**18 features": lambda: put_together(header(n_features=10**18), empty_arrays(1, 1)),
    "10**12 folds of no classes": lambda: put_together(
        header(folded=True), empty_arrays(10**12, 1)
    ),
    "100,000 names": lambda: put_together(
        header(feature_names=[f"x{k}" for k in range(100_000)]), empty_arrays(1, 1)
    ),
    "a million arrays": lambda: preamble(
        {str(k): {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]} for k in range(15_000)}
    ),
}


def peak_of_loading(path):
    """Return the most memory that Python and NumPy held while a file was loaded or refused."""
    tracemalloc.start()
    try:
        Moments.load(path)
    except MomentsFileError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize("case", HOSTILE)
def test_memory_stays_in_proportion_to_a_hostile_file(case, path):
    path.write_bytes(HOSTILE[case]())
    with pytest.raises(MomentsFileError):
        Moments.load(path)
    # JSON takes up to 24 times its text, and there may be 1 MB of it whatever the file.
    assert peak_of_loading(path) <= 10 * path.stat().st_size + 2**26
