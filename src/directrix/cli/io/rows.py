"""Rows in files, as commands need them: a source that `summarize` reads, and tasks of one pass."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.cli.io.files import matching_paths
from directrix.cli.io.options import columns_of, one_of, require
from directrix.cli.output.errors import UsageError
from directrix.engines import HashFolds, csv_encoding
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.exceptions import ColumnNotFoundError
from directrix.moments.labels import tidy
from directrix.moments.rows import SparseRows

_LIBSVM = (".svm", ".libsvm", ".svmlight")
_COMPRESSED = (".gz", ".bz2")
_SHOWN = 5


@dataclass(frozen=True)
class RowFiles:
    """Files of rows, and which of their columns are what.

    Parameters
    ----------
    paths : tuple of str
    target : str or None
    features : tuple of str or None
    weight : str or None
    positive : str or None
        Label, as text, against which all others are one class.
    libsvm : bool
    n_features : int or None
        Of LIBSVM files.
    spark : str or None
        URL of a Spark master.
    """

    paths: tuple[str, ...]
    target: str | None
    features: tuple[str, ...] | None = None
    weight: str | None = None
    positive: str | None = None
    libsvm: bool = False
    n_features: int | None = None
    spark: str | None = None

    @classmethod
    def of(
        cls,
        files: Sequence[str],
        target: str | None,
        *,
        features: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        form: str | None = None,
        labelled: bool = True,
        **others: Any,
    ) -> RowFiles:
        """Check what was given on the command line."""
        require(files, "give files of rows", "ROWS")
        if form is not None:
            one_of(form, ("libsvm",), "--format")
        paths = tuple(path for given in files for path in _found(given))
        libsvm = form == "libsvm" or all(_is_libsvm(path) for path in paths)
        chosen, dropped = columns_of(features), columns_of(drop)
        if libsvm:
            named = chosen or dropped or others.get("weight") or others.get("spark")
            require(not named, "LIBSVM files have no named columns, and Spark does not read them")
        elif labelled:
            require(target, "say which column has the labels", "--target")
        if dropped and chosen is None:
            names = _schema(paths[0])
            missing = [name for name in dropped if name not in names]
            if missing:
                raise ColumnNotFoundError(missing[0], names)
            others_taken = {target, others.get("weight"), *dropped}
            chosen = [name for name in names if name not in others_taken]
        elif dropped:
            chosen = [name for name in chosen or () if name not in dropped]
        return cls(
            paths, target, None if chosen is None else tuple(chosen), libsvm=libsvm, **others
        )

    def source(self, folds: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Return what `summarize` and `fit_source` read, and their options."""
        if self.libsvm:
            X, y = self._svmlight()
            fold = None if folds is None else HashFolds(folds).of_rows(X, y)
            return [(X, y, None, fold)], {"target": None}
        options: dict[str, Any] = {"target": self.target, "weight": self.weight}
        options["features"] = self.features
        if folds is not None:
            options["fold"] = HashFolds(folds)
        return self._in_spark() if self.spark else list(self.paths), options

    def read(self, task: Any) -> Any:
        """Return what a task makes of all rows, in one pass."""
        source, options = self.source()
        return run(source, Plan.of(**options), task)

    def labels(self, y: Any) -> AnyArray:
        """Return labels, or which of them are the positive one where it was named."""
        known = tidy(y)
        return known if self.positive is None or self.libsvm else is_label(known, self.positive)

    def _svmlight(self) -> tuple[Any, AnyArray]:
        from sklearn.datasets import load_svmlight_files

        try:
            read = load_svmlight_files(list(self.paths), n_features=self.n_features)
        except ValueError as error:
            msg = f"the files cannot be read as LIBSVM ({error}): look for a line that is none"
            raise UsageError(msg) from None
        y = np.concatenate(read[1::2])
        y = y.astype(np.int64) if np.array_equal(y, np.floor(y)) else y
        y = y if self.positive is None else is_label(y, self.positive)
        return sparse.vstack(read[::2], format="csr"), y

    def _in_spark(self) -> Any:
        from pyspark.sql import SparkSession

        if str(self.spark).startswith("local"):  # its workers are to find what we have found
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(self.spark).appName("directrix")
        shown = str(sys.stderr.isatty()).lower()
        session = builder.config("spark.ui.showConsoleProgress", shown).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        if Path(self.paths[0]).suffix.lower() in (".csv", ".gz"):
            return session.read.csv(list(self.paths), header=True, inferSchema=True)
        return session.read.parquet(*self.paths)


