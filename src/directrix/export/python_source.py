"""A fitted line as the source of a Python module that needs no library."""

from __future__ import annotations

from typing import Any

from directrix.export.scoring_formula import Plateaus, ScoringFormula

_HEAD = '''"""Scores rows as a classifier of directrix does; it needs no library.

A row is a mapping from names of features to numbers, or the numbers in the order of FEATURES.
"""

from math import exp, fsum, log1p

CLASSES = {classes!r}
FEATURES = {features!r}
COEFFICIENTS = {coefficients!r}
INTERCEPTS = {intercepts!r}
{response}

def _values(row):
    if hasattr(row, "keys"):
        if FEATURES is None:
            raise TypeError("the features have no names: give the numbers in their order")
        return [row[name] for name in FEATURES]
    values = list(row)
    if len(values) != len(COEFFICIENTS[0]):
        raise ValueError(f"a row has {{len(COEFFICIENTS[0])}} numbers, not {{len(values)}}")
    return values


def _lines(row):
    values = _values(row)
    return [
        fsum([intercept, *(own * value for own, value in zip(line, values))])
        for line, intercept in zip(COEFFICIENTS, INTERCEPTS)
    ]


def _sigmoid(log_odds):
    if log_odds < 0:
        share = exp(log_odds)
        return share / (1.0 + share)
    return 1.0 / (1.0 + exp(-log_odds))
'''

_LOG_ODDS = """

def _log_odds(score, offset, below, above):
    return offset + (below if score < 0 else above) * score
"""

_ONE_LINE = '''

def score(row):
    """Return the score: above zero the last class is predicted."""
    return _lines(row)[0]
'''

_SIGMOID = '''

def probability(row):
    """Return the probability of the last class."""
    return _sigmoid(_log_odds(score(row), *CALIBRATION[0]))
'''

_PLATEAUS = '''

def probability(row):
    """Return the probability of the last class."""
    return min(HIGH, LOW + RISE * _sigmoid(GAMMA * (score(row) + SHIFT)))
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

_SEVERAL = '''

def score(row):
    """Return the log-odds of each class against the others."""
    return [_log_odds(one, *own) for one, own in zip(_lines(row), CALIBRATION)]


def probability(row):
    """Return the probability of each class."""
    logs = [min(one, 0.0) - log1p(exp(-abs(one))) for one in score(row)]
    most = max(logs)  # far out all sigmoids may be too small for a float; their ratios are not
    each = [exp(one - most) for one in logs]
    total = fsum(each)
    return [one / total for one in each]


def predict(row):
    """Return the label: the class of the greatest score, of equal ones the first."""
    scores = score(row)
    return CLASSES[scores.index(max(scores))]
'''


def to_python(classifier: Any) -> str:
    """Return the source of a module with functions ``score``, ``probability`` and ``predict``.

    Each takes one row, a mapping from names to numbers or a sequence of numbers. The module runs
    on Python 3.6 and later, and imports `math` alone.

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
    formula = ScoringFormula.of(classifier)
    response = formula.responses[0]
    if isinstance(response, Plateaus):
        told = (
            f"LOW, RISE, HIGH = {response.low!r}, {response.rise!r}, {response.high!r}\n"
            f"GAMMA, SHIFT = {response.gamma!r}, {response.shift!r}\n"
        )
    else:
        each = tuple(
            (own.offset, own.below, own.above)
            for own in formula.responses
            if not isinstance(own, Plateaus)
        )
        told = f"CALIBRATION = {each!r}\n"
    head = _HEAD.format(
        classes=formula.classes,
        features=formula.features,
        coefficients=formula.coefficients,
        intercepts=formula.intercepts,
        response=told,
    )
    if not formula.two_classes:
        return head + _LOG_ODDS + _SEVERAL
    own = _PLATEAUS if isinstance(response, Plateaus) else _SIGMOID
    odds = "" if isinstance(response, Plateaus) else _LOG_ODDS
    label = _ABOVE_ZERO if formula.always is None else _ALWAYS.format(always=formula.always)
    return head + odds + _ONE_LINE + own + label
