"""The picture of alternatives: what is drawn is what the table says."""

import numpy as np
import pytest

from directrix import DirectClassifier
from directrix.displays import AlternativesDisplay
from directrix.metrics import RecallAtFPR


@pytest.fixture(autouse=True)
def _figures():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def fitted(*, shuffled=False):
    rng = np.random.default_rng(0)
    segment, y = rng.random(900) < 0.5, rng.random(900) < 0.3
    X = rng.normal(size=(900, 3)) + y[:, None]
    X[:, 1:] += segment[:, None]
    segment = rng.permutation(segment) if shuffled else segment
    model = DirectClassifier(RecallAtFPR(0.1), parity="fpr", warn_baseline=False)
    return model.fit(X, y, segment=segment)


def test_points_are_those_of_the_table_and_the_delivered_one_is_marked():
    model = fitted()
    table, display = model.alternatives_, AlternativesDisplay.from_estimator(model)
    drawn = display.points_.lines[0].get_xydata()
    assert drawn.tolist() == [[each.gap.value, each.metric] for each in table[1:]]
    chosen = table[table.chosen]
    assert display.chosen_.get_xydata().tolist() == [[chosen.gap.value, chosen.metric]]
    assert display.plain_.get_xydata().tolist() == [[table[0].gap.value, table[0].metric]]
    assert display.ax_.get_xlim()[0] == 0.0


def test_without_alternatives_the_plain_fit_is_drawn():
    display = AlternativesDisplay.from_estimator(fitted(shuffled=True))
    assert display.points_ is None
    assert display.chosen_.get_xydata().tolist() == display.plain_.get_xydata().tolist()
