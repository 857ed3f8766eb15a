"""DirectClassifier on features of features, against trees: where lines reach them, and where not.

``python -m benchmarks.beyond_lines.run`` appends a line for each set, fold and model to
``measured.csv``, goes on where it stopped, and writes ``beyond_lines.md``. Three stratified folds,
at most 6,000 rows of a set, the same for all. Features are standardised for Nystroem (200
components, its own width) and for logistic regression; splines have five knots. Trees are at their
defaults
(scikit-learn's and XGBoost's), and so is DirectClassifier: nothing is tuned by hand. CPU is that of
the fit for both metrics, transformation included, to that of tuned logistic regression; the size is
that of the pickled model.
"""

from __future__ import annotations

import csv
import pickle
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from tqdm import tqdm

from benchmarks.arena.protocol import rows_of
from benchmarks.markdown import header, line
from directrix import DirectClassifier
from directrix.metrics import AUC, RecallAtFPR

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

SETS = (
    *("diabetes", "german", "svmguide3", "splice", "svmguide1", "ada", "satimage", "spambase"),
    *("phishing", "mammography", "htru2", "magic04", "letter", "cod-rna_30k", "default_credit"),
    *("ijcnn1", "bank-marketing", "covtype"),
)
METRICS = {"recall at FPR 1 %": RecallAtFPR(0.01), "AUC": AUC()}
FOLDS, MOST_ROWS = 3, 6_000
RESULTS = Path(__file__).with_name("measured.csv")
REPORT = Path(__file__).with_name("beyond_lines.md")
UNIT = "logistic, tuned"


class Fitted(NamedTuple):
    """What scores rows, for each metric, and the pickled bytes of one of them."""

    scores: Callable[[Any], dict[str, FloatArray]]
    size: int


def _lines(transformer: Any, X: AnyArray, y: AnyArray) -> Fitted:
    features = transformer.fit_transform(X)
    models = DirectClassifier().fit_each(list(METRICS.values()), features, y)

    def scores(rows: Any) -> dict[str, FloatArray]:
        own = transformer.transform(rows)
        return {
            name: np.asarray(model.decision_function(own))
            for name, model in zip(METRICS, models, strict=True)
        }

    line_alone = models[0].coef_, models[0].intercept_, models[0].classes_
    return Fitted(scores, len(pickle.dumps((transformer, line_alone))))


def _one(model: Any, X: AnyArray, y: AnyArray) -> Fitted:
    model.fit(X, y)

    def scores(rows: Any) -> dict[str, FloatArray]:
        own = model.predict_proba(rows)[:, 1]
        return dict.fromkeys(METRICS, own)

    return Fitted(scores, len(pickle.dumps(model)))


def _xgboost() -> Any:
    from xgboost import XGBClassifier  # noqa: PLC0415 - optional

    return XGBClassifier(n_jobs=1, random_state=0)


MODELS: dict[str, Callable[[AnyArray, AnyArray], Fitted]] = {
    UNIT: lambda X, y: _one(
        make_pipeline(StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000)), X, y
    ),
    "DirectClassifier": lambda X, y: _lines(StandardScaler(), X, y),
    "splines, DirectClassifier": lambda X, y: _lines(
        make_pipeline(StandardScaler(), SplineTransformer(extrapolation="linear")), X, y
    ),
    "Nystroem, DirectClassifier": lambda X, y: _lines(
        make_pipeline(StandardScaler(), Nystroem(n_components=200, random_state=0)), X, y
    ),
    "HistGradientBoosting": lambda X, y: _one(HistGradientBoostingClassifier(random_state=0), X, y),
    "XGBoost": lambda X, y: _one(_xgboost(), X, y),
}


def measured(name: str, fold: int, models: list[str]) -> list[tuple[Any, ...]]:
    """Fit models to the training rows of a fold, and score the others."""
    X, y = rows_of(name)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    kept = np.sort(np.random.default_rng(1).permutation(len(y))[:MOST_ROWS])
    X, y = X[kept], np.asarray(y)[kept]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(X, y))[fold]
    found, unit = [], 1.0
    for model in dict.fromkeys([UNIT, *models]):
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = MODELS[model](X[train], y[train])
        spent = process_time() - start
        unit = spent if model == UNIT else unit
        scores = fitted.scores(X[test])
        values = [f"{METRICS[key].score(y[test], scores[key]):.6g}" for key in METRICS]
        found.append((name, fold, model, f"{spent / unit:.3g}", fitted.size, *values))
    return [each for each in found if each[2] in models]


def read() -> list[dict[str, str]]:
    """Return what was measured."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Measure what is missing, and report."""
    done = {(own["set"], int(own["fold"]), own["model"]) for own in read()}
    if not done:
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            about = ("set", "fold", "model", "cpu", "bytes", *METRICS)
            csv.writer(file, lineterminator="\n").writerow(about)
    tasks = [
        (name, fold, missing)
        for fold in range(FOLDS)
        for name in SETS
        if (missing := [m for m in MODELS if (name, fold, m) not in done])
    ]
    for name, fold, missing in tqdm(tasks):
        with RESULTS.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(measured(name, fold, missing))
    report()


def report() -> None:
    """Write the tables."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    costs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for own in read():
        for metric in METRICS:
            values[metric, own["set"], own["model"]].append(float(own[metric]))
        for key in ("cpu", "bytes"):
            costs[key, own["model"]].append(float(own[key]))
    lines = ["# Lines on more features, against trees", "", "How: see `run.py`.", ""]
    for metric in METRICS:
        lines += [f"## {metric}", "", *header("set", *MODELS)]
        firsts = dict.fromkeys(MODELS, 0)
        for name in SETS:
            found = {m: mean(values[metric, name, m]) for m in MODELS if values[metric, name, m]}
            if len(found) < len(MODELS):
                continue
            best = max(found.values())
            for model, value in found.items():
                firsts[model] += value == best
            show = partial("{:.4f}".format)
            cells = (f"**{show(v)}**" if v == best else show(v) for v in found.values())
            lines.append(line(name, *cells))
        lines += [line("best on", *map(str, firsts.values())), ""]
    lines += ["## CPU of the fit, to that of tuned logistic regression, and size", ""]
    lines += header("model", "CPU, median", "kilobytes, median")
    for model in MODELS:
        if costs["cpu", model]:
            size = f"{median(costs['bytes', model]) / 1024:.0f}"
            lines.append(line(model, f"{median(costs['cpu', model]):.1f}", size))
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
