"""A law of shapes: with many columns the default card is near logistic regression."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import ScorecardClassifier
from directrix.designs import merging
from directrix.exceptions import NotBetterThanBaselineWarning, ShortCardWarning

N_ROWS, N_NEW_ROWS, N_INFORMATIVE = 1_500, 4_000, 10
#: How far behind logistic regression a card may be, in the area.
BEHIND = 0.02
SAID = ShortCardWarning, NotBetterThanBaselineWarning


def table(n_columns, missing):
    """Return numbers of which ten tell of the label, with cells missing at random."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(N_ROWS + N_NEW_ROWS, n_columns))
    effects = np.linspace(0.8, 0.25, N_INFORMATIVE) * (-1.0) ** np.arange(N_INFORMATIVE)
    y = X[:, :N_INFORMATIVE] @ effects - 0.8 + rng.logistic(size=len(X)) > 0
    X[rng.random(X.shape) < missing] = np.nan
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(n_columns)]), y


def fitted(n_columns, missing):
    """Return a default card, its area, that of logistic regression, and whether the fit warned."""
    X, y = table(n_columns, missing)
    train, new = slice(None, N_ROWS), slice(N_ROWS, None)
    steps = SimpleImputer(add_indicator=missing > 0), StandardScaler(), LogisticRegression()
    logistic = make_pipeline(*steps).fit(X[train], y[train])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        card = ScorecardClassifier("auc").fit(X[train], y[train])
    warned = any(isinstance(each.message, SAID) for each in caught)
    areas = (roc_auc_score(y[new], each.decision_function(X[new])) for each in (card, logistic))
    return card, *areas, warned


@pytest.mark.every_case("n_columns")
@pytest.mark.parametrize("missing", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("n_columns", [10, 60, 100, 150, 300])
def test_the_default_card_is_near_logistic_regression(n_columns, missing):
    """Ten columns fit in the lines of a default card, so a warning is no excuse here."""
    card, reached, asked, warned = fitted(n_columns, missing)
    assert reached >= asked - BEHIND
    report = card.report_
    is_behind = report.too_short or report.is_clear_loss(report.unbinned_baseline)
    assert not is_behind or (warned and "Clearly worse than" in report.summary().splitlines()[0])


def test_a_card_that_is_behind_says_so_first_and_warns(monkeypatch):
    """With few atoms for many columns, missing values take the room of all values."""
    monkeypatch.setattr(merging, "_OF_EACH", 0)
    card, reached, asked, warned = fitted(100, 0.05)
    assert reached < asked - BEHIND
    assert warned
    assert card.report_.too_short
    assert "Clearly worse than the full card" in card.report_.summary().splitlines()[0]
