"""The competitors of the arena of tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import (
    INNER_FOLDS,
    LogOdds,
    Metrics,
    Rival,
    Scores,
    TableRival,
    frame_folds,
    mean_auc,
    text_columns,
    with_categories,
    with_plain_texts,
)
from benchmarks.rivals.ours import Ours
from directrix import DirectClassifier, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray

#: From much regularisation to little, each fit the start of the next.
PATH = tuple(float(C) for C in np.logspace(-4, 2, 10).round(6))


class PathLogistic(TableRival):
    """The C of best mean AUC in five inner folds; features are made anew in each of them.

    ``make``: returns the unfitted transformer for a frame.
    """

    family = "linear"

    def __init__(self, make: Callable[[Any], Any], *, needs: str = "") -> None:
        self.make = make
        self.needs = needs  # type: ignore[misc]

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit the path of C in every inner fold, then the chosen one to all rows."""
        held_out = {C: np.zeros(len(train.y)) for C in PATH}
        parts = []
        for part, fitted, other in frame_folds(train, 5):
            parts.append(part)
            for C, scores in self._path(fitted, other):
                held_out[C][part] = scores
        best = max(PATH, key=lambda C: round(mean_auc(train.y, held_out[C], parts), 12))
        ((_, on_test),) = self._path(train, test, [best])
        return LogOdds(on_test, held_out[best])

    def _path(
        self, train: Rows, test: Rows, values: Sequence[float] = PATH
    ) -> Iterator[tuple[float, FloatArray]]:
        transformer = self.make(train.X)
        fitted = transformer.fit_transform(with_plain_texts(train.X), train.y.astype(int))
        other = transformer.transform(with_plain_texts(test.X))
        model = LogisticRegression(max_iter=1000, warm_start=True)
        for C in values:
            model.set_params(C=C).fit(fitted, train.y)
            yield C, np.asarray(model.decision_function(other))


#: Levels with fewer rows share one column.
LEAST_ROWS = 10


def one_hot(frame: Any) -> ColumnTransformer:
    """Return the transformer: a missing number is the median and an indicator, a text a level."""
    texts = text_columns(frame)
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    levels = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=LEAST_ROWS)
    return ColumnTransformer(
        [
            ("numbers", numbers, [name for name in frame if name not in texts]),
            ("texts", levels, texts),
        ]
    )


class OneHotDirect(Rival):
    """The features of one-hot logistic regression, and a `DirectClassifier` for each metric."""

    family = "ours"

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Make the features of the training rows, and fit to each metric."""
        transformer = one_hot(train.X).set_params(sparse_threshold=0.0)  # our lines are dense
        fitted = transformer.fit_transform(with_plain_texts(train.X))
        other = transformer.transform(with_plain_texts(test.X))
        return Ours(DirectClassifier).scores(Rows(fitted, train.y), Rows(other, test.y), metrics)


class _Evidence:
    """Optimal bins of every column, and the weight of evidence of each."""

    def fit(self, frame: Any, y: AnyArray) -> Self:
        from optbinning import BinningProcess  # noqa: PLC0415 - optional

        texts = text_columns(frame)
        # It refuses a text of which no level is frequent enough.
        poor = {name for name in texts if frame[name].value_counts().max() < LEAST_ROWS}
        self.names = [name for name in frame if name not in poor]
        # By default a level of one row has evidence too, and a text of a thousand levels learns
        # the training rows by heart.
        rare = {"cat_cutoff": LEAST_ROWS / len(y)}
        self.process = BinningProcess(
            self.names,
            categorical_variables=[name for name in texts if name not in poor],
            binning_fit_params={name: rare for name in texts if name not in poor},
            n_jobs=1,
        ).fit(frame[self.names], y)
        return self

    def transform(self, frame: Any) -> FloatArray:
        # A missing value has the evidence of the missing ones; by default it would have none.
        weights = self.process.transform(
            frame[self.names], metric="woe", metric_missing="empirical", metric_special="empirical"
        )
        return np.nan_to_num(np.asarray(weights, dtype=np.float64))

    def fit_transform(self, frame: Any, y: AnyArray) -> FloatArray:
        return self.fit(frame, y).transform(frame)


LEAVES, RATES = (7, 31), (0.1, 0.03)
#: No more trees than this; early stopping ends most fits long before.
MOST_TREES = 2000


class Settings(NamedTuple):
    """What the inner folds choose."""

    leaves: int
    rate: float
    trees: int = MOST_TREES


class TunedTrees(TableRival):
    """Four settings, each stopped early on the inner fold; the best by mean AUC is fitted to all.

    It has as many trees as the inner folds had in the mean.
    """

    #: How many levels of a text the library can take; None: any number.
    most_levels: int | None = None

    @abstractmethod
    def grow(
        self, train: Rows, other: Rows, settings: Settings, *, stop: bool
    ) -> tuple[FloatArray, int]:
        """Return the log-odds of the other rows, and the number of trees.

        ``stop``: whether the other rows end the growth early.
        """

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Choose, then fit to all rows."""
        every = [Settings(*values) for values in product(LEAVES, RATES)]
        held_out = {settings: np.zeros(len(train.y)) for settings in every}
        trees: dict[Settings, list[int]] = {settings: [] for settings in every}
        parts = []
        for part, fitted, other in frame_folds(train, INNER_FOLDS):
            parts.append(part)
            typed = self._typed(fitted, other)
            for settings in every:
                scores, count = self.grow(*typed, settings, stop=True)
                held_out[settings][part] = scores
                trees[settings].append(count)
        best = max(every, key=lambda settings: mean_auc(train.y, held_out[settings], parts))
        final = best._replace(trees=max(1, round(float(np.mean(trees[best])))))
        scores, _ = self.grow(*self._typed(train, test), final, stop=False)
        return LogOdds(scores, held_out[best])

    def _typed(self, train: Rows, other: Rows) -> tuple[Rows, Rows]:
        first, second = with_categories(train.X, other.X, self.most_levels)
        return Rows(first, train.y), Rows(second, other.y)


