"""What all summaries share: multiples, relabelling, and the number of rows of a table.

The laws of sums and multiples are in ``tests/contracts/test_summaries.py``.
"""

import numpy as np
import pytest

from directrix import Binner, Moments
from directrix.moments import ScoreHistogram, Summary
from directrix.moments.summary import count_rows
from directrix.tables import BinCounts

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


@pytest.mark.parametrize(
    ("from_", "to"), [(1, 0), ([1, 1], [0, 0]), (np.array([1, 1]), 0), (1, (0, 0))]
)
def test_labels_are_one_or_as_many_as_rows(kind, from_, to):
    summary, rows = summaries(Y)[kind]
    late, _ = summaries(np.array([0, 0, 0, 0, 1]))[kind]
    relabelled = summary.relabelled(rows[1:3], from_, to)
    if kind:
        assert relabelled == late
        return
    for label in (0, 1):
        one, other = relabelled.by_class[label], late.by_class[label]
        assert one.count == other.count
        assert one.mean == pytest.approx(other.mean, rel=1e-14)
        assert one.scatter == pytest.approx(other.scatter, abs=1e-13)


def test_text_is_one_label(kind):
    text = np.array(["bad", "good"])[Y]
    summary = [
        Moments.of(X, text),
        BinCounts.of(Binner(max_bins=3, min_rows=1).fit(X), X, text),
        ScoreHistogram.of_scores(text, X[:, 0]),
    ][kind]
    rows = X[:, 0] if kind == 2 else X
    relabelled = summary.relabelled(rows[1:3], "good", "bad").relabelled(rows[1:3], "bad", "good")
    assert (relabelled == summary) or (
        kind == 0
        and relabelled.by_class["good"].scatter
        == pytest.approx(summary.by_class["good"].scatter, abs=1e-13)
    )


def test_weights_are_those_the_rows_had():
    weight = np.array([1.0, 0.5, 2.0, 1.0, 3.0])
    whole = ScoreHistogram.of_scores(Y, X[:, 0], weight)
    late = ScoreHistogram.of_scores([0, 0, 1, 0, 1], X[:, 0], weight)
    assert whole.relabelled(X[1:2, 0], 1, 0, [0.5]) == late
    with pytest.raises(ValueError, match=r"not a part|not part|not among"):
        whole.relabelled(X[1:2, 0], 1, 0)


@pytest.mark.parametrize("which", ["from_", "to"])
def test_none_is_no_label(kind, which):
    summary, rows = summaries(Y)[kind]
    given = {"from_": 1, "to": 0} | {which: None}
    with pytest.raises(ValueError, match="rows without labels are in a summary of their own"):
        summary.relabelled(rows[:1], **given)
