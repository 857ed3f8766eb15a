"""The command ``predict``: scores, probabilities and labels of rows, in batches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli.io.files import load_model
from directrix.cli.io.options import (
    Features,
    Force,
    Format,
    Json,
    Model,
    Rows,
    parse_columns,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.errors import UsageError
from directrix.cli.output.reply import Reply
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.engines.plan import Plan

_STDOUT = "-"


def predict(
    *,
    model: Model,
    rows: Rows,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .parquet or .csv file; - for CSV on stdout.")
    ],
    force: Force = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="Columns to copy, such as an id, separated by commas.")
    ] = None,
    features: Features = None,
    file_format: Format = None,
    as_json: Json = False,
) -> Reply:
    """Write the score, the probability and the prediction of every row.

    The probability is called after its class, such as probability_bad: with two classes it is that
    of the positive class, otherwise there is one for each.
    """
    from directrix.cli.io.rows import RowFiles
    from directrix.cli.io.scoring import labels_of, model_columns, select_features
    from directrix.engines.base import run
    from directrix.engines.plan import Plan

    require(not (as_json and output == _STDOUT), "the rows are written to stdout", "--json")
    supported = output == _STDOUT or Path(output).suffix.lower() in (".parquet", ".csv")
    require(supported, "the name must end in .parquet or .csv, or be -", "--output")
    require_output(None if output == _STDOUT else output, [model, *rows], force=force)
    classifier = load_model(model)
    kept = parse_columns(keep) or []
    made = output_columns(classifier)
    twice = next((name for name in kept if name in made), None)
    require(twice is None, f"the column {twice!r} is also written by predict", "--keep")
    files = RowFiles.of(rows, None, features=features, file_format=file_format, labelled=False)
    files = select_features(files, classifier)
    if files.libsvm:
        require(not kept, "LIBSVM files have no other columns", "--keep")
        source, plan = files.source()[0], Plan.of(target=None)
        names: tuple[str, ...] | None = None
    else:
        names = files.features or ()
        require(
            names, "the model has no feature names: give the columns in its order", "--features"
        )
        # A plan needs a target: take a column that is read anyway.
        source, plan = list(files.paths), Plan.of(target=names[0], features=[*names, *kept])
    with model_columns(), _writer(output) as write:
        task = PredictTask(classifier, names, tuple(kept), write)
        counts: PredictionCounts = run(source, plan, task)
        if not counts.rows:  # the types of the columns are unknown, so nothing can be written
            msg = "the files hold no rows"
            raise UsageError(msg)
    text = f"{counts.rows:,} rows, {counts.flagged:,} predicted {labels_of(classifier)[-1]}"
    if counts.incomplete:
        text += (
            f"\n{counts.incomplete:,} rows lack a value: their score, probability and prediction "
            "are empty"
        )
    values = {"output": output, **asdict(counts)}
    return Reply(f"{text}\nwrote {output}", values, on_stderr=output == _STDOUT)


@dataclass(frozen=True)
class PredictionCounts:
    """Counts of a prediction.

    Parameters
    ----------
    rows : int
    flagged : int
        Rows that are predicted to be of the positive class, or of the last of several.
    incomplete : int
        Rows that lack a value.
    """

    rows: int
    flagged: int
    incomplete: int


@dataclass(frozen=True)
class PredictTask:
    """Task that predicts rows and writes the predictions as it reads the rows.

    Parameters
    ----------
    model : fitted classifier
    names : tuple of str or None
        Feature columns; None for LIBSVM files.
    kept : tuple of str
        Columns that are copied.
    write : callable
        Function that writes a mapping of column names to Arrow arrays.
    """

    model: Any
    names: tuple[str, ...] | None
    kept: tuple[str, ...]
    write: Any
    name = "predict"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> PredictionCounts:
        """Predict the rows of all tables."""
        from directrix.cli.io.rows import feature_matrix
        from directrix.cli.io.scoring import takes_raw_rows
        from directrix.engines.tables import as_table

        rows = flagged = incomplete = 0
        for table in tables:
            if self.names is None:
                X = feature_matrix(plan.block(table).X)
            elif takes_raw_rows(self.model):
                X = as_table(table).raw(self.names)
            else:
                X = feature_matrix(as_table(table).features(self.names))
            columns, complete, n_flagged = self._predictions(X)
            for name in self.kept:
                columns[name] = table.column(name)
            self.write({name: columns[name] for name in (*self.kept, *columns)})
            rows += X.shape[0]
            flagged += n_flagged
            incomplete += int((~complete).sum())
        return PredictionCounts(rows, flagged, incomplete)

    def _predictions(self, X: Any) -> tuple[dict[str, Any], AnyArray, int]:
        """Return the new columns, which rows have all values, and how many are flagged."""
        import numpy as np
        import pyarrow as pa
        from scipy import sparse

        from directrix.cli.io.scoring import labels_of, scores_and_probabilities, takes_raw_rows

        n_rows = X.shape[0]
        any_value = sparse.issparse(X) or takes_raw_rows(self.model)
        complete = np.ones(n_rows, dtype=bool) if any_value else np.isfinite(X).all(axis=1)
        classes = self.model.classes_
        shape = (n_rows,) if len(classes) == 2 else (n_rows, len(classes))
        scores, probability = np.zeros(shape), np.zeros(shape)
        *names, last = output_columns(self.model)
        if complete.all():
            scores, probability = scores_and_probabilities(self.model, X)
        elif complete.any():
            scores[complete], probability[complete] = scores_and_probabilities(
                self.model, X[complete]
            )
        index = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        if len(classes) == 2 and labels_of(self.model).tolist() != classes.tolist():
            probability = 1.0 - probability  # of the positive class, which is the first
        values = [*np.atleast_2d(scores.T), *np.atleast_2d(probability.T)]
        columns: dict[str, Any] = {
            name: pa.array(column, mask=~complete)
            for name, column in zip(names, values, strict=True)
        }
        labels = classes[index].tolist()
        columns[last] = pa.array(labels, type=_arrow_type(classes), mask=~complete)
        caught = classes.tolist().index(labels_of(self.model).tolist()[-1])
        return columns, complete, int((complete & (index == caught)).sum())


def output_columns(model: Any) -> list[str]:
    """Return the names of the columns that are written: scores, probabilities, and the label."""
    from directrix.classifiers.labels import output_names, positive_of, probability_names

    classes = model.classes_.tolist()
    if len(classes) == 2:
        return ["score", *probability_names(classes, positive_of(model)), "prediction"]
    return [*output_names("score", classes), *probability_names(classes), "prediction"]


def _arrow_type(classes: AnyArray) -> Any:
    import pyarrow as pa

    return pa.array(classes.tolist()).type


@contextmanager
def _writer(output: str) -> Iterator[Any]:
    """Give a function that writes columns; the file appears complete or not at all."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    is_csv = output == _STDOUT or output.lower().endswith(".csv")
    with ExitStack() as stack:
        file = sys.stdout.buffer if output == _STDOUT else stack.enter_context(atomic_file(output))
        writers: list[Any] = []

        def write(columns: dict[str, Any]) -> None:
            table = pa.table(columns)
            if not writers:
                writer_type = csv.CSVWriter if is_csv else parquet.ParquetWriter
                writers.append(stack.enter_context(writer_type(file, table.schema)))
            writers[0].write_table(table)

        yield write
