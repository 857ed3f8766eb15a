"""Record the fits of all classifiers before a change, and compare them with those after it.

``python -m benchmarks.harness.same_fits record out.npz`` fits two classifiers in five settings
each to 24 data sets, and scorecards in 16 settings to 12 tables, some of both by ``fit_source``
from a Parquet file; of larger sets, a sample. Coefficients, intercepts, probabilities and
thresholds go to a file, with the numbers of operating points, reports, calibrations and cards.
Beside these stand the fits of `asked_fits`, with weights, groups, limits, segments, costs, days and
summaries. Fits that the file has are not made again; ``--only`` makes those whose name holds a
text.

``python -m benchmarks.harness.same_fits compare a.npz b.npz`` prints which fits differ and the
worst relative difference; it fails where one is above ``--tolerance``, or is in one file only.
Fields of records that only one file has are listed apart: the record changed, not the fit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.harness import asked_fits
from benchmarks.harness.data import TABLES, Rows, load, load_table
from benchmarks.harness.numbers import numbers_of
from benchmarks.harness.runner import quiet
from directrix import (
    DirectClassifier,
    MomentClassifier,
    ScorecardClassifier,
)
from directrix._typing import FloatArray
from directrix.metrics import Cost, RecallAtFPR

SETS = (
    *("heart", "diabetes", "sonar", "breast", "german", "a9a", "mammography", "magic04"),
    *("letter_O", "oil_spill", "spambase", "htru2", "svmguide1", "svmguide3", "splice"),
    *("liver-disorders", "phishing", "default_credit", "ijcnn1", "cod-rna_30k", "susy_30k"),
    *("bank-marketing", "ada", "adult"),
)
METRICS = {
    "error": "error",
    "auc": "auc",
    "f1": "f1",
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "cost 1:5": Cost(fp=1, fn=5),
}
CLASSIFIERS: dict[str, dict[str, Callable[[], Any]]] = {
    classifier.__name__: {name: partial(classifier, metric) for name, metric in METRICS.items()}
    for classifier in (MomentClassifier, DirectClassifier)
}
RECALL = METRICS["recall at FPR 5 %"]
#: Settings of scorecards; "first" in ``monotone`` stands for the first column of numbers.
CARDS: dict[str, dict[str, Any]] = {
    **{f"rows, {name}": {"metric": metric} for name, metric in METRICS.items()},
    "monotone": {"metric": "auc", "monotone": {"first": "increasing"}},
    "monotone, recall": {"metric": RECALL, "monotone": {"first": "decreasing"}},
    "points of log-odds": {"metric": "auc", "points": "log-odds"},
    "points to double the odds": {"metric": RECALL, "points": "pdo"},
    "five columns": {"metric": "auc", "max_columns": 5},
    "fewest columns": {"metric": RECALL, "max_columns": "auto"},
    "guarantee": {"metric": RECALL, "guarantee": 0.9},
    "limit": {"metric": "f1", "limits": {"fpr": 0.3}, "guarantee": 0.8},
}
SOURCES = ("auc", "recall at FPR 5 %")
_ROWS_OF_CLASS, _ROWS_OF_CARD = 1000, 600
_SHOWN = 10
ALL_SETS = (*asked_fits.LOADERS, *TABLES, *SETS)
Fits = dict[str, FloatArray]


class Difference(NamedTuple):
    """The greatest difference of an array, relative to its greatest entry, and its name."""

    size: float
    name: str


def rows_of(name: str) -> Rows:
    """Return a data set, with a sample of 1,000 rows of each class where there are more."""
    X, y = load(name)
    rows = _sample(y, _ROWS_OF_CLASS)
    return Rows(X[rows], y[rows])


def table_of(name: str) -> Rows:
    """Return a table, with a sample of 600 rows of each class where there are more."""
    X, y = load_table(name)
    rows = _sample(y, _ROWS_OF_CARD)
    return Rows(X.iloc[rows].reset_index(drop=True), y[rows])


def _sample(y: Any, most: int) -> Any:
    rng = np.random.default_rng(0)
    sample = [rng.permutation(np.flatnonzero(y == label))[:most] for label in (1, 0)]
    return np.sort(np.concatenate(sample))


def fit(classifier: str, setting: str, rows: Rows) -> Fits:
    """Fit one classifier; return its arrays by name."""
    with quiet():
        model = CLASSIFIERS[classifier][setting]().fit(*rows)
    arrays = {"predict_proba": model.predict_proba(rows.X)[:, 1], **numbers_of(model)}
    return arrays | {"coef_": model.coef_.ravel(), "intercept_": np.ravel(model.intercept_)}


def fit_card(setting: str, rows: Rows) -> Fits:
    """Fit one scorecard; return its probabilities, scores and threshold."""
    options = dict(CARDS[setting])
    if "monotone" in options:
        first = next(name for name in rows.X if rows.X[name].dtype.kind in "if")
        options["monotone"] = {first: options["monotone"]["first"]}
    with quiet():
        model = ScorecardClassifier(**options).fit(*rows)
    return _card_arrays(model, rows)


def fit_source(classifier: Any, rows: Rows) -> Fits:
    """Fit a classifier from a Parquet file of the rows, as an engine reads it."""
    import pandas as pd  # noqa: PLC0415 - sets of numbers need none

    table = pd.DataFrame(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    table = table.rename(columns=str).assign(**{"the label": np.asarray(rows.y) == 1})
    with tempfile.TemporaryDirectory() as place, quiet():
        table.to_parquet(f"{place}/rows.parquet", row_group_size=500)
        model = classifier.fit_source(f"{place}/rows.parquet", target="the label", progress=False)
    features = table.drop(columns="the label")
    if isinstance(classifier, ScorecardClassifier):
        return _card_arrays(model, Rows(features, rows.y))
    return {
        "predict_proba": model.predict_proba(features)[:, 1],
        "coef_": model.coef_.ravel(),
        "intercept_": np.ravel(model.intercept_),
        **numbers_of(model),
    }


def _card_arrays(model: Any, rows: Rows) -> Fits:
    return {
        "predict_proba": model.predict_proba(rows.X)[:, 1],
        "decision_function": model.decision_function(rows.X),
        "flagged": np.asarray(model.predict(rows.X), dtype=float),
        **numbers_of(model),
    }


def planned(name: str) -> Iterator[tuple[str, Callable[[], Fits]]]:
    """Yield the fits of a data set or table: a name each, and what makes the arrays."""
    if name in asked_fits.LOADERS:
        yield from asked_fits.planned(name)
        return
    if name in TABLES:
        table = table_of(name)
        for setting in CARDS:
            yield f"{name}, card, {setting}", partial(fit_card, setting, table)
        for metric in SOURCES:
            card = ScorecardClassifier(METRICS[metric])
            yield f"{name}, card, source, {metric}", partial(fit_source, card, table)
        return
    rows = rows_of(name)
    for classifier, settings in CLASSIFIERS.items():
        for setting in settings:
            yield f"{name}, {classifier}, {setting}", partial(fit, classifier, setting, rows)
    for metric in SOURCES:
        for kind in (DirectClassifier, MomentClassifier):
            label = f"{name}, {kind.__name__}, source, {metric}"
            yield label, partial(fit_source, kind(METRICS[metric]), rows)


def record(path: Path, sets: tuple[str, ...], only: str = "") -> None:
    """Make the fits that a file lacks, and add them to it, set by set.

    only: part of the names of the fits that are made.
    """
    fits = read(path) if path.exists() else {}
    for name in tqdm(sets):
        n_arrays = len(fits)
        for key, make in planned(name):
            if only not in key or f"{key}: predict_proba" in fits:
                continue
            try:
                fits |= {f"{key}: {part}": values for part, values in make().items()}
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                tqdm.write(f"{key} failed: {error!r}")
        if len(fits) == n_arrays:
            continue
        under_way = path.with_name(f"part-{path.name}")
        np.savez(under_way, **fits)
        under_way.replace(path)


def read(path: Path) -> Fits:
    """Return the arrays of a file."""
    with np.load(path) as arrays:
        return dict(arrays)


def differences(first: Fits, second: Fits) -> Iterator[Difference]:
    """Yield the difference of each array; infinite where only one file has it, or its shape."""
    for name in sorted(first.keys() | second.keys()):
        pair = [fits.get(name, np.empty(0)) for fits in (first, second)]
        special = [np.where(np.isfinite(values), 0.0, values) for values in pair]
        if not np.array_equal(*special, equal_nan=True):  # also where the shapes differ
            yield Difference(np.inf, name)
            continue
        one, other = (values[np.isfinite(values)] for values in pair)
        scale = max(float(np.abs(one).max(initial=0.0)), np.finfo(float).tiny)
        yield Difference(float(np.abs(one - other).max(initial=0.0)) / scale, name)


def lost_names(first: Fits, second: Fits) -> set[str]:
    """Return the fields of records that the second file lacks, of fits that it has.

    A field is a path with a dot, such as ``operating_point_.predicted.tpr``.
    """
    fits = {name.partition(": ")[0] for name in second}
    missing = [(name, *name.partition(": ")) for name in first.keys() - second.keys()]
    return {name for name, fit, _, field in missing if fit in fits and "." in field}


def compare(first: Path, second: Path, tolerance: float) -> str:
    """Print how two files differ; return what is wrong, or nothing."""
    pair = read(first), read(second)
    apart = {"first": lost_names(*pair), "second": lost_names(*pair[::-1])}
    for which, names in apart.items():
        for field, count in sorted(Counter(name.partition(": ")[2] for name in names).items()):
            print(f"only in the {which}: {field} ({count} fits)")
    both = set().union(*pair) - set().union(*apart.values())
    kept = [{name: fits[name] for name in fits.keys() & both} for fits in pair]
    ranked = sorted(differences(*kept), reverse=True)
    different = [difference for difference in ranked if difference.size > 0]
    for difference in different[:_SHOWN]:
        print(f"{difference.size:.1e}  {difference.name}")
    if len(different) > _SHOWN:
        print(f"and {len(different) - _SHOWN} others")
    above = [difference.name for difference in ranked if difference.size > tolerance]
    fits_of = {name.partition(": ")[0] for name in pair[0]}
    moved = sorted({name.partition(": ")[0] for name in above})
    for name in moved:
        print(f"moved: {name}")
    print(
        f"{len(ranked)} arrays of {len(fits_of)} fits: {len(ranked) - len(different)} are equal, "
        f"{len(above)} of {len(moved)} fits differ by more than {tolerance:g}; the worst relative "
        f"difference is {ranked[0].size:.1e}"
    )
    return f"{len(above)} arrays are not the same" if above else ""


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="fit, and write the file")
    recording.add_argument("path", type=Path)
    recording.add_argument("--sets", nargs="*", default=ALL_SETS, help="names")
    recording.add_argument("--only", default="", help="part of the names of the fits to make")
    comparing = commands.add_parser("compare", help="compare two files")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.add_argument("--tolerance", type=float, default=1e-9, help="relative")
    args = parser.parse_args()
    if args.command == "record":
        record(args.path, tuple(args.sets), args.only)
    else:
        raise SystemExit(compare(args.first, args.second, args.tolerance) or 0)


if __name__ == "__main__":
    main()
