"""Files of rows: the columns that a command uses, reading them, and their scores by a model."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers import ScorecardClassifier
from directrix.classifiers.evaluation import ScoredRows
from directrix.classifiers.labels import ending_with, positive_of
from directrix.cli.options import check_choice, parse_columns, require
from directrix.cli.reply import UsageError
from directrix.engines import HashFolds
from directrix.engines.arrow import open_source
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles
from directrix.engines.readers import explain_encoding, matching_files
from directrix.engines.tables import as_table
from directrix.exceptions import find_stacklevel
from directrix.exceptions.columns import (
    ColumnNotFoundError,
    NotNumericError,
    PandasIndexWarning,
    UnusableColumnsError,
)
from directrix.moments import Moments
from directrix.rows.labels import as_labels
from directrix.rows.rows import SparseRows, as_rows, not_finite_error
from directrix.rows.sums import tree_sum

_LIBSVM = (".svm", ".libsvm", ".svmlight")
_COMPRESSED = (".gz", ".bz2")
#: Labels that a message lists.
_LISTED_LABELS = 5
#: Columns of a file that are the index of the data frame it was written from.
_PANDAS_INDEX = re.compile("__index_level_[0-9]+__")


class RowBlock(NamedTuple):
    """Rows of one table as a command uses them.

    ``X`` has the features: an array or sparse matrix, or raw columns in the library of the table.
    ``rows`` are the same features with their names, ``table`` has all columns that were read.
    ``segment`` has the segment of each row.
    """

    X: Any
    y: AnyArray | None
    weight: FloatArray | None
    rows: Any
    table: Any
    segment: AnyArray | None = None


@dataclass(frozen=True)
class RowFiles:
    """Files of rows, and the columns that have the labels, features, weights and segments.

    Without ``features`` all columns without another use are features. ``positive`` is the label of
    the positive class, as text, against all others; ``n_features`` is for LIBSVM files; ``spark``
    is the URL of a Spark master that reads the files.
    """

    paths: tuple[str, ...]
    target: str | None
    features: tuple[str, ...] | None = None
    weight: str | None = None
    positive: str | None = None
    libsvm: bool = False
    n_features: int | None = None
    spark: str | None = None
    segment: str | None = None

    @classmethod
    def of(
        cls,
        files: Sequence[str],
        target: str | None,
        features: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        weight: str | None = None,
        positive: str | None = None,
        file_format: str | None = None,
        n_features: int | None = None,
        spark: str | None = None,
        *,
        labelled: bool = True,
        segment: str | None = None,
    ) -> RowFiles:
        """Check the options of a command that reads rows."""
        require(files, "give files of rows", "ROWS")
        if file_format is not None:
            check_choice(file_format, ("libsvm",), "--format")
        matches = ([given] if "://" in given else matching_files(given) for given in files)
        paths = tuple(path for matching in matches for path in matching)
        libsvm = file_format == "libsvm" or all(_is_libsvm(path) for path in paths)
        chosen, dropped = parse_columns(features), parse_columns(drop)
        if libsvm:
            named = chosen or dropped or weight or spark or segment
            require(not named, "LIBSVM files have no named columns, and Spark does not read them")
        elif labelled:
            require(target, "give the column that has the labels", "--target")
        if dropped and chosen is None:
            names = _column_names(paths[0])
            missing = [name for name in dropped if name not in names]
            if missing:
                raise ColumnNotFoundError(missing[0], names)
            excluded = {target, weight, segment, *dropped}
            chosen = without_index([name for name in names if name not in excluded])
        elif dropped:
            chosen = [name for name in chosen or () if name not in dropped]
        columns = None if chosen is None else tuple(chosen)
        return cls(paths, target, columns, weight, positive, libsvm, n_features, spark, segment)

    def of_columns(self, *names: str) -> RowFiles:
        """Return the files with these features only."""
        return replace(self, features=names)

    def for_model(self, model: Any) -> RowFiles:
        """Return files from which the features of a model are read, in the model's order."""
        if self.libsvm:
            return replace(self, n_features=int(model.n_features_in_))
        names = getattr(model, "feature_names_in_", None)
        if self.features is None and names is not None:
            return replace(self, features=tuple(map(str, names)))
        return self

    def column_names(self) -> list[str]:
        """Return the columns of the files."""
        return _column_names(list(self.paths))

    def source(self, folds: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Return the source and the options for `summarize` and `fit_source`."""
        if self.libsvm:
            X, y = self._read_libsvm()
            fold = None if folds is None else HashFolds(folds).of_rows(X, y)
            return [(X, y, None, fold)], {"target": None}
        options: dict[str, Any] = {"target": self.target, "weight": self.weight}
        if self.segment is not None:
            options["segment"] = self.segment
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
        used = {self.target, self.weight, self.segment}
        features = [name for name in names if name not in used]
        kept = without_index(features)
        return None if len(kept) == len(features) else kept

    def read(
        self,
        use: Callable[[RowBlock], Any],
        *,
        raw: bool = False,
        keep: Sequence[str] = (),
        finite: bool = True,
        label: str = "read",
        progress: bool = True,
    ) -> list[Any]:
        """Return what a function gives of each block of rows, in one pass.

        With ``raw``, features are columns as they are, with texts and missing values; otherwise
        they must be finite numbers, unless ``finite`` is False. ``keep`` names further columns of
        the table that are read; ``label`` is that of the progress bar.
        """
        source, options = self.source()
        if not self.libsvm and self.target is None:
            # A plan needs a target: without labels take a column that is read anyway.
            options["target"] = self.features[0] if self.features else None
        if keep:
            options["features"] = [*options["features"], *keep]
        labelled = self.target is not None or self.libsvm
        task = _EachTable(use, self.features, raw, finite, labelled, label)
        results: list[Any] = run(source, ColumnRoles.of(**options), task, progress=progress)
        if not results:
            msg = "the files hold no rows"
            raise UsageError(msg)
        return results

    def labels(self, y: Any, classes: AnyArray | None = None) -> AnyArray:
        """Return the labels; True and False if a positive label was given.

        If the positive label is one of the ``classes`` of a model, labels stay as they are.
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
        builder = SparkSession.builder.appName("directrix")
        if str(self.spark).startswith("sc://"):  # Spark Connect: the server has its own settings
            session = builder.remote(self.spark).getOrCreate()
        else:
            if str(self.spark).startswith("local"):  # its workers need the packages of this Python
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            progress = str(sys.stderr.isatty()).lower()
            builder = builder.config("spark.ui.showConsoleProgress", progress)
            session = builder.master(self.spark).getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
        if Path(self.paths[0]).suffix.lower() in (".csv", ".gz"):
            return session.read.csv(list(self.paths), header=True, inferSchema=True)
        return session.read.parquet(*self.paths)


@dataclass(frozen=True)
class _EachTable:
    """Task that applies a function to the rows of each table; its result is a list."""

    use: Callable[[RowBlock], Any]
    features: tuple[str, ...] | None
    raw: bool
    finite: bool
    labelled: bool
    name: str

    def __call__(self, plan: ColumnRoles, tables: Iterator[Any]) -> list[Any]:
        """Return the results of all tables."""
        return [self.use(self._block(plan, as_table(data))) for data in tables]

    def _block(self, plan: ColumnRoles, table: Any) -> RowBlock:
        columns = self.features or plan.columns_of(table)
        rows = table.raw(columns) if self.raw else table.features(columns)
        X = rows if self.raw else _feature_matrix(rows)
        if self.finite and not self.raw:
            require_finite(X, rows.names)
        return RowBlock(
            X,
            as_labels(table.values(plan.target)) if self.labelled else None,
            None if plan.weight is None else table.values(plan.weight),
            rows,
            table.data,
            None if plan.segment is None else table.values(plan.segment),
        )


class RowsInMemory(NamedTuple):
    """All rows: features, labels as read, sample weights, names of the features, and segments."""

    X: Any
    y: Any
    weight: FloatArray | None
    names: tuple[str, ...] | None
    segment: AnyArray | None = None


def read_rows(files: RowFiles, *, raw: bool = False) -> RowsInMemory:
    """Read all rows into memory: finite numbers, or a raw table with texts and missing values."""
    blocks = files.read(lambda block: block, raw=raw)
    parts, labels, weights, rows, _, segments = zip(*blocks, strict=True)
    if raw:
        import pyarrow as pa

        tables = [
            part if isinstance(part, pa.Table) else pa.Table.from_batches([part]) for part in parts
        ]
        X = pa.concat_tables(tables, promote_options="permissive")
        names = tuple(X.column_names)
    else:
        X = (sparse.vstack if sparse.issparse(parts[0]) else np.concatenate)(parts)
        names = rows[-1].names
    weight, segment = concatenate_weights(weights), concatenate_segments(segments)
    y = None if labels[0] is None else np.concatenate(labels)
    return RowsInMemory(X, y, weight, names, segment)


def concatenate_weights(weights: Sequence[Any]) -> FloatArray | None:
    """Return the weights of all blocks as one array; None if there are none."""
    given = [np.asarray(weight, dtype=np.float64) for weight in weights if weight is not None]
    return np.concatenate(given) if given else None


def concatenate_segments(segments: Sequence[Any]) -> AnyArray | None:
    """Return the segments of all blocks as one array; None if there are none."""
    given = [np.asarray(segment, dtype=object) for segment in segments if segment is not None]
    return np.concatenate(given) if given else None


def _feature_matrix(rows: Any) -> Any:
    """Return the features of a block as a dense array, or as a sparse matrix if they are one."""
    if isinstance(rows, SparseRows):
        return rows.matrix if rows.columns is None else rows.matrix[:, rows.columns]
    return rows.block(0, rows.shape[0])


def labels_to_fit(files: RowFiles, y: AnyArray) -> tuple[AnyArray, Any]:
    """Return the labels to fit a model to, and the positive one if it was named and is of two.

    The model then keeps both labels, so that other commands know them in other rows.
    """
    labels = files.labels(y)
    if files.positive is None or files.libsvm or len(np.unique(y)) != 2:
        return labels, None
    return y, matching_label(files.positive, np.unique(y))


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
    for label in labels.tolist():
        if text == str(label) or (isinstance(label, float) and text == f"{label:g}"):
            return label
    return None


def require_finite(X: Any, names: Sequence[str] | None) -> None:
    """Raise an error that names the columns in which a value is missing or infinite."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    rows = as_rows(X)
    rows.names = None if names is None else tuple(names)
    error = not_finite_error(rows, partial=True)
    if error is not None:
        raise error


def _is_libsvm(path: str) -> bool:
    name = Path(path)
    return (name.with_suffix("") if name.suffix in _COMPRESSED else name).suffix in _LIBSVM


def without_index(names: Sequence[str]) -> list[str]:
    """Return names without those of an index that pandas has written, and warn if there are any."""
    index = tuple(name for name in names if _PANDAS_INDEX.fullmatch(name))
    if index:
        warnings.warn(PandasIndexWarning(index), stacklevel=find_stacklevel())
    return [name for name in names if name not in index]


def _column_names(paths: str | list[str]) -> list[str]:
    """Return the columns of a file or folder, or of several."""
    try:
        return open_source(paths).columns
    except ValueError as error:
        explain_encoding(paths, error)
        raise


# ── Scores of a model, in one pass that keeps the scores but not the features ─────────────────────


def labels_of(model: Any) -> AnyArray:
    """Return the labels of a model; of two, the positive one is last."""
    classes: AnyArray = model.classes_
    return ending_with(positive_of(model), classes) if len(classes) == 2 else classes


def takes_raw_rows(model: Any) -> bool:
    """Return whether a model scores texts and missing values as they are: a scorecard does."""
    return isinstance(model, ScorecardClassifier)


def score_rows(model: Any, files: RowFiles, *, with_moments: bool = False) -> ScoredRows:
    """Return scores and probabilities of all rows of some files, and optionally their moments.

    With two classes they are in favour of the positive label of the model.
    """
    files, classes, raw = files.for_model(model), model.classes_, takes_raw_rows(model)
    if raw and with_moments:
        msg = (
            "this is about linear models, and the model is a scorecard: use evaluate, or in Python "
            "ScorecardDisplay"
        )
        raise UsageError(msg)
    turned = len(classes) == 2 and positive_of(model) != classes.tolist()[-1]

    def score(block: RowBlock) -> tuple[Any, ...]:
        y = labels_for_model(model, files, block.y)
        scores, probability = scores_and_probabilities(model, block.X)
        if turned:
            scores, probability = -scores, 1.0 - probability
        moments = None
        if with_moments:
            moments = Moments.of(block.rows, y, block.weight, classes=classes, feature_names=None)
        return y, scores, probability, block.weight, moments, block.segment

    with model_columns(files):
        scored = files.read(score, raw=raw, label="score")
    labels, scores, probability, weights, moments, segments = zip(*scored, strict=True)
    summary = tree_sum(moments) if with_moments else None
    if summary is not None and len(classes) == 2:
        summary = summary.with_positive(positive_of(model))
    return ScoredRows(
        np.concatenate(labels),
        np.concatenate(scores),
        np.concatenate(probability),
        concatenate_weights(weights),
        summary,
        concatenate_segments(segments),
    )


@contextmanager
def model_columns(files: RowFiles) -> Iterator[None]:
    """Reword errors about the columns of a model, which cannot be left out, as a UsageError."""
    try:
        yield
    except UnusableColumnsError as error:
        if files.features is None:  # all columns are read, and some may be left out
            raise
        leave_out = "" if isinstance(error, NotNumericError) else ", or leave those rows out"
        msg = (
            f"{error.problem}: the model needs finite numbers there, so prepare these rows like "
            f"those it was fitted to{leave_out}"
        )
        raise UsageError(msg) from None


def scores_and_probabilities(model: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Return scores and probabilities of rows; with two classes, those of the second class."""
    if X.shape[1] != model.n_features_in_:
        msg = (
            f"the model has {model.n_features_in_} features and the rows have {X.shape[1]}: give "
            "the columns of the model, in their order, with --features"
        )
        raise UsageError(msg)
    scores = np.asarray(model.decision_function(X))
    probability = np.asarray(model.predict_proba(X))
    return scores, probability[:, 1] if len(model.classes_) == 2 else probability


def labels_for_model(model: Any, files: RowFiles, y: Any) -> AnyArray:
    """Return the labels of rows in the type of the model's classes; refuse an unknown label."""
    classes: AnyArray = model.classes_
    if files.positive is not None and not files.libsvm and len(classes) == 2:
        asked = matching_label(files.positive, classes)
        if asked is not None and asked != positive_of(model):
            msg = (
                f"the model is for the label {positive_of(model)!r}, not {asked!r}: leave "
                "--positive out, or fit a model with it"
            )
            raise UsageError(msg)
    known: Sequence[Any] = classes.tolist()
    labels, index = np.unique(files.labels(y, classes), return_inverse=True)
    unknown = [label for label in labels.tolist() if label not in known]
    if unknown:
        listed = ", ".join(repr(label) for label in unknown[:_LISTED_LABELS])
        expected = ", ".join(repr(label) for label in known[:_LISTED_LABELS])
        remedy = "; or give the label that is True with --positive" if True in known else ""
        msg = (
            f"the rows have labels that the model was not fitted to ({listed}); the model has "
            f"{expected}: check that --target is the right column{remedy}"
        )
        raise UsageError(msg)
    order = np.array([known.index(label) for label in labels.tolist()], dtype=np.intp)
    return classes[order[index]]
