"""Labels: none is missing, and booleans of any type are booleans."""

import numpy as np
import pandas as pd
import pytest

from directrix import DirectClassifier, MomentClassifier, ScorecardClassifier
from directrix.exceptions import MissingLabelsError
from directrix.rows.classes import plain_labels

pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
CLASSIFIERS = (DirectClassifier, MomentClassifier, ScorecardClassifier)


def rows(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n) > 0


def texts(y):
    return np.where(y, "good", "bad").astype(object)


MISSING = {
    "None": lambda y: [None if k == 3 else label for k, label in enumerate(texts(y))],
    "NaN": lambda y: np.where(np.arange(len(y)) == 3, np.nan, y),
    "NA": lambda y: pd.Series(texts(y), dtype=object).where(np.arange(len(y)) != 3, pd.NA),
    "string": lambda y: pd.Series(texts(y), dtype="string").where(np.arange(len(y)) != 3),
    "Int64": lambda y: pd.Series(y, dtype="Int64").where(np.arange(len(y)) != 3),
    "category": lambda y: pd.Series(texts(y), dtype="category").where(np.arange(len(y)) != 3),
}


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("make", MISSING.values(), ids=MISSING)
def test_a_missing_label_is_named(classifier, make):
    X, y = rows()
    with pytest.raises(MissingLabelsError, match="in 1 row, the first at position 3: drop") as info:
        classifier("error").fit(X, make(y))
    assert (info.value.rows, info.value.first) == (1, 3)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [object, "boolean"])
def test_booleans_of_any_type_are_booleans(classifier, dtype):
    X, y = rows()
    fitted = classifier("error").fit(X, pd.Series(y, dtype=dtype))
    assert fitted.classes_.dtype == bool
    np.testing.assert_array_equal(fitted.predict(X), classifier("error").fit(X, y).predict(X))


def test_whole_numbers_that_are_objects_are_whole_numbers():
    assert plain_labels(pd.Series([1, 0, 1], dtype="Int64")).dtype == np.int64


@pytest.mark.parametrize("y", [None, [], [[1], [0]], np.array(["a", "b"]), [1.0, 2.0]])
def test_other_labels_stay_as_they_are(y):
    assert plain_labels(y) is y


@pytest.mark.parametrize("classifier", [DirectClassifier, ScorecardClassifier])
def test_a_quantity_is_refused_with_its_value(classifier):
    X, y = rows()
    quantity = np.where(np.arange(len(y)) == 7, 0.5, np.arange(len(y)) % 2)
    with pytest.raises(ValueError, match=r"y has the value 0\.5, .*such as y > limit"):
        classifier("auc").fit(X, quantity)
