"""The arena's tracked figures come out again."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures and reports need the group 'benchmarks'")
pytest.importorskip("tqdm", reason="the runner needs the group 'benchmarks'")

from benchmarks.arena.protocol import FOLDS, METRICS, QUICK, Task, split
from benchmarks.arena.results import drift
from benchmarks.arena.run import measured
from benchmarks.harness.data import folder
from benchmarks.rivals.lines import TUNED

FAST = ["moment", "beta-bernoulli", "prior", "Fisher", "LDA, shrunk", "logistic", TUNED]


def has_data():
    try:
        folder()
    except FileNotFoundError:
        return False
    return True


needs_data = pytest.mark.skipif(not has_data(), reason="needs the data sets")


@needs_data
@pytest.mark.parametrize("name", QUICK)
def test_tracked_figures_come_out_again(name):
    assert drift(measured(Task(name, 0, 0), FAST)) == ""


@needs_data
def test_a_figure_that_drifts_is_noticed(capsys):
    (score,) = measured(Task("heart", 0, 0), ["LDA, shrunk"])
    moved = {name: value + 0.2 * METRICS[name].unit for name, value in score.values.items()}
    assert "do not come out again" in drift([score._replace(values=moved)])
    assert "heart" in capsys.readouterr().out


@needs_data
def test_folds_share_no_row_and_cover_all():
    tests = [split(Task("heart", 0, fold))[1] for fold in range(FOLDS)]
    assert sum(len(part.y) for part in tests) == 270
    first, second = (split(Task("heart", repeat, 0))[1] for repeat in (0, 1))
    assert not np.array_equal(first.X, second.X)
