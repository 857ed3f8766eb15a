"""Tables 14 and 15 of Hasan and Pal 2015: kernel machines on four classical sets, and their size.

``python -m benchmarks.papers.hasan_pal_2015.kernels tables`` appends one row for each fold to
``kernel_tables.csv``, goes on where an interrupted run stopped, and writes ``kernels.md``.
``--quick`` takes one fold of each set.

One shuffle of five stratified folds, the same for all methods. Of each fold the training rows
choose, by the least error in the same three inner folds:

* kernel SVM: C of {0.1, 1, 10, 100} and the width of the RBF kernel, features standardised;
* robust, kernel and robust, sparse kernel, our default with a kernel and without and with the
  Gaussian-Laplacian prior: alpha of {0.01, 0.1, 1, 10}, or {0.03, 0.3, 3} for the sparse one,
  which is slow, and the width. They are not the paper's KBBLR and sparse KBBLR, which have the
  plateaus and the search of BBLR3, a penalty of the coefficients instead of the function, and
  the whole of Algorithm 3;
* sparse KBBLR: the paper's, the plateaus of BBLR2 and Algorithm 3 by SLA, with the same grid;
* logistic regression and linear SVM: C of {0.01, 0.1, 1, 10, 100}; robust, our linear default:
  alpha of the inverse of these.

The width: γ of {0.1, 0.3, 1} over the number of features. Support vectors are those of the fit to
all training rows of a fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.harness.data import load
from benchmarks.harness.record import Record
from benchmarks.harness.runner import quiet
from directrix import BetaBernoulliClassifier

_KEY = ("set", "method", "repeat", "fold")
RECORD = Record(Path(__file__).with_suffix(".csv"), (*_KEY, "rows", "errors", "support"), _KEY)
LOGISTIC, LINEAR_SVM, ROBUST = "logistic", "linear SVM", "robust"
SVM, KERNEL, SPARSE = "SVM", "robust, kernel", "robust, sparse kernel"
#: The paper's names of ours with a kernel, and with the mixture prior.
PAPERS_KERNEL, PAPERS_SPARSE = "KBBLR", "sparse KBBLR"
#: Quick ones first.
METHODS = (LOGISTIC, LINEAR_SVM, ROBUST, SVM, KERNEL, SPARSE, PAPERS_SPARSE)
FOLDS, REPEATS = 5, 1
#: Few rows first: the time of a sparse fit grows with about the cube of the rows.
_BY_ROWS = ("heart", "liver-disorders", "breast", "diabetes")
_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
_WIDTHS = (0.1, 0.3, 1.0)


def tuned(method: str, n_features: int) -> GridSearchCV:
    """Return a method whose penalty and width the training rows choose."""
    gammas = [width / n_features for width in _WIDTHS]
    rbf: list[dict[str, float]] = [{"gamma": gamma} for gamma in gammas]
    kernel = BetaBernoulliClassifier(kernel="rbf")
    model, grid = {
        LOGISTIC: (LogisticRegression(solver="newton-cholesky"), {"C": _PENALTIES}),
        LINEAR_SVM: (LinearSVC(dual="auto"), {"C": _PENALTIES}),
        ROBUST: (BetaBernoulliClassifier(), {"alpha": _PENALTIES}),
        SVM: (SVC(), {"C": (0.1, 1.0, 10.0, 100.0), "gamma": gammas}),
        KERNEL: (kernel, {"alpha": (0.01, 0.1, 1.0, 10.0), "kernel_params": rbf}),
        SPARSE: (
            BetaBernoulliClassifier(kernel="rbf", prior="gaussian-laplace"),
            {"alpha": (0.03, 0.3, 3.0), "kernel_params": rbf},
        ),
        PAPERS_SPARSE: (
            BetaBernoulliClassifier.paper("BBLR2", kernel="rbf", prior="gaussian-laplace"),
            {"alpha": (0.03, 0.3, 3.0), "kernel_params": rbf},
        ),
    }[method]
    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {f"model__{name}": values for name, values in grid.items()}
    return GridSearchCV(pipeline, grid, cv=folds)


def measured(name: str, method: str, repeat: int, fold: int) -> list[tuple[object, ...]]:
    """Return a row of the file: test rows of a fold, those that are wrong, support vectors."""
    X, y = load(name)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
    train, test = list(folds.split(X, y))[fold]
    with quiet():
        search = tuned(method, X.shape[1]).fit(X[train], y[train])
    wrong = int((search.predict(X[test]) != y[test]).sum())
    support = support_vectors(search.best_estimator_["model"])
    return [(name, method, repeat, fold, len(test), wrong, support)]


def support_vectors(model: Any) -> int:
    """Return how many rows a kernel machine keeps; none if it is a line."""
    vectors = getattr(model, "support_vectors_", None)
    return 0 if vectors is None else int(np.shape(vectors)[0])


def planned(*, quick: bool) -> Iterator[tuple[object, ...]]:
    """Yield set, method, repeat and fold of each fit; quick methods and small sets first."""
    for repeat in range(1 if quick else REPEATS):
        for method in METHODS:
            for name in _BY_ROWS:
                for fold in range(1 if quick else FOLDS):
                    yield name, method, repeat, fold
