"""What ``kernels.md`` says: the tables as printed beside ours, growth, and what a kernel costs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.beta_bernoulli.kernels import nystroem, tables
from benchmarks.beta_bernoulli.kernels.growth import Growth
from benchmarks.beta_bernoulli.kernels.record import read
from benchmarks.beta_bernoulli.kernels.support_vectors import FORWARD, METHODS, SIZES, SPARSE, SVM
from benchmarks.beta_bernoulli.record import expected
from benchmarks.markdown import header, line
from benchmarks.zero_one.noise import SETS

REPORT = Path(__file__).with_name("kernels.md")
_SHORT = {"liver-disorders": "liver", "diabetes": "pima"}
_POINTS = 0.5
_BELOW = 0.1


def main() -> None:
    """Print what the files say, and write it beside them."""
    lines = [
        "# Kernels of Hasan and Pal 2015, measured again",
        "",
        '"Printed" is the paper; all else is ours, on the same folds for all methods. How: see',
        "`tables.py`, `support_vectors.py` and `nystroem.py`.",
        *_tables(),
        *_growth(Growth()),
        *_nystroem(),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    REPORT.write_text(text, encoding="utf-8")


class Folds:
    """The errors in percent and the support vectors of each fold, by set and method."""

    def __init__(self) -> None:
        self._folds: dict[tuple[str, str], dict[tuple[str, str], tuple[int, int, int]]] = {}
        for row in read(tables.RESULTS):
            own = self._folds.setdefault((row["set"], row["method"]), {})
            found = int(row["rows"]), int(row["errors"]), int(row["support"])
            own[row["repeat"], row["fold"]] = found

    def count(self, name: str, method: str) -> int:
        """Return how many folds there are."""
        return len(self._folds.get((name, method), {}))

    def percent(self, name: str, method: str, *others: str) -> float:
        """Return the error over the folds that some other methods have too."""
        keys = set.intersection(*(set(self._folds[name, m]) for m in (method, *others)))
        found = [self._folds[name, method][key] for key in keys]
        return 100.0 * sum(f[1] for f in found) / sum(f[0] for f in found)

    def support(self, name: str, method: str) -> float:
        """Return the mean number of support vectors."""
        return float(np.mean([f[2] for f in self._folds[name, method].values()]))


def _tables() -> list[str]:
    found = Folds()
    return [*_table_14(found), *_table_15(found)]


def _table_14(found: Folds) -> list[str]:
    methods = tuple(m for m in tables.METHODS if m != tables.SPARSE)
    sets = [s for s in SETS if all(found.count(s, m) for m in methods)]
    if not sets:
        return []
    known, printed = expected(), (tables.BBLR, tables.SVM, tables.KBBLR)
    lines = ["", "## Table 14: kernel BBLR, test errors in percent", ""]
    lines += header("set", *(f"printed {m}" for m in printed), *methods)
    for name in sets:
        cells = (f"{found.percent(name, m):.2f}" for m in methods)
        lines.append(line(_short(name), *(known[14, name, m] for m in printed), *cells))
    return [*lines, "", _claim(found, sets, tables.KBBLR)]


def _table_15(found: Folds) -> list[str]:
    pair = (tables.SVM, tables.SPARSE)
    sets = [s for s in SETS if all(found.count(s, m) for m in pair)]
    if not sets:
        return []
    known, columns = expected(), [f"{m}{end}" for m in pair for end in ("", " support vectors")]
    lines = ["", "## Table 15: sparse kernel BBLR, test errors in percent", ""]
    lines += header("set", *(f"printed {c}" for c in columns), *columns, "folds")
    for name in sets:
        numbers = [
            cell
            for m in pair
            for cell in (f"{found.percent(name, m, *pair):.2f}", f"{found.support(name, m):.0f}")
        ]
        folds = str(found.count(name, tables.SPARSE))
        lines.append(line(_short(name), *(known[15, name, c] for c in columns), *numbers, folds))
    fewer = sum(found.support(s, tables.SPARSE) < found.support(s, tables.SVM) for s in sets)
    return [
        *lines,
        "",
        _claim(found, sets, tables.SPARSE),
        f"Fewer support vectors: {_holds(fewer == len(sets))} ({fewer} of {len(sets)} sets).",
        *_not_run(_short(name) for name in SETS if name not in sets),
    ]


def _claim(found: Folds, sets: list[str], ours: str) -> str:
    rival = tables.SVM
    one, other = (np.array([found.percent(s, m, ours, rival) for s in sets]) for m in (ours, rival))
    return (
        f"Claim: {ours} has no more errors than the SVM. For the mean over sets it "
        f"{_holds(one.mean() <= other.mean())} ({one.mean():.2f} and {other.mean():.2f} %), by set "
        f"on {(one <= other).sum()} of {len(sets)}."
    )


def _growth(found: Growth) -> list[str]:
    methods = [m for m in METHODS if found.sizes(m)]
    if not methods:
        return []
    lines = ["", "## Support vectors against training rows", ""]
    lines += ["![Support vectors and test error against training rows](support_vectors.png)", ""]
    lines += header("method", "rows", "shuffles", "support vectors", "test error, %", "beyond SVM")
    for method in methods:
        for n in found.sizes(method):
            support, percent = found.support(method, n), found.percent(method, n)
            lines.append(
                line(
                    *(method, str(n), str(len(support))),
                    _with_error(support, 0),
                    _with_error(percent, 2),
                    "" if method == SVM else _with_error(found.beyond(method, SVM, n), 2, "+"),
                )
            )
    lines += ["", "± is a standard error over shuffles.", ""]
    lines += header("method", "exponent")
    lines += [line(m, _with_error(found.exponents(m), 2)) for m in methods]
    lines += ["", *(_goal(found, m) for m in (SPARSE, *FORWARD) if m in methods)]
    missing = (f"{m} with {n} rows" for n in SIZES for m in METHODS if n not in found.sizes(m))
    return [*lines, *_not_run(missing)]


def _goal(found: Growth, method: str) -> str:
    ours, theirs = found.exponents(method).mean(), found.exponents(SVM).mean()
    gaps = [found.beyond(method, SVM, n).mean() for n in found.sizes(method)]
    slower, near = theirs - ours >= _BELOW, max(gaps) <= _POINTS
    return (
        f"* {method}: an exponent at least {_BELOW} below the SVM's {_holds(slower)} ({ours:.2f} "
        f"and {theirs:.2f}); test error within {_POINTS} points {_holds(near)} (at most "
        f"{max(gaps):+.2f})."
    )


def _nystroem() -> list[str]:
    rows = read(nystroem.RESULTS)
    if not rows:
        return []
    lines = ["", f"## Nystroem with {nystroem.COMPONENTS} components against the exact kernel", ""]
    lines += header(
        *("rows", "turns", "CPU, exact / Nystroem", "exact error, %", "Nystroem error, %"),
    )
    slower = []
    for n in sorted({int(row["rows"]) for row in rows}):
        own = [row for row in rows if int(row["rows"]) == n]
        wrong = (
            np.mean([100.0 * int(row[f"{name}_errors"]) / int(row["tested"]) for row in own])
            for name in ("exact", "nystroem")
        )
        ratio = float(np.median([float(row["ratio"]) for row in own]))
        slower += [n] if ratio > 1 else []
        errors = (f"{value:.2f}" for value in wrong)
        lines.append(line(str(n), str(len(own)), f"{ratio:.2f}", *errors))
    words = f"from {min(slower)} rows on" if slower else "nowhere"
    done = {int(row["rows"]) for row in rows}
    return [
        *lines,
        "",
        f"Of the sizes measured, the exact kernel takes longer {words}.",
        *_not_run(n for n in nystroem.TURNS if n not in done),
    ]


def _not_run(missing: Iterable[object]) -> list[str]:
    """Say what is planned and not in the file."""
    names = ", ".join(map(str, missing))
    return ["", f"Not run here: {names}."] if names else []


def _with_error(values: np.ndarray, digits: int, sign: str = "") -> str:
    mean = f"{values.mean():{sign}.{digits}f}"
    return f"{mean} ± {Growth.deviation(values):.{digits}f}" if len(values) > 1 else mean


def _holds(held: bool) -> str:  # noqa: FBT001 - the comparison is written where it is called
    return "holds" if held else "does not hold"


def _short(name: str) -> str:
    return _SHORT.get(name, name)


if __name__ == "__main__":
    main()
