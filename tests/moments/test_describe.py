import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import sparse

from directrix import Moments

X = np.array([[1.0, 10.0], [3.0, 10.0], [2.0, 10.0], [2.0, 10.0]])


def test_text_tells_rows_features_and_classes():
    text = repr(Moments.of(X, ["a", "b", "b", "b"]))
    assert text == "<Moments: 4 rows; 2 features; classes {'a': 1, 'b': 3}; a sample of 4 rows>"


@pytest.mark.parametrize(
    ("moments", "part"),
    [
        (
            Moments.of(X, [0, 1, 1, 1], [0.5, 1, 1, 0]),
            "3 rows; .*; weight 2.5; a sample of 3 rows>",
        ),
        (Moments.of(X, [0, 1, 1, 1]).with_prior(0.25), "; stated prior 0.25>"),
        (Moments.of(X, [0, 1, 1, 1], fold=[0, 1, 2, 3]), "; 4 folds>"),
        (Moments.of(np.zeros((1234, 1)), np.zeros(1234)), r"1,234 rows; .*\{0.0: 1,234\}"),
        (Moments.empty(3), r"0 rows; 3 features; classes \{\}"),
    ],
)
def test_text_tells_weight_prior_and_folds_where_there_are_any(moments, part):
    assert re.search(part, repr(moments))


def cells(moments):
    """Return the table that a notebook shows, as rows of text; it must be well-formed."""
    table = ET.fromstring(moments._repr_html_())  # noqa: S314 - our own text
    return [[cell.text or "" for cell in row] for row in table.iter("tr")]


def test_html_is_a_table_with_a_column_for_each_class():
    table = cells(Moments.of(X, [0, 0, 1, 1], [1, 1, 1, 5], feature_names=["x", "y"]))
    assert table == [
        ["class", "0", "1"],
        ["rows", "2", "2"],
        ["in the sample", "2", "2"],
        ["weight", "2", "6"],
        ["share", "0.2500", "0.7500"],
        ["x", "2 ± 1", "2 ± 0"],
        ["y", "10 ± 0", "10 ± 0"],
    ]


def test_html_escapes_names_and_labels():
    hostile = "<script>alert('&')</script>"
    moments = Moments.of(X, [hostile, "b", "b", "b"], feature_names=[hostile, '"><img src=x>'])
    assert "<script>" not in moments._repr_html_()
    assert "<img" not in moments._repr_html_()
    table = cells(moments)
    assert table[0][1] == hostile
    assert [row[0] for row in table[5:]] == [hostile, '"><img src=x>']


def test_html_shows_the_first_features_and_counts_the_others():
    moments = Moments.of(np.zeros((2, 1010)), [0, 0])
    assert [row[0] for row in cells(moments)[5:]] == [f"feature {k}" for k in range(8)]
    assert "1,002 more features" in moments._repr_html_()


@pytest.mark.parametrize(
    "moments",
    [
        Moments.empty(3),
        Moments.of(np.empty((0, 2)), [], classes=[0, 1]),
        Moments.of(X, [0, 0, 0, 0], classes=[0, 1]),
        Moments.of(X, [0, 1, 1, 1], fold=[0, 1, 0, 1]).with_prior(0.5),
        Moments.of(sparse.csr_array((2, 6000)), [0, 1]),
    ],
    ids=["no rows", "no rows but classes", "an empty class", "folds", "wide"],
)
def test_html_of_odd_summaries_is_well_formed(moments):
    assert {len(row) for row in cells(moments)} == {1 + len(moments.classes)}
