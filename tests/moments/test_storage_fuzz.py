"""Damaged and forged files: each gives back the summary that was saved, or `MomentsFileError`.

``DIRECTRIX_FUZZ`` sets how many files are tried. Case k is the same in every run.
"""

import json
import os
import random
import sys
from itertools import pairwise

import numpy as np
import pytest
from few_cases import examples
from file_damage import DAMAGE, load_measured
from summary_files import put_together, take_apart

from directrix import Moments
from directrix.moments import MomentsFileError

CASES = int(os.environ.get("DIRECTRIX_FUZZ", max(400, examples(2000))))

#: Bounds for one file: CPU seconds, and bytes beyond ten times the file.
SECONDS, SPARE = 1.0, 64 << 10

#: Below, the Python objects of any summary outweigh the file.
SMALL = 16 << 10

#: Bytes by which the whole process may grow over all cases.
GROWTH = 64 << 20


def fresh_summaries():
    rng = np.random.default_rng(5)
    X, y = rng.normal(1e6, 1.0, (60, 4)), rng.integers(0, 3, 60)
    folds = rng.integers(0, 4, 60)
    yield Moments.of(
        X, y, rng.uniform(0.0, 2.0, 60), fold=folds, feature_names=["a", "b", "c", "d"]
    )
    yield Moments.of(X[:, :1], y == 1).with_prior(0.2)
    yield Moments.of(rng.normal(size=(300, 80)), rng.choice(["ja", "nein"], 300))
    yield Moments.of(X, y, classes=range(8)) + Moments.of(X - 2e6, y)
    yield Moments.of(X[:1], [True], classes=[False, True])
    yield Moments.of(X[:0], y[:0])
    yield Moments.of(X, y + 0.5)


# ── forgery: a change that makes sense, signed again ──────────────────────────────────────────────

VALUES = (
    *(None, True, False, 0, 1, 2, 3, -1, 2**31, 2**53, 2**63, 10**18, 0.0, 0.5, 1.0, -0.0),
    *(float("nan"), float("inf"), "", "a", "directrix.moments"),
    *("int64", "float64", "bool", "str", "object"),
    *([], {}, [0, 1], [0.5, 1.5], ["a", "b"], ["a", "b", "c", "d"], [False, True]),
    {"dtype": "int64", "values": [5, 6]},
    {"dtype": "float64", "values": [-1.5, 1e300]},
    {"dtype": "str", "values": ["", "\ud800"]},
)
NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-9, 1e9, 5e-324, 1e300, -1e300),
    *(2.0**53, np.nan, np.inf),
)


def forge_header(rng, content):
    text, arrays = take_apart(content)
    header = json.loads(text)
    where = rng.choice([header, header["classes"]])
    key = rng.choice(sorted(where))
    damage = rng.randrange(8)
    if damage == 0:
        del where[key]
    elif damage == 1:
        where[rng.choice(["x", "Version", ""])] = rng.choice(VALUES)
    elif damage == 2:
        labels = header["classes"]["values"]
        rng.choice([labels.sort, labels.reverse, lambda: rng.shuffle(labels)])()
        header["feature_names"] = header["feature_names"] and header["feature_names"][::-1]
    else:
        where[key] = rng.choice(VALUES)
    text = json.dumps(header)
    if damage == 3:
        text = text.replace(":", f': {json.dumps(rng.choice(VALUES))}, "{key}":', 1)
    return text, arrays


def forge_arrays(rng, content):
    text, arrays = take_apart(content)
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    damage = rng.randrange(9)
    if damage <= 2 and array.size:
        with np.errstate(invalid="ignore", over="ignore"):
            number = np.array(rng.choice([*NUMBERS, rng.gauss(0, 1)])).astype(array.dtype)
            array.flat[rng.randrange(array.size)] = number
    elif damage == 3:
        with np.errstate(invalid="ignore", over="ignore"):
            arrays[name] = (array * rng.choice([0.5, 0.99999, 1.00001, 2.0, -1.0])).astype(
                array.dtype
            )
    elif damage == 4:
        other = rng.choice(["float32", "int64", "float64", "uint64", "bool", "int8"])
        with np.errstate(invalid="ignore", over="ignore"):
            arrays[name] = array.astype(other)
    elif damage == 5:
        arrays[name] = rng.choice(
            [array[:-1], array[..., :-1], array[None], array.ravel(), array.T]
        )
    elif damage == 6:
        arrays[rng.choice(["x", "Mean", name])] = arrays.pop(name)
    else:
        # Another order of the folds, the same in all, which is legal; or of the classes, or fewer.
        for array_name in [name for name in arrays if not name.startswith("sample_")]:
            array = arrays[array_name]
            arrays[array_name] = array[::-1] if damage == 7 else array[:, :: rng.choice([-1, 1, 2])]
    return text, arrays


FORGERY = (forge_header, forge_arrays)


