"""What displays share: colours, axes, and scored rows with a threshold."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import AnyArray, FloatArray
from directrix.estimators.base import LinearClassifier
from directrix.exceptions import MissingLibraryError
from directrix.metrics.base import Metric, checked
from directrix.metrics.table import resolve
from directrix.rows.classes import ending_with, positive_of

# ── Style of the displays; the only file that imports matplotlib ──────────────────────────────────

#: Colours of Okabe and Ito (2008), which colour-blind readers can distinguish; without the
#: yellow, which is too pale for a line on white.
BLUE, VERMILION, GREEN = "#0072b2", "#d55e00", "#009e73"
ORANGE, SKY, PURPLE, BLACK = "#e69f00", "#56b4e9", "#cc79a7", "#000000"
GREY = "#808080"
PALE = "#e6e6e6"
#: Colours of the positive and the negative class.
POSITIVE, NEGATIVE = VERMILION, BLUE

#: Width of a figure in inches: a column of text at 100 dots an inch.
WIDTH = 6.0
_SMALL = 9
#: Longest label of an axis, in characters, that is not broken into two lines.
_LONGEST = 40


def pyplot(drawn: str = "displays") -> Any:
    """Return ``matplotlib.pyplot``; raise ImportError that says how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        purpose = f"{drawn} are drawn with matplotlib"
        raise MissingLibraryError(purpose, "matplotlib") from None
    return plt


def panels(ax: Any, shape: tuple[int, int], height: float, **how: Any) -> AnyArray:
    """Return the axes to draw into: the given ones, or those of a new figure.

    ``shape`` are the rows and columns of axes, ``height`` the height of a new figure in inches, and
    ``how`` is passed to ``matplotlib.pyplot.subplots``.
    """
    plt = pyplot()
    if ax is None:
        size = (WIDTH, height)
        _, made = plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False, **how)
        return np.ravel(made)
    given = np.ravel(np.array(ax, dtype=object))
    wanted = shape[0] * shape[1]
    if len(given) != wanted:
        msg = f"this display draws into {wanted} axes, and ax has {len(given)}: give {wanted}"
        raise ValueError(msg)
    return given


def plain_text(text: str) -> str:
    """Return a text that is drawn as it is: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def finish(ax: Any, xlabel: str, ylabel: str, *, columns: int = 2) -> None:
    """Label the axes, and put the legend above them, where it covers no data."""
    ax.set_xlabel(xlabel)
    # A remark in parentheses goes to a second line.
    ax.set_ylabel(ylabel.replace(" (", "\n(", 1) if len(ylabel) > _LONGEST else ylabel)
    ax.grid(visible=True, color=PALE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=_SMALL)
    if columns and ax.get_legend_handles_labels()[0]:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=columns,
            fontsize=_SMALL,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.4,
            handlelength=1.8,
        )


def mark(ax: Any, x: float, y: float, **how: Any) -> Any:
    """Draw an operating point, and return its artist."""
    style = {
        "color": BLACK,
        "marker": "o",
        "markersize": 7,
        "markeredgecolor": "white",
        "linestyle": "none",
        "zorder": 5,
        "label": "operating point",
    }
    return ax.plot([x], [y], **{**style, **how})[0]


# ── Scored rows, as displays use them: labels, scores, weights and the threshold ──────────────────


class BinaryScores(NamedTuple):
    """Scores of rows of two classes; a row is predicted positive if its score is above ``cut``.

    ``weight``, of shape (n,), is above zero: rows of weight zero are dropped. ``classes`` are the
    names of the negative and the positive class. ``name`` is the name of the classifier, or
    "scores".
    """

    positive: AnyArray
    scores: FloatArray
    weight: FloatArray
    cut: float
    classes: tuple[str, str]
    name: str

    @classmethod
    def by_estimator(cls, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score rows with a fitted classifier of two classes; the last is positive by default."""
        check_is_fitted(estimator)
        classes = np.asarray(getattr(estimator, "classes_", ()))
        name = type(last_step(estimator)).__name__
        if len(classes) != 2:
            msg = (
                f"{name} has {len(classes)} classes, and displays are of two: fit it to one class "
                "against the others, with `y == label`"
            )
            raise ValueError(msg)
        scores, cut = _response(estimator, X, name)
        y = np.asarray(y)
        unknown = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
        if unknown:
            msg = f"y has labels that {name} was not fitted to, {unknown[:5]}: drop these rows"
            raise ValueError(msg)
        label = positive_of(last_step(estimator))
        names = ending_with(label, classes).tolist()
        if label != classes.tolist()[1]:
            scores, cut = -np.asarray(scores), -cut
        return cls._of(y == label, scores, sample_weight, cut, names, name)

    @classmethod
    def by_predictions(
        cls, y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any, cut: float
    ) -> Self:
        """Take given scores; the positive label is ``pos_label``, True, 1, or the last of two."""
        labels = np.asarray(y_true)
        distinct = np.unique(labels)
        if pos_label is not None:
            if pos_label not in distinct.tolist():
                msg = f"pos_label={pos_label!r} is not a label: y_true has {distinct[:5].tolist()}"
                raise ValueError(msg)
            labels = labels == pos_label
            others = distinct[distinct != pos_label].tolist()
            distinct = np.array([*others, pos_label]) if len(others) == 1 else np.unique(labels)
        names = distinct.tolist() if len(distinct) == 2 else [0, 1]
        return cls._of(labels, y_score, sample_weight, cut, names, "scores")

    @classmethod
    def _of(
        cls, y: AnyArray, scores: Any, weight: Any, cut: float, classes: Any, name: str
    ) -> Self:
        """Validate the rows, and drop those of weight zero."""
        positive, scores, weight = checked(y, scores, weight)
        kept = weight > 0
        positive, scores, weight = positive[kept], scores[kept], weight[kept]
        if not (positive.any() and not positive.all()):
            msg = (
                "the rows are of one class only (by weight), and a display compares two: give "
                "rows of both"
            )
            raise ValueError(msg)
        return cls(positive, scores, weight, float(cut), (str(classes[0]), str(classes[1])), name)

    @property
    def predicted(self) -> AnyArray:
        """Which rows are predicted positive."""
        return self.scores > self.cut


def last_step(estimator: Any) -> Any:
    """Return the classifier itself, or the last step of a pipeline."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def metric_of(estimator: Any, metric: str | Metric | None, default: str) -> Metric:
    """Return the given metric, or that the classifier was trained for, or a default."""
    last = last_step(estimator)
    # Elsewhere the word has other meanings.
    if metric is None and isinstance(last, LinearClassifier):
        metric = getattr(last, "metric_", None) or getattr(last, "metric", None)
    return resolve(default if metric is None else metric)


def _response(estimator: Any, X: Any, name: str) -> tuple[Any, float]:
    """Return the scores, and the threshold that ``predict`` applies to them."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X), 0.0
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, 1], 0.5
    msg = f"{name} has neither decision_function nor predict_proba: give a classifier that scores"
    raise TypeError(msg)
