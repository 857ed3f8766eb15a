"""Money saved on loans, intervals of money in long tails, and budgets of alerts on 200 days.

Three parts: costs of single rows on tables with a real amount, against one threshold and the
cost-sensitive logistic regressions of empulse; the coverage of intervals of money saved where few
rows carry most of it; the days on which a budget of alerts is broken, under weekdays and a prior
shift. ``python -m benchmarks.studies.money_and_budgets``, with empulse installed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import poisson
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.harness.data import load, load_table
from benchmarks.harness.markdown import holds, table
from benchmarks.harness.record import (
    Record,
    Row,
    commit,
    commits_of,
    distinct,
    mean_of,
    numbers,
    select,
)
from benchmarks.harness.runner import Part, Study, quiet, timed
from directrix import DirectClassifier, OperatingPointClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import Budget, Cost
from directrix.models.money import BY_ROW, BY_THRESHOLD, Money, RowCosts, long_tailed_interval
from directrix.moments import ScoreHistogram
from directrix.monitoring import keep_budget

# ── Money saved on tables with an amount, against others ──────────────────────────────────────────

#: Amounts by table; a miss costs three quarters of it.
AMOUNTS = {
    "german_credit": "credit_amount",
    "credit_data": "Amount",
    "lending_club": "funded_amnt",
    "default_credit": "x0",
}
LOSS = 0.75
FOLDS = 5
OURS = "DirectClassifier, row by row"
EMPULSE_C = (0.1, 1.0, 10.0, 100.0)
Flags = dict[str, tuple[AnyArray, float]]


def frame_of(name: str) -> tuple[Any, AnyArray]:
    """Return a table of loans, with texts instead of missing texts, and which are bad."""
    import pandas as pd  # noqa: PLC0415 - only this part needs it

    if name == "default_credit":
        X, y = load(name)
        X = np.asarray(X.todense() if hasattr(X, "todense") else X)
        return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), np.asarray(y) > 0
    frame, y = load_table(name)
    plain = {}
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_numeric_dtype(values):
            plain[column] = values.astype(float)
        else:
            plain[column] = values.astype(object).where(values.notna(), "none").astype(str)
    return pd.DataFrame(plain), y


def coded() -> Any:
    """Return the features of the lines: standardised numbers, indicators of texts."""
    numeric = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=10)
    return make_column_transformer(
        (numeric, make_column_selector(dtype_include=np.number)),
        (texts, make_column_selector(dtype_exclude=np.number)),
    )


def best_threshold(probability: FloatArray, y: AnyArray, costs: RowCosts) -> float:
    """Return the threshold of least cost on rows."""
    order = np.argsort(-probability)
    gain = np.where(y, costs.fn, -costs.fp)[order]
    saved = np.concatenate([[0.0], np.cumsum(gain)])
    levels = np.concatenate([[1.0], probability[order]])
    return float(levels[int(np.argmax(saved))]) - 1e-12


def directrix_flags(
    X: FloatArray, y: AnyArray, fn: FloatArray, new: FloatArray, of_new: RowCosts
) -> Flags:
    """Return the decisions for costs that are known in time, and for costs that are not."""
    flags: Flags = {}
    for way, known in ((BY_ROW, True), (BY_THRESHOLD, False)):
        model = DirectClassifier(Cost(fp=float(of_new.fp[0]), fn="loss", known=known))
        fitted, cpu = timed(model.fit, X, y, loss=fn)
        flags[way] = fitted.predict(new, loss=of_new.fn) if known else fitted.predict(new), cpu
    return flags


def empulse_flags(
    X: FloatArray, y: AnyArray, costs: RowCosts, new: FloatArray, of_new: RowCosts
) -> Flags:
    """Return the decisions of empulse's CSLogit, C by inner folds."""
    from empulse.models import CSLogitClassifier  # noqa: PLC0415 - a rival

    def fitted(rows: AnyArray, C: float) -> Any:
        given = costs.take(rows)
        model = CSLogitClassifier(C=C)
        return model.fit(X[rows], y[rows], fn_cost=given.fn, fp_cost=given.fp)

    def chosen() -> Any:
        spent = []
        for C in EMPULSE_C:
            flags = np.zeros(len(y), dtype=bool)
            for train, test in StratifiedKFold(3).split(X, y):
                flags[test] = fitted(train, C).predict(X[test])
            spent.append(costs.of_decisions(y, flags).mean())
        return fitted(np.arange(len(y)), EMPULSE_C[int(np.argmin(spent))])

    model, cpu = timed(chosen)
    row_wise = of_new.expected_saving(model.predict_proba(new)[:, 1]) > 0
    return {
        "empulse CSLogit": (model.predict(new).astype(bool), cpu),
        "empulse CSLogit, row by row": (row_wise, cpu),
    }


