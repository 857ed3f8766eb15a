"""The methods and protocols of the tables, one fit of them, and the files of both."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.harness.data import load
from benchmarks.harness.record import Record, Row, read_rows
from benchmarks.harness.runner import quiet
from benchmarks.papers.hasan_pal_2015.models import papers, plateau, tuned_plateau
from benchmarks.papers.hasan_pal_2015.noise import SETS, noisy
from directrix._typing import AnyArray
from directrix.papers import SLAClassifier
from directrix.papers.hasan_pal_2015.plateaus import even_score

REVIEWS = ("amazon_books", "amazon_dvd", "amazon_electronics", "amazon_kitchen")
NOISES = {"train": "none", "clean": "none", "flip": "flipped", "outl": "outliers"}
_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
_ALPHAS_OF_REVIEWS = (0.1, 1.0, 10.0, 100.0)


RECORD = Record(
    Path(__file__).with_name("measured.csv"),
    ("table", "protocol", "set", "method", "repeat", "fold", "rows", "errors", "wrong"),
    ("protocol", "set", "method", "repeat", "fold"),
)
_EXPECTED = Path(__file__).with_name("expected.csv")
_SHORT = {"liver-disorders": "liver", "diabetes": "pima"}


@cache
def expected() -> dict[tuple[int, str, str], str]:
    """Return what the paper prints: by table, set and method."""
    return {
        (int(row["table"]), row["set"], row["method"]): row["value"] for row in read_rows(_EXPECTED)
    }


def short(name: str) -> str:
    """Return the paper's name of a set."""
    return _SHORT.get(name, name)


class Fit(NamedTuple):
    """Which test rows of a fold a method gets wrong."""

    table: int
    protocol: str
    name: str
    method: str
    repeat: int
    fold: int
    wrong: AnyArray

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """All but the outcome."""
        return self.protocol, self.name, self.method, self.repeat, self.fold

    def cells(self) -> tuple[object, ...]:
        """Return a row of the file."""
        bits = np.packbits(self.wrong).tobytes().hex()
        return self.table, *self.key, len(self.wrong), int(self.wrong.sum()), bits

    @classmethod
    def of(cls, row: Row) -> Fit:
        """Read a row of the file."""
        packed = np.frombuffer(bytes.fromhex(row["wrong"]), dtype=np.uint8)
        wrong = np.unpackbits(packed, count=int(row["rows"])).astype(bool)
        texts = (row["protocol"], row["set"], row["method"])
        return cls(int(row["table"]), *texts, int(row["repeat"]), int(row["fold"]), wrong)


class Method(NamedTuple):
    """A classifier, and how many repeats it has of those protocols that it is measured under."""

    make: Any
    train: int = 1
    clean: int = 10
    flip: int = 10
    outl: int = 10
    large: int = 0


class Protocol(NamedTuple):
    """How the sets of a table are measured."""

    tables: tuple[int, ...]
    sets: tuple[str, ...]
    folds: int


def _tuned(model: Any, scaler: Any) -> Any:
    name = type(model).__name__.lower()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(make_pipeline(scaler, model), {f"{name}__C": _PENALTIES}, cv=folds)


