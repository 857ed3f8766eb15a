"""Base class of competitors on tables: one fit serves every metric."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Metrics, Rival, Scores, finite_threshold
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import Cost


class LogOdds(NamedTuple):
    """What a fitted competitor says of rows.

    ``test``: log-odds of the test rows. ``held_out``: log-odds of the training rows by models of
    the inner folds that did not see them; None for a competitor that tunes nothing.
    """

    test: FloatArray
    held_out: FloatArray | None = None


class TableRival(Rival):
    """A competitor that is fitted once to a pandas frame, and serves every metric.

    Thresholds: for the cost of errors the best one for the scores of the inner folds together.
    A competitor without inner folds has that of decision theory, log(fp / fn), which costs it
    nothing and is best where its probabilities are right. Log-loss is of the log-odds as they are.
    """

    family = "reference"

    @abstractmethod
    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Tune inside the training rows, fit to them, and score the test rows."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once; move the threshold of each metric that has one."""
        said = self.log_odds(train, test)
        return {
            name: said.test - _threshold(metric, train.y, said.held_out)
            if metric.uses_threshold and not metric.fixes_threshold
            else said.test
            for name, metric in metrics.items()
        }


def _threshold(metric: Any, y: AnyArray, held_out: FloatArray | None) -> float:
    if held_out is not None:
        return finite_threshold(metric, y, held_out)
    if not isinstance(metric, Cost):
        msg = f"no threshold for {metric} follows from probabilities alone"
        raise TypeError(msg)
    return float(np.log(metric.fp / metric.fn))


def frame_folds(train: Rows, folds: int) -> Iterator[tuple[AnyArray, Rows, Rows]]:
    """Yield of each inner fold the rows to look at, by number, then those to fit and to look at."""
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    for fitted, other in splitter.split(np.zeros(len(train.y)), train.y):
        first, second = (Rows(train.X.iloc[part], train.y[part]) for part in (fitted, other))
        yield other, first, second


def mean_auc(y: AnyArray, scores: FloatArray, parts: Sequence[AnyArray]) -> float:
    """Return the mean AUC over the inner folds."""
    return float(np.mean([roc_auc_score(y[part], scores[part]) for part in parts]))


def text_columns(frame: Any) -> list[str]:
    """Return the names of the columns that are not numbers."""
    return [name for name in frame if frame[name].dtype.kind not in "biuf"]


def with_plain_texts(frame: Any, missing: Any = np.nan) -> Any:
    """Return a frame with texts as Python objects.

    ``missing``: what stands for a missing text: most libraries do not know that of pandas' string
    type.
    """
    texts = text_columns(frame)
    plain = {name: frame[name].astype(object).where(frame[name].notna(), missing) for name in texts}
    return frame.assign(**plain)


def with_categories(train: Any, test: Any, most: int | None = None) -> tuple[Any, Any]:
    """Return both frames with texts as categories: the levels of the training rows.

    ``most``: how many levels a column may have; rarer ones, like unseen ones, become missing
    values.
    """
    import pandas as pd  # noqa: PLC0415 - optional

    # From the most frequent level to the rarest.
    levels = {name: train[name].value_counts().index[:most] for name in text_columns(train)}

    def typed(frame: Any) -> Any:
        known = {name: frame[name].where(frame[name].isin(levels[name])) for name in levels}
        kinds = {name: pd.CategoricalDtype(list(levels[name])) for name in levels}
        return frame.assign(**{name: known[name].astype(kinds[name]) for name in levels})

    return typed(train), typed(test)