def require_what_the_file_says(moments, text, arrays):
    """Check that a summary is legal, and the one of these numbers."""
    header = json.loads(text)
    assert (header["format"], header["version"]) == ("directrix.moments", 1)
    assert moments.n_features == header["n_features"]
    assert moments.classes.tolist() == header["classes"]["values"]
    assert moments.classes.dtype.kind == header["classes"]["dtype"][0].replace("s", "U")
    assert all(a < b for a, b in pairwise(moments.classes.tolist()))
    names = moments.feature_names
    assert names == (header["feature_names"] and tuple(header["feature_names"]))
    assert names is None or len(set(names)) == moments.n_features
    assert moments.stated_prior == header["prior"]
    assert moments.stated_prior is None or 0 < moments.stated_prior < 1
    assert moments.folded is header["folded"]
    assert moments.folded or len(moments.parts) == 1
    assert arrays["count"].shape == (len(moments.parts), len(moments.classes))
    most = None if moments.sample is None else moments.sample.most  # an empty sample is false
    assert most == header["sample"]
    if moments.sample is not None:
        np.testing.assert_array_equal(moments.sample.X, arrays["sample_X"])
        np.testing.assert_array_equal(moments.sample.weight, arrays["sample_weight"])
    for k, part in enumerate(moments.parts):
        for c, group in enumerate(part):
            require_rows_could_give(group)
            read = (group.count, group.weight, group.weight_sq)
            assert read == tuple(arrays[name][k, c] for name in ("count", "weight", "weight_sq"))
            np.testing.assert_array_equal(group.mean, arrays["mean"][k, c])
            np.testing.assert_array_equal(group.mean_tail, arrays["mean_tail"][k, c])
            upper = group.scatter[np.triu_indices(moments.n_features)]
            np.testing.assert_array_equal(upper, arrays["scatter"][k, c])


def require_rows_could_give(group):
    """Check what holds of the moments of any rows, to a thousandth for rounding."""
    assert all(np.isfinite(array).all() for array in (group.mean, group.mean_tail, group.scatter))
    assert 0 <= group.count <= 2**53
    if not group.count:
        assert group == type(group).empty(group.n_features)
        return
    assert 0 < group.weight < np.inf
    assert 0.999 / group.count <= group.weight_sq / group.weight / group.weight <= 1.001
    diagonal = group.scatter.diagonal()
    assert (diagonal >= 0).all()
    # Squares below the smallest float vanish; their products with other columns need not.
    spread = np.sqrt(diagonal + group.count * 5e-324)
    assert (np.abs(group.scatter) <= 1.001 * np.multiply.outer(spread, spread)).all()
    np.testing.assert_array_equal(group.scatter, group.scatter.T)
    np.testing.assert_array_equal(group.mean + group.mean_tail, group.mean)


def attempt(path):
    """Load a file within bounds; return the summary, or None where it was refused, and figures."""
    moments, seconds, memory = load_measured(Moments.load, MomentsFileError, path)
    size = path.stat().st_size
    assert seconds <= SECONDS
    assert memory <= 10 * size + SPARE
    return moments, seconds, memory, memory / size if size > SMALL else 0.0


def test_a_damaged_or_forged_file_gives_the_summary_back_or_is_refused(tmp_path, figure):
    resource = pytest.importorskip("resource")
    path, again = tmp_path / "damaged", tmp_path / "again"
    bases = []
    for number, moments in enumerate(fresh_summaries()):
        moments.save(tmp_path / str(number))
        bases.append(((tmp_path / str(number)).read_bytes(), moments))
        attempt(tmp_path / str(number))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    equal = legal = refused = 0
    slowest = most = ratio = 0.0
    for case in range(CASES):
        rng = random.Random(case)  # noqa: S311 - the same cases on every run
        content, original = rng.choice(bases)
        change = rng.choice(DAMAGE + 4 * FORGERY)
        changed = change(rng, content)
        forged = change in FORGERY
        path.write_bytes(put_together(*changed) if forged else changed)
        try:
            moments, seconds, memory, share = attempt(path)
            if moments is None:
                refused += 1
            elif forged:
                legal += 1
                require_what_the_file_says(moments, *changed)
                moments.save(again)
                assert Moments.load(again) == moments
            else:
                equal += 1
                assert moments == original
        except BaseException as error:
            error.add_note(f"case {case}: {change.__name__}")
            raise
        slowest, most, ratio = max(slowest, seconds), max(most, memory), max(ratio, share)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    growth *= 1 if sys.platform == "darwin" else 1024
    assert growth <= GROWTH
    # Each kind of outcome must occur, or nothing was tested.
    assert min(equal, legal, refused) > 0
    figure(
        f"fuzz: {CASES} files, {equal} equal, {legal} forged but legal, {refused} refused; most "
        f"memory {most / 1024:.0f} kB, or {ratio:.1f} x file above {SMALL >> 10} kB; slowest "
        f"{slowest:.3f} s"
    )
