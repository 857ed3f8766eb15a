import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.classifiers.scorecard.model import columns_that_tell

pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")


def table(n=2500):
    rng = np.random.default_rng(0)
    bad = rng.random(n) < 0.3
    X = pd.DataFrame(
        {
            "honest": rng.normal(size=n) + 2.0 * bad,
            "status": np.where(bad, "written off", "open"),
            "recovered": np.where(bad, rng.exponential(500.0, n), 0.0),
            "identity": np.arange(n).astype(str),
        }
    )
    return X, bad


def fitted(X, bad):
    return ScorecardClassifier("auc", cv=2, max_crosses=0, max_lines=None, learn_from="counts").fit(
        X, bad
    )


def test_columns_that_hold_the_answer_are_named_in_the_report():
    card = fitted(*table())
    assert columns_that_tell(card.card_) == ["status", "recovered"]
    assert card.report_.suspects == ("status", "recovered")
    line = (
        "Columns 'status', 'recovered' each predict the label alone: check that they are known "
        "before the label."
    )
    assert line in str(card.report_)
    assert "&#x27;recovered&#x27; each predict the label alone" in card.report_._repr_html_()


def test_honest_columns_and_identities_are_not():
    X, bad = table()
    card = fitted(X[["honest", "identity"]], bad)
    assert card.report_.suspects == ()
    assert "the label alone" not in str(card.report_)


@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
def test_few_rows_tell_nothing():
    X, bad = table(30)
    assert fitted(X[["status"]], bad).report_.suspects == ()


def test_a_card_without_counts_has_no_suspects():
    card = fitted(*table()).card_
    bare = type(card)(card.intercept, card.columns, bins=card.bins)
    assert columns_that_tell(bare) == []
