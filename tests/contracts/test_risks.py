"""Laws of every metric of THE TABLE and of its risk, and of some other parameters.

The laws are in `contracts.metrics`: a metric that has a row in THE TABLE is tested by being there.
Here Hypothesis searches for moments of the scores at which a law of risks is broken.
"""

import pickle
import sys
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from contracts import risks
from contracts.cases import score_moments
from contracts.losses import require_value
from contracts.metrics import N_ROWS, metric_laws
from contracts.risks import rates_above
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from directrix import metrics
from directrix.metrics import (
    AUC,
    Cost,
    FromRates,
    PartialAUC,
    PrecisionAtK,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.metrics.table import TABLE
from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import CostRisk, MissAtPrecision, risk_of
from directrix.moments.risks.base import RatesRisk

EXTREME = Cost(fp=1.0, fn=1e6)
METRICS = {row.name: row.example for row in TABLE} | {
    "partial_auc of everything": PartialAUC(1.0),
    "partial_auc of a sliver": PartialAUC(1e-3),
    "cost, extreme ratio": EXTREME,
    "cost of misses alone": Cost(fp=0.0, fn=1.0),
    "precision at 50 rows": PrecisionAtK(50),
    "recall_at_fpr, rare": RecallAtFPR(1e-4),
    "recall_at_precision, low": RecallAtPrecision(0.05),
}
RISKS = {name: risk_of(metric, N_ROWS) for name, metric in METRICS.items()}
every_risk = pytest.mark.parametrize("risk", RISKS.values(), ids=RISKS)
RATES = {name: risk for name, risk in RISKS.items() if isinstance(risk, RatesRisk)}
SHIFTS = {name: risk for name, risk in RISKS.items() if risk.shift_invariant}
FIXED = {name: metric for name, metric in METRICS.items() if metric.fixes_threshold}
#: On a larger sample below.
SAMPLED = "risk: metric of normal scores"
LAWS = [
    pytest.param(law, id=f"{name}-{title}")
    for name, metric in METRICS.items()
    for title, law in metric_laws(metric).items()
    if title != SAMPLED
]


@pytest.mark.every_case
@pytest.mark.parametrize("law", LAWS)
def test_law(law):
    law()


def scores(ratio=1.0, reach=4.0, scales=3.0):
    """Draw moments as `contracts.cases.draw_score_moments` does."""
    return st.builds(
        score_moments,
        st.floats(-ratio, ratio),
        st.floats(-scales, scales),
        st.floats(-reach, reach),
        st.floats(-reach, reach),
        st.floats(0.005, 0.995),
    )


@every_risk
@settings(max_examples=examples(50))
@given(numbers=scores(ratio=2.0, reach=8.0))
def test_scale_of_the_scores_does_not_count(risk, numbers):
    risks.scale_does_not_count(risk, numbers)


@pytest.mark.parametrize("risk", SHIFTS.values(), ids=SHIFTS)
@settings(max_examples=examples(50))
@given(numbers=scores(ratio=2.0, reach=8.0), shift=st.floats(-8.0, 8.0))
def test_shift_of_the_scores_does_not_count(risk, numbers, shift):
    risks.shift_does_not_count(risk, numbers, shift)


def test_which_risks_ignore_a_shift():
    assert set(RISKS) - set(SHIFTS) == set(RATES)


@every_risk
@settings(max_examples=examples(50))
@given(numbers=scores(ratio=6.0, reach=40.0))
def test_value_is_in_range(risk, numbers):
    risks.value_is_in_range(risk, numbers)


@settings(max_examples=examples(50))
@given(numbers=scores(ratio=6.0, reach=40.0))
def test_value_of_a_function_is_in_its_range(numbers):
    assert -1.0 - 1e-12 <= RISKS["from_rates"].value(numbers) <= 1.0 + 1e-12


@pytest.mark.parametrize("risk", RATES.values(), ids=RATES)
@settings(max_examples=examples(60))
@given(numbers=scores(ratio=6.0), equal=st.booleans())
def test_no_threshold_is_better(risk, numbers, equal):
    if equal:
        numbers = numbers._replace(var_neg=numbers.var_pos)
    risks.no_threshold_is_better(risk, numbers)


@pytest.mark.parametrize(
    ("risk", "numbers", "threshold"),
    [
        # equal variances: half way, moved by the log odds
        (CostRisk(), ScoreMoments(1.0, 1.0, -1.0, 1.0, 0.5), 0.0),
        (CostRisk(), ScoreMoments(1.0, 4.0, -1.0, 4.0, 0.2), 2.0 * np.log(4.0)),
        (CostRisk(fp=3.0), ScoreMoments(2.0, 1.0, 0.0, 1.0, 0.5), 1.0 + np.log(3.0) / 2.0),
        # nothing between the classes, so the more frequent one always
        (CostRisk(), ScoreMoments(0.0, 1.0, 0.0, 1.0, 0.2), np.inf),
        (CostRisk(), ScoreMoments(0.0, 1.0, 0.0, 1.0, 0.8), -np.inf),
        (CostRisk(), ScoreMoments(0.1, 1.0, 0.0, 4.0, 0.001), np.inf),
        (CostRisk(fp=0.0), ScoreMoments(1.0, 1.0, -1.0, 1.0, 0.1), -np.inf),
        (CostRisk(fn=0.0), ScoreMoments(1.0, 1.0, -1.0, 1.0, 0.9), np.inf),
        # the same mean, and a wide class above a narrow one: φ(τ/2)/2 = φ(τ)
        (CostRisk(), ScoreMoments(0.0, 4.0, 0.0, 1.0, 0.5), np.sqrt(8.0 / 3.0 * np.log(2.0))),
        (CostRisk(), ScoreMoments(0.0, 1.0, 0.0, 4.0, 0.5), -np.sqrt(8.0 / 3.0 * np.log(2.0))),
    ],
)
def test_thresholds_of_cost_known_by_hand(risk, numbers, threshold):
    assert risk.threshold(numbers) == pytest.approx(threshold, abs=1e-14)


@pytest.mark.parametrize("metric", FIXED.values(), ids=FIXED)
@settings(max_examples=examples(60))
@given(numbers=scores(ratio=2.0))
def test_threshold_keeps_the_constraint(metric, numbers):
    risks.threshold_keeps_the_constraint(metric, risk_of(metric, N_ROWS), numbers, N_ROWS)


@settings(max_examples=examples(60))
@given(numbers=scores(ratio=2.0), precision=st.sampled_from([0.05, 0.6, 0.9]))
def test_no_lower_threshold_is_precise_enough(numbers, precision):
    risk = MissAtPrecision(precision)
    grid = np.linspace(-9.0, 9.0, 3001)
    thresholds = np.concatenate(
        [numbers[0] + np.sqrt(numbers[1]) * grid, numbers[2] + np.sqrt(numbers[3]) * grid]
    )
    tpr, fpr = rates_above(thresholds, numbers)
    enough = numbers.prior * tpr >= precision * (numbers.prior * tpr + (1 - numbers.prior) * fpr)
    # A window of precise thresholds between two of the grid may be passed over by either.
    missed = risk.value(numbers)
    assert missed <= 1.0 - tpr[enough & (tpr > 1e-13)].max(initial=0.0) + 1e-4


@cache
def sample(name):
    return risks.normal_sample(risks.SAMPLES[name], 1_000_000)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_equals_the_exact_metric_of_normal_scores(figure, request, metric):
    """To four standard errors, which come from twenty batches."""
    risk = risk_of(metric, N_ROWS)
    if isinstance(getattr(metric, "k", None), int):  # batches have another number of rows
        metric = PrecisionAtK(metric.k / N_ROWS)
    off = [
        risks.standard_errors_off(metric, risk, moments, *sample(name))
        for name, moments in risks.SAMPLES.items()
    ]
    assert max(off) <= 4.0
    figure(
        f"risk against the exact metric, two samples of 1e6 normal scores, "
        f"{request.node.callspec.id}: {max(off):.1f} standard errors off (<= 4)"
    )


@settings(max_examples=examples(50))
@given(scores(ratio=2.0))
def test_partial_auc_of_everything_is_the_auc(numbers):
    whole, part = risk_of(AUC()), risk_of(PartialAUC(1.0))
    assert part.value(numbers) == pytest.approx(whole.value(numbers), abs=1e-12)


@pytest.mark.parametrize("max_fpr", [1e-4, 0.01, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("sd_pos", [1.0, 3.0, 0.3, 0.01, 100.0])
def test_partial_auc_equals_adaptive_quadrature(max_fpr, sd_pos):
    for gap in (-1.0, 0.0, 0.7, 4.5):
        value = risk_of(PartialAUC(max_fpr)).value(ScoreMoments(gap, sd_pos**2, 0.0, 1.0, 0.5))
        assert value == pytest.approx(by_quad(max_fpr, gap, sd_pos), abs=1e-10)


def by_quad(max_fpr, gap, sd_pos):
    """Integrate over the quantiles q of the negatives, in pieces around where the recall rises."""

    def missed(q):
        return ndtr(-(gap + q) / sd_pos) * np.exp(-0.5 * q * q) / np.sqrt(2.0 * np.pi)

    end = norm.ppf(max_fpr)
    around = np.clip(-gap + 9.0 * sd_pos * np.array([-1, 0, 1]), end - 9.0, end)
    edges = np.unique([end - 9.0, *around, end])
    area = sum(
        quad(missed, a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
        for a, b in pairwise(edges)
        if missed(a) + missed(b) > 0
    )
    return area / max_fpr


OBJECTS = [(f"metric {n}", m) for n, m in METRICS.items()] + [
    (f"risk {n}", r) for n, r in RISKS.items()
]


@pytest.mark.parametrize("thing", [t for _, t in OBJECTS], ids=[n for n, _ in OBJECTS])
def test_pickle_and_text_give_the_same(thing):
    require_value(thing)
    same = pickle.loads(pickle.dumps(thing))  # noqa: S301
    assert same == thing
    assert hash(same) == hash(thing)
    if not isinstance(getattr(thing, "metric", thing), FromRates):  # a function has no text
        names = vars(metrics) | vars(sys.modules[type(thing).__module__])
        assert eval(repr(thing), dict(names)) == thing  # noqa: S307


def test_different_metrics_differ():
    assert len({thing for _, thing in OBJECTS}) == len(OBJECTS)
