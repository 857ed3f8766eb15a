"""Options of a fit in pairs: each pair goes together, or is refused by an error that names both."""

import inspect
from itertools import combinations, product
from pathlib import Path
from traceback import extract_tb

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import directrix
from directrix.engines import HashFolds
from directrix.metrics import Budget, Cost, RecallAtFPR

PACKAGE = Path(directrix.__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 600
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
BESIDE = {
    "segment": RNG.choice(["at", "ch"], N),
    "amount": RNG.lognormal(1.0, 1.0, N),
    "group": np.arange(N) // 2,
    "weight": RNG.uniform(0.5, 2.0, N),
    "day": np.arange(N) // 10,
}
LABELS = ROWS["a"].to_numpy() + RNG.logistic(size=N) > 1.0
TABLE = ROWS.assign(**BESIDE, label=LABELS)

#: Each option: parameters, arguments of fit, those of fit_source, what an error may call it, and
#: what the operating point shows if it is kept.
OPTIONS = {
    "guarantee": (
        *({"metric": RecallAtFPR(0.3), "guarantee": 0.5}, {}, {}),
        *("guarantee", lambda point: point.guarantee),
    ),
    "limits": (
        *({"limits": {"fpr": 0.5, "recall": 0.1}, "guarantee": 0.5}, {}, {}),
        *("guarantee|limits", lambda point: "recall >= 0.1" in point.guarantee),
    ),
    "segment": (
        *({}, {"segment": "segment"}, {"segment": "segment"}),
        *("segment", lambda point: len(point.segments) == 2),
    ),
    "money": (
        *({"metric": Cost(fp=1.0, fn="amount")}, {"amount": "amount"}, {}),
        *("amount|costs", lambda point: point.money),
    ),
    "groups": ({}, {"groups": "group"}, {"fold": HashFolds(2, key="group")}, "group|fold", bool),
    "weights": (
        *({}, {"sample_weight": "weight"}, {"weight": "weight"}),
        *("weight", lambda point: point.weighted_by),
    ),
    "days": (
        *({"limits": Budget(6, per="day"), "guarantee": 0.5}, {"day": "day"}, {}),
        *("guarantee|day|alerts", lambda point: point.budget),
    ),
}
#: Limits of rates and of days are one parameter.
PAIRS = [pair for pair in combinations(OPTIONS, 2) if pair != ("limits", "days")]
KINDS = {
    "card": (directrix.ScorecardClassifier, {"cv": 2, "max_lines": None, "max_crosses": 0}),
    "direct": (directrix.DirectClassifier, {"cv": 2}),
    "scores": (directrix.OperatingPointClassifier, {}),
    "estimator": (directrix.OperatingPointClassifier, {"estimator": DecisionTreeClassifier()}),
    "moment": (directrix.MomentClassifier, {}),
}
WITHOUT_COLUMNS = ("moment",)


def takes(kind, way, option):
    classifier, lacks = KINDS[kind][0], kind in WITHOUT_COLUMNS and option == "segment"
    known = {*inspect.signature(classifier).parameters}
    return {*OPTIONS[option][0]} <= known and hasattr(classifier, way) and not lacks


def fitted(kind, way, options):
    """Fit with some options; return the operating point, or how the library refuses them."""
    (classifier, params), of_fit, of_source = KINDS[kind], {}, {}
    for option in options:
        asked, in_fit, in_source, *_ = OPTIONS[option]
        params, of_source = params | asked, of_source | in_source
        of_fit |= {name: BESIDE[column] for name, column in in_fit.items()}
    if kind in WITHOUT_COLUMNS:
        of_fit.pop("amount", None)
    model = classifier(**params)
    try:
        if way == "fit":
            model.fit(ROWS["a"].to_numpy() if kind == "scores" else ROWS, LABELS, **of_fit)
        else:
            source = {"target": "label", "features": ["a", "b"], "progress": False}
            model.fit_source(TABLE, **source, **of_source)
    except (TypeError, ValueError) as error:
        if PACKAGE not in Path(extract_tb(error.__traceback__)[-1].filename).parents:
            raise
        return str(error)
    return model.operating_point_


CASES = [
    (pair, kind, way)
    for pair, kind, way in product(PAIRS, KINDS, ("fit", "fit_source"))
    if all(takes(kind, way, option) for option in pair)
]


@pytest.mark.every_case("pair")
@pytest.mark.parametrize(("pair", "kind", "way"), CASES)
def test_two_options_go_together_or_are_refused_by_name(pair, kind, way):
    made = fitted(kind, way, pair)
    alone = isinstance(made, str) and made in [fitted(kind, way, [option]) for option in pair]
    for *_, names, is_kept in () if alone else map(OPTIONS.get, pair):
        if isinstance(made, str):
            assert any(name in made for name in names.split("|")), made
        else:
            assert is_kept(made)
