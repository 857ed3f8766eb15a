import numpy as np
import pytest

pytest.importorskip("typer")

from directrix.classifiers.evaluation import ScoredRows
from directrix.cli.pictures import frontier_figure, require_positive_rows, roc_figure
from directrix.cli.reply import UsageError
from directrix.metrics import AUC


def scored(labels):
    return ScoredRows(np.array(labels), np.zeros(len(labels)), np.full(len(labels), 0.5))


def test_figures_need_rows_of_two_classes():
    classes = np.array([0, 1])
    assert require_positive_rows(scored([0, 1, 1]), classes).tolist() == [False, True, True]
    with pytest.raises(UsageError, match="all rows are of class 1"):
        require_positive_rows(scored([1, 1]), classes)
    with pytest.raises(UsageError, match="two classes, and this one has 3"):
        require_positive_rows(scored([0, 1, 2]), np.arange(3))


def test_ties_are_a_straight_line_of_the_roc_curve():
    """The area below the drawn curve is the AUC, also of a card on whose points many rows tie."""
    pytest.importorskip("matplotlib").use("Agg")
    positive, points = np.array([0, 0, 1, 0, 1, 1], bool), np.array([-1.0, 0, 0, 1, 1, 1])
    rows = ScoredRows(positive.astype(int), points, np.full(6, 0.5))
    line = roc_figure(rows, positive, AUC(), "card").axes[0].lines[0]
    assert line.get_drawstyle() == "default"
    fpr, tpr = line.get_xdata(), line.get_ydata()
    area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    assert area == pytest.approx(6.5 / 9)


def test_the_frontier_needs_moments():
    with pytest.raises(ValueError, match="needs the moments"):
        frontier_figure(scored([0, 1]), np.array([False, True]), AUC(), "model")
