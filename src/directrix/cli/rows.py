"""Files of rows: which columns have which role, and reading them batch by batch or as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.cli.options import parse_columns, require
from directrix.cli.reply import UsageError
from directrix.engines.base import progress_bar
from directrix.engines.column_roles import ColumnRoles
from directrix.engines.readers import Opened, explain_encoding, matching_files, open_paths
from directrix.engines.tables import as_table
from directrix.exceptions.columns import ColumnNotFoundError, listed
from directrix.rows.labels import as_labels

#: Labels that a message lists.
_LISTED_LABELS = 5


class Rows(NamedTuple):
    """Rows as commands use them: features as an Arrow table, and an array for each other role."""

    X: Any
    y: Any
    weight: FloatArray | None
    segment: AnyArray | None


@dataclass(frozen=True)
class RowFiles:
    """Files of rows, and the columns that have the labels, features, weights and segments."""

    paths: tuple[str, ...]
    features: tuple[str, ...]
    target: str | None = None
    weight: str | None = None
    segment: str | None = None

    @classmethod
    def of(
        cls,
        files: Sequence[str],
        target: str | None,
        features: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        weight: str | None = None,
        segment: str | None = None,
    ) -> Self:
        """Find the files, and their features: by default all columns without another role."""
        paths = tuple(path for given in files for path in matching_files(given))
        opened, dropped = open_files(paths), parse_columns(drop) or []
        given = {"target": target, "weight": weight, "segment": segment}
        roles = ColumnRoles.of(features=parse_columns(features), **given)
        chosen = roles.feature_columns(opened.columns, opened.pandas_index)
        _require_columns([*chosen, *dropped], opened.columns)
        kept = tuple(name for name in chosen if name not in dropped)
        return cls(paths, kept, target, weight, segment)

    @classmethod
    def for_model(
        cls, model: Any, files: Sequence[str], features: Sequence[str] | None = None, **roles: Any
    ) -> Self:
        """Find the files, and in them the features of a model, in its order.

        ``features`` names them if the model does not.
        """
        paths = tuple(path for given in files for path in matching_files(given))
        names = tuple(map(str, getattr(model, "feature_names_in_", ())))
        chosen = tuple(parse_columns(features) or names)
        message = f"the model has no feature names: name its {model.n_features_in_} columns"
        require(names or len(chosen) == model.n_features_in_, message, "--features")
        message = f"the model has the features {listed(names)}: leave the option out"
        require(not names or sorted(chosen) == sorted(names), message, "--features")
        return cls(paths, names or chosen, **roles)

    def of_columns(self, *names: str) -> Self:
        """Return the files with these features only."""
        return replace(self, features=names)

    def batches(self, keep: Sequence[str] = ()) -> Iterator[Any]:
        """Yield the rows as Arrow tables with the columns of all roles and those to ``keep``."""
        import pyarrow as pa

        roles = filter(None, (self.target, self.weight, self.segment))
        columns = list(dict.fromkeys([*self.features, *roles, *keep]))
        n_rows = 0
        with progress_bar(wanted=True, label="read") as progress, _encoding_explained(self.paths):
            opened = open_paths(list(self.paths))
            _require_columns(columns, opened.columns)
            progress.expect(opened.n_rows)
            for batch in progress.counted(opened.batches(columns)):
                if batch.num_rows:
                    n_rows += batch.num_rows
                    yield pa.Table.from_batches([batch])
        if not n_rows:
            msg = "the files hold no rows"
            raise UsageError(msg)

    def of_table(self, table: Any) -> Rows:
        """Return the rows of an Arrow table that has the columns of all roles."""
        values = as_table(table).values
        with _encoding_explained(self.paths):
            labels = None if self.target is None else as_labels(values(self.target))
        return Rows(
            table.select(list(self.features)),
            labels,
            None if self.weight is None else np.asarray(values(self.weight), dtype=np.float64),
            None if self.segment is None else np.asarray(values(self.segment), dtype=object),
        )

    def read(self) -> Rows:
        """Return all rows, in memory."""
        import pyarrow as pa

        return self.of_table(pa.concat_tables(self.batches(), promote_options="permissive"))

    def labels(self) -> list[Any]:
        """Return the different labels of all rows, sorted."""
        labels = replace(self, features=(), weight=None, segment=None).read().y
        return np.unique(labels).tolist()  # type: ignore[no-any-return]


def open_files(paths: Sequence[str]) -> Opened:
    """Open files, whose columns are then known."""
    with _encoding_explained(paths):
        return open_paths(list(paths))


@contextmanager
def _encoding_explained(paths: Sequence[str]) -> Iterator[None]:
    """Raise an error that names the line which is not UTF-8, if that explains another error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        explain_encoding(list(paths), error)
        raise


def _require_columns(names: Sequence[str], available: Sequence[str]) -> None:
    for name in names:
        if name not in available:
            raise ColumnNotFoundError(name, available)


# ── Labels as texts, and scores of a model ────────────────────────────────────────────────────────


def label_of(text: str | None, labels: Sequence[Any]) -> Any:
    """Return the label that is written as a text; None if no text is given."""
    if text is None:
        return None
    for label in labels:
        if text == str(label) or (isinstance(label, float) and text == f"{label:g}"):
            return label
    msg = f"no label {text!r} among those of the rows ({_listed(labels)}): check --positive"
    raise UsageError(msg)


def require_two(labels: Sequence[Any]) -> None:
    """Raise an error with a remedy for any other number of classes than two."""
    if len(labels) == 2:
        return
    remedy = "add rows of the other class"
    if len(labels) > 2:
        remedy = "make a column that is true for one of them"
    noun = "class" if len(labels) == 1 else "classes"
    msg = f"the rows have {len(labels)} {noun} ({_listed(labels)}), and a model two: {remedy}"
    raise UsageError(msg)


def require_labels_of(model: Any, y: AnyArray) -> None:
    """Raise an error if rows have labels that a model does not know."""
    known = model.classes_.tolist()
    unknown = [label for label in np.unique(y).tolist() if label not in known]
    if unknown:
        msg = (
            f"the rows have labels that the model was not fitted to ({_listed(unknown)}); the "
            f"model has {_listed(known)}: check that --target is the right column"
        )
        raise UsageError(msg)


def _listed(labels: Sequence[Any]) -> str:
    more = " and more" if len(labels) > _LISTED_LABELS else ""
    return ", ".join(map(str, labels[:_LISTED_LABELS])) + more


def score_rows(model: Any, files: RowFiles) -> tuple[FloatArray, Rows]:
    """Return the scores of all rows, and the rows without their features."""
    parts = []
    for table in files.batches():
        rows = files.of_table(table)
        require_labels_of(model, rows.y)
        parts.append((model.decision_function(rows.X), *rows[1:]))
    scores, *roles = (
        None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)
    )
    return np.asarray(scores), Rows(None, *roles)
