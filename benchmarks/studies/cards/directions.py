"""Directions that a credit officer would demand of five tables, written before any was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

UP, DOWN = "increasing", "decreasing"


class Demand(NamedTuple):
    """How the risk of a row may change with one column.

    ``direction``: of numbers a word; of texts the levels from the least risk to the greatest.
    Levels that are not among them are free.
    """

    direction: str | tuple[str, ...]
    reason: str


#: By table and column. At most one level of a text is left free: one that says nothing of the
#: quantity that the others measure.
DEMANDS: dict[str, dict[str, Demand]] = {
    "german_credit": {
        "status_of_existing_checking_account": Demand(
            (
                "... >= 200 DM / salary assignments for at least 1 year",
                "0 <= ... < 200 DM",
                "... < 0 DM",
            ),
            "a lower balance is more risk; having no account says nothing of a balance",
        ),
        "savings_account_and_bonds": Demand(
            ("... >= 1000 DM", "500 <= ... < 1000 DM", "100 <= ... < 500 DM", "... < 100 DM"),
            "savings carry an applicant through a bad month; unknown ones are free",
        ),
        "present_employment_since": Demand(
            (
                "... >= 7 years",
                "4 <= ... < 7 years",
                "1 <= ... < 4 years",
                "... < 1 year",
                "unemployed",
            ),
            "a longer employment is a steadier income",
        ),
        "duration_in_month": Demand(UP, "more can happen in a longer loan"),
        "credit_amount": Demand(UP, "a larger loan is harder to repay"),
        "installment_rate_in_percentage_of_disposable_income": Demand(
            UP, "a larger share of the income is bound"
        ),
        "age_in_years": Demand(DOWN, "older applicants must not lose points for their age"),
    },
    "credit_data": {
        "Seniority": Demand(DOWN, "more years in the job are a steadier income"),
        "Records": Demand(("no", "yes"), "a record of earlier defaults is no merit"),
        "Income": Demand(DOWN, "more income repays more"),
        "Assets": Demand(DOWN, "assets can be sold or pledged"),
        "Debt": Demand(UP, "debts compete for the same income"),
        "Amount": Demand(UP, "a larger loan is harder to repay"),
        "Time": Demand(UP, "more can happen in a longer loan"),
    },
    "lending_club": {
        "sub_grade": Demand(
            tuple(f"{letter}{number}" for letter in "ABCDEFG" for number in range(1, 6)),
            "the grades of the lender are in this order",
        ),
        "term": Demand(("term_36", "term_60"), "more can happen in a longer loan"),
        "int_rate": Demand(UP, "the rate is the lender's price of risk"),
        "annual_inc": Demand(DOWN, "more income repays more"),
        "delinq_2yrs": Demand(UP, "late payments are no merit"),
        "inq_last_6mths": Demand(UP, "applicants in need ask many lenders"),
        "revol_util": Demand(UP, "credit lines close to their limits leave no reserve"),
        "all_util": Demand(UP, "credit lines close to their limits leave no reserve"),
    },
    "give_me_some_credit": {
        "RevolvingUtilizationOfUnsecuredLines": Demand(
            UP, "credit lines close to their limits leave no reserve"
        ),
        "NumberOfTime30-59DaysPastDueNotWorse": Demand(UP, "late payments are no merit"),
        "NumberOfTime60-89DaysPastDueNotWorse": Demand(UP, "late payments are no merit"),
        "NumberOfTimes90DaysLate": Demand(UP, "late payments are no merit"),
        "MonthlyIncome": Demand(DOWN, "more income repays more"),
        "age": Demand(DOWN, "older applicants must not lose points for their age"),
        "NumberOfDependents": Demand(UP, "more people live on the same income"),
    },
    "default_credit": {
        "LIMIT_BAL": Demand(DOWN, "the bank gave its larger limits to safer customers"),
        "PAY_0": Demand(UP, "more months of delay are more risk"),
        "PAY_2": Demand(UP, "more months of delay are more risk"),
        "PAY_3": Demand(UP, "more months of delay are more risk"),
        "PAY_AMT1": Demand(DOWN, "whoever pays more back owes less"),
        "PAY_AMT2": Demand(DOWN, "whoever pays more back owes less"),
    },
}


def monotone(name: str) -> dict[str, Any]:
    """Return the directions of a table as `ScorecardClassifier` takes them."""
    return {
        column: demand.direction if isinstance(demand.direction, str) else list(demand.direction)
        for column, demand in DEMANDS[name].items()
    }


def frequent(directions: Mapping[str, Any], frame: Any, least: int = 10) -> dict[str, Any]:
    """Return directions without the levels of too few rows, which have no points of their own.

    ``frame``: training rows. ``least``: as ``min_level_rows`` of `Binner`.
    """
    found = {}
    for column, direction in directions.items():
        if isinstance(direction, str):
            found[column] = direction
            continue
        counts = frame[column].value_counts()
        found[column] = [level for level in direction if counts.get(level, 0) >= least]
    return found


def signs(directions: Mapping[str, Any]) -> dict[str, int]:
    """Return 1 for columns of rising risk, as texts by their ranks are, and -1 for falling."""
    return {column: -1 if direction == DOWN else 1 for column, direction in directions.items()}


def with_ranks(frame: Any, directions: Mapping[str, Any]) -> Any:
    """Return a frame whose texts with a direction are ranks, as numbers; free levels are missing.

    Libraries that constrain numbers only can then constrain these texts too.
    """
    ranks = {
        column: frame[column]
        .map({level: float(rank) for rank, level in enumerate(direction)})
        .astype(np.float64)
        for column, direction in directions.items()
        if not isinstance(direction, str)
    }
    return frame.assign(**ranks)
