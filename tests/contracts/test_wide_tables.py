"""A law of shapes: with many columns the default card is near logistic regression, or warns."""

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
from directrix.exceptions import NotBetterThanBaselineWarning, ShortCardWarning

N_ROWS, N_NEW_ROWS, N_INFORMATIVE = 1_500, 4_000, 10
#: How far behind logistic regression a card may be without a word, in the area.
_BEHIND = 0.02


def table(n_columns, missing):
    """Return numbers of which ten tell of the label, with cells missing at random."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(N_ROWS + N_NEW_ROWS, n_columns))
    effects = np.linspace(0.8, 0.25, N_INFORMATIVE) * (-1.0) ** np.arange(N_INFORMATIVE)
    y = X[:, :N_INFORMATIVE] @ effects - 0.8 + rng.logistic(size=len(X)) > 0
    X[rng.random(X.shape) < missing] = np.nan
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(n_columns)]), y


@pytest.mark.every_case("n_columns")
@pytest.mark.parametrize("missing", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("n_columns", [10, 60, 100, 150, 300])
def test_the_default_card_is_near_logistic_regression_or_warns(n_columns, missing):
    X, y = table(n_columns, missing)
    train, new = slice(None, N_ROWS), slice(N_ROWS, None)
    steps = SimpleImputer(add_indicator=missing > 0), StandardScaler(), LogisticRegression()
    logistic = make_pipeline(*steps).fit(X[train], y[train])
    card = ScorecardClassifier("auc")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        card.fit(X[train], y[train])
    warned = any(
        isinstance(each.message, ShortCardWarning | NotBetterThanBaselineWarning) for each in caught
    )
    reached, asked = (
        roc_auc_score(y[new], each.decision_function(X[new])) for each in (card, logistic)
    )
    assert warned or reached >= asked - _BEHIND
    report = card.report_
    is_behind = report.too_short or report.is_clear_loss(report.unbinned_baseline)
    assert not is_behind or (warned and "Clearly worse than" in str(report).splitlines()[0])
