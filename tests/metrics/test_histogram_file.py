"""Files of score histograms: what is written is read, and nothing else is."""

import json
import math

import numpy as np
import pytest
from summary_files import put_together

from directrix.exceptions.files import MomentsFileError
from directrix.metrics import ScoreHistogram
from directrix.metrics.score_histogram import BINS
from directrix.moments import Moments

CLASSES = {
    "bool": [False, True],
    "int": [-7, 2**60],
    "float": [0.1, 1e300],
    "text": ["größe", "日本 'x'\n"],
}


def histogram(classes=(0, 1), **options):
    rng = np.random.default_rng(0)
    y = np.array(classes)[rng.integers(0, 2, 50)]
    return ScoreHistogram.of_scores(y, rng.normal(size=50), rng.random(50), **options)


@pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize(
    "options", [{}, {"center": 0.1, "scale": 1e-3, "model": 'a "b"\n'}], ids=["plain", "all"]
)
def test_what_is_saved_is_loaded(tmp_path, classes, options):
    path = tmp_path / "day.histogram"
    histogram(classes, **options).save(path)
    loaded = ScoreHistogram.load(path)
    assert loaded == histogram(classes, **options)
    assert loaded.classes.dtype == histogram(classes).classes.dtype
    assert loaded + loaded - loaded == loaded


def test_no_rows_can_be_saved(tmp_path):
    none = ScoreHistogram.empty(["a", "b"])
    none.save(tmp_path / "none")
    assert ScoreHistogram.load(tmp_path / "none") == none


def test_equal_histograms_are_equal_bytes(tmp_path):
    histogram().save(tmp_path / "one")
    histogram().save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_sum_that_lost_rows_to_rounding_can_be_saved(tmp_path):
    left = histogram() + histogram() - histogram()
    left.save(tmp_path / "left")
    assert ScoreHistogram.load(tmp_path / "left") == left


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def parts():
    """Return the header and the arrays of a file."""
    header = {
        "format": "directrix.score_histogram",
        "version": 1,
        "writer": "a test",
        "classes": {"dtype": "int64", "values": [0, 1]},
        "center": 0.0,
        "scale": 1.0,
        "model": None,
    }
    return header, {
        "counts": np.ascontiguousarray(histogram().counts),
        "weight_sq": histogram().weight_sq.copy(),
    }


def written(path, header, tensors):
    path.write_bytes(put_together(json.dumps(header), tensors))
    return path


def test_a_file_by_hand_is_read(tmp_path):
    assert ScoreHistogram.load(written(tmp_path / "f", *parts())) == histogram()


HEADERS = {
    "another format": {"format": "directrix.moments"},
    "a later version": {"version": 2},
    "three classes": {"classes": {"dtype": "int64", "values": [0, 1, 2]}},
    "classes of another type": {"classes": {"dtype": "object", "values": [0, 1]}},
    "one entry too many": {"more": 1},
}


@pytest.mark.parametrize("entry", HEADERS.values(), ids=HEADERS)
def test_a_header_that_could_not_have_been_written_is_refused(tmp_path, entry):
    header, tensors = parts()
    path = written(tmp_path / "f", header | entry, tensors)
    with pytest.raises(MomentsFileError, match="f cannot be read as a"):
        ScoreHistogram.load(path)


def test_a_header_that_lacks_an_entry_is_refused(tmp_path):
    for name in parts()[0]:
        header, tensors = parts()
        del header[name]
        with pytest.raises(MomentsFileError):
            ScoreHistogram.load(written(tmp_path / "f", header, tensors))


def changed(name, index, value):
    def change(tensors):
        tensors[name][index] = value

    return change


ARRAYS = {
    "a count that is not finite": changed("counts", (1, 5), np.inf),
    "a count that is no number": changed("counts", (1, 5), np.nan),
    "fewer bins": lambda tensors: tensors.update(counts=np.ones((2, BINS - 1))),
    "three classes": lambda tensors: tensors.update(counts=np.ones((3, BINS))),
    "another type": lambda tensors: tensors.update(counts=np.ones((2, BINS), dtype=np.int64)),
    "an array more": lambda tensors: tensors.update(more=np.ones(2)),
    "an array less": lambda tensors: tensors.pop("weight_sq"),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_could_not_have_been_written_are_refused(tmp_path, change):
    header, tensors = parts()
    change(tensors)
    with pytest.raises(MomentsFileError):
        ScoreHistogram.load(written(tmp_path / "f", header, tensors))


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "f"
    histogram().save(path)
    whole = path.read_bytes()
    counted = whole.index(np.float64(histogram().counts.max()).tobytes())
    for damaged in (
        whole[:-1],
        whole[:40],
        b"",
        whole + b"\0" * 8,
        whole[:counted] + np.float64(7.5).tobytes() + whole[counted + 8 :],
    ):
        path.write_bytes(damaged)
        with pytest.raises(MomentsFileError):
            ScoreHistogram.load(path)


def test_files_of_other_things_are_refused_either_way(tmp_path):
    Moments.of(np.eye(4), [0, 1, 0, 1]).save(tmp_path / "moments")
    histogram().save(tmp_path / "histogram")
    with pytest.raises(MomentsFileError, match="it is something else"):
        ScoreHistogram.load(tmp_path / "moments")
    with pytest.raises(MomentsFileError):
        Moments.load(tmp_path / "histogram")


# ── bins of the file, as the page defines them ────────────────────────────────────────────────────


def bin_by_definition(score, center, scale):
    """Return the bin of a score as docs/moments.md defines it."""
    u = (score - center) / scale
    mantissa, exponent = math.frexp(1.0 + abs(u))  # between one half and one
    k = min((exponent - 1) * 256 + int((2 * mantissa - 1) * 256), 2047)
    return 2047 - k if u < 0 else 2048 + k


def test_a_file_holds_the_scores_in_the_bins_of_the_page(tmp_path):
    labels = ["größer", "ja", "ja", "größer", "größer", "ja", "ja", "größer", "ja"]
    scores = [0.25, 0.25, -3.5, 1e300, -0.0, 1e-12, 40.125, -7.0, -1e9]
    weight = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 1.0]
    options = {"center": 0.25, "scale": 2.0, "model": 'card "3" of May'}
    counts = np.zeros((2, BINS))
    for label, score, each in zip(labels, scores, weight, strict=True):
        counts[int(label == "ja"), bin_by_definition(score, 0.25, 2.0)] += each
    ScoreHistogram.of_scores(labels, scores, weight, **options).save(tmp_path / "f")
    histogram = ScoreHistogram.load(tmp_path / "f")
    np.testing.assert_array_equal(histogram.counts, counts)
    assert histogram.classes.tolist() == ["größer", "ja"]
    assert {name: getattr(histogram, name) for name in options} == options
    assert histogram.weight_sq.tolist() == [11.0625, 7.25]
