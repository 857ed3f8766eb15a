"""Every error and warning class of the library, and where a warning points.

Errors carry what they are about as attributes, so that code can act on them: nothing in the library
parses a message.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from directrix.exceptions.columns import TAKE_AS_IT_IS as TAKE_AS_IT_IS
from directrix.exceptions.columns import BinNotFoundError as BinNotFoundError
from directrix.exceptions.columns import ChangedColumnsWarning as ChangedColumnsWarning
from directrix.exceptions.columns import ColumnChange as ColumnChange
from directrix.exceptions.columns import ColumnKindError as ColumnKindError
from directrix.exceptions.columns import ColumnNamesError as ColumnNamesError
from directrix.exceptions.columns import ColumnNotFoundError as ColumnNotFoundError
from directrix.exceptions.columns import ColumnNotInFileError as ColumnNotInFileError
from directrix.exceptions.columns import InfiniteValuesError as InfiniteValuesError
from directrix.exceptions.columns import LazyTableError as LazyTableError
from directrix.exceptions.columns import LevelNotFoundError as LevelNotFoundError
from directrix.exceptions.columns import MissingColumnsError as MissingColumnsError
from directrix.exceptions.columns import MissingValuesError as MissingValuesError
from directrix.exceptions.columns import NotNumericError as NotNumericError
from directrix.exceptions.columns import OwnBinsError as OwnBinsError
from directrix.exceptions.columns import PandasIndexWarning as PandasIndexWarning
from directrix.exceptions.columns import TypedCardError as TypedCardError
from directrix.exceptions.columns import UnusableColumnsError as UnusableColumnsError
from directrix.exceptions.columns import listed
from directrix.exceptions.edits import EditError as EditError
from directrix.exceptions.edits import LockboxReadWarning as LockboxReadWarning
from directrix.exceptions.edits import NearestCutsWarning as NearestCutsWarning
from directrix.exceptions.fields import Fields
from directrix.exceptions.files import BinnerFileError as BinnerFileError
from directrix.exceptions.files import ModelFileError as ModelFileError
from directrix.exceptions.files import MomentsFileError as MomentsFileError
from directrix.exceptions.files import NotUtf8Error as NotUtf8Error

#: Packages whose frames a warning skips: ours, and those that call ours on the user's behalf; the
#: standard library does so for cached properties and context managers.
_SKIPPED = frozenset({"directrix", "sklearn", "joblib", "functools", "contextlib"})

#: Lines of a warning.
_MOST_LINES = 5

#: The extra of this package that installs an optional library.
EXTRAS = {
    "pyarrow": "arrow",
    "pyspark": "spark",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "sql",
    "matplotlib": "plot",
    "typer": "cli",
    "rich": "cli",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "mlflow": "mlflow",
}


class SqlNameError(Fields, ValueError):
    """A name cannot be that of a column or table in a database."""

    message: str
    name: str
    #: Positions of the name in the list that it is from, counted from one; two positions if the
    #: database takes two names for one.
    positions: tuple[int, ...]

    def __str__(self) -> str:
        return self.message


class CancellationError(Fields, ArithmeticError):
    """Subtracting one summary from another would leave too few correct digits."""

    #: Columns (indices, or names) that would lose their digits; empty if the mean would.
    columns: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.columns:
            noun = f"column{'s' * (len(self.columns) != 1)}"
            lost = (
                f"fewer than seven correct digits of the variance of {noun} {listed(self.columns)} "
                "(nearly all of it is in the part to remove)"
            )
        else:
            lost = "too little weight for a mean"
        return f"subtraction would leave {lost}: add up the parts you keep instead"


class DifferentBinsError(Fields, ValueError):
    """Counts of the cells of two different binners cannot be combined."""

    #: First column whose bins differ, or that only one of the binners has.
    column: str

    def __str__(self) -> str:
        return (
            f"the counts come from two binners, which differ in column {self.column!r}: count all "
            "rows with the same fitted binner, or make the bins equal with `rebin`"
        )


class NegativeCountError(Fields, ValueError):
    """Counts to subtract are not a part of those to subtract from."""

    #: Column of a cell that would be left with a negative count; None if only the total would.
    column: str | None = None
    #: The cell: its label, or its number among all cells while the columns are not known.
    cell: Any = None

    def __str__(self) -> str:
        cell = "the number of rows" if self.cell is None else f"cell {self.cell!r}"
        of_column = "" if self.column is None else f" of column {self.column!r}"
        return (
            "cannot subtract counts that are not part of the others: "
            f"{cell}{of_column} would become negative"
        )


class MissingLabelsError(Fields, ValueError):
    """Rows to learn from have no label."""

    #: Number of rows without a label.
    rows: int
    #: Position of the first of them, from zero.
    first: int

    def __str__(self) -> str:
        return (
            f"y has missing labels (None, NaN or NA) in {self.rows:,} row{'s' * (self.rows != 1)}, "
            f"the first at position {self.first}: drop these rows from X and y, or label them"
        )


class MissingGroupsError(Fields, ValueError):
    """Rows have no group, so that nothing says with which others they are held out."""

    #: Number of rows without a group.
    rows: int
    #: Position of the first of them, from zero.
    first: int

    def __str__(self) -> str:
        return (
            f"groups is missing (None, NaN or NA) in {self.rows:,} row{'s' * (self.rows != 1)}, "
            f"the first at position {self.first}: give each of them a group of its own, or drop "
            "these rows"
        )


class MixedLabelsError(Fields, TypeError):
    """Labels are of types that have no common order, such as texts and numbers."""

    #: One label of each type.
    labels: tuple[Any, ...]

    def __str__(self) -> str:
        return (
            f"y has labels of several types, such as {' and '.join(map(repr, self.labels))}: give "
            "all of them one type, for instance by [str(label) for label in y]"
        )


class LabelNotFoundError(Fields, ValueError):
    """The label to catch is not one of the two labels."""

    #: The label that was asked for.
    label: Any
    #: The labels that there are.
    available: tuple[Any, ...]

    def __str__(self) -> str:
        return f"positive={self.label!r} is not a label: give one of {listed(self.available)}"


class LabelTypeError(Fields, TypeError):
    """A label is of a type that an export cannot write."""

    label: Any

    def __str__(self) -> str:
        return (
            f"the label {self.label!r} is of type {type(self.label).__name__}, which SQL, ONNX, "
            "PMML, JSON and Python source cannot all write: fit the classifier to labels that are "
            "texts, numbers, booleans or dates"
        )


class WorkerLibraryError(Fields, ImportError):
    """Workers of Spark lack a library that the driver has."""

    library: str

    def __str__(self) -> str:
        return (
            f"the workers of Spark have no {self.library!r}: install this package, with what it "
            "needs, in the Python that PYSPARK_PYTHON names on each of them, or send an "
            "environment that has it (spark.archives)"
        )


class LabelRangeError(Fields, ValueError):
    """A label is a whole number that a format cannot hold."""

    label: int
    format: str

    def __str__(self) -> str:
        return (
            f"the label {self.label} is beyond 32 bits, which whole numbers have where "
            f"{self.format} is read: fit the classifier to smaller labels, or to texts"
        )


class RowDecisionError(Fields, TypeError):
    """An export has one threshold, and a model decides by more than the score of a row."""

    #: Columns that decide too: costs, or the team of a budget.
    columns: tuple[str, ...]
    #: What can be exported.
    remedy: str

    def __str__(self) -> str:
        return (
            f"this model decides by {' and '.join(map(repr, self.columns))} of each row as well as "
            "by its score, which is not exported: one threshold for all rows would flag other "
            f"rows. Decide by predict in Python. {self.remedy}"
        )


class NoHeldOutScoresError(Fields, ValueError):
    """Thresholds for other metrics come from held-out scores, and a model has none."""

    #: Name of its class.
    classifier: str

    def __str__(self) -> str:
        return (
            f"this {self.classifier} cannot set other thresholds: it has no held-out scores, "
            "because it was fitted to a summary, read from a file, or recalibrated by other rows. "
            "Fit it to rows or with fit_source, or pass predict an operating point that was made "
            "then"
        )


class MissingScoresError(Fields, ValueError):
    """Scores are NaN or infinite, so that rows cannot be ranked by them."""

    #: What gave the scores: "the scores", or the class of an estimator.
    source: str
    #: Number of rows without a finite score.
    rows: int
    #: Position of the first of them, from zero.
    first: int

    def __str__(self) -> str:
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        return (
            f"{self.source}: NaN or infinite in {rows}, the first at position {self.first}: drop "
            "these rows, or give them a score (the lowest, if they should never be flagged)"
        )


class CardSizeError(Fields, ValueError):
    """A classifier knows no card of so few lines."""

    #: Lines that were asked for; None for the full card.
    max_lines: int | None
    #: Lines of the cards that are known.
    known: tuple[int, ...]

    def __str__(self) -> str:
        if not self.known:
            return (
                "this card has one size only: it was fitted with max_lines=None, is small anyway, "
                "was read from a file, or was given a threshold (choose its size first). Fit it to "
                "rows with max_lines='auto' or a number of lines"
            )
        return (
            f"no card has at most {self.max_lines} lines; the sizes are "
            f"{', '.join(map(str, self.known))}. Choose one of these, or fit with "
            f"max_lines={self.max_lines}"
        )


class NoHeldOutPointsError(ValueError):
    """Bands of total points are made of held-out rows, and a card knows none."""

    def __str__(self) -> str:
        return (
            "risk bands need held-out rows, and this card has none: fit it to rows with folds, or "
            "with fit_source. Cards that were fitted to a summary, or "
            "whose points or probabilities were changed after the fit have no held-out rows"
        )


class StateError(Fields, ValueError):
    """A state is not one that a fitted classifier of its class could have."""

    reason: str


class CostColumnError(Fields, ValueError):
    """A cost, a day or a team is a column, and is neither given nor a column of the table."""

    column: str
    #: Columns of the table; empty if it has no names.
    available: tuple[str, ...] = ()

    def __str__(self) -> str:
        given = f"{self.column}=" if self.column.isidentifier() else f"**{{{self.column!r}: ...}}"
        table = f" (its columns: {listed(self.available)})" if self.available else ""
        return (
            f"{self.column!r} was not given, and is not a column of the table{table}: pass an "
            f"array as {given} to DirectClassifier, ScorecardClassifier or "
            "OperatingPointClassifier, or a table with that column"
        )


class FewDaysError(Fields, ValueError):
    """There are too few days to keep a budget on a share of new days."""

    #: Days that there are to set the threshold.
    days: int
    #: Days that are needed.
    needed: int
    #: Share of new days on which the budget is to be kept.
    share: float

    def __str__(self) -> str:
        return (
            f"to keep a budget on {100 * self.share:g} % of new days, the threshold must be set "
            f"on {self.needed} days, and there are {self.days}: use more days, or a lower guarantee"
        )


class OutOfReachError(Fields, ValueError):
    """No threshold keeps a limit with the confidence that is asked for."""

    message: str
    #: The limit, with its ``rate`` and ``value``.
    limit: Any
    #: Rows there are to set the threshold.
    rows: int
    #: Rows that would be needed; None if no number of rows would suffice.
    needed: int | None

    def __str__(self) -> str:
        return self.message


class MissingLibraryError(ImportError):
    """An optional library is not installed.

    Parameters
    ----------
    purpose : str
        What needs it, as a clause: "displays are drawn with matplotlib".
    library : str
        Name of the library.
    """

    def __init__(self, purpose: str, library: str) -> None:
        super().__init__(purpose, library, name=library)
        self.purpose, self.library = purpose, library

    @property
    def extra(self) -> str | None:
        """Extra of this package that installs the library, by `EXTRAS`; None if there is none."""
        return EXTRAS.get(self.library)

    def __str__(self) -> str:
        wanted = self.library if self.extra is None else f"'directrix[{self.extra}]'"
        return f"{self.purpose}: pip install {wanted}"


class FewRowsWarning(UserWarning):
    """There are too few rows for what is asked of them."""


class OneClassPredictedWarning(UserWarning):
    """The best threshold predicts the same class for every row."""


class NotBetterThanBaselineWarning(Fields, UserWarning):
    """A simpler model than the one that is delivered is as good on held-out rows.

    At most one is given for a fit, and none if the delivered model is the simpler one, or if
    neither is clearly better than a constant: its report says both.
    """

    #: The simpler model.
    baseline: str
    #: Metrics by which it is as good.
    metrics: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.baseline} is as good on held-out rows, by {', '.join(self.metrics)}: it is the "
            "simpler choice, and better features will help more than another model. See report_ "
            "for what was tried; warn_baseline=False turns this warning off."
        )


class ShortCardWarning(Fields, UserWarning):
    """A compact card is clearly behind the full card on held-out rows."""

    #: Metric of the comparison.
    metric: str
    #: Printed lines of this card, and of the full card.
    lines: int
    full_lines: int
    #: How much better the full card is, always above zero.
    behind: float

    def __str__(self) -> str:
        return (
            f"this card of {self.lines} lines is clearly behind the full card of {self.full_lines} "
            f"lines, by {self.behind:.4f} in {self.metric} on held-out rows: it has too few lines. "
            "Give max_lines more, or None for the full card; sizes() shows what each size is "
            "expected to reach, and warn_baseline=False turns this warning off."
        )


class CopiedRowsWarning(Fields, UserWarning):
    """Rows are copies of others with the same label, far more often than by chance."""

    #: Label of the class whose rows are copied; None if whole rows of both are.
    label: Any
    #: Rows that are copies of another row.
    copies: int
    #: Rows of the class, or all rows.
    rows: int

    def __str__(self) -> str:
        whose, remedy = f" of {self.label!r}", "class_weight='balanced' does what they do"
        if self.label is None:
            whose, remedy = "", "a join may have multiplied rows"
        of_what = "others" if whose else "others, labels included"
        return (
            f"{self.copies:,} of the {self.rows:,} rows{whose} are copies of {of_what}, far more "
            "than by chance: held-out rows have copies among the training rows, and what is "
            "expected of new rows is too good. Give groups=, the number of the original of each "
            f"row, or leave the copies out ({remedy})"
        )


class TableWarning(Fields, UserWarning):
    """A training table looks odd: texts that are numbers, ids, columns that tell the label.

    A fit warns once, before it begins, and changes nothing in the table. Its report says the same.
    """

    #: What is odd, the most important first: each prints as a sentence, and has ``columns``.
    findings: tuple[Any, ...]

    def __str__(self) -> str:
        shown = (
            self.findings if len(self.findings) <= _MOST_LINES else self.findings[: _MOST_LINES - 1]
        )
        more = len(self.findings) - len(shown)
        return "\n".join([*map(str, shown), *([f"and {more} more"] if more else [])])


class FittedEstimatorWarning(Fields, UserWarning):
    """The estimator is already fitted and will be fitted again; its present fit is not used."""

    #: The fitted model.
    estimator: Any

    def __str__(self) -> str:
        name = type(self.estimator).__name__
        return (
            f"this {name} is fitted already, and copies of it are fitted to these rows now: wrap "
            "it in sklearn.frozen.FrozenEstimator to keep it as it is, and give rows that it was "
            "not fitted to; sklearn.base.clone makes an unfitted copy"
        )


class RefitDiffersWarning(Fields, UserWarning):
    """Copies of an estimator that were cross-fitted flag other rows than the final one.

    Scores that tie, such as those of a short tree, pass a threshold together.
    """

    #: Class of the estimator.
    estimator: str
    #: Shares of rows that the final estimator flags of the positives and of the negatives, less
    #: those that its copies flag; all were fitted to these rows.
    tpr: float
    fpr: float
    #: Number of distinct scores of the final estimator.
    levels: int

    def __str__(self) -> str:
        return (
            f"the copies of {self.estimator} that were cross-fitted are not like the final one, "
            f"which has {self.levels:,} distinct scores: at this threshold it flags "
            f"{self.tpr:+.1%} of the positives and {self.fpr:+.1%} of the negatives more than "
            "they do, and the intervals of the rates are so much wider. For the rates of the "
            "final one itself fit it first, wrap it in sklearn.frozen.FrozenEstimator, and give "
            "rows that it was not fitted to"
        )


class UnusedBudgetWarning(Fields, UserWarning):
    """A budget of alerts decides nothing: too few days have more rows than it."""

    #: The budget in words.
    budget: str
    #: Name of the column with the period of each row.
    per: str
    #: Rows of the largest period.
    rows: int

    def __str__(self) -> str:
        return (
            f"a budget of {self.budget} decides nothing: the largest {self.per} has "
            f"{self.rows:,} rows. Check that {self.per}= has the same value for all rows of a "
            f"{self.per}, or give a smaller budget"
        )


class UncheckedColumnsWarning(Fields, UserWarning):
    """A day has no counts of columns, and the reference days have: only its scores are checked."""

    #: Columns of the reference.
    columns: int

    def __str__(self) -> str:
        return (
            f"the day has no columns, and the reference has {self.columns}: only the scores are "
            "checked. Give summarize_day the binner of the reference days, binner="
        )


class ReversedScoresWarning(Fields, UserWarning):
    """Scores rank the positive class below the other, by far more than chance explains."""

    #: Area under the ROC curve, with the positive label as positive.
    auc: float
    #: The positive label, and the other one.
    positive: Any
    other: Any

    def __str__(self) -> str:
        return (
            f"higher scores mean {self.other!r}, not {self.positive!r} (AUC {self.auc:.3f}): these "
            f"seem to be scores of the other class. Make {self.other!r} the positive label, or "
            f"pass the scores of {self.positive!r}: the other column of predict_proba, or the "
            "negative of these scores"
        )


class OtherScaleWarning(Fields, UserWarning):
    """Scores are outside of the range of probabilities, and those of the fit were probabilities."""

    #: How many of the scores are.
    rows: int
    #: The first of them.
    score: float

    def __str__(self) -> str:
        return (
            f"{self.rows:,} scores are outside 0 to 1, such as {self.score:g}, but the classifier "
            "was fitted to probabilities: are these percentages or log-odds? Pass scores on the "
            "same scale as in fit"
        )


class UnweightedEstimatorWarning(Fields, UserWarning):
    """An estimator takes no sample weights, so that only rates are weighted."""

    #: Name of its class.
    estimator: str

    def __str__(self) -> str:
        return (
            f"{self.estimator} takes no sample_weight: it is fitted without weights, and only the "
            "threshold and the rates are weighted"
        )


class Float32PrecisionWarning(Fields, UserWarning):
    """Features in float32 have too few digits for the scores of a classifier."""

    #: How much rounding can change the log-odds near the threshold.
    change: float

    def __str__(self) -> str:
        return (
            f"rounding the features to float32 can change the log-odds by {self.change:.2g}, and "
            "predictions with them, because features are far from zero relative to their spread: "
            'use dtype="float64", or centre the features before the classifier is fitted'
        )


class DirectionWarning(Fields, UserWarning):
    """Rows contradict a direction that points or coefficients were asked to keep."""

    #: Columns that are without effect for it.
    columns: tuple[str, ...]

    def __str__(self) -> str:
        have = "has" if len(self.columns) == 1 else "have"
        return (
            f"the rows contradict the direction asked of {listed(self.columns)}, which therefore "
            f"{have} no effect: ask for the other direction, or leave the column out"
        )


def is_inside_search() -> bool:
    """Return whether scikit-learn's model selection (a search, a cross-validation) called us.

    Advice about one fit is noise there: the search compares many, and its user sees none of them.
    """
    frame: Any = sys._getframe(1)  # noqa: SLF001 - as in find_stacklevel
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection"):
            return True
        frame = frame.f_back
    return False


#: Categories of warnings that the fit of this thread gives elsewhere, or not at all.
_SILENCED: ContextVar[tuple[type[Warning], ...]] = ContextVar("_SILENCED", default=())


@contextmanager
def silenced(category: type[Warning]) -> Iterator[None]:
    """Let `is_silenced` hold in this thread; `warnings.catch_warnings` would change all threads."""
    token = _SILENCED.set((*_SILENCED.get(), category))
    try:
        yield
    finally:
        _SILENCED.reset(token)


def is_silenced(category: type[Warning]) -> bool:
    """Return whether not to give warnings of a category: the rest of the fit does."""
    return category in _SILENCED.get()


def find_stacklevel() -> int:
    """Return the ``stacklevel`` with which a warning points at the user's line.

    That is the innermost frame outside this library and the libraries that call it, however deep
    the call that warns is. Call it in the call of `warnings.warn` itself.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.currentframe is this, and may return None
    level = 1
    while frame.f_back is not None and _package_of(frame.f_globals) in _SKIPPED:
        frame = frame.f_back
        level += 1
    return level


def _package_of(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
