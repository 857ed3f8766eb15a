"""Files of rows: the columns that a command uses, and reading them."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.cli.io.files import matching_paths
from directrix.cli.io.options import check_choice, parse_columns, require
from directrix.cli.output.errors import UsageError
from directrix.engines import HashFolds
from directrix.engines.arrow import open_source
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.readers.files import explain_encoding
from directrix.exceptions import find_stacklevel
from directrix.exceptions.columns import ColumnNotFoundError, PandasIndexWarning
from directrix.rows.labels import as_labels
from directrix.rows.rows import SparseRows, as_rows, not_finite_error

_LIBSVM = (".svm", ".libsvm", ".svmlight")
_COMPRESSED = (".gz", ".bz2")
#: Labels that a message lists.
_LISTED_LABELS = 5
#: Columns of a file that are the index of the data frame it was written from.
_PANDAS_INDEX = re.compile("__index_level_[0-9]+__")


@dataclass(frozen=True)
class RowFiles:
    """Files of rows, and the columns that have the labels, features and weights.

    Parameters
    ----------
    paths : tuple of str
    target : str or None
        Column with the labels.
    features : tuple of str or None
        Feature columns; None for all columns without another use.
    weight : str or None
        Column with sample weights.
    positive : str or None
        Label of the positive class, as text, against all others.
    libsvm : bool
        Whether the files are in LIBSVM format.
    n_features : int or None
        Number of features of LIBSVM files.
    spark : str or None
        URL of a Spark master that reads the files.
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
        file_format: str | None = None,
        labelled: bool = True,
        **others: Any,
    ) -> RowFiles:
        """Check the options of a command that reads rows."""
        require(files, "give files of rows", "ROWS")
        if file_format is not None:
            check_choice(file_format, ("libsvm",), "--format")
        paths = tuple(path for given in files for path in _existing_paths(given))
        libsvm = file_format == "libsvm" or all(_is_libsvm(path) for path in paths)
        chosen, dropped = parse_columns(features), parse_columns(drop)
        if libsvm:
            named = chosen or dropped or others.get("weight") or others.get("spark")
            require(not named, "LIBSVM files have no named columns, and Spark does not read them")
        elif labelled:
            require(target, "give the column that has the labels", "--target")
        if dropped and chosen is None:
            names = _column_names(paths[0])
            missing = [name for name in dropped if name not in names]
            if missing:
                raise ColumnNotFoundError(missing[0], names)
            excluded = {target, others.get("weight"), *dropped}
            chosen = [name for name in names if name not in excluded]
        elif dropped:
            chosen = [name for name in chosen or () if name not in dropped]
        return cls(
            paths, target, None if chosen is None else tuple(chosen), libsvm=libsvm, **others
        )

    def source(self, folds: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Return the source and the options for `summarize` and `fit_source`."""
        if self.libsvm:
            X, y = self._read_libsvm()
            fold = None if folds is None else HashFolds(folds).of_rows(X, y)
            return [(X, y, None, fold)], {"target": None}
        options: dict[str, Any] = {"target": self.target, "weight": self.weight}
        rows: Any = self._spark_frame() if self.spark else list(self.paths)
        options["features"] = self.features
        if self.features is None:
            names = rows.columns if self.spark else _column_names(rows)
            options["features"] = self._features_without_index(names)
        if folds is not None:
            options["fold"] = HashFolds(folds)
        return rows, options

    def _features_without_index(self, names: Sequence[str]) -> list[str] | None:
        """Return all features if the index of pandas is among the columns; otherwise None."""
        index = [name for name in names if _PANDAS_INDEX.fullmatch(name)]
        roles = {self.target, self.weight}
        unused = [name for name in index if name not in roles]
        if not unused:
            return None
        warnings.warn(PandasIndexWarning(unused), stacklevel=find_stacklevel())
        return [name for name in names if name not in roles and name not in unused]

    def read(self, task: Any, *, raw: bool = False) -> Any:
        """Return the result of a task over all rows, in one pass.

        Parameters
        ----------
        task : callable
            Of a plan and tables.
        raw : bool
            Whether the features of blocks are columns as they are, with texts and missing values.
        """
        source, options = self.source()
        return run(source, (RawPlan if raw else Plan).of(**options), task)

    def labels(self, y: Any, classes: AnyArray | None = None) -> AnyArray:
        """Return the labels; True and False if a positive label was given.

        Parameters
        ----------
        y : array
        classes : array, optional
            Labels of a model: if the positive label is one of them, labels stay as they are.
        """
        labels = as_labels(y)
        if self.positive is None or self.libsvm:
            return labels
        if classes is not None and matching_label(self.positive, classes) is not None:
            return labels
        return equals_label(labels, self.positive)

    def _read_libsvm(self) -> tuple[Any, AnyArray]:
        from sklearn.datasets import load_svmlight_files

        try:
            parts = load_svmlight_files(list(self.paths), n_features=self.n_features)
        except ValueError as error:
            msg = f"the files cannot be read as LIBSVM ({error}): look for a line in another format"
            raise UsageError(msg) from None
        y = np.concatenate(parts[1::2])
        y = y.astype(np.int64) if np.array_equal(y, np.floor(y)) else y
        y = y if self.positive is None else equals_label(y, self.positive)
        return sparse.vstack(parts[::2], format="csr"), y

    def _spark_frame(self) -> Any:
        from pyspark.sql import SparkSession

        if any((Path(path) / "_delta_log").is_dir() for path in self.paths):
            msg = "Spark would read deleted rows of a Delta table too: leave --spark out"
            raise UsageError(msg)
        if str(self.spark).startswith("local"):  # its workers need the packages of this Python
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(self.spark).appName("directrix")
        progress = str(sys.stderr.isatty()).lower()
        session = builder.config("spark.ui.showConsoleProgress", progress).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        if Path(self.paths[0]).suffix.lower() in (".csv", ".gz"):
            return session.read.csv(list(self.paths), header=True, inferSchema=True)
        return session.read.parquet(*self.paths)


@dataclass(frozen=True)
class RawPlan(Plan):
    """Roles of the columns of a raw table, whose features are read as they are."""

    def read_features(self, table: Any, columns: tuple[Any, ...]) -> tuple[Any, None]:
        """Return the feature columns in the library of the table."""
        return table.raw(columns), None


class RowsInMemory(NamedTuple):
    """All rows: features, labels as read, sample weights, and names of the features."""

    X: Any
    y: AnyArray
    weight: FloatArray | None
    names: tuple[str, ...] | None


@dataclass(frozen=True)
class ReadRows:
    """Task that reads all rows into memory; they must be finite."""

    name = "read"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> RowsInMemory:
        """Return the rows of all tables."""
        parts, labels, weights, names = [], [], [], None
        for table in tables:
            block = plan.block(table)
            names = block.X.names
            X = feature_matrix(block.X)
            require_finite(X, names)
            parts.append(X)
            labels.append(as_labels(block.y))
            weights.append(block.weight)
        if not parts:
            msg = "the files hold no rows"
            raise UsageError(msg)
        stack = sparse.vstack if sparse.issparse(parts[0]) else np.concatenate
        return RowsInMemory(
            stack(parts), np.concatenate(labels), concatenate_weights(weights), names
        )


@dataclass(frozen=True)
class ReadRawRows:
    """Task that reads all rows into memory as a raw table, with texts and missing values."""

    name = "read"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> RowsInMemory:
        """Return the rows of all tables."""
        import pyarrow as pa

        blocks = [plan.block(table) for table in tables]
        if not blocks:
            msg = "the files hold no rows"
            raise UsageError(msg)
        parts = [
            block.X if isinstance(block.X, pa.Table) else pa.Table.from_batches([block.X])
            for block in blocks
        ]
        X = pa.concat_tables(parts, promote_options="permissive")
        labels = np.concatenate([as_labels(block.y) for block in blocks])
        weight = concatenate_weights([block.weight for block in blocks])
        return RowsInMemory(X, labels, weight, tuple(X.column_names))


def concatenate_weights(weights: Sequence[Any]) -> FloatArray | None:
    """Return the weights of all blocks as one array; None if there are none."""
    given = [np.asarray(weight, dtype=np.float64) for weight in weights if weight is not None]
    return np.concatenate(given) if given else None


def feature_matrix(rows: Any) -> Any:
    """Return the features of a block as a dense array, or as a sparse matrix if they are one."""
    if isinstance(rows, SparseRows):
        return rows.matrix if rows.columns is None else rows.matrix[:, rows.columns]
    return rows.block(0, rows.shape[0])


def equals_label(y: AnyArray, text: str) -> AnyArray:
    """Return which labels equal the one that is written as a text."""
    labels = np.unique(y)
    matching = matching_label(text, labels)
    if matching is None:
        listed = ", ".join(map(str, labels[:_LISTED_LABELS].tolist()))
        more = " and more" if len(labels) > _LISTED_LABELS else ""
        msg = f"no label {text!r} among those of the rows ({listed}{more}): check --positive"
        raise UsageError(msg)
    equal: AnyArray = y == matching
    return equal


def matching_label(text: str, labels: AnyArray) -> Any:
    """Return the label that is written as a text; None if there is none."""
    return next((label for label in labels.tolist() if text in _spellings(label)), None)


def _spellings(label: Any) -> tuple[str, ...]:
    return (str(label), f"{label:g}") if isinstance(label, float) else (str(label),)


def require_finite(X: Any, names: Sequence[str] | None) -> None:
    """Raise an error that names the columns in which a value is missing or infinite.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Some of the rows.
    names : sequence of str or None
        Names of the columns.
    """
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    rows = as_rows(X)
    rows.names = None if names is None else tuple(names)
    error = not_finite_error(rows, partial=True)
    if error is not None:
        raise error


def _existing_paths(given: str) -> list[str]:
    """Return a path or URL, or the files that match a pattern; raise an error if there are none."""
    paths = [given] if "://" in given else matching_paths(given)
    if not paths:
        msg = f"no file at {given!r}: give the path of a file or folder, or a pattern"
        raise UsageError(msg)
    return paths


def _is_libsvm(path: str) -> bool:
    name = Path(path)
    return (name.with_suffix("") if name.suffix in _COMPRESSED else name).suffix in _LIBSVM


def _column_names(paths: str | list[str]) -> list[str]:
    """Return the columns of a file or folder, or of several."""
    try:
        return open_source(paths).columns
    except ValueError as error:
        explain_encoding(paths, error)
        raise
