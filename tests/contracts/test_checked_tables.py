"""Laws of checked tables: what is odd is warned of once, stands in the report, and changes nothing.

What is not odd is not warned of, and nothing depends on the order of rows or columns.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.editing import CardEditor
from directrix.exceptions import FewRowsWarning, TableWarning
from directrix.tables import Table
from directrix.tables.check import KINDS, check_table

N = 600
LABEL, NUMBERS, DATES, ID, IDENTICAL = KINDS
CARD = {"cv": 2, "max_crosses": 0, "warn_baseline": False}


def honest(n=N, seed=0):
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < 0.3
    X = pd.DataFrame(
        {
            "score": rng.normal(size=n) + 1.5 * bad,
            "age": rng.integers(18, 80, n),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
            "owner": rng.random(n) < 0.5,
            "paid": np.where(rng.random(n) < 0.2, np.nan, rng.exponential(900.0, n).round(2)),
        }
    )
    return X, bad


X, BAD = honest()
RNG = np.random.default_rng(1)
AMOUNTS = RNG.lognormal(8.0, 0.6, N)
DAYS = pd.Series(np.datetime64("2023-01-01") + RNG.integers(0, 700, N))
LOST = RNG.exponential(500.0, N)
FAULTS = {
    "arrears after the loan": (LABEL, RNG.poisson(np.where(BAD, 5.0, 0.1))),
    "a status after the outcome": (LABEL, np.where(BAD, "written off", "open")),
    "recovered of most": (LABEL, np.where(BAD & (RNG.random(N) < 0.9), LOST, np.nan)),
    "either end is bad": (LABEL, np.where(BAD, 9.0, 1.0) * np.sign(AMOUNTS - 3000.0)),
    "percent": (NUMBERS, [f"{k} %" for k in RNG.integers(1, 60, N)]),
    "currency": (NUMBERS, [f"EUR {amount:,.2f}" for amount in AMOUNTS]),
    "decimal comma": (NUMBERS, [f"{amount:.1f}".replace(".", ",") for amount in AMOUNTS]),
    "thousands": (NUMBERS, [f"${amount:,.0f}" for amount in AMOUNTS]),
    "rupees": (NUMBERS, [f"Rs. {amount:,.0f}" for amount in AMOUNTS]),
    "in thousands": (NUMBERS, [f"{amount / 1000:.1f}k" for amount in AMOUNTS]),
    "decimals": (NUMBERS, [f"{amount:.2f}" for amount in AMOUNTS]),
    "with blanks": (NUMBERS, [" "] * 90 + [f"{amount:.2f}" for amount in AMOUNTS[90:]]),
    "whole amounts": (NUMBERS, [f"{amount:.0f}" for amount in AMOUNTS]),
    "ISO dates": (DATES, DAYS.astype(str)),
    "German dates": (DATES, DAYS.dt.strftime("%d.%m.%Y")),
    "American times": (DATES, DAYS.dt.strftime("%m/%d/%Y 08:15 AM")),
    "months": (DATES, DAYS.dt.strftime("%b-%Y")),
    "months as numbers": (DATES, DAYS.dt.strftime("%m/%Y")),
    "dates without blanks": (DATES, DAYS.dt.strftime("%d%b%Y").str.upper()),
    "numbers one after another": (ID, RNG.permutation(N) + 41_000),
    "random customer numbers": (ID, RNG.choice(10**9, N, replace=False)),
    "customers who came again": (ID, np.arange(N) // 2 * 977 + 10_000),
    "names": (ID, [f"C-{k:05d}" for k in RNG.choice(10**5, N, replace=False)]),
    "a copy of a number": (IDENTICAL, X["age"]),
    "a copy of a text": (IDENTICAL, X["town"]),
}
#: The name says what numbers are where they are too far apart to avoid each other.
NAMED = {"random customer numbers": "CustomerID", "customers who came again": "customer_id"}


def faulty(fault):
    return NAMED.get(fault, "odd"), X.assign(**{NAMED.get(fault, "odd"): FAULTS[fault][1]})


def fitted(classifier, *rows, **options):
    """Return a fitted classifier, and its warnings about the table; others do not count."""
    method = classifier.fit_source if "target" in options else classifier.fit
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        method(*rows, **options)
    return classifier, [each.message for each in caught if each.category is TableWarning]


def found(table, bad, keys=None):
    table = Table.of(table)
    return check_table(table.columns, table.values, np.asarray(bad), keys)


@pytest.mark.every_case("fault")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_table_is_warned_of_once_and_in_the_report(fault):
    name, table = faulty(fault)
    before = table.copy()
    card, said = fitted(ScorecardClassifier("auc", **CARD), table, BAD)
    pd.testing.assert_frame_equal(table, before)
    (warning,) = said
    (finding,) = warning.findings
    assert finding.kind == FAULTS[fault][0]
    assert name in finding.columns
    assert str(warning) == str(finding)
    assert card.report_.findings == warning.findings
    first = str(card.report_).splitlines()[0]
    assert first == f"C{str(finding)[1:]}."
    assert pickle.loads(pickle.dumps(warning)).findings == warning.findings  # noqa: S301 - ours
    examples = {str(value).strip() for value in table[name]}
    assert finding.example is None or str(finding.example) in examples


def test_a_finding_names_the_column_a_value_and_the_remedy():
    (finding,) = found(X.assign(income=FAULTS["currency"][1]), BAD)
    assert str(finding) == (
        f"column 'income': 600 of 600 texts are numbers such as {finding.example!r}; convert them "
        "to numbers before the fit"
    )
    (finding,) = found(X.assign(years=X["age"]), BAD)
    problem = "the same value in every row; leave out all but one"
    assert str(finding) == f"columns 'age', 'years': {problem}"


def test_of_many_findings_four_and_their_number_are_warned_of_and_all_are_in_the_report():
    table = X.assign(**{f"f{k:02d}": values for k, (_, values) in enumerate(FAULTS.values())})
    card, (warning,) = fitted(ScorecardClassifier("auc", **CARD), table, BAD)
    lines, findings = str(warning).splitlines(), warning.findings
    assert lines == [*map(str, findings[:4]), f"and {len(findings) - 4} more"]
    assert [KINDS.index(each.kind) for each in findings] == sorted(
        KINDS.index(FAULTS[fault][0]) for fault in FAULTS if fault not in NAMED
    )
    assert all(str(each)[1:] in str(card.report_) for each in findings)
    assert card.compact(None).report_.findings == findings
    order = np.random.default_rng(2).permutation(N)
    shuffled = table.iloc[order, ::-1].reset_index(drop=True)
    card, _ = fitted(ScorecardClassifier("auc", **CARD), shuffled, BAD[order])
    assert card.report_.findings == findings


def noise(n, d, seed=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def drawn(n, *levels):
    return np.random.default_rng(4).choice(levels, n)


CLEAN = {
    "honest columns": X,
    "one column": noise(N, 1),
    "400 columns": noise(N, 400),
    "400 columns of few rows": noise(45, 400),
    "booleans": noise(300, 200) > 0.0,
    "rare booleans": noise(N, 300) > 2.5,
    "constant and missing": pd.DataFrame(
        {"a": [1.0] * N, "b": [1.0] * N, "c": np.nan, "d": np.nan}
    ),
    "constant texts": pd.DataFrame({"a": ["x"] * N, "b": ["x"] * N}),
    "two rows": [[1.0, "a"], [2.0, "b"]],
    "ten rows": noise(10, 30).round(1),
    "3,000 levels": drawn(4_000, *(f"t{k}" for k in range(3_000)))[:, None],
    "codes": pd.DataFrame({"a": np.arange(N) % 90, "b": np.arange(N) % 7 / 2}).astype(str),
    "codes far apart": drawn(N, "7", "40", "310", "2200", "90000")[:, None],
    "postal codes": np.array([f"{k:05d}" for k in np.arange(N) % 311 * 97])[:, None],
    "ranges and units": drawn(N, "18-25", "26-35", "36 months", "1 year", "10+", "12 to 14")[
        :, None
    ],
    "months and days": drawn(N, "jan", "may 3", "mon", "12:30")[:, None],
    "tenths": drawn(N, *(f"decile{k:02d}" for k in range(1, 11)))[:, None],
    "whole amounts": np.random.default_rng(5).lognormal(8.0, 0.5, (5_000, 2)).round(),
    "codes of products": pd.DataFrame(
        {"product_id": np.arange(N) % 90, "visits": np.arange(N) // 2}
    ),
    "few whole amounts": np.random.default_rng(5).integers(2_000, 90_000, (60, 3)),
    "a strong column": noise(N, 2) + 4.0 * (np.arange(N) % 3 == 0)[:, None] * [0.5, 0.0],
    "infinite": np.where(noise(N, 2) > 1.0, np.inf, noise(N, 2)),
}


@pytest.mark.every_case("shape")
@pytest.mark.parametrize("shape", CLEAN)
def test_what_is_not_odd_is_not_warned_of(shape):
    n = len(CLEAN[shape])
    bad = np.array([False, True]) if n == 2 else BAD if shape == "honest columns" else None
    bad = np.arange(n) % 3 == 0 if bad is None else bad
    assert found(CLEAN[shape], bad) == ()
    assert found(CLEAN[shape], ~bad, np.arange(n)[::-1].astype(np.uint64)) == ()


@pytest.mark.every_case("classifier")
@pytest.mark.parametrize(
    "classifier",
    [
        DirectClassifier("auc", cv=2),
        MomentClassifier("auc"),
        OperatingPointClassifier(DirectClassifier("auc", cv=2), "auc", cv=3),
        ScorecardClassifier("auc", cv=2, max_crosses=1, points="integer", warn_baseline=False),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_classifier_warns_once(classifier):
    numbers = X[["score", "age"]].assign(number=FAULTS["numbers one after another"][1], years=X.age)
    for table in (numbers, numbers.to_numpy()):
        _, said = fitted(classifier, table, BAD)
        (warning,) = said
        assert [each.kind for each in warning.findings] == [ID, IDENTICAL]
        assert found(numbers[["score", "age"]], BAD) == ()


@pytest.mark.parametrize("kind", [DirectClassifier, ScorecardClassifier])
def test_a_source_is_checked_on_its_sample(kind):
    table = X[["score", "age"]].assign(arrears=FAULTS["arrears after the loan"][1], bad=BAD)
    classifier, (warning,) = fitted(kind("auc"), table, target="bad", progress=False)
    assert [each.kind for each in warning.findings] == [LABEL]
    assert classifier.report_.findings == warning.findings


def test_metrics_share_what_was_found_and_another_fit_forgets_it():
    table = X[["score"]].assign(number=FAULTS["numbers one after another"][1])
    direct = DirectClassifier(cv=2, warn_baseline=False)
    with pytest.warns(TableWarning):
        classifiers = direct.fit_each(["auc", "error"], table, BAD)
    assert all(len(each.report_.findings) == 1 for each in classifiers)
    assert classifiers[0].fit(table[["score"]], BAD).report_.findings == ()


def test_an_editor_warns_once_and_a_search_does_not():
    table = X.assign(odd=FAULTS["numbers one after another"][1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CardEditor.of(ScorecardClassifier("auc", **CARD), table, BAD)
    assert [each.category for each in caught].count(TableWarning) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        cross_val_score(DirectClassifier("auc", cv=2), table[["score", "odd"]], BAD, cv=2)


def test_a_dozen_positives_are_few():
    rare = np.arange(N) % 50 == 0
    with pytest.warns(FewRowsWarning, match="one class has 12 rows only"):
        DirectClassifier("auc", cv=2).fit(X[["score", "age"]], rare)
    table = X[["score", "age"]].assign(rare=rare)
    with pytest.warns(FewRowsWarning, match="one class has 12 rows only"):
        DirectClassifier("auc", cv=2).fit_source(table, target="rare", progress=False)


def test_a_sample_of_many_rows_is_enough():
    bad = np.random.default_rng(6).random(9_000) < 0.3
    (finding,) = found(
        np.column_stack([noise(9_000, 5), noise(9_000, 1, 7) + 3.3 * bad[:, None]]), bad
    )
    assert (finding.kind, finding.columns) == (LABEL, ("x5",))


def test_rows_of_weight_zero_do_not_count():
    counts = np.arange(N) % 2 == 0
    table = X.assign(odd=np.where(counts, FAULTS["currency"][1], X["town"]))
    assert fitted(ScorecardClassifier("auc", **CARD), table, BAD)[1] == []
    _, (warning,) = fitted(ScorecardClassifier("auc", **CARD), table, BAD, counts.astype(float))
    assert [each.kind for each in warning.findings] == [NUMBERS]
