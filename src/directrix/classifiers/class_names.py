"""Names of output columns that belong to a class, such as ``probability_bad``.

Every export, the command line and the integrations take the names from here, so that a column means
the same wherever a model is run.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np

#: Signs that tell labels apart, such as ``<=50K`` and ``>50K``; longer ones first.
_WORDS = {
    "<=": "le",
    ">=": "ge",
    "!=": "ne",
    "<": "lt",
    ">": "gt",
    "=": "eq",
    "+": "plus",
    "%": "percent",
}
#: With the name of the output and a number at the end, less than PostgreSQL keeps (63 bytes).
_MOST_BYTES = 44
_SAFE_INTEGER = 2.0**53


def class_names(classes: Sequence[Any]) -> tuple[str, ...]:
    """Return for each class the end of the names of its output columns.

    It is the label in lower case, where signs and spaces are underscores: a name that is an
    identifier in SQL and Python. Numbers have no decimal point if they are whole, booleans are
    ``true`` and ``false``, dates are in ISO 8601. If two labels would have the same name, both have
    the index of the class at the end.

    Parameters
    ----------
    classes : sequence
        All labels of a classifier, in the order of ``classes_``.

    Examples
    --------
    >>> class_names(["bad", "good"]), class_names([False, True]), class_names([-1.0, 0.5])
    (('bad', 'good'), ('false', 'true'), ('minus_1', '0_5'))
    >>> class_names(["<=50K", ">50K"]), class_names(["a b", "a-b"])
    (('le_50k', 'gt_50k'), ('a_b_0', 'a_b_1'))
    """
    names = [_name(label) or f"class_{k}" for k, label in enumerate(classes)]
    while len(set(names)) < len(names):
        counts = Counter(names)
        names = [f"{name}_{k}" if counts[name] > 1 else name for k, name in enumerate(names)]
    return tuple(names)


def output_names(output: str, classes: Sequence[Any]) -> tuple[str, ...]:
    """Return the name of an output for each class, such as ``score_a`` and ``score_b``.

    Examples
    --------
    >>> output_names("probability", ["no", "yes"])
    ('probability_no', 'probability_yes')
    """
    return tuple(f"{output}_{name}" for name in class_names(classes))


def probability_names(classes: Sequence[Any], positive: Any = None) -> tuple[str, ...]:
    """Return the names of the probabilities of a row.

    Parameters
    ----------
    classes : sequence
        All labels, in the order of ``classes_``.
    positive : label, optional
        Of two classes, the one whose probability is written; by default the last.

    Returns
    -------
    tuple of str
        With two classes one name, that of the positive class, otherwise one for each class.

    Examples
    --------
    >>> probability_names(["bad", "good"], "bad")
    ('probability_bad',)
    """
    names = output_names("probability", classes)
    return names if len(classes) != 2 else (names[positive_index(classes, positive)],)


def positive_index(classes: Sequence[Any], positive: Any = None) -> int:
    """Return the index of the positive one of two classes: by default the last."""
    return len(classes) - 1 if positive is None else list(classes).index(positive)


def label_text(label: Any) -> str:
    """Return a label as text: whole numbers without a decimal point, dates in ISO 8601."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    if isinstance(label, date):
        return label.isoformat()
    if isinstance(label, float) and label.is_integer() and abs(label) < _SAFE_INTEGER:
        return str(int(label))
    return str(label)


def _name(label: Any) -> str:
    text = label_text(label)
    if not text:
        return "empty"
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    if text.startswith("-"):
        text = f"minus_{text[1:]}"
    for sign, word in _WORDS.items():
        text = text.replace(sign, f"_{word}_")
    text = "".join(c if f"_{c}".isidentifier() else "_" for c in text)
    text = re.sub("_+", "_", text).strip("_")
    return text.encode()[:_MOST_BYTES].decode(errors="ignore").rstrip("_")
