"""The study of killed writers tells a whole part from half of one, and finds nothing wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.studies import store_crashes as study

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and killed")

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("stream", ["counts", "moments"])
def test_a_total_tells_its_parts(stream):
    first, second, third = (study.summaries(4, part)[stream] for part in range(3))
    assert study.parts_of(4, stream, third) == {2}
    assert study.parts_of(4, stream, third + first) == {0, 2}
    assert study.parts_of(4, stream, first + second + third) == {0, 1, 2}


@pytest.mark.parametrize("stream", ["counts", "moments"])
def test_parts_that_count_twice_or_in_part_are_found(stream):
    first, second, third = (study.summaries(4, part)[stream] for part in range(3))
    for wrong in (first + first, second + second + third, first + third + third, third - third):
        assert study.parts_of(4, stream, wrong) is None


def test_parts_of_other_days_are_found():
    other = study.summaries(5, 1)["counts"]
    assert study.parts_of(5, "counts", other) == {1}
    assert study.parts_of(4, "counts", other) is None


def test_the_end_of_a_round_finds_what_is_missing(tmp_path):
    store = study.SummaryStore(tmp_path)
    for day in range(study.N_DAYS):
        for part in range(study.N_PARTS):
            if (day, part) not in ((3, 1), (7, 0)):
                store.add(study.DAYS[day], study.summaries(day, part), key=f"part {part}")
    store.add(study.DAYS[7], study.summaries(7, 0), key="part 0 again, by another name")
    (tmp_path / "strange").write_bytes(b"")
    wrong_days, repeated, _, remaining = study._end(str(tmp_path))
    assert (wrong_days, repeated, remaining) == (1, 2, 1)


def test_nothing_is_lost_and_nothing_counts_twice():
    # In a process of its own: it forks, which a process with threads must not.
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.studies.store_crashes", "--quick"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    outcomes = [study.Outcome(**json.loads(line)) for line in done.stdout.splitlines()]
    assert (done.returncode, len(outcomes)) == (0, study.QUICK), done.stderr
    assert all(outcome.right and outcome.readings for outcome in outcomes)
    assert sum(outcome.writers_killed for outcome in outcomes) > study.QUICK
    assert sum(outcome.compactors_killed for outcome in outcomes) > 0
