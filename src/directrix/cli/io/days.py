"""Summaries of the rows of a day, read in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import typer

from directrix.cli.io.rows import RawPlan, RowFiles, feature_matrix, require_finite
from directrix.cli.io.scoring import (
    labels_for_model,
    model_columns,
    select_features,
    takes_raw_rows,
)
from directrix.cli.output.errors import UsageError
from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.tables import as_table
from directrix.monitoring import DaySummaries, summarize_day

if TYPE_CHECKING:
    from directrix._typing import AnyArray


def parse_day(text: str | None, option: str = "--day") -> date | None:
    """Return a date that is given as text; raise a usage error for anything else."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        msg = f"{text!r} is not a date such as 2026-01-31"
        raise typer.BadParameter(msg, param_hint=option) from None


@dataclass(frozen=True)
class DayTask:
    """Task that summarises rows as a model sees them.

    Parameters
    ----------
    model : fitted classifier
    files : RowFiles
    names : tuple of str
        Feature columns.
    """

    model: Any
    files: RowFiles
    names: tuple[str, ...]
    name = "summarize the day"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> DaySummaries:
        """Return the summaries of all tables."""
        total: DaySummaries | None = None
        for table in tables:
            y: AnyArray | None = None
            weight = None
            if self.files.target is not None:
                block = plan.block(table)
                y = labels_for_model(self.model, self.files, block.y)
                weight = block.weight
            elif self.files.weight is not None:
                weight = as_table(table).values(self.files.weight)
            if takes_raw_rows(self.model):
                X = as_table(table).raw(self.names)
            else:
                rows = as_table(table).features(self.names)
                X = feature_matrix(rows)
                require_finite(X, rows.names)
            part = summarize_day(self.model, X, y, weight)
            total = part if total is None else total + part
        if total is None:
            msg = "the files hold no rows"
            raise UsageError(msg)
        return total


def read_day(model: Any, files: RowFiles) -> DaySummaries:
    """Return the summaries of the rows of some files, with labels if the files have a target.

    Parameters
    ----------
    model : fitted classifier
    files : RowFiles
    """
    files = select_features(files, model)
    if files.libsvm or not files.features:
        msg = "days are read from files with named columns: give the model's with --features"
        raise UsageError(msg)
    names = files.features
    # A plan needs a target: without labels take a column that is read anyway.
    target = names[0] if files.target is None else files.target
    plan_type = RawPlan if takes_raw_rows(model) else Plan
    plan = plan_type.of(target=target, features=list(names), weight=files.weight)
    with model_columns():
        summaries: DaySummaries = run(
            list(files.paths), plan, DayTask(model, files, tuple(names)), progress=False
        )
    return summaries
