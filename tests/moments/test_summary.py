"""What all summaries share: multiples, and the number of rows of a table.

The laws of sums and multiples are in ``tests/contracts/test_summaries.py``.
"""

import numpy as np
import pytest

from directrix import Binner, Moments
from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts, Summary
from directrix.rows.summary import count_rows

X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0], [0.0, 9.0], [2.0, 2.0]])
Y = np.array([0, 1, 1, 0, 1])


def summaries(y):
    binner = Binner(max_bins=3, min_rows=1).fit(X)
    return [
        (Moments.of(X, y, classes=[0, 1]), X),
        (BinCounts.of(binner, X, y, classes=[0, 1]), X),
        (ScoreHistogram.of_scores(y, X[:, 0], classes=[0, 1]), X[:, 0]),
    ]


@pytest.fixture(params=range(3), ids=["moments", "counts", "scores"])
def kind(request):
    return request.param


def test_a_summary_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Summary()


@pytest.mark.parametrize(
    "rows",
    [
        X,
        X.tolist(),
        [1.0, 2.0, 3.0, 4.0, 5.0],
        X[:, 0],
        pytest.param("frame", id="pandas"),
        pytest.param("table", id="pyarrow"),
        pytest.param("sparse", id="sparse"),
    ],
)
def test_rows_are_counted_whatever_holds_them(rows):
    if isinstance(rows, str):
        if rows == "frame":
            rows = pytest.importorskip("pandas").DataFrame(X)
        elif rows == "table":
            rows = pytest.importorskip("pyarrow").table({"a": X[:, 0], "b": X[:, 1]})
        else:
            rows = pytest.importorskip("scipy.sparse").csr_matrix(X)
    assert count_rows(rows) == 5


@pytest.mark.parametrize("factor", [2, 0.5, np.float64(3.0), np.int32(2), True])
def test_a_number_multiplies_from_both_sides(kind, factor):
    summary, _ = summaries(Y)[kind]
    assert factor * summary == summary * factor == summary.scaled(float(factor))


@pytest.mark.parametrize("factor", ["2", None, 1j, [2.0]])
def test_what_is_no_number_does_not_multiply(kind, factor):
    summary, _ = summaries(Y)[kind]
    with pytest.raises(TypeError):
        summary * factor
