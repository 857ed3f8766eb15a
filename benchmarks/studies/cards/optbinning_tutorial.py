"""The scorecard tutorial of optbinning, done with both libraries.

``python -m benchmarks.studies.cards.optbinning_tutorial`` follows its page "Scorecard with binary
target": from a raw table with special codes and missing values to a card of scaled points, printed
and saved. The table of that page is not free to share; two others stand for it:
give_me_some_credit, whose codes 96 and 98 are no numbers of late payments, and german_credit, whose
columns are mostly texts. Both are divided once into 70 % training and 30 % test rows, at most
10,000 together; both cards are additive. The report has the very code that ran.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, mean_of, select
from benchmarks.harness.runner import Part, Study, quiet, timed
from benchmarks.studies.cards.folds import table_of
from directrix.metrics import AUC, RecallAtFPR

LATE = (
    "NumberOfTime30-59DaysPastDueNotWorse",
    "NumberOfTime60-89DaysPastDueNotWorse",
    "NumberOfTimes90DaysLate",
)
#: Codes that are no quantities, by table and column.
SPECIAL: dict[str, dict[str, list[float]]] = {
    "give_me_some_credit": {column: [96.0, 98.0] for column in LATE},
    "german_credit": {},
}
METRICS: dict[str, Any] = {"recall at FPR 5 %": RecallAtFPR(0.05), "AUC": AUC()}
#: Lines of a card that the report shows.
SHOWN = 24


def with_optbinning(
    X: Any, y: Any, special: dict[str, list[float]], path: Path, least: float = 0.05
) -> Any:
    """Build, print and save a card with optbinning."""
    from optbinning import BinningProcess, Scorecard  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    process = BinningProcess(
        list(X),
        min_prebin_size=least,
        categorical_variables=[name for name in X if X[name].dtype == "string"],
        binning_fit_params={name: {"special_codes": codes} for name, codes in special.items()},
    )
    card = Scorecard(
        process,
        LogisticRegression(max_iter=1000),
        scaling_method="pdo_odds",
        scaling_method_params={"pdo": 20, "odds": 50, "scorecard_points": 600},
    )
    card.fit(X, y, metric_special="empirical", metric_missing="empirical")
    print(card.table(style="summary"))
    card.save(str(path))
    return card


def with_directrix(X: Any, y: Any, special: dict[str, list[float]], path: Path) -> Any:
    """Build, print and save a card with directrix."""
    from directrix import Binner, ScorecardClassifier  # noqa: PLC0415
    from directrix.export import save  # noqa: PLC0415

    card = ScorecardClassifier(
        "recall@fpr=0.05", binner=Binner(special_values=special), max_crosses=0, points="pdo"
    )
    card.fit(X, y)
    print(card.card_)
    save(card, path)
    return card


#: By default optbinning has no bin of fewer than 5 % of the rows: too coarse for late payments.
FINE = "optbinning, bins from 1 % of the rows"
METHODS: dict[str, Callable[..., Any]] = {
    "optbinning": with_optbinning,
    FINE: partial(with_optbinning, least=0.01),
    "directrix": with_directrix,
}


def measure(name: str, method: str) -> list[tuple[object, ...]]:
    """Return a row of the record: one method on one table."""
    X, y = table_of(name, 10_000)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    printed = io.StringIO()
    with TemporaryDirectory() as folder, quiet(), redirect_stdout(printed):
        path = Path(folder, "card")
        card, spent = timed(METHODS[method], X_train, y_train, SPECIAL[name], path)
        scores = card.predict_proba(X_test)[:, 1]
        scored = [_is_scored(card, rows) for rows in odd_rows(X_test)]
    values = (f"{metric.score(y_test, scores):.6g}" for metric in METRICS.values())
    shown = "\n".join(printed.getvalue().splitlines()[:SHOWN])
    return [(name, method, f"{spent:.3g}", *values, *scored, shown, commit())]


def odd_rows(X: Any) -> list[Any]:
    """Return rows unlike any of the training rows.

    Every number missing, whether or not it was in training; every number infinite; every text a
    level that was never seen, or nothing where there are no texts.
    """
    numbers = [name for name in X if X[name].dtype.kind in "iuf"]
    texts = [name for name in X if name not in numbers]
    few = X.iloc[:5].astype(dict.fromkeys(numbers, np.float64))
    return [
        few.assign(**dict.fromkeys(numbers, np.nan)),
        few.assign(**dict.fromkeys(numbers, np.inf)),
        few.assign(**dict.fromkeys(texts, "never seen")) if texts else few.iloc[:0],
    ]


def _is_scored(card: Any, rows: Any) -> str:
    """Return whether each of some rows has a finite probability; how it fails if not."""
    if not len(rows):
        return ""
    try:
        probability = np.asarray(card.predict_proba(rows), dtype=np.float64)
    except Exception as error:  # noqa: BLE001 - whatever a user would see
        return type(error).__name__
    return "yes" if np.isfinite(probability).all() else "no number"


# ── the report ────────────────────────────────────────────────────────────────────────────────────


def body(function: Callable[..., Any]) -> list[str]:
    """Return the lines of a function as a script would have them: without signature and docstring.

    What it returns is left out too.
    """
    source = inspect.getsource(function)
    inside = source[source.index('"""', source.index('"""') + 3) + 3 :]
    lines = dedent(inside.strip("\n")).splitlines()
    return [text.split("  # noqa")[0] for text in lines if not text.startswith("return ")]


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    text = ["# A scorecard with optbinning and with directrix", ""]
    text += ["How: see `optbinning_tutorial.py`.", "", "## Code", ""]
    text += [
        "`X` and `y` are the training rows, `special` the codes of each column, `path` where the",
        "card is saved, and `least` is 0.05, the default of optbinning, or 0.01.",
        "",
    ]
    for library, function in (("optbinning", with_optbinning), ("directrix", with_directrix)):
        code = body(function)
        count = sum(bool(row.strip()) for row in code)
        text += [f"{library}, {count} lines:", "", "```python", *code, "```", ""]
    text = text[:-1]
    for name in SPECIAL:
        text += _of_table(name, select(rows, set=name))
    return text


def _of_table(name: str, rows: list[Row]) -> list[str]:
    unit = mean_of(select(rows, method="optbinning"), "cpu")
    odd = ("missing", "infinite", "unseen")
    cells = []
    for row in rows:
        values = (f"{float(row[metric]):.4f}" for metric in METRICS)
        ratio = f"{float(row['cpu']) / unit:.2f}"
        cells.append((row["method"], *values, ratio, *(row[c] or "no texts" for c in odd)))
    columns = ("method", *METRICS, "CPU to optbinning", *(f"{c} scored" for c in odd))
    text = table(" | ".join(columns), cells, name)
    for row in rows:
        if row["method"] != FINE:
            text += ["", f"The card of {row['method']}, its first {SHOWN} lines:", ""]
            text += ["```text", *(shown.rstrip() for shown in row["card"].splitlines()), "```"]
    return text


RECORD = Record.beside(
    __file__,
    ("set", "method", "cpu", *METRICS, "missing", "infinite", "unseen", "card", "commit"),
    "set, method",
)
STUDY = Study([Part(RECORD, lambda _: product(SPECIAL, METHODS), measure)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
