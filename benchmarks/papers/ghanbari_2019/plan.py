"""What is measured: folds of each set, and the methods that are fitted to each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sklearn.model_selection import KFold

from benchmarks.harness.data import Split
from benchmarks.papers.ghanbari_2019.config import ARTIFICIAL, REAL, drawn, rows_of, scaled

FOLDS = 5
RIVALS = {"accuracy": "F_log", "AUC": "F_hinge"}
OURS = ("frontier", "moments and rows", "logistic, tuned")
ARTIFICIAL_METHODS = ("exact moments", "approximate moments", "rival", "frontier")
REAL_METHODS = {
    "accuracy": ("F_n01", "F_log", "F_n01, no ones", "F_log, no ones", "LDA", "ADAM", *OURS),
    "AUC": ("F_nrank", "F_hinge", *OURS),
}
#: Of sets above 5000 rows measured once only.
SLOW = ("ADAM", "F_hinge", "F_n01, no ones", "F_log, no ones", "logistic, tuned")
#: In the order of the run, cheap sets first.
REPEATS = {
    **dict.fromkeys(("fourclass", "diabetes", "vowel", "svm1", "german", "svm3"), 4),
    **dict.fromkeys(("segment", "sonar", "satimage", "magic", "poker", "letter"), 4),
    **dict.fromkeys(("data_1", "data_2", "data_3"), 20),
    **dict.fromkeys(("ijcnn1", "shuttle", "a9a"), 4),
    **dict.fromkeys(("data_4", "data_5", "data_6"), 20),
    **dict.fromkeys(("colon", "w8a", "mnist"), 4),
    **dict.fromkeys(("data_7", "data_8", "data_9"), 20),
    "covtype": 4,
    "segment, 2310 rows": 4,
}
QUICK_SETS = ("fourclass", "diabetes", "vowel", "svm1", "german", "svm3", "segment", "sonar")
_LARGE = ("magic", "poker", "letter", "ijcnn1", "shuttle", "a9a", "w8a", "mnist", "covtype")
#: What takes long: many rows, or many features of which each step makes a matrix.
LEFT_OUT = {
    "covtype": ("ADAM", "F_hinge"),
    "w8a": ("ADAM", "logistic, tuned"),
    "colon": ("moments and rows", "logistic, tuned"),
}
#: What Table 4.4 says of a file.
COLUMNS_OF_FILE = ("d", "n", "P+")


class Unit(NamedTuple):
    """A fold of a set: its fits run together, so that their times can be compared."""

    name: str
    repeat: int
    fold: int

    def methods(self) -> Iterator[tuple[str, str]]:
        """Yield metric and method of each fit."""
        if self.name in ARTIFICIAL:
            for metric, rival in RIVALS.items():
                yield from ((metric, rival if m == "rival" else m) for m in ARTIFICIAL_METHODS)
            return
        for metric, methods in REAL_METHODS.items():
            if (self.name, metric) == ("shuttle", "accuracy"):
                continue  # the paper has its AUC only
            for method in methods:
                again = self.repeat > 0 and self.name in _LARGE and method in SLOW
                if not again and method not in LEFT_OUT.get(self.name, ()):
                    yield metric, method

    def split(self) -> Split:
        """Return its rows."""
        if self.name in ARTIFICIAL:
            return drawn(self.name, self.repeat)
        X, y = rows_of(self.name)
        X = scaled(X)
        folds = KFold(FOLDS, shuffle=True, random_state=self.repeat)
        train, test = list(folds.split(X))[self.fold]
        return Split(X[train], y[train], X[test], y[test])


def planned(sets: Iterable[str], *, quick: bool) -> Iterator[tuple[str, int, int, str, str]]:
    """Yield all fits: the first repeat of each set, then the second, and so on."""
    for repeat in range(1 if quick else max(REPEATS.values())):
        for name in sets:
            if repeat < REPEATS[name]:
                for fold in range(1 if quick or name in ARTIFICIAL else FOLDS):
                    if name in REAL and repeat == fold == 0:
                        yield from ((name, 0, 0, column, "file") for column in COLUMNS_OF_FILE)
                    unit = Unit(name, repeat, fold)
                    yield from ((*unit, metric, method) for metric, method in unit.methods())