class HistBoosting(TunedTrees):
    """Stopped by the library's own rule, on a tenth of the rows that it is fitted to."""

    #: Levels that it can tell apart; one of its 255 bins is for missing values.
    most_levels = 254

    def grow(
        self, train: Rows, other: Rows, settings: Settings, *, stop: bool
    ) -> tuple[FloatArray, int]:
        """Fit, and predict at the number of trees reached."""
        model = HistGradientBoostingClassifier(
            learning_rate=settings.rate,
            max_leaf_nodes=settings.leaves,
            max_iter=settings.trees,
            early_stopping=stop,
            categorical_features="from_dtype",
            random_state=0,
        ).fit(train.X, train.y)
        return np.asarray(model.decision_function(other.X)), int(model.n_iter_)


class LightGBM(TunedTrees):
    """Stopped when the log-loss of the inner fold has not fallen for fifty trees.

    ``monotone``: columns of numbers whose scores may only rise (1) or only fall (-1).
    """

    needs = "lightgbm"

    def __init__(self, monotone: Mapping[str, int] | None = None) -> None:
        self.monotone = dict(monotone or {})

    def grow(
        self, train: Rows, other: Rows, settings: Settings, *, stop: bool
    ) -> tuple[FloatArray, int]:
        """Fit, and predict at the best number of trees."""
        from lightgbm import LGBMClassifier, early_stopping  # noqa: PLC0415 - optional

        signs = [self.monotone.get(name, 0) for name in train.X]
        model = LGBMClassifier(
            monotone_constraints=signs if any(signs) else None,
            num_leaves=settings.leaves,
            learning_rate=settings.rate,
            n_estimators=settings.trees,
            n_jobs=1,
            random_state=0,
            verbosity=-1,
        )
        if stop:
            watch = early_stopping(50, verbose=False)
            model.fit(train.X, train.y, eval_set=[(other.X, other.y)], callbacks=[watch])
        else:
            model.fit(train.X, train.y)
        scores = model.predict(other.X, raw_score=True)
        return np.asarray(scores, dtype=np.float64), int(model.best_iteration_ or settings.trees)


class CatBoost(TableRival):
    """A thousand trees at the learning rate that the library sets."""

    needs = "catboost"

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit once."""
        from catboost import CatBoostClassifier  # noqa: PLC0415 - optional

        # Missing numbers are native to it; a missing text has to be a level.
        fitted, other = (with_plain_texts(part.X, missing="missing") for part in (train, test))
        model = CatBoostClassifier(
            thread_count=1,
            random_seed=0,
            cat_features=text_columns(train.X),
            verbose=False,
            allow_writing_files=False,
        ).fit(fitted, train.y.astype(int))
        scores = model.predict(other, prediction_type="RawFormulaVal")
        return LogOdds(np.asarray(scores, dtype=np.float64))


class ExplainableBoosting(TableRival):
    """With the library's defaults, but for the number of outer bags if it is given.

    ``outer_bags``: models whose mean it is; by default 14. Four take a quarter of the time.
    ``monotone``: columns of numbers whose scores may only rise (1) or only fall (-1).
    """

    needs = "interpret"

    def __init__(
        self, outer_bags: int | None = None, monotone: Mapping[str, int] | None = None
    ) -> None:
        self.outer_bags = outer_bags
        self.monotone = dict(monotone or {})

    def log_odds(self, train: Rows, test: Rows) -> LogOdds:
        """Fit once."""
        from interpret.glassbox import ExplainableBoostingClassifier  # noqa: PLC0415 - optional

        fitted, other = (with_plain_texts(part.X) for part in (train, test))
        options: dict[str, Any] = {}
        if self.outer_bags is not None:
            options["outer_bags"] = self.outer_bags
        if self.monotone:
            options["monotone_constraints"] = [self.monotone.get(name, 0) for name in fitted]
            # A number of few values would be taken for a category, which has no direction.
            options["feature_types"] = [
                "continuous" if name in self.monotone else "auto" for name in fitted
            ]
        model = ExplainableBoostingClassifier(n_jobs=1, random_state=0, **options)
        model.fit(fitted, train.y)
        return LogOdds(np.asarray(model.decision_function(other), dtype=np.float64))


LINE, BOOSTING, EBM = "logistic, one-hot", "HistGradientBoosting, tuned", "EBM, 4 bags"
#: In the order of the tables.
TABLE_RIVALS: dict[str, Rival] = {
    "scorecard, rows": Ours(ScorecardClassifier),
    "scorecard, full": Ours(ScorecardClassifier, max_lines=None),
    "direct, one-hot": OneHotDirect(),
    LINE: PathLogistic(one_hot),
    "weights of evidence": PathLogistic(lambda _: _Evidence(), needs="optbinning"),
    "LightGBM, tuned": LightGBM(),
    BOOSTING: HistBoosting(),
    "CatBoost": CatBoost(),
    EBM: ExplainableBoosting(4),
    "EBM": ExplainableBoosting(),
}
#: A minute a fold and more.
SLOW = ("direct, one-hot", "CatBoost", EBM, "EBM")