PROTOCOLS = {
    "train": Protocol((3,), SETS, 1),
    "clean": Protocol((4, 5, 8), SETS, 5),
    "outl": Protocol((6, 7, 8), SETS, 5),
    "flip": Protocol((6, 7, 8), SETS, 5),
    "reviews": Protocol((12,), REVIEWS, 10),
    "large": Protocol((10,), ("w8a",), 5),
}
_NEWTON, _SVM = LogisticRegression(solver="newton-cholesky"), LinearSVC(dual="auto")
#: By name, as the paper defines them.
_PAPERS = {name: papers(name) for name in ("BBLR1", "BBLR2", "BBLR3", "BBLR4")}
#: Quick ones first.
METHODS = {
    "logistic, C=1": Method(make_pipeline(StandardScaler(), _NEWTON)),
    "logistic, tuned": Method(_tuned(_NEWTON, StandardScaler()), large=1),
    "BBLR1, lbfgs": Method(plateau("weak")),
    "BBLR2, lbfgs": Method(plateau("empirical")),
    "BBLR4, lbfgs": Method(plateau("learned"), large=1),
    "robust": Method(plateau(), large=1),
    "robust, tuned": Method(tuned_plateau()),
    "SVM, tuned": Method(_tuned(_SVM, StandardScaler()), large=1),
    "BBLR1": Method(_PAPERS["BBLR1"], clean=0, flip=0, outl=0),
    "SLA": Method(make_pipeline(StandardScaler(), SLAClassifier())),
    "BBLR2": Method(_PAPERS["BBLR2"]),
    "BBLR3": Method(_PAPERS["BBLR3"], large=1),
    "BBLR4": Method(_PAPERS["BBLR4"]),
    "BBLR4, lbfgs, tuned": Method(tuned_plateau("learned"), train=0, clean=0, flip=0, outl=0),
}
#: Of sparse rows.
METHODS_OF_REVIEWS = {
    "logistic, tuned": _tuned(LogisticRegression(solver="liblinear"), MaxAbsScaler()),
    "SVM, tuned": _tuned(_SVM, MaxAbsScaler()),
    "robust, tuned": tuned_plateau(lams=_ALPHAS_OF_REVIEWS, sparse=True),
    "BBLR4, lbfgs, tuned": tuned_plateau("learned", _ALPHAS_OF_REVIEWS, sparse=True),
    "BBLR3": papers("BBLR3", MaxAbsScaler()),
    "BBLR4": papers("BBLR4", MaxAbsScaler()),
}
#: Methods whose search counts as an error what is on the wrong side of the score zero, at which the
#: probability is one half only in the limit of infinite sharpness.
SEARCHES = ("BBLR1", "BBLR2", "BBLR3")
SLOW = ("BBLR4, lbfgs, tuned", "BBLR3", "BBLR4")


def repeats_of(method: str, protocol: str) -> int:
    """Return how often a method is measured under a protocol."""
    if protocol == "reviews":
        return int(method in METHODS_OF_REVIEWS)
    repeats: int = getattr(METHODS[method], protocol)
    return repeats


@cache
def rows_of(name: str) -> tuple[Any, AnyArray]:
    """Return a set; indices of sparse rows as short as liblinear wants them."""
    X, y = load(name)
    if hasattr(X, "indptr"):
        X.indptr, X.indices = X.indptr.astype(np.int32), X.indices.astype(np.int32)
    return X, y


def measured(protocol: str, name: str, method: str, repeat: int, fold: int) -> Fit:
    """Fit to the training rows of one fold, and return which test rows are wrong."""
    X, y = rows_of(name)
    table, folds_of_set = PROTOCOLS[protocol].tables[0], PROTOCOLS[protocol].folds
    if protocol == "train":
        train = test = np.arange(len(y))
    else:
        folds = StratifiedKFold(folds_of_set, shuffle=True, random_state=repeat)
        train, test = list(folds.split(X, y))[fold]
    rng = np.random.default_rng((repeat, fold))
    rows = noisy(X[train], y[train], NOISES.get(protocol, "none"), rng)
    if (protocol, method) == ("large", "BBLR3"):
        # Most entries are zero, and a probe of a coefficient then costs only those that are not.
        rows = sparse.csr_array(rows[0]), rows[1]
    make = METHODS_OF_REVIEWS[method] if protocol == "reviews" else METHODS[method].make
    with quiet():
        model = clone(make).fit(*rows)
        if protocol == "train" and method in SEARCHES:
            labels = model.decision_function(X[test]) + even_score(model[-1].loss_) > 0
        else:
            labels = model.predict(X[test])
    wrong = labels != y[test]
    return Fit(table, protocol, name, method, repeat, fold, wrong)
