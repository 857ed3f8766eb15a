"""predict: scores, probabilities and labels of rows, batch by batch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse

from directrix._atomic_file import atomic_file
from directrix._typing import AnyArray
from directrix.cli.commands.evaluate import Model
from directrix.cli.io.files import model_of
from directrix.cli.io.options import Features, Force, Format, Json, Rows, columns_of, require
from directrix.cli.io.output_file import require_output
from directrix.cli.io.rows import RowFiles, features_of
from directrix.cli.io.scoring import fitting, scores_and_probabilities
from directrix.cli.output.errors import UsageError
from directrix.cli.output.reply import Reply
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.tables import as_table

_STDOUT = "-"


def predict(
    *,
    model: Model,
    rows: Rows,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .parquet or .csv file; - is CSV on stdout.")
    ],
    force: Force = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="Columns to copy, such as an id; commas in between.")
    ] = None,
    features: Features = None,
    form: Format = None,
    as_json: Json = False,
) -> Reply:
    """Write score, probability and prediction of every row."""
    require(not (as_json and output == _STDOUT), "stdout has the rows already", "--json")
    known = output == _STDOUT or Path(output).suffix.lower() in (".parquet", ".csv")
    require(known, "the name must end in .parquet or .csv, or be -", "--output")
    require_output(None if output == _STDOUT else output, [model, *rows], force=force)
    classifier = model_of(model)
    kept = columns_of(keep) or []
    files = RowFiles.of(rows, None, features=features, form=form, labelled=False)
    files = fitting(files, classifier)
    if files.libsvm:
        require(not kept, "LIBSVM files have no other columns", "--keep")
        source, plan = files.source()[0], Plan.of(target=None)
        names: tuple[str, ...] | None = None
    else:
        names = files.features or ()
        require(names, "the model has no names of features: give them in order", "--features")
        # A plan must have a target: a column that is read in any case.
        source, plan = list(files.paths), Plan.of(target=names[0], features=[*names, *kept])
    with _writer(output) as write:
        done: Predicted = run(source, plan, Predict(classifier, names, tuple(kept), write))
        if not done.rows:  # the types of the columns are not known, so that nothing can be written
            msg = "the files hold no rows"
            raise UsageError(msg)
    facts = {"output": output, **done.__dict__}
    words = f"{done.rows:,} rows, {done.flagged:,} predicted {classifier.classes_[-1]}"
    if done.incomplete:
        words += (
            f"\n{done.incomplete:,} rows lack a value: their score, probability and prediction "
            "are empty"
        )
    return Reply(f"{words}\nwrote {output}", facts, aside=output == _STDOUT)


@dataclass(frozen=True)
class Predicted:
    """How many rows there were, were predicted the last class, and lacked a value."""

    rows: int
    flagged: int
    incomplete: int


@dataclass(frozen=True)
class Predict:
    """The task: what a model says of each row is written as it is read.

    Parameters
    ----------
    model : fitted classifier
    names : tuple of str or None
        Columns of the features.
    kept : tuple of str
        Columns that are copied.
    write : callable
        Takes an Arrow table.
    """

    model: Any
    names: tuple[str, ...] | None
    kept: tuple[str, ...]
    write: Any
    name = "predict"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> Predicted:
        """Predict all tables."""
        rows = flagged = incomplete = 0
        for table in tables:
            if self.names is None:
                X = features_of(plan.block(table).X)
            else:
                X = features_of(as_table(table).features(self.names))
            columns, whole, last = self._predictions(X)
            for name in self.kept:
                columns[name] = table.column(name)
            self.write({name: columns[name] for name in (*self.kept, *columns)})
            rows += X.shape[0]
            flagged += last
            incomplete += int((~whole).sum())
        return Predicted(rows, flagged, incomplete)

    def _predictions(self, X: Any) -> tuple[dict[str, Any], AnyArray, int]:
        """Return the new columns, which rows have all values, and how many are of the last."""
        import pyarrow as pa

        dense = not sparse.issparse(X)
        whole = np.isfinite(X).all(axis=1) if dense else np.ones(X.shape[0], dtype=bool)
        classes = self.model.classes_
        shape = (X.shape[0],) if len(classes) == 2 else (X.shape[0], len(classes))
        scores, probability = np.zeros(shape), np.zeros(shape)
        if whole.any():
            scores[whole], probability[whole] = scores_and_probabilities(self.model, X[whole])
        place = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        columns: dict[str, Any] = {}
        for name, values in (("score", scores), ("probability", probability)):
            if values.ndim == 1:
                columns[name] = pa.array(values, mask=~whole)
            else:
                for k in range(values.shape[1]):
                    columns[f"{name}_{k}"] = pa.array(values[:, k], mask=~whole)
        labels = classes[place].tolist()
        columns["prediction"] = pa.array(labels, type=_arrow_type(classes), mask=~whole)
        return columns, whole, int((whole & (place == len(classes) - 1)).sum())


def _arrow_type(classes: AnyArray) -> Any:
    import pyarrow as pa

    return pa.array(classes.tolist()).type


@contextmanager
def _writer(output: str) -> Iterator[Any]:
    """Give a function that writes columns; a file appears whole or not at all."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    is_csv = output == _STDOUT or output.lower().endswith(".csv")
    with ExitStack() as opened:
        file = sys.stdout.buffer if output == _STDOUT else opened.enter_context(atomic_file(output))
        writers: list[Any] = []

        def write(columns: dict[str, Any]) -> None:
            table = pa.table(columns)
            if not writers:
                make = csv.CSVWriter if is_csv else parquet.ParquetWriter
                writers.append(opened.enter_context(make(file, table.schema)))
            writers[0].write_table(table)

        yield write
