"""THE TABLE: every metric by name.

Exports, model files, command-line choices, documentation and law tests are made from it: a new
metric is one file and one row here.
"""

from __future__ import annotations

import ast
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.metrics.at_point import (
    FPRAtRecall,
    PrecisionAtRecall,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.at_quota import PRBEP, PrecisionAtK, RecallAtK
from directrix.metrics.at_threshold import MCC, BalancedError, Cost, Error, FBeta, FromRates, GMean
from directrix.metrics.base import Metric
from directrix.metrics.ranking import AUC, AveragePrecision, PartialAUC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from directrix.metrics.base import Metric

# ── Metrics as text, for command lines and for settings that are stored as JSON ───────────────────


def written(metric: Metric) -> str:
    """Return the constructor call of a metric."""
    found = getattr(metric, "__dataclass_fields__", {})
    values = {
        name: _plain(getattr(metric, name))
        for name, field in found.items()
        if field.repr or getattr(metric, name) != field.default  # as the metric prints itself
    }
    given = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{type(metric).__name__}({given})"


def read(text: str, classes: Mapping[str, type[Metric]]) -> Metric | None:
    """Parse a metric without executing anything; return None if the text is not one.

    The text is a call, ``cost(fp=1, fn=20)`` or ``Cost(1, 20)``; for metrics at an operating point
    ``recall@fpr=0.01`` is short for ``recall_at_fpr(fpr=0.01)``.

    ``classes`` are metrics by the names that a call may use.
    """
    name, at, rest = text.partition("@")
    if at:
        point = rest.partition("=")[0].strip()
        text = f"{name.strip()}_at_{point}({rest})"
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    metric_class = classes.get(call.func.id)
    if metric_class is None:
        return None
    try:
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        values = [ast.literal_eval(value) for value in call.args]
    except ValueError:
        msg = f"the parameters of {text!r} must be numbers, as in 'recall@fpr=0.01'"
        raise ValueError(msg) from None
    try:
        return metric_class(*values, **given)
    except TypeError:
        known = tuple(getattr(metric_class, "__dataclass_fields__", {}))
        unknown = [word for word in given if word not in known]
        problem = f"has no parameter {unknown[0]!r}" if unknown else "does not give what is needed"
        msg = (
            f"{text!r} {problem}: the parameters are {', '.join(known) or 'none'}, as in "
            "'recall@fpr=0.01' or 'cost(fp=1, fn=20)'"
        )
        raise ValueError(msg) from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


# ── THE TABLE: every metric by name ───────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Row:
    """A metric: its name, an example, and how its risk is computed from moments.

    ``name`` stands for the metric wherever a metric is expected, unless the metric has parameters
    that must be given. ``from_moments`` says how its risk is computed from the means and variances
    of the scores. ``scikit_learn`` is the name of the same metric in scikit-learn, if it exists
    there.
    """

    name: str
    example: Metric
    from_moments: str
    scikit_learn: str = ""

    @property
    def needs_parameters(self) -> bool:
        """Whether the name alone is not enough: a parameter has no default, or another value."""
        return any(
            field.default is MISSING or getattr(self.example, field.name) != field.default
            for field in fields(self.example)  # type: ignore[arg-type]
        )


def _youden(tpr: float, fpr: float, prior: float) -> float:  # noqa: ARG001
    return tpr - fpr


#: Names of scikit-learn and of other libraries, and ours.
_ELSEWHERE = {
    "accuracy": "error",
    "balanced_accuracy": "balanced_error",
    "roc_auc": "auc",
    "pr_auc": "average_precision",
    "matthews_corrcoef": "mcc",
    "gini": "auc",  # 2 AUC - 1
    "ks": "balanced_error",  # 1 - 2 balanced errors
}
#: Least likeness of a name that is suggested for another.
_ALIKE = 0.65
_QUADRATIC = "closed form, best threshold by a quadratic"
_ROOT = "root of one equation"
_PR_CURVE = "precision_recall_curve"
_RATES = "function of the rates"

TABLE: tuple[Row, ...] = (
    Row("error", Error(), _QUADRATIC, "1 - accuracy_score"),
    Row("cost", Cost(fp=1.0, fn=20.0), _QUADRATIC),
    Row("balanced_error", BalancedError(), _QUADRATIC, "1 - balanced_accuracy_score"),
    Row("auc", AUC(), "closed form", "roc_auc_score"),
    Row("partial_auc", PartialAUC(max_fpr=0.1), "one quadrature", "roc_auc_score(max_fpr=)"),
    Row("average_precision", AveragePrecision(), "one quadrature", "average_precision_score"),
    Row("recall_at_fpr", RecallAtFPR(fpr=0.01), "closed form", "roc_curve"),
    Row("fpr_at_recall", FPRAtRecall(recall=0.9), "closed form", "roc_curve"),
    Row("precision_at_recall", PrecisionAtRecall(recall=0.9), "closed form", _PR_CURVE),
    Row("recall_at_precision", RecallAtPrecision(precision=0.6), _ROOT, _PR_CURVE),
    Row("precision_at_k", PrecisionAtK(k=0.02), _ROOT),
    Row("recall_at_k", RecallAtK(k=0.1), _ROOT),
    Row("prbep", PRBEP(), _ROOT),
    Row("f1", FBeta(), _RATES, "f1_score"),
    Row("fbeta", FBeta(beta=2.0), _RATES, "fbeta_score"),
    Row("mcc", MCC(), _RATES, "matthews_corrcoef"),
    Row("gmean", GMean(), _RATES),
    Row("from_rates", FromRates(_youden), "your function of the rates"),
)


def resolve(metric: str | Metric) -> Metric:
    """Return the metric for a name or a text; a metric is returned as it is.

    Examples
    --------
    >>> resolve("recall@fpr=0.01")
    RecallAtFPR(fpr=0.01)
    >>> resolve("cost(fp=1, fn=20)")
    Cost(fp=1, fn=20)
    """
    if isinstance(metric, Metric):
        return metric
    given: Any = metric
    if not isinstance(given, str):
        msg = (
            "a metric is a name, a text such as 'recall@fpr=0.01', or one of directrix.metrics, "
            f"not {metric!r}"
        )
        raise TypeError(msg)
    return _named(metric)


@cache
def _named(metric: str) -> Metric:
    """Return the metric for a name or a text; metrics do not change, so that each is read once."""
    rows = {row.name: row for row in TABLE}
    row = rows.get(metric)
    if row is None:
        classes = {name: type(row.example) for name, row in rows.items()}
        parsed = read(metric, classes | {cls.__name__: cls for cls in classes.values()})
        if parsed is not None:
            return parsed
        known = ", ".join(repr(name) for name, row in rows.items() if not row.needs_parameters)
        msg = (
            f"no metric named {metric!r}{_suggestion(metric)}: give one of {known}, a text such as "
            "'recall@fpr=0.01' or 'cost(fp=1, fn=20)', or an instance of a metric"
        )
        raise ValueError(msg)
    if row.needs_parameters:
        msg = f"{metric!r} needs its parameters: give an instance, for example {row.example!r}"
        raise ValueError(msg)
    return row.example


def _suggestion(metric: str) -> str:
    """Return the name that is nearest to a misspelt one, as a question; empty if none is near."""
    names = [row.name for row in TABLE]
    given, _, value = metric.rstrip(" )").partition("=")
    points = [name.replace("_at_", "@") for name in names if "_at_" in name]
    known = dict.fromkeys([*names, *points]) | _ELSEWHERE
    nearest = get_close_matches(given.strip().lower(), known, n=1, cutoff=_ALIKE)
    if not nearest:
        return ""
    name = known[nearest[0]] or nearest[0]
    ending = f"={_share(value.rstrip(' )'))}" if value and "@" in name else ""
    return "" if name + ending == metric else f" (did you mean {name + ending!r}?)"


def _share(value: str) -> str:
    """Return a percentage as the share that metrics take; other texts as they are."""
    try:
        return f"{float(value.removesuffix('%')) / 100:g}" if value.endswith("%") else value
    except ValueError:
        return value
