"""Base classes of competitors: fit to rows, score other rows, once for each metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import log1p
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import Rows
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import Cost, Curve, Error, Metric

#: Probabilities are kept so far from zero and one, as scikit-learn once did, so that one certain
#: mistake does not decide a comparison.
LEAST = 1e-15
_MOST = -float(logit(LEAST))


class LogLoss:
    r"""Mean negative log-likelihood of a row in nats.

    .. math:: \frac1n \sum_i \log\left(1 + e^{-y_i s_i}\right), \quad y_i = \pm 1

    with log-odds sᵢ whose probabilities are clipped to [1e-15, 1 − 1e-15].
    """

    greater_is_better: ClassVar[bool] = False
    uses_threshold: ClassVar[bool] = False
    fixes_threshold: ClassVar[bool] = False

    def score(self, y: AnyArray, log_odds: FloatArray) -> float:
        """Return the loss of these rows."""
        margins = np.where(y, 1.0, -1.0) * np.clip(log_odds, -_MOST, _MOST)
        return float(np.mean(np.logaddexp(0.0, -margins)))

    @property
    def unit(self) -> float:
        """The loss of one bit a row: what a fair coin says."""
        return log1p(1.0)


class PrintedLines:
    """How many lines a card prints: fewer are easier to read."""

    greater_is_better: ClassVar[bool] = False


INNER_FOLDS = 3
Metrics = Mapping[str, Any]
Scores = dict[str, FloatArray]


class Rival(ABC):
    """A competitor.

    ``family``: references are not linear: they show what a line cannot reach. ``needs``: the module
    that it cannot do without.
    """

    family: ClassVar[str] = "linear"
    needs: ClassVar[str] = ""

    @abstractmethod
    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit to some rows; return for each metric the scores of others, zero the threshold.

        Log-loss is of log-odds; a rival without probabilities leaves it out.
        """

    @property
    def lines(self) -> float:
        """Lines that a model fitted last prints, the median over metrics; NaN if it prints none."""
        return float("nan")

    @property
    def missing(self) -> str:
        """What to install, if the rival cannot run here."""
        return self.needs if self.needs and find_spec(self.needs) is None else ""


def standardized(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Return both with features of mean zero and deviation one on the training rows."""
    scaler = StandardScaler().fit(train.X)
    first, second = (Rows(scaler.transform(part.X), part.y) for part in (train, test))
    return first, second


def inner_folds(train: Rows) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Yield the rows to fit and the rows to look at of each inner fold: the same for every rival.

    Of a class with fewer rows than folds, some folds have none.
    """
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0)
    yield from folds.split(np.zeros(len(train.y)), train.y)


class Grid(Rival):
    """An estimator whose one hyper-parameter the inner folds choose, for each metric its own.

    Thresholds: for the error its own; for every other metric with a threshold, the best one for
    the scores of the inner folds together.

    ``make``: the estimator with a value of the hyper-parameter. ``values``: one, if there is
    nothing to choose. ``moves_all``: whether the threshold of the error is moved too.
    ``probabilities``: whether scores are log-odds, so that log-loss can be asked for. ``score``:
    scores of rows by a fitted estimator, zero its own threshold.
    """

    def __init__(
        self,
        make: Callable[[float], Any],
        values: tuple[float, ...] = (1.0,),
        *,
        needs: str = "",
        family: str = "linear",
        moves_all: bool = False,
        probabilities: bool = False,
        score: Callable[[Any, Any], FloatArray] = lambda model, X: model.decision_function(X),
    ) -> None:
        self.make, self.values, self.moves_all, self.score = make, values, moves_all, score
        self.probabilities = probabilities
        self.needs, self.family = needs, family  # type: ignore[misc]

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Choose, fit once for each value that is chosen, and move thresholds."""
        if not self.probabilities:
            metrics = {name: m for name, m in metrics.items() if not isinstance(m, LogLoss)}
        train, test = standardized(train, test)
        held_out, fold = self._held_out(train)
        chosen = {
            name: self._best_value(metric, train.y, held_out, fold)
            for name, metric in metrics.items()
        }
        fitted = {}
        for value in set(chosen.values()):
            model = self.make(value).fit(*train)
            fitted[value] = np.asarray(self.score(model, test.X), dtype=np.float64)
        return {
            name: fitted[chosen[name]] - self._threshold(metric, train.y, held_out[chosen[name]])
            for name, metric in metrics.items()
        }

    def _held_out(self, train: Rows) -> tuple[dict[float, FloatArray], AnyArray]:
        held_out = {value: np.zeros(len(train.y)) for value in self.values}
        fold = np.zeros(len(train.y), dtype=int)
        for number, (fitted, other) in enumerate(inner_folds(train)):
            fold[other] = number
            for value in self.values:
                model = self.make(value).fit(train.X[fitted], train.y[fitted])
                held_out[value][other] = self.score(model, train.X[other])
        return held_out, fold

    def _best_value(
        self, metric: Metric, y: AnyArray, held_out: dict[float, FloatArray], fold: AnyArray
    ) -> float:
        """Return the value of best mean over the folds; of equals the least."""
        sign = 1.0 if metric.greater_is_better else -1.0

        def mean(value: float) -> float:
            scores = held_out[value] - self._threshold(metric, y, held_out[value])
            return sign * round(
                float(np.mean([metric.score(y[fold == k], scores[fold == k]) for k in set(fold)])),
                12,
            )

        return max(self.values, key=mean) if len(self.values) > 1 else self.values[0]

    def _threshold(self, metric: Metric, y: AnyArray, scores: FloatArray) -> float:
        if not metric.uses_threshold or (isinstance(metric, Error) and not self.moves_all):
            return 0.0
        return finite_threshold(metric, y, scores)


def finite_threshold(metric: Metric, y: AnyArray, scores: FloatArray) -> float:
    """Return the best threshold for some scores; beyond all of them where that is infinite."""
    threshold = metric.best(Curve.of(y, scores)).threshold
    if np.isfinite(threshold):
        return float(threshold)
    beyond = 1.0 + 10.0 * float(np.ptp(scores))
    return float(scores.max() + beyond if threshold > 0 else scores.min() - beyond)


# ── on tables: one fit serves every metric ────────────────────────────────────────────────────────


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
