"""DirectClassifier on features of features, against trees: where lines reach them, and where not.

``python -m benchmarks.studies.beyond_lines`` appends a line for each set, fold and model to
``beyond_lines.csv``, goes on where it stopped, and writes ``beyond_lines.md``. Three stratified
folds, at most 6,000 rows of a set, the same for all. Features are standardised for Nystroem (200
components, its own width) and for logistic regression; splines have five knots. Trees are at their
defaults (scikit-learn's and XGBoost's), and so is DirectClassifier: nothing is tuned by hand. CPU
is that of the fit for both metrics, transformation included, to that of tuned logistic regression;
the size is that of the pickled model. ``--report`` measures nothing.
"""

from __future__ import annotations

import pickle
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from benchmarks.arena.protocol import rows_of
from benchmarks.harness.markdown import bold_if, header, line, write_report
from benchmarks.harness.record import Record
from benchmarks.harness.runner import measure_missing, option_parser
from directrix import DirectClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC, RecallAtFPR

SETS = (
    *("diabetes", "german", "svmguide3", "splice", "svmguide1", "ada", "satimage", "spambase"),
    *("phishing", "mammography", "htru2", "magic04", "letter", "cod-rna_30k", "default_credit"),
    *("ijcnn1", "bank-marketing", "covtype"),
)
METRICS = {"recall at FPR 1 %": RecallAtFPR(0.01), "AUC": AUC()}
FOLDS, MOST_ROWS = 3, 6_000
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("set", "fold", "model", "cpu", "bytes", *METRICS),
    ("fold", "set", "model"),
)
REPORT = Path(__file__).with_suffix(".md")
UNIT = "logistic, tuned"


class Fitted(NamedTuple):
    """A function that scores rows for each metric, and the pickled bytes of a model."""

    scores: Callable[[Any], dict[str, FloatArray]]
    size: int


def _fit_lines(transformer: Any, X: AnyArray, y: AnyArray) -> Fitted:
    features = transformer.fit_transform(X)
    models = DirectClassifier().fit_each(list(METRICS.values()), features, y)

    def scores(rows: Any) -> dict[str, FloatArray]:
        rows = transformer.transform(rows)
        return {
            name: np.asarray(model.decision_function(rows))
            for name, model in zip(METRICS, models, strict=True)
        }

    line_alone = models[0].coef_, models[0].intercept_, models[0].classes_
    return Fitted(scores, len(pickle.dumps((transformer, line_alone))))


def _fit_model(model: Any, X: AnyArray, y: AnyArray) -> Fitted:
    model.fit(X, y)

    def scores(rows: Any) -> dict[str, FloatArray]:
        return dict.fromkeys(METRICS, model.predict_proba(rows)[:, 1])

    return Fitted(scores, len(pickle.dumps(model)))


def _xgboost() -> Any:
    from xgboost import XGBClassifier  # noqa: PLC0415 - optional

    return XGBClassifier(n_jobs=1, random_state=0)


MODELS: dict[str, Callable[[AnyArray, AnyArray], Fitted]] = {
    UNIT: lambda X, y: _fit_model(
        make_pipeline(StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000)), X, y
    ),
    "DirectClassifier": lambda X, y: _fit_lines(StandardScaler(), X, y),
    "splines, DirectClassifier": lambda X, y: _fit_lines(
        make_pipeline(StandardScaler(), SplineTransformer(extrapolation="linear")), X, y
    ),
    "Nystroem, DirectClassifier": lambda X, y: _fit_lines(
        make_pipeline(StandardScaler(), Nystroem(n_components=200, random_state=0)), X, y
    ),
    "HistGradientBoosting": lambda X, y: _fit_model(
        HistGradientBoostingClassifier(random_state=0), X, y
    ),
    "XGBoost": lambda X, y: _fit_model(_xgboost(), X, y),
}


def measured(fold: int, name: str, models: list[tuple[str]]) -> list[tuple[Any, ...]]:
    """Fit models to the training rows of a fold, and score the others."""
    X, y = rows_of(name)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    sample = np.sort(np.random.default_rng(1).permutation(len(y))[:MOST_ROWS])
    X, y = X[sample], np.asarray(y)[sample]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(X, y))[fold]
    missing = [model for (model,) in models]
    rows, unit = [], 1.0
    for model in dict.fromkeys([UNIT, *missing]):
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = MODELS[model](X[train], y[train])
        spent = process_time() - start
        unit = spent if model == UNIT else unit
        scores = fitted.scores(X[test])
        values = [f"{METRICS[key].score(y[test], scores[key]):.6g}" for key in METRICS]
        rows.append((name, fold, model, f"{spent / unit:.3g}", fitted.size, *values))
    return [row for row in rows if row[2] in missing]


def lines() -> list[str]:
    """Return the report."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    costs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in RECORD.rows():
        for metric in METRICS:
            values[metric, row["set"], row["model"]].append(float(row[metric]))
        for key in ("cpu", "bytes"):
            costs[key, row["model"]].append(float(row[key]))
    text = ["# Lines on more features, against trees", "", "How: see `beyond_lines.py`.", ""]
    for metric in METRICS:
        text += [f"## {metric}", "", *header("set", *MODELS)]
        firsts = dict.fromkeys(MODELS, 0)
        for name in SETS:
            means = {m: mean(values[metric, name, m]) for m in MODELS if values[metric, name, m]}
            if len(means) < len(MODELS):
                continue
            best = max(means.values())
            for model, value in means.items():
                firsts[model] += value == best
            cells = (bold_if(f"{value:.4f}", value == best) for value in means.values())
            text.append(line(name, *cells))
        text += [line("best on", *map(str, firsts.values())), ""]
    text += ["## CPU of the fit, to that of tuned logistic regression, and size", ""]
    text += header("model", "CPU, median", "kilobytes, median")
    for model in MODELS:
        if costs["cpu", model]:
            size = f"{median(costs['bytes', model]) / 1024:.0f}"
            text.append(line(model, f"{median(costs['cpu', model]):.1f}", size))
    return text


def main() -> None:
    """Measure what is missing, and report."""
    if not option_parser(__doc__).parse_args().report:
        plan = product(range(FOLDS), SETS, MODELS)
        measure_missing(RECORD, plan, measured, together=2)
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
