import numpy as np
import pytest

from directrix.rows.classes import (
    ending_with,
    positive_label,
    positive_of,
    toward_positive,
)


class Known:
    """A stand-in for a fitted classifier, of which only these attributes are asked."""

    def __init__(self, classes, positive=None):
        self.classes_ = np.array(classes)
        if positive is not None:
            self.positive_ = positive


@pytest.mark.parametrize(("asked", "label"), [(None, 1), (0, 0), (1, 1), (True, 1), (1.0, 1)])
def test_the_label_is_the_one_among_the_classes(asked, label):
    found = positive_label(asked, np.array([0, 1]))
    assert found == label
    assert type(found) is int
    assert ending_with(asked, np.array([0, 1])).tolist() == [1 - label, label]


def test_scores_are_turned_towards_the_positive_label():
    scores = np.array([1.0, -2.0])
    np.testing.assert_array_equal(toward_positive(Known(["a", "b"], "a"), scores), -scores)
    np.testing.assert_array_equal(toward_positive(Known(["a", "b"], "b"), scores), scores)
    # A classifier of another library has no such label; the last is meant.
    assert positive_of(Known(["a", "b"])) == "b"
    np.testing.assert_array_equal(toward_positive(Known(["a", "b"]), scores), scores)