def fold_flags(frame: Any, y: AnyArray, costs: RowCosts, train: AnyArray, test: AnyArray) -> Flags:
    """Return the decisions about the test rows, and the CPU seconds of each method."""
    code = coded()
    X, new = code.fit_transform(frame.iloc[train]), code.transform(frame.iloc[test])
    given, of_new = costs.take(train), costs.take(test)
    flags: Flags = {"flag none": (np.zeros(len(test), dtype=bool), 0.0)}
    flags["flag all"] = ~flags["flag none"][0], 0.0
    for way, found in directrix_flags(X, y[train], given.fn, new, of_new).items():
        flags[f"DirectClassifier, {way}"] = found
    logistic = LogisticRegression(C=0.1, max_iter=2000)
    held_out, cpu = timed(
        cross_val_predict, logistic, X, y[train], cv=FOLDS, method="predict_proba"
    )
    threshold = best_threshold(held_out[:, 1], y[train], given)
    probability = logistic.fit(X, y[train]).predict_proba(new)[:, 1]
    flags["logistic regression, best threshold"] = probability > threshold, cpu
    flags["logistic regression, row by row"] = of_new.expected_saving(probability) > 0, cpu
    return flags | empulse_flags(X, y[train], given, new, of_new)


def savings(name: str) -> list[tuple[Any, ...]]:
    """Return for each method its mean cost in five folds, and the paired difference to ours."""
    frame, y = frame_of(name)
    fn = LOSS * frame[AMOUNTS[name]].to_numpy(dtype=float)
    costs = RowCosts(np.full(len(y), float(y.mean() * fn.mean())), fn)
    spent: dict[str, FloatArray] = {}
    seconds: dict[str, float] = {}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, y):
        for method, (flagged, cpu) in fold_flags(frame, y, costs, train, test).items():
            of_rows = spent.setdefault(method, np.zeros(len(y)))
            of_rows[test] = costs.take(test).of_decisions(y[test], flagged)
            seconds[method] = seconds.get(method, 0.0) + cpu
    records = []
    for method, of_rows in spent.items():
        ours = of_rows - spent[OURS]
        low, high = long_tailed_interval(ours)
        values = of_rows.mean(), ours.mean(), low, high
        cells = (f"{value:.4f}" for value in values)
        records.append((name, method, len(y), *cells, f"{seconds[method]:.1f}", commit()))
    return records


# ── Coverage of the interval of money saved in long tails ─────────────────────────────────────────

MEAN = 100.0
RECALL, FPR, FP = 0.7, 0.05, 5.0
TAILS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "lognormal, sigma 2": lambda rng, n: MEAN * np.exp(2.0 * rng.normal(size=n) - 2.0),
    "lognormal, sigma 1": lambda rng, n: MEAN * np.exp(rng.normal(size=n) - 0.5),
    "Pareto 1.5": lambda rng, n: MEAN / 3.0 * (1.0 + rng.pareto(1.5, n)),
    "Lomax 1.5": lambda rng, n: MEAN / 2.0 * rng.pareto(1.5, n),
    "exponential": lambda rng, n: rng.exponential(MEAN, n),
}
SAMPLES = ((2000, 0.02), (2000, 0.1), (20_000, 0.02))
DRAWS, RESAMPLES = 200, 200


