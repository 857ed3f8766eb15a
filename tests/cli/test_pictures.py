import numpy as np
import pytest

pytest.importorskip("typer")

from directrix.classifiers.evaluation import ScoredRows
from directrix.cli.pictures import frontier_figure, require_positive_rows
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


def test_the_frontier_needs_moments():
    with pytest.raises(ValueError, match="needs the moments"):
        frontier_figure(scored([0, 1]), np.array([False, True]), AUC(), "model")
