import errno
import json
import os
import pickle
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy import sparse
from summary_files import put_together, resign, take_apart

from directrix import Moments
from directrix.moments import ClassMoments, MomentsFileError

X = np.array(
    [[1.5, -2.0, 0.1], [0.3, 7.0, 0.2], [-4.0, 1.0, 0.3], [2.0, 2.0, 0.7], [9.0, -1.0, 0.4]]
)
Y = [0, 1, 1, 0, 1]
WEIGHT = [0.5, 1.0, 2.0, 0.1, 3.0]
WIDE = sparse.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [5, 17, 5_900])), shape=(3, 6_000))


def labelled(labels, **options):
    return Moments.of(X, labels, **options)


def negative_zero():
    zero = np.array([-0.0])
    group = ClassMoments(2, 2.0, 2.0, zero, np.array([[-0.0]]), zero.copy())
    return Moments(1, np.array([-0.0]), ((group,),))


def almost_all_taken_out():
    """Return a difference whose columns, functions of each other, are right to six digits."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(400, 1))
    rows = np.vstack([21_000.0 * few, few[::-1]]) * rng.uniform(0.1, 3.0, 20) + rng.normal(size=20)
    label = np.zeros(len(rows))
    return Moments.of(rows, label) - Moments.of(rows[:400], label[:400])


SUMMARIES = {
    "int labels": lambda: labelled(Y),
    "negative int labels": lambda: labelled([-1, 1, 1, -1, -(2**62)]),
    "bool labels": lambda: labelled([False, True, True, False, True]),
    "float labels": lambda: labelled([0.1, 0.30000000000000004, 0.1, -1e-308, 1e300]),
    "text labels": lambda: labelled(["no", "yes", "yes", "no", "yes"]),
    "non-ASCII labels": lambda: labelled(["ne", "да", "是", "\U0001f600", 'q"\\\n\t']),
    "feature names": lambda: labelled(Y, feature_names=["a", "b", "c"]),
    "non-ASCII names": lambda: labelled(Y, feature_names=["größe", "年齢", "<b>&\x00"]),
    "folds": lambda: labelled(Y, fold=[0, 0, 1, 1, 4]),
    "stated prior": lambda: labelled(Y).with_prior(0.01),
    "weights": lambda: labelled(Y, sample_weight=WEIGHT),
    "an empty class": lambda: labelled(Y, classes=[0, 1, 2]),
    "no rows": lambda: Moments.empty(3),
    "no rows, but classes": lambda: Moments.of(np.empty((0, 2)), [], classes=["a", "b"]),
    "no rows, but folds": lambda: Moments.of(np.empty((0, 2)), [], fold=[]),
    "one row": lambda: Moments.of(X[:1], Y[:1]),
    "one feature": lambda: Moments.of(X[:, :1], Y),
    "no features but names": lambda: labelled(Y, feature_names="abc").select([]),
    "no features": lambda: labelled(Y).select([]),
    "very large": lambda: Moments.of(X * 1e150, Y),
    "very small": lambda: Moments.of(X * 1e-150, Y),
    # The squares of the first column vanish; its products with the others do not.
    "squares below all floats": lambda: Moments.of(X * [1e-170, 1.0, 1e-160], Y),
    "a mean with a tail": lambda: Moments.of(X + 1e9, Y, WEIGHT),
    "negative zeros": negative_zero,
    "a difference of six digits": almost_all_taken_out,
    "everything": lambda: labelled(
        ["b", "a", "a", "b", "a"],
        sample_weight=WEIGHT,
        feature_names=["x", "y", "z"],
        fold=[2, 0, 0, 2, 2],
    ).with_prior(0.3),
}


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def bits(moments):
    """Return all that a summary holds, with every number to the last bit."""
    groups = [group for part in moments.parts for group in part]
    numbers = [
        (
            type(group.count),
            group.count,
            group.weight.hex(),
            group.weight_sq.hex(),
            group.mean.tobytes(),
            group.mean_tail.tobytes(),
            group.scatter.tobytes(),
            group.scatter.shape,
        )
        for group in groups
    ]
    labels = [(type(label), repr(label)) for label in moments.classes.tolist()]
    settings = (moments.n_features, moments.feature_names, moments.stated_prior, moments.folded)
    return labels, moments.classes.dtype.kind, settings, len(moments.parts), numbers


@pytest.mark.parametrize("kind", SUMMARIES)
def test_what_is_loaded_is_what_was_saved_to_the_last_bit(kind, path):
    moments = SUMMARIES[kind]()
    moments.save(path)
    loaded = Moments.load(path)
    assert loaded == moments
    assert bits(loaded) == bits(moments)


def test_paths_may_be_text(path):
    labelled(Y).save(str(path))
    assert Moments.load(str(path)) == labelled(Y)


def test_loaded_summaries_are_read_only(saved):
    group = Moments.load(saved).parts[0][0]
    for array in (group.mean, group.mean_tail, group.scatter, Moments.load(saved).classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("kind", ["int labels", "everything", "no rows"])
def test_two_saves_give_the_same_bytes(kind, tmp_path):
    moments = SUMMARIES[kind]()
    contents = set()
    for number in range(20):  # an order drawn at random would repeat 20 times once in 2**19 runs
        moments.save(tmp_path / str(number))
        contents.add((tmp_path / str(number)).read_bytes())
    assert len(contents) == 1


def test_the_file_is_the_one_the_format_describes(saved):
    text, arrays = take_apart(saved.read_bytes())
    assert put_together(text, arrays) == saved.read_bytes()
    assert json.loads(text)["version"] == 1


def test_the_file_has_the_permissions_of_any_new_file(path):
    labelled(Y).save(path)
    other = path.with_name("other")
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX")
def test_a_link_stays_a_link_and_a_private_file_private(path):
    real = path.with_name("real")
    real.write_bytes(b"")
    real.chmod(0o600)
    path.symlink_to(real)
    labelled(Y).save(path)
    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert bits(Moments.load(real)) == bits(labelled(Y))


def test_what_a_killed_save_left_is_removed_by_the_next(path):
    path.with_name(f".{path.name}.{'0' * 32}.partial").write_bytes(b"half")
    labelled(Y).save(path)
    assert names_in(path.parent) == [path.name]


class FullDisk:
    """A file that can be written to once."""

    def __init__(self, file, failure):
        self.file, self.failure, self.calls = file, failure, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, content):
        self.calls += 1
        if self.calls > 1:
            raise self.failure
        return self.file.write(content)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["write", "replace"])
@pytest.mark.parametrize("before", [None, b"what was there before"])
def test_a_failed_save_leaves_no_trace(where, failure, before, path, monkeypatch):
    if before is not None:
        path.write_bytes(before)
    really_open = Path.open

    def failing_open(self, mode="r", *args, **kwargs):
        file = really_open(self, mode, *args, **kwargs)
        return file if mode.startswith("r") else FullDisk(file, failure)

    def failing_replace(*_):
        raise failure

    with monkeypatch.context() as patch:
        if where == "write":
            patch.setattr(Path, "open", failing_open)
        else:
            patch.setattr(Path, "replace", failing_replace)
        with pytest.raises(type(failure)):
            labelled(Y).save(path)
    assert names_in(path.parent) == ([] if before is None else [path.name])
    assert before is None or path.read_bytes() == before


def test_saving_again_replaces_the_file(path):
    labelled(Y).save(path)
    labelled(Y).with_prior(0.5).save(path)
    assert Moments.load(path).stated_prior == 0.5
    assert names_in(path.parent) == [path.name]


def test_a_missing_folder_is_an_ordinary_error(path):
    with pytest.raises(FileNotFoundError):
        labelled(Y).save(path / "nowhere" / "x")


def test_a_summary_that_keeps_its_rows_is_not_saved(path):
    with pytest.raises(TypeError, match=r"6000 features keeps its rows.*`select` fewer columns"):
        Moments.of(WIDE, [0, 1, 1]).save(path)
    assert not path.exists()


def test_a_wide_summary_can_be_saved_after_select(path):
    moments = Moments.of(WIDE, [0, 1, 1]).select([5, 17, 5_900])
    moments.save(path)
    assert bits(Moments.load(path)) == bits(moments)


def doubled(moments, times):
    for _ in range(times):
        moments = moments + moments
    return moments


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: replace(labelled(Y), feature_names=("a", "a", "b")), "not 3 different names"),
        (lambda: doubled(labelled(Y), 53), "more than 9007199254740992 rows"),
        (lambda: doubled(labelled(Y), 70), "more than 9007199254740992 rows"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(make, reason, path):
    moments = make()
    with pytest.raises(ValueError, match=f"cannot be saved: .*{reason}"):
        moments.save(path)
    assert names_in(path.parent) == []


def test_a_missing_file_is_an_ordinary_error(path):
    with pytest.raises(FileNotFoundError):
        Moments.load(path)


def test_a_folder_is_an_ordinary_error(tmp_path):
    with pytest.raises(OSError, match=r"directory|denied"):
        Moments.load(tmp_path)


def test_the_error_names_the_file(saved):
    saved.write_bytes(b"")
    with pytest.raises(MomentsFileError, match=r"^some\.moments cannot be read as a summary: "):
        Moments.load(saved)


def test_the_error_is_a_value_error():
    assert issubclass(MomentsFileError, ValueError)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"\0" * 7,
        b"\0" * 8,
        b"\xff" * 8,
        b"\xff" * 100,
        b"\2\0\0\0\0\0\0\0{}",
        b"\2\0\0\0\0\0\0\0[]",
        b"\2\0\0\0\0\0\0\0\xff\xff",
        b"a,b,c\n1,2,3\n" * 9,
        pickle.dumps({"mean": [1.0, 2.0]}),
        b"PK\3\4" + b"\0" * 100,
        b"\x93NUMPY" + b"\0" * 100,
    ],
)
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(MomentsFileError, match=r"cut short|not a safetensors|something"):
        Moments.load(path)


def test_a_pickle_is_never_executed(path, tmp_path):
    class Bomb:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(MomentsFileError):
        Moments.load(path)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("metadata", [None, {"header": "{}"}, {"format": "pt"}])
def test_safetensors_of_something_else_are_refused(metadata, path):
    save_file({"mean": np.zeros(3)}, path, metadata=metadata)
    with pytest.raises(MomentsFileError, match="safetensors file of something else"):
        Moments.load(path)


def test_damage_shows_in_the_checksum(saved):
    text, arrays = take_apart(saved.read_bytes())
    before = put_together(text, arrays)
    arrays["mean"][0, 1, 0] = np.nextafter(arrays["mean"][0, 1, 0], np.inf)
    arrays["mean_tail"][0, 1, 0] = 0.0
    after = put_together(text, arrays)
    assert before != after
    start = 8 + int.from_bytes(before[:8], "little")
    saved.write_bytes(before[:start] + after[start:])
    with pytest.raises(MomentsFileError, match="checksum does not match: it is damaged"):
        Moments.load(saved)


def test_a_change_of_a_name_shows_in_the_checksum(saved):
    saved.write_bytes(saved.read_bytes().replace(rb"\"a\", \"b\"", rb"\"a\", \"x\""))
    with pytest.raises(MomentsFileError, match="checksum"):
        Moments.load(saved)


def test_signing_again_without_a_change_is_legal(saved):
    before = Moments.load(saved)
    resign(saved, dict, dict)
    assert bits(Moments.load(saved)) == bits(before)
