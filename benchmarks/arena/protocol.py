"""The sets, metrics and folds of the arena."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.harness.data import Rows, load
from benchmarks.rivals.base import LogLoss
from directrix.metrics import (
    AUC,
    PRBEP,
    AveragePrecision,
    BalancedError,
    Cost,
    Error,
    FBeta,
    GMean,
    PrecisionAtK,
    RecallAtFPR,
)

METRICS: dict[str, Any] = {
    "error": Error(),
    "AUC": AUC(),
    "recall at FPR 1 %": RecallAtFPR(0.01),
    "precision at top 1 %": PrecisionAtK(0.01),
    "PRBEP": PRBEP(),
    "F1": FBeta(),
    "cost 1:20": Cost(fp=1, fn=20),
    "balanced error": BalancedError(),
    "G-mean": GMean(),
    "average precision": AveragePrecision(),
    "log-loss": LogLoss(),
}
#: From small to large.
GENERAL = (
    *("sonar", "heart", "liver-disorders", "breast", "diabetes", "fourclass", "oil_spill"),
    *("german", "svmguide3", "vowel", "splice", "segment", "svmguide1", "ada", "satimage"),
    *("spambase", "higgs_7k", "phishing", "mammography", "htru2", "magic04", "letter", "letter_O"),
    *("cod-rna_30k", "susy_30k", "default_credit", "shuttle", "ijcnn1", "bank-marketing"),
    *("covtype", "a9a"),
)
#: Of the KEEL imbalanced sets with 200 rows and 20 positives or more, the first two of each family
#: in the order of the alphabet, without those that are among the general sets.
IMBALANCED = (
    *("abalone-17_vs_7-8-9-10", "abalone-19_vs_10-11-12-13", "car-good", "car-vgood"),
    *("dermatology-6", "ecoli-0-1-4-6_vs_5", "ecoli-0-1-4-7_vs_2-3-5-6", "flare-F"),
    *("glass-0-1-2-3_vs_4-5-6", "glass0", "haberman", "kddcup-buffer_overflow_vs_back"),
    *("kddcup-guess_passwd_vs_satan", "kr-vs-k-one_vs_fifteen", "kr-vs-k-three_vs_eleven"),
    *("led7digit-0-2-4-5-6-7-8-9_vs_1", "new-thyroid1", "new-thyroid2", "page-blocks-1-3_vs_4"),
    *("page-blocks0", "poker-8-9_vs_5", "poker-8-9_vs_6", "shuttle-2_vs_5", "shuttle-c0-vs-c4"),
    *("vehicle0", "vehicle1", "winequality-red-4", "winequality-white-3-9_vs_5"),
    *("yeast-0-2-5-6_vs_3-7-8-9", "yeast-0-2-5-7-9_vs_3-6-8"),
)
#: By kind.
SETS = {"general": GENERAL, "imbalanced": tuple(f"keel/{name}" for name in IMBALANCED)}
#: Whole, in a table of their own.
LARGE = ("susy_30k", "skin_nonskin", "celeba_bald", "covtype")
REPEATS, FOLDS = 2, 5
MOST_ROWS = 10_000
QUICK = ("heart", "diabetes", "keel/glass0")


class Task(NamedTuple):
    """One fold of a set; ``whole`` where its rows are not capped."""

    name: str
    repeat: int
    fold: int
    whole: bool = False


@cache
def rows_of(name: str, *, whole: bool = False) -> Rows:
    """Return the rows of a set; of more than 10,000 a fixed sample, unless all are asked for."""
    X, y = load(name)
    if whole or len(y) <= MOST_ROWS:
        return Rows(X, y)
    sample = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
    return Rows(X[sample], y[sample])


def split(task: Task) -> tuple[Rows, Rows]:
    """Return the training and test rows of a fold: the same for every competitor."""
    X, y = rows_of(task.name, whole=task.whole)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=task.repeat)
    train, test = list(folds.split(X, y))[task.fold]
    return Rows(X[train], y[train]), Rows(X[test], y[test])


def planned(*, quick: bool, large: bool) -> Iterator[Task]:
    """Yield all folds of the first repeat, then those of the next."""
    if large:  # one fold has test rows enough
        yield from (Task(name, 0, 0, whole=True) for name in LARGE)
        return
    every = QUICK if quick else (*SETS["general"], *SETS["imbalanced"])
    for repeat in range(1 if quick else REPEATS):
        # Small sets of both kinds first, so that a run that is stopped says something of each.
        for name in sorted(every, key=lambda name: len(rows_of(name).y)):
            yield from (Task(name, repeat, fold) for fold in range(FOLDS))
