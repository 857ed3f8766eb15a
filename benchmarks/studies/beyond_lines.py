"""DirectClassifier on features of features, against trees: where lines reach them, and where not.

``python -m benchmarks.studies.beyond_lines`` measures three stratified folds, at most 6,000 rows of
a set, the same for all. Features are standardised for Nystroem (200 components, its own width) and
for logistic regression; splines have five knots. Trees are at their defaults (scikit-learn's and
XGBoost's), and so is DirectClassifier: nothing is tuned by hand. CPU is that of the fit for both
metrics, transformation included, to that of tuned logistic regression; the size is that of the
pickled model.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import product
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from benchmarks.arena.protocol import rows_of
from benchmarks.harness.markdown import best_bold, line, table
from benchmarks.harness.record import Record, Row, grouped_by, numbers, select
from benchmarks.harness.runner import Part, Study, timed
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
UNIT = "logistic, tuned"


class Fitted(NamedTuple):
    """A function that scores rows for each metric, and the pickled bytes of a model."""

    scores: Callable[[Any], dict[str, FloatArray]]
    size: int


def _fit_lines(steps: Callable[[], list[Any]], X: AnyArray, y: AnyArray) -> Fitted:
    transformer = make_pipeline(StandardScaler(), *steps())
    features = transformer.fit_transform(X)
    models = DirectClassifier().fit_each(list(METRICS.values()), features, y)

    def scores(rows: Any) -> dict[str, FloatArray]:
        rows = transformer.transform(rows)
        found = (np.asarray(model.decision_function(rows)) for model in models)
        return dict(zip(METRICS, found, strict=True))

    line_alone = models[0].coef_, models[0].intercept_, models[0].classes_
    return Fitted(scores, len(pickle.dumps((transformer, line_alone))))


def _fit_model(model: Any, X: AnyArray, y: AnyArray) -> Fitted:
    model.fit(X, y)
    return Fitted(
        lambda rows: dict.fromkeys(METRICS, model.predict_proba(rows)[:, 1]),
        len(pickle.dumps(model)),
    )


def _xgboost() -> Any:
    from xgboost import XGBClassifier  # noqa: PLC0415 - optional

    return XGBClassifier(n_jobs=1, random_state=0)


LINES: dict[str, Callable[[], list[Any]]] = {
    "DirectClassifier": list,
    "splines, DirectClassifier": lambda: [SplineTransformer(extrapolation="linear")],
    "Nystroem, DirectClassifier": lambda: [Nystroem(n_components=200, random_state=0)],
}
OTHERS: dict[str, Callable[[], Any]] = {
    UNIT: lambda: make_pipeline(StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000)),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "XGBoost": _xgboost,
}
MODELS = (UNIT, *LINES, *list(OTHERS)[1:])


def fit(model: str, X: AnyArray, y: AnyArray) -> Fitted:
    """Fit a model to rows."""
    return _fit_lines(LINES[model], X, y) if model in LINES else _fit_model(OTHERS[model](), X, y)


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
        fitted, spent = timed(fit, model, X[train], y[train])
        unit = spent if model == UNIT else unit
        scores = fitted.scores(X[test])
        values = [f"{METRICS[key].score(y[test], scores[key]):.6g}" for key in METRICS]
        rows.append((name, fold, model, f"{spent / unit:.3g}", fitted.size, *values))
    return [row for row in rows if row[2] in missing]


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    text = ["# Lines on more features, against trees", "", "How: see `beyond_lines.py`."]
    groups = grouped_by(rows, "set", "model")
    for metric in METRICS:
        text += table(f"set | {' | '.join(MODELS)}", [], metric)
        firsts = np.zeros(len(MODELS), dtype=int)
        for name in SETS:
            if all((name, model) in groups for model in MODELS):
                means = [mean(numbers(groups[name, m], metric)) for m in MODELS]
                firsts += np.equal(means, max(means))
                text.append(line(name, *best_bold(means)))
        text.append(line("best on", *firsts))
    costs = []
    for model in MODELS:
        cpu, size = (np.median(numbers(select(rows, model=model), c)) for c in ("cpu", "bytes"))
        costs.append((model, f"{cpu:.1f}", f"{size / 1024:.0f}"))
    title = "CPU of the fit, to that of tuned logistic regression, and size"
    return [*text, *table("model | CPU, median | kilobytes, median", costs, title)]


RECORD = Record.beside(
    __file__, ("set", "fold", "model", "cpu", "bytes", *METRICS), "fold, set, model"
)
STUDY = Study([Part(RECORD, lambda _: product(range(FOLDS), SETS, MODELS), measured, 2)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