class InMemory(NamedTuple):
    """All rows: features, labels as they are, weights, and names of the features."""

    X: Any
    y: AnyArray
    weight: FloatArray | None
    names: tuple[str, ...] | None


@dataclass(frozen=True)
class Gather:
    """The task that keeps all rows; they must be finite."""

    name = "read"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> InMemory:
        """Return the rows of all tables."""
        parts, labels, weights, names = [], [], [], None
        for table in tables:
            block = plan.block(table)
            names = block.X.names
            X = features_of(block.X)
            require_finite(X, names)
            parts.append(X)
            labels.append(tidy(block.y))
            weights.append(block.weight)
        if not parts:
            msg = "the files hold no rows"
            raise UsageError(msg)
        stack = sparse.vstack if sparse.issparse(parts[0]) else np.concatenate
        return InMemory(stack(parts), np.concatenate(labels), joined(weights), names)


def joined(weights: Sequence[Any]) -> FloatArray | None:
    """Return the weights of all blocks, where there are some."""
    given = [np.asarray(own, dtype=np.float64) for own in weights if own is not None]
    return np.concatenate(given) if given else None


def features_of(rows: Any) -> Any:
    """Return the features of a block as an array, or sparse as they are."""
    if isinstance(rows, SparseRows):
        return rows.matrix if rows.columns is None else rows.matrix[:, rows.columns]
    return rows.block(0, rows.shape[0])


def is_label(y: AnyArray, text: str) -> AnyArray:
    """Return which labels are the one that a text means."""
    found = np.unique(y)
    meant = [label for label in found.tolist() if text in _spellings(label)]
    if not meant:
        shown = ", ".join(map(str, found[:_SHOWN].tolist()))
        more = " and more" if len(found) > _SHOWN else ""
        msg = f"no label {text!r} among those of the rows ({shown}{more}): see --positive"
        raise UsageError(msg)
    is_it: AnyArray = y == meant[0]
    return is_it


def _spellings(label: Any) -> tuple[str, ...]:
    return (str(label), f"{label:g}") if isinstance(label, float) else (str(label),)


def require_finite(X: Any, names: Sequence[str] | None) -> None:
    """Refuse what is missing or infinite, and say in which column."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    if sparse.issparse(X):
        msg = "the rows hold NaN or infinity: fill those values in, or leave these rows out"
        raise UsageError(msg)
    bad = ~np.isfinite(X)
    column = int(bad.any(axis=0).argmax())
    name = repr(names[column]) if names else str(column)
    what = "NaN (nothing is there)" if np.isnan(X[bad[:, column], column]).any() else "infinity"
    msg = f"column {name} holds {what}: fill it in, leave those rows out, or --drop the column"
    raise UsageError(msg)


def _found(given: str) -> list[str]:
    """Return a path, or the files that a pattern means."""
    found = [given] if "://" in given else matching_paths(given)
    if not found:
        msg = f"no file at {given!r}: give the path of a file or folder, or a pattern"
        raise UsageError(msg)
    return found


def _is_libsvm(path: str) -> bool:
    name = Path(path)
    return (name.with_suffix("") if name.suffix in _COMPRESSED else name).suffix in _LIBSVM


def _schema(path: str) -> list[str]:
    """Return the columns of a file or folder."""
    from pyarrow import dataset

    suffix = Path(path).suffix.lstrip(".").lower()
    form = {"csv": "csv", "arrow": "ipc", "feather": "ipc"}.get(suffix, "parquet")
    try:
        return list(dataset.dataset(path, format=form, partitioning="hive").schema.names)
    except ValueError as error:
        csv_encoding.explain(path, error)
        raise
