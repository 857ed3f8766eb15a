"""Damaged files: each gives back the summary that was saved, or `MomentsFileError`.

``DIRECTRIX_FUZZ`` sets how many files are tried. Case k is the same in every run.
"""

import os
import random
import sys

import numpy as np
import pytest
from few_cases import examples
from file_damage import DAMAGE, load_measured

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


def attempt(path):
    """Load a file within bounds; return the summary, or None where it was refused, and figures."""
    moments, seconds, memory = load_measured(Moments.load, MomentsFileError, path)
    size = path.stat().st_size
    assert seconds <= SECONDS
    assert memory <= 10 * size + SPARE
    return moments, seconds, memory, memory / size if size > SMALL else 0.0


def test_a_damaged_file_gives_the_summary_back_or_is_refused(tmp_path, figure):
    resource = pytest.importorskip("resource")
    path = tmp_path / "damaged"
    bases = []
    for number, moments in enumerate(fresh_summaries()):
        moments.save(tmp_path / str(number))
        bases.append(((tmp_path / str(number)).read_bytes(), moments))
        attempt(tmp_path / str(number))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    equal = refused = 0
    slowest = most = ratio = 0.0
    for case in range(CASES):
        rng = random.Random(case)  # noqa: S311 - the same cases on every run
        content, original = rng.choice(bases)
        change = rng.choice(DAMAGE)
        path.write_bytes(change(rng, content))
        try:
            moments, seconds, memory, share = attempt(path)
            if moments is None:
                refused += 1
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
    assert min(equal, refused) > 0
    figure(
        f"fuzz: {CASES} files, {equal} equal, {refused} refused; most "
        f"memory {most / 1024:.0f} kB, or {ratio:.1f} x file above {SMALL >> 10} kB; slowest "
        f"{slowest:.3f} s"
    )
