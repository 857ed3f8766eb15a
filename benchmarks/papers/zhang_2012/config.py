"""The losses, methods, sets and splits of both experiments.

*Trajectories* has four sets at two fixed λ: the test rows are the published ones, or else a quarter
of the rows, stratified (w8a, 20news); 20news is the task PC against Mac. Features are as in the
files, and sparse.

*Figures* has three sets of the paper's Table 1. As in the paper (§4), λ is the one that is best on
validation rows: of 1e-1, 1e-2 … 1e-6, the first whose model (L-BFGS, μ̂) has the greatest metric
there. The paper splits as Teo et al. 2010, who are not at hand: here validation and test rows are a
fifth each, stratified, but for a9a, which has test rows of its own. Of covtype 50,000 rows are
taken, and each feature is divided by its greatest value.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from benchmarks.harness.data import Rows, load

#: The run whose evaluation is the unit of time.
UNIT = "lbfgs 1"
#: Name in the files, and name for readers. The number is μ in units of μ̂.
METHODS = {
    UNIT: "L-BFGS, μ̂",
    "bmrm": "BMRM",
    "lbfgs 100": "L-BFGS, 100 μ̂",
    "lbfgs 1000": "L-BFGS, 1000 μ̂",
    "nesterov 100": "Nesterov, 100 μ̂",
    "nesterov 100 constant": "Nesterov, 100 μ̂, paper's step",
}
#: Those of the figures, in the order of their legend.
METHODS_OF_FIGURES = {name: METHODS[name] for name in (UNIT, "lbfgs 100", "lbfgs 1000", "bmrm")}
LOSSES = {"prbep": "PRBEP", "auc": "ROC area"}
EPSILON = 1e-3
SETS = ("a9a", "w8a", "reuters_tick", "20news_PCMAC")
PENALTIES = (1e-3, 1e-5)
_PUBLISHED_TEST = ("a9a", "reuters_tick")
#: Sets of the paper's Table 1 in the data folder, by the paper's name.
SETS_OF_FIGURES = {"adult9": "a9a", "web8": "w8a", "covertype": "covtype"}
RIDGES = tuple(10.0**-k for k in range(1, 7))
_COVTYPE_ROWS = 50_000


def published_test_rows(name: str, features: int) -> Rows:
    """Return the published test rows of a set; their last columns may hold no value."""
    X, y = load(f"{name}.test")
    X = sparse.csr_array(X)
    X.resize((len(y), features))
    return Rows(X, y)


def parts_of(name: str) -> tuple[Rows, Rows]:
    """Return the rows to train on and those to test on, for the trajectories."""
    X, y = load(name)
    X = sparse.csr_array(X)
    if name in _PUBLISHED_TEST:
        return Rows(X, y), published_test_rows(name, X.shape[1])
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    return Rows(X, y), Rows(X_test, y_test)


def parts_of_figure(name: str) -> tuple[Rows, Rows, Rows]:
    """Return the rows to train on, to choose λ on, and to test on, for the figures."""
    X, y = load(SETS_OF_FIGURES[name])
    if name == "covertype":
        X, _, y, _ = train_test_split(X, y, train_size=_COVTYPE_ROWS, stratify=y, random_state=0)
        X = X / np.maximum(np.abs(X).max(axis=0), 1.0)
    X = sparse.csr_array(X)
    if name == "adult9":
        test, share = published_test_rows(SETS_OF_FIGURES[name], X.shape[1]), 0.2
    else:
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
        test, share = Rows(X_test, y_test), 0.25
    X, X_other, y, y_other = train_test_split(X, y, test_size=share, stratify=y, random_state=2)
    return Rows(X, y), Rows(X_other, y_other), test