def bootstrap(values: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of the bootstrap of rows."""
    found = values[values != 0]
    counts = rng.binomial(len(values), len(found) / len(values), RESAMPLES)
    means = [found[rng.integers(0, len(found), k)].sum() / len(values) for k in counts]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def coverage(tail: str, n: int, prior: float) -> list[tuple[Any, ...]]:
    """Return how often intervals of the money saved cover it, and their median width."""
    rng = np.random.default_rng(n + round(1000 * prior))
    truth = prior * RECALL * MEAN - (1.0 - prior) * FPR * FP
    ends: dict[str, list[tuple[float, float]]] = {"ours": [], "normal": [], "bootstrap": []}
    for _ in range(DRAWS):
        y, amount = rng.random(n) < prior, TAILS[tail](rng, n)
        flagged = rng.random(n) < np.where(y, RECALL, FPR)
        costs = RowCosts(np.full(n, FP), amount)
        saved = np.where(flagged, np.where(y, amount, -FP), 0.0)
        found = Money.of(costs, y, np.ones(n), {"": flagged})[""].saved_on_none
        ends["ours"].append((found.low, found.high))
        reach = 1.96 * saved.std() / np.sqrt(n)
        ends["normal"].append((saved.mean() - reach, saved.mean() + reach))
        ends["bootstrap"].append(bootstrap(saved, rng))
    records = []
    for method, pairs in ends.items():
        low, high = np.array(pairs).T
        shares = (np.mean((low <= truth) & (truth <= high)), np.mean(low > truth))
        width = float(np.median(high - low)) / truth
        cells = (f"{value:.4f}" for value in (*shares, width))
        records.append((tail, n, prior, method, DRAWS, *cells, commit()))
    return records


# ── Budgets on 200 days with weekdays and a prior shift ───────────────────────────────────────────

WEEK = (1.0, 1.05, 1.0, 1.0, 1.1, 0.6, 0.5)
ALERTS, ROWS = 200, 5000
TRAINED, NEW, SHIFT = 90, 200, 100
SHARES = (0.01, 0.02)
NOISES, SEEDS = (0.03, 0.08), range(3)
_FIRST = date(2026, 1, 5)


def day_of(number: int, rng: np.random.Generator, noise: float) -> tuple[FloatArray, AnyArray]:
    """Return the scores and labels of a day; the share of positives doubles after a while."""
    n = rng.poisson(ROWS * WEEK[number % 7] * np.exp(noise * rng.normal()))
    y = rng.random(n) < SHARES[number >= TRAINED + SHIFT]
    return rng.normal(size=n) + 2.0 * y, y


def budgets(noise: float, seed: int) -> list[tuple[Any, ...]]:
    """Return the share of new days above the budget and the alerts used, by three thresholds."""
    rng = np.random.default_rng(seed)
    days = [day_of(number, rng, noise) for number in range(TRAINED + NEW)]
    scores, y = (np.concatenate(each) for each in zip(*days[:TRAINED], strict=True))
    day = np.repeat(np.arange(TRAINED), [len(labels) for _, labels in days[:TRAINED]])
    model = OperatingPointClassifier(None, limits=Budget(ALERTS), guarantee=0.95)
    model.fit(scores, y, day=day)
    fixed = float(np.quantile(scores, 1.0 - ALERTS * TRAINED / len(scores)))
    of_day = {
        _FIRST + timedelta(days=k): ScoreHistogram.of_scores(None, model.decision_function(each))
        for k, (each, _) in enumerate(days)
    }
    dates = list(of_day)
    counts: dict[str, list[int]] = {}
    for number in range(TRAINED, TRAINED + NEW):
        new = days[number][0]
        past = {when: of_day[when] for when in dates[:number]}
        move = keep_budget(model, past)
        flagged = {
            "fixed share": new > fixed,
            "order statistic of days, fixed": model.predict(new),
            "moved every day": move.model.predict(new),
        }
        for method, flags in flagged.items():
            counts.setdefault(method, []).append(int(np.count_nonzero(flags)))
    records = []
    for method, of_method in counts.items():
        alerts = np.array(of_method)
        halves = (alerts[:SHIFT], alerts[SHIFT:], alerts)
        above = (f"{np.mean(each > ALERTS):.4f}" for each in halves)
        used = (f"{np.mean(each) / ALERTS:.4f}" for each in halves)
        records.append((noise, seed, method, NEW, *above, *used, commit()))
    return records


def most_used(noise: float, share: float = 0.95) -> float:
    """Return the most of the budget that can be used if it is kept on a share of days.

    The threshold is set before the day. Even if the mean number of alerts at each threshold is
    known, alerts are Poisson and volumes lognormal around it.
    """
    z, weight = np.polynomial.hermite_e.hermegauss(61)
    factor, weight = np.exp(noise * z), weight / weight.sum()

    def excess(mean: float) -> float:
        return float(weight @ poisson.cdf(ALERTS, mean * factor)) - share

    return float(brentq(excess, 0.1 * ALERTS, ALERTS)) * float(weight @ factor) / ALERTS


# ── Report ────────────────────────────────────────────────────────────────────────────────────────


def savings_lines(rows: list[Row]) -> list[str]:
    """Return the report of the money saved."""
    about = (
        f"A miss costs {LOSS:g} of the amount, a false positive the share of bad loans times the "
        f"mean of that; {FOLDS} folds, every row is tested once. Money saved is the share of what "
        "flagging none costs. The last column is the mean cost of a row above that of "
        f"{OURS}, with a 95 % interval of the paired differences that long tails survive. "
        "CSLogit's C is chosen in inner folds; all lines have the same coded features. empulse's "
        "ProfLogit is left out: one fit did not end within 60 seconds. Commit "
        f"{commits_of(rows)}."
    )
    cells, best = [], []
    for name in distinct(rows, "set"):
        of_set = select(rows, set=name)
        none = mean_of(select(of_set, method="flag none"), "cost")
        for row in of_set:
            cost = float(row["cost"])
            gap = (
                f"{float(row['gap']):+.4g} ({float(row['low']):+.4g} to {float(row['high']):+.4g})"
            )
            saved = f"{100 * (1 - cost / none):.1f} %"
            cells.append((name, row["method"], f"{cost:.4g}", saved, gap, row["cpu"]))
        rivals = [row for row in of_set if row["method"].startswith(("empulse", "logistic"))]
        best.append(all(float(row["high"]) >= 0 for row in rivals))
    columns = "table | method | mean cost of a row | saved | above ours | CPU seconds"
    said = "No rival is cheaper than ours with an interval that excludes zero, on any table"
    return ["## Money saved", "", about, *table(columns, cells), "", f"{said}: {holds(all(best))}."]


def coverage_lines(rows: list[Row]) -> list[str]:
    """Return the report of the coverage."""
    about = (
        f"Rows of which {100 * RECALL:g} % of the positives and {100 * FPR:g} % of the negatives "
        f"are flagged, amounts of mean {MEAN:g}, {DRAWS} draws: how often the 95 % interval of "
        f"the money saved covers it. Commit {commits_of(rows)}."
    )
    cells = []
    for tail, (n, prior) in product(TAILS, SAMPLES):
        of_tail = [row for row in select(rows, tail=tail, prior=prior) if row["rows"] == str(n)]
        found = {row["method"]: row for row in of_tail}
        if not found:
            continue
        shares = (f"{100 * float(found[m]['covered']):.1f} %" for m in ("ours", "bootstrap"))
        normal = f"{100 * float(found['normal']['covered']):.1f} %"
        widths = (f"{float(found[m]['width']):.2f}" for m in ("ours", "bootstrap"))
        cells.append((tail, f"{n:,}", f"{100 * prior:g} %", *shares, normal, *widths))
    columns = (
        "amounts | rows | positives | ours | bootstrap of rows | normal | width, ours | "
        "width, bootstrap"
    )
    least = numbers(select(rows, method="ours"), "covered").min()
    said = f"Ours covers at least 90 % in all rows above (least: {100 * least:.1f} %)"
    return [
        "## Intervals",
        "",
        about,
        *table(columns, cells),
        "",
        f"{said}: {holds(least >= 0.9)}.",
    ]


def budget_lines(rows: list[Row]) -> list[str]:
    """Return the report of the budgets."""
    about = (
        f"{ALERTS} alerts a day of about {ROWS:,} rows; {TRAINED} days set the threshold, {NEW} "
        f"follow. Volumes by weekday are {', '.join(f'{v:g}' for v in WEEK)}, times lognormal "
        f"noise; the share of positives is {100 * SHARES[0]:g} %, and {100 * SHARES[1]:g} % after "
        f"{SHIFT} of the new days. Means over draws. Commit {commits_of(rows)}."
    )
    cells = []
    for noise, method in product(distinct(rows, "noise"), distinct(rows, "method")):
        of_method = select(rows, noise=noise, method=method)
        names = ("above_before", "above_after", "above", "used_before", "used_after", "used")
        shares = (f"{100 * mean_of(of_method, name):.1f} %" for name in names)
        draws = len(of_method)
        cells.append((f"{100 * float(noise):g} %", method, draws, *shares))
    columns = (
        "noise of volume | threshold | draws | days above, before the shift | after | all | "
        "budget used, before the shift | after | all"
    )
    moved = select(rows, noise=NOISES[0], method="moved every day")
    above, used = mean_of(moved, "above"), mean_of(moved, "used")
    said = (
        f"Moved every day, with {100 * NOISES[0]:g} % noise: at most 5 % of days above "
        f"({100 * above:.1f} %) and at least 85 % used ({100 * used:.1f} %)"
    )
    kept = above <= 0.05 and used >= 0.85
    most = " and ".join(f"{100 * most_used(n):.1f} % with {100 * n:g} %" for n in NOISES)
    bound = (
        "A threshold that is set the day before, even by someone who knows the mean number of "
        f"alerts at each, uses at most {most} noise, if it keeps the budget on 95 % of days."
    )
    text = ["## Budgets", "", about, *table(columns, cells), "", f"{said}: {holds(kept)}."]
    return [*text, "", bound]


def lines(rows: list[Row]) -> list[str]:
    """Return the report of all three parts."""
    made = "Made by `python -m benchmarks.studies.money_and_budgets`."
    report = ["# Money and budgets", "", made]
    parts = (savings_lines, rows), (coverage_lines, COVERAGE.rows()), (budget_lines, DAYS.rows())
    for part, measured in parts:
        report += ["", *part(measured)] if measured else []
    return report


SAVINGS = Record.beside(__file__, "set, method, rows, cost, gap, low, high, cpu, commit", "set")
COVERAGE = Record(
    SAVINGS.path.with_name("money_intervals.csv"),
    "tail, rows, prior, method, draws, covered, above, width, commit",
    "tail, rows, prior",
)
DAYS = Record(
    SAVINGS.path.with_name("budget_days.csv"),
    "noise, seed, method, days, above_before, above_after, above, used_before, used_after, used, "
    "commit",
    "noise, seed",
)


def plan_of(values: Callable[[], Any], args: Namespace) -> Any:
    """Return the tasks of a part; a quick run has the first of each only."""
    tasks = list(values())
    return tasks[:1] if args.quick else tasks


STUDY = Study(
    [
        Part(SAVINGS, partial(plan_of, lambda: [(name,) for name in AMOUNTS]), savings),
        Part(
            COVERAGE,
            partial(plan_of, lambda: [(t, *sample) for t in TAILS for sample in SAMPLES]),
            coverage,
        ),
        Part(DAYS, partial(plan_of, lambda: product(NOISES, SEEDS)), budgets),
    ],
    lines,
    quick="the first task of each part",
    options={"--minutes": None},
)

if __name__ == "__main__":
    with quiet():
        STUDY.main(__doc__)
