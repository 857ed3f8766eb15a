"""A fitted classifier as the source of a Python module that needs no library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from directrix.classifiers.scoring import CardFormula
from directrix.export.cards.source import card_source
from directrix.export.scoring_formula import scoring_formula

if TYPE_CHECKING:
    from directrix.classifiers.scoring import LinearFormula

_IMPORTS = "from math import exp, fsum, log1p"

_LINES = '''"""Scores rows as a classifier of directrix does; it needs no library.

A row is a mapping from names of features to numbers, or the numbers in the order of FEATURES.
"""

{imports}

CLASSES = {classes!r}
FEATURES = {features!r}
COEFFICIENTS = {coefficients!r}
INTERCEPTS = {intercepts!r}


def _values(row):
    if hasattr(row, "keys"):
        if FEATURES is None:
            raise TypeError("the features have no names: give the numbers in their order")
        return [row[name] for name in FEATURES]
    values = list(row)
    if len(values) != len(COEFFICIENTS[0]):
        raise ValueError(f"a row has {{len(COEFFICIENTS[0])}} numbers, not {{len(values)}}")
    return values


def _base_scores(row):
    values = _values(row)
    return [
        fsum([intercept, *(weight * value for weight, value in zip(coefficients, values))])
        for coefficients, intercept in zip(COEFFICIENTS, INTERCEPTS)
    ]
'''

_SIGMOID = """

def _sigmoid(log_odds):
    if log_odds < 0:
        share = exp(log_odds)
        return share / (1.0 + share)
    return 1.0 / (1.0 + exp(-log_odds))
"""

_TWO_CLASSES = '''

def score(row):
    """Return the score: above zero the last class is predicted."""
    return _base_scores(row)[0]


def {name}(row):
    """Return the probability of the class {label}."""
    s = score(row)
    return {probability}


def probabilities(row):
    """Return the probability of each class, by its label."""
    p = {name}(row)
    return {{{each}}}
'''

_ABOVE_ZERO = '''

def predict(row):
    """Return the label."""
    return CLASSES[score(row) > 0]
'''

_ALWAYS = '''

def predict(row):
    """Return the label, which is the same for every row: one class is always the more probable."""
    return CLASSES[{always}]
'''

_SEVERAL_CLASSES = '''

def score(row):
    """Return the log-odds of each class against the others."""
    s = _base_scores(row)
    return [
        {log_odds},
    ]


def probabilities(row):
    """Return the probability of each class, by its label."""
    logs = [min(z, 0.0) - log1p(exp(-abs(z))) for z in score(row)]
    most = max(logs)  # far out all sigmoids may be too small for a float; their ratios are not
    shares = [exp(log - most) for log in logs]
    total = fsum(shares)
    return dict(zip(CLASSES, [share / total for share in shares]))


def predict(row):
    """Return the label: the class of the greatest score, the first of equal ones."""
    scores = score(row)
    return CLASSES[scores.index(max(scores))]
'''


def to_python(classifier: Any) -> str:
    """Return the source of a module with functions ``score``, ``probabilities`` and ``predict``.

    ``probabilities`` returns a dict by label. With two classes there is one more function, called
    after the positive class, such as ``probability_bad``. They take a row: a mapping from names to
    numbers, or a sequence of numbers. That of a `ScorecardClassifier` takes raw values
    (numbers, texts, booleans, dates, None), and has a function ``points`` too. The module needs no
    library but that of Python 3.7 and later: ``math``, and ``datetime`` if a card has dates.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel

    Returns
    -------
    str

    Examples
    --------
    >>> from directrix import MomentClassifier
    >>> from directrix.export import to_python
    >>> classifier = MomentClassifier(choose="moments").fit(
    ...     [[1.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    ... )
    >>> scope = {}
    >>> exec(to_python(classifier), scope)
    >>> scope["predict"]([6.5])
    'b'
    """
    formula = scoring_formula(classifier)
    if isinstance(formula, CardFormula):
        head = card_source(formula, _IMPORTS) + _SIGMOID
    else:
        head = _line_source(formula) + _SIGMOID
    arithmetic = _PythonArithmetic()
    if formula.response is None:
        log_odds = [
            sigmoid.log_odds(f"s[{k}]", arithmetic) for k, sigmoid in enumerate(formula.one_vs_rest)
        ]
        return head + _SEVERAL_CLASSES.format(log_odds=",\n        ".join(log_odds))
    (name,) = formula.probability_names
    values = ["1.0 - p", "1.0 - p"]
    values[formula.positive_index] = "p"
    two_classes = _TWO_CLASSES.format(
        name=name,
        label=ascii(formula.classes[formula.positive_index]).replace("\\", "\\\\"),
        probability=formula.positive_probability("s", arithmetic),
        each=", ".join(f"CLASSES[{k}]: {value}" for k, value in enumerate(values)),
    )
    label = _ABOVE_ZERO if formula.always is None else _ALWAYS.format(always=formula.always)
    return head + two_classes + label


def _line_source(formula: LinearFormula) -> str:
    return _LINES.format(
        imports=_IMPORTS,
        classes=formula.classes,
        features=formula.features,
        coefficients=formula.coefficients,
        intercepts=formula.intercepts,
    )


class _PythonArithmetic:
    """Arithmetic whose values are Python expressions."""

    def add(self, value: str, number: float) -> str:
        """Return the value plus a number."""
        return f"({number!r} + {value})"

    def multiply(self, value: str, number: float) -> str:
        """Return the value times a number."""
        return f"{number!r} * {value}"

    def slopes(self, value: str, below: float, above: float) -> str:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        if below == above:
            return self.multiply(value, above)
        return f"({below!r} if {value} < 0 else {above!r}) * {value}"

    def at_most(self, value: str, number: float) -> str:
        """Return the lesser of the value and a number."""
        return f"min({number!r}, {value})"

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value)), which never overflows."""
        return f"_sigmoid({value})"
