"""Laws of every metric as a risk of four numbers; a new row of THE TABLE is tested by being there.

A risk is bounded, ignores the scale of the scores, has the partials it says it has, is finite where
a class has no spread or the classes are far apart, knows its best threshold, and is the metric
itself when the scores are normal.
"""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

import directrix.metrics
import directrix.risks
from directrix import Moments
from directrix.metrics import (
    AUC,
    TABLE,
    Cost,
    FromRates,
    PartialAUC,
    PrecisionAtK,
    RecallAtFPR,
    RecallAtPrecision,
)
from directrix.moments.projection import ScoreMoments, project, pullback
from directrix.risks import (
    AlarmAtRecall,
    CostRisk,
    FunctionRisk,
    MCCRisk,
    MissAtFPR,
    MissAtPrecision,
    MissAtQuota,
    RatesRisk,
)

N_ROWS = 1000
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
RISKS = {name: metric.risk(N_ROWS) for name, metric in METRICS.items()}
every_risk = pytest.mark.parametrize("risk", RISKS.values(), ids=RISKS)
RATES = {name: risk for name, risk in RISKS.items() if isinstance(risk, RatesRisk)}
SHIFTS = {name: risk for name, risk in RISKS.items() if risk.shift_invariant}


def largest(risk):
    """Return the largest value a risk can take, which is the unit of its errors."""
    if isinstance(risk, CostRisk):
        return max(risk.fp, risk.fn)
    return 2.0 if isinstance(risk, MCCRisk) else 1.0


def smallest(risk):
    return -1.0 if isinstance(risk, FunctionRisk) else 0.0


@st.composite
def scores(draw, ratio=1.0, reach=4.0, scales=3.0):
    """Draw four numbers: either class wider by up to 10**ratio, on either side of the threshold.

    The scale of all scores goes over 10**±scales, the variances over its square.
    """
    log_ratio, log_scale = draw(st.floats(-ratio, ratio)), draw(st.floats(-scales, scales))
    sd_pos, sd_neg = 10.0 ** (log_scale + log_ratio / 2), 10.0 ** (log_scale - log_ratio / 2)
    z_pos, z_neg = draw(st.floats(-reach, reach)), draw(st.floats(-reach, reach))
    prior = draw(st.floats(0.005, 0.995))
    return ScoreMoments(z_pos * sd_pos, sd_pos**2, z_neg * sd_neg, sd_neg**2, prior)


def rates_above(thresholds, numbers):
    """Return the rates by SciPy's own normal distribution."""
    return (
        norm.sf(thresholds, numbers.mean_pos, np.sqrt(numbers.var_pos)),
        norm.sf(thresholds, numbers.mean_neg, np.sqrt(numbers.var_neg)),
    )


#: The central difference of seven points has an error of h⁶ f⁽⁷⁾ / 140: 5e-19 f⁽⁷⁾ at this step.
CENTRAL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
STEP = 2e-3


def differences(risk, numbers):
    """Return the derivatives by both means and both deviations, in units of the smaller deviation.

    In these units no derivative is large, as every risk is made of Φ(distance / deviation).
    """
    mean_pos, var_pos, mean_neg, var_neg, prior = numbers
    at = np.array([mean_pos, np.sqrt(var_pos), mean_neg, np.sqrt(var_neg)])
    unit = min(at[1], at[3])
    found = np.zeros(4)
    for k in range(4):
        for offset, factor in CENTRAL.items():
            near = at.copy()
            near[k] += offset * STEP * unit
            value = risk.value(ScoreMoments(near[0], near[1] ** 2, near[2], near[3] ** 2, prior))
            found[k] += factor * value / STEP
    return found


def in_units(partials, numbers):
    """Return partials as derivatives by means and deviations, in units of the smaller deviation."""
    sd = np.sqrt([numbers.var_pos, numbers.var_neg])
    by_sd = 2.0 * sd * (partials.var_pos, partials.var_neg)
    return sd.min() * np.array([partials.mean_pos, by_sd[0], partials.mean_neg, by_sd[1]])


def jumps(risk, numbers):
    """Return whether the lowest precise threshold is about to be another one, or none.

    The curve of precision touches p there, the recall jumps, and there is no derivative.
    """
    tau = risk.threshold(numbers)
    unit = np.sqrt(min(numbers.var_pos, numbers.var_neg))
    for k in range(4):
        for sign in (-1.0, 1.0):
            near = list(numbers)
            deviation = np.sqrt(near[k]) if k % 2 else near[k]
            deviation += sign * 4 * STEP * unit
            near[k] = deviation**2 if k % 2 else deviation
            moved = risk.threshold(ScoreMoments(*near))
            if moved != tau and not abs(moved - tau) < unit:
                return True
    if np.isinf(tau):
        return False
    slopes = [
        norm.pdf(tau, mean, np.sqrt(var)) / norm.sf(tau, mean, np.sqrt(var))
        for mean, var in (numbers[0:2], numbers[2:4])
    ]
    # Nearly touching: the derivative changes too fast for differences to follow.
    return abs(slopes[0] - slopes[1]) * unit < 0.3


@every_risk
@given(numbers=scores())
def test_partials_are_the_derivatives(risk, numbers):
    """To 1e-7, five times what the differences themselves are off by at worst."""
    assume(not (isinstance(risk, MissAtPrecision) and jumps(risk, numbers)))
    value, partials = risk.value_and_grad(numbers)
    assert value == risk.value(numbers)
    off = np.abs(in_units(partials, numbers) - differences(risk, numbers))
    assert off.max() <= 1e-7 * largest(risk)


@every_risk
@settings(max_examples=50)
@given(numbers=scores(ratio=2.0, reach=8.0))
def test_scale_of_the_scores_does_not_count(risk, numbers):
    value, partials = risk.value_and_grad(numbers)
    terms = np.array(numbers[:4]) * partials * (1.0, 2.0, 1.0, 2.0)
    assert abs(terms.sum()) <= 1e-13 * np.abs(terms).sum() + 1e-15 * largest(risk)
    for power in (-12, 12):
        scaled = ScoreMoments(
            numbers.mean_pos * 2.0**power,
            numbers.var_pos * 4.0**power,
            numbers.mean_neg * 2.0**power,
            numbers.var_neg * 4.0**power,
            numbers.prior,
        )
        assert risk.value(scaled) == pytest.approx(value, rel=1e-11, abs=1e-11 * largest(risk))


@pytest.mark.parametrize("risk", SHIFTS.values(), ids=SHIFTS)
@settings(max_examples=50)
@given(numbers=scores(ratio=2.0, reach=8.0), shift=st.floats(-8.0, 8.0))
def test_shift_of_the_scores_does_not_count(risk, numbers, shift):
    value, partials = risk.value_and_grad(numbers)
    size = abs(partials.mean_pos) + abs(partials.mean_neg)
    assert abs(partials.mean_pos + partials.mean_neg) <= 1e-13 * size
    assume(not (isinstance(risk, MissAtPrecision) and jumps(risk, numbers)))
    unit = np.sqrt(max(numbers.var_pos, numbers.var_neg))
    assert risk.value(numbers.above(shift * unit)) == pytest.approx(value, abs=1e-11)


def test_which_risks_ignore_a_shift():
    assert set(RISKS) - set(SHIFTS) == set(RATES)


@pytest.fixture(scope="module")
def moments():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4))
    y = np.arange(400) % 5 == 0
    X[y] = 1.5 * X[y] + rng.normal(size=4)
    return Moments.of(X, y)


@every_risk
def test_gradient_by_the_line(moments, risk):
    rng = np.random.default_rng(5)
    for _ in range(10):
        coef = rng.normal(size=5)
        numbers = project(moments, coef)
        if isinstance(risk, MissAtPrecision) and jumps(risk, numbers):
            continue
        gradient = pullback(moments, coef, risk.value_and_grad(numbers)[1])
        size = np.abs(coef * gradient).sum()
        assert abs(coef @ gradient) <= 1e-13 * size  # the length of (w, b) does not count
        if risk.shift_invariant:
            assert abs(gradient[-1]) <= 1e-13 * np.abs(gradient).max(initial=0.0)
        direction = rng.normal(size=5)
        step = 1e-2 * np.sqrt(min(numbers.var_pos, numbers.var_neg)) / 10.0
        measured = sum(
            factor * risk.value(project(moments, coef + offset * step * direction)) / step
            for offset, factor in CENTRAL.items()
        )
        assert measured == pytest.approx(gradient @ direction, rel=1e-7, abs=1e-7 * largest(risk))


@every_risk
@settings(max_examples=50)
@given(numbers=scores(ratio=6.0, reach=40.0))
def test_value_is_in_range(risk, numbers):
    value, partials = risk.value_and_grad(numbers)
    rounding = 1e-12 * largest(risk)
    assert smallest(risk) - rounding <= value <= largest(risk) + rounding
    assert np.isfinite(partials).all()


@every_risk
@pytest.mark.parametrize("sd", [(1.0, 1.0), (1e-4, 1.0), (1.0, 1e-4)])
def test_finite_however_far_apart(risk, sd):
    far = [0.0, *(sign * 10.0**k for sign in (-1, 1) for k in (0, 2, 8))]
    for z_pos in far:
        for z_neg in far:
            numbers = ScoreMoments(z_pos * sd[0], sd[0] ** 2, z_neg * sd[1], sd[1] ** 2, 0.2)
            value, partials = risk.value_and_grad(numbers)
            # Thresholds next to a mean of 1e8 have eight digits after the point.
            rounding = 1e-15 * max(abs(z_pos), abs(z_neg), 1e3) * max(sd) / min(sd)
            assert smallest(risk) - rounding <= value <= largest(risk) + rounding
            assert np.isfinite(partials).all()
            assert not np.isnan(risk.threshold(numbers))


@every_risk
@pytest.mark.parametrize(
    ("var_pos", "var_neg"), [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)], ids=["pos", "neg", "both"]
)
def test_class_without_spread_is_the_limit_of_little(risk, var_pos, var_neg):
    for means, prior in product([(2, -1), (-1, 2), (0.7, 0.1), (0.1, 0.7)], [0.03, 0.5, 0.9]):
        is_limit(risk, ScoreMoments(means[0], var_pos, means[1], var_neg, prior))


def is_limit(risk, numbers):
    value, partials = risk.value_and_grad(numbers)
    assert np.isfinite(partials).all()
    # A deviation of 1e-7 moves a threshold by a few of it, and is 1e9 times the last digit.
    tiny = ScoreMoments(*np.maximum(numbers, [-np.inf, 1e-14, -np.inf, 1e-14, 0.0]).tolist())
    assert value == pytest.approx(risk.value(tiny), abs=1e-6 * largest(risk))
    assert not np.isnan(risk.threshold(numbers))


@pytest.mark.parametrize("risk", RATES.values(), ids=RATES)
@pytest.mark.parametrize("threshold", [-np.inf, np.inf])
def test_constant_predictor_has_a_value_and_no_slope(risk, threshold):
    value, partials = risk.value_and_grad(ScoreMoments(1.0, 1.0, -1.0, 4.0, 0.3).above(threshold))
    everything = float(threshold < 0)
    assert value == risk.of_rates(everything, everything, 0.3)
    assert partials == (0.0, 0.0, 0.0, 0.0)


@every_risk
def test_rows_that_are_all_alike(risk):
    value, partials = risk.value_and_grad(ScoreMoments(1.0, 0.0, 1.0, 0.0, 0.3))
    assert smallest(risk) <= value <= largest(risk)
    assert np.isfinite(partials).all()


def best_of_many(risk, numbers):
    """Return the least risk over thresholds all through both classes, and both constants."""
    grid = np.linspace(-9.0, 9.0, 3001)
    thresholds = np.concatenate(
        [
            numbers.mean_pos + np.sqrt(numbers.var_pos) * grid,
            numbers.mean_neg + np.sqrt(numbers.var_neg) * grid,
            [np.inf, -np.inf],
        ]
    )
    return float(np.min(risk.of_rates(*rates_above(thresholds, numbers), numbers.prior)))


@pytest.mark.parametrize("risk", RATES.values(), ids=RATES)
@settings(max_examples=60)
@given(numbers=scores(ratio=6.0), equal=st.booleans())
def test_no_threshold_is_better(risk, numbers, equal):
    if equal:
        numbers = numbers._replace(var_neg=numbers.var_pos)
    threshold = risk.threshold(numbers)
    value = risk.value(numbers.above(threshold))
    assert value <= best_of_many(risk, numbers) + 1e-12 * largest(risk)


@pytest.mark.parametrize("risk", RATES.values(), ids=RATES)
@pytest.mark.parametrize(("var_pos", "var_neg"), [(0.0, 4.0), (4.0, 0.0), (0.0, 0.0)])
def test_no_threshold_is_better_without_spread(risk, var_pos, var_neg):
    for means, prior in product([(2, -1), (-1, 2), (0.3, 0.1), (7.0, 1e6)], [0.03, 0.6]):
        numbers = ScoreMoments(means[0], var_pos, means[1], var_neg, prior)
        value = risk.value(numbers.above(risk.threshold(numbers)))
        near = [np.nextafter(mean, side) for mean in means for side in (-np.inf, np.inf)]
        wide = [mean + 2.0 * z for mean in means for z in np.linspace(-9, 9, 37)]
        others = [risk.value(numbers.above(t)) for t in (*near, *wide, np.inf, -np.inf)]
        # Next to a mean of 1e6 floats are 1e-10 apart.
        assert value <= min(others) + (1e-12 if max(means) < 10 else 1e-10) * largest(risk)


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


def fixed_rate(risk, numbers):
    """Return the rate that a metric holds fixed, at its threshold, and what it should be."""
    tpr, fpr = rates_above(risk.threshold(numbers), numbers)
    prior = numbers.prior
    if isinstance(risk, MissAtFPR):
        return fpr, risk.fpr
    if isinstance(risk, AlarmAtRecall):
        return tpr, risk.recall
    share = prior * tpr + (1 - prior) * fpr
    if isinstance(risk, MissAtQuota):
        return share, prior if risk.share is None else risk.share
    return prior * tpr / share, risk.precision


FIXED = {n: r for n, r in SHIFTS.items() if not n.endswith("auc") and "auc " not in n}


@pytest.mark.parametrize("risk", FIXED.values(), ids=FIXED)
@settings(max_examples=60)
@given(numbers=scores(ratio=2.0))
def test_threshold_holds_what_the_metric_fixes(risk, numbers):
    if np.isfinite(risk.threshold(numbers)):
        held, wanted = fixed_rate(risk, numbers)
        assert held == pytest.approx(wanted, abs=1e-9)
        return
    assert isinstance(risk, MissAtPrecision)
    caught = risk.threshold(numbers) < 0
    assert caught == (numbers.prior >= risk.precision)
    assert risk.value(numbers) == (0.0 if caught else 1.0)


@settings(max_examples=60)
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


@every_risk
def test_profile_of_many_lines_is_that_of_each(risk):
    rng = np.random.default_rng(8)
    gap, sd_pos, sd_neg = rng.normal(size=40) * 2.0, *np.exp(rng.normal(size=(2, 40)))
    values, thresholds = risk.profile(gap, sd_pos**2, sd_neg**2, 0.3)
    for k in range(40):
        numbers = ScoreMoments(gap[k], sd_pos[k] ** 2, 0.0, sd_neg[k] ** 2, 0.3)
        own = risk.threshold(numbers)
        assert thresholds[k] == pytest.approx(own, rel=1e-6, abs=1e-6)
        at = numbers if risk.shift_invariant else numbers.above(own)
        assert values[k] == pytest.approx(risk.value(at), abs=1e-12 * largest(risk))


ROWS, BATCHES = 1_000_000, 20
SAMPLES = {
    "rare and wide": ScoreMoments(1.7, 2.25, -0.4, 1.0, 0.05),
    "frequent and narrow": ScoreMoments(1.0, 1.0, -1.0, 1.44, 0.4),
}


@cache
def sample(name):
    """Draw labels and scores in such an order that every batch has the prior exactly."""
    numbers = SAMPLES[name]
    rng = np.random.default_rng(2024)
    size = ROWS // BATCHES
    y = np.tile(np.arange(size) < round(numbers.prior * size), BATCHES)
    mean = np.where(y, numbers.mean_pos, numbers.mean_neg)
    return y, rng.normal(mean, np.sqrt(np.where(y, numbers.var_pos, numbers.var_neg)))


def standard_errors_off(metric, numbers, y, s):
    """Return how many standard errors the risk is from the exact metric."""
    risk = metric.risk(N_ROWS)
    if isinstance(risk, RatesRisk):
        # At a constant predictor, whose threshold is infinite, there would be nothing to measure.
        threshold = float(np.clip(risk.threshold(numbers), -2.0, 2.0))
        s, numbers = s - threshold, numbers.above(threshold)
    if isinstance(getattr(metric, "k", None), int):
        metric = PrecisionAtK(metric.k / N_ROWS)
    off = abs(metric.score(y, s) - metric.of_loss(risk.value(numbers)))
    batches = zip(y.reshape(BATCHES, -1), s.reshape(BATCHES, -1), strict=True)
    error = np.std([metric.score(*rows) for rows in batches], ddof=1) / np.sqrt(BATCHES)
    if not error:  # recall at a precision that is no more than the prior
        return 0.0 if off < 1e-12 else np.inf
    return off / error


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_equals_the_exact_metric_of_normal_scores(figure, request, metric):
    """To four standard errors, which come from twenty batches."""
    off = [standard_errors_off(metric, SAMPLES[name], *sample(name)) for name in SAMPLES]
    assert max(off) <= 4.0
    figure(
        f"risk against the exact metric, two samples of 1e6 normal scores, "
        f"{request.node.callspec.id}: {max(off):.1f} standard errors off (<= 4)"
    )


@settings(max_examples=50)
@given(scores(ratio=2.0))
def test_partial_auc_of_everything_is_the_auc(numbers):
    whole, part = AUC().risk(), PartialAUC(1.0).risk()
    assert part.value(numbers) == pytest.approx(whole.value(numbers), abs=1e-12)
    stated, partials = (in_units(r.value_and_grad(numbers)[1], numbers) for r in (whole, part))
    assert partials == pytest.approx(stated, abs=1e-12)


@pytest.mark.parametrize("max_fpr", [1e-4, 0.01, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("sd_pos", [1.0, 3.0, 0.3, 0.01, 100.0])
def test_partial_auc_equals_adaptive_quadrature(max_fpr, sd_pos):
    for gap in (-1.0, 0.0, 0.7, 4.5):
        value = PartialAUC(max_fpr).risk().value(ScoreMoments(gap, sd_pos**2, 0.0, 1.0, 0.5))
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
def test_is_a_value(thing):
    same = pickle.loads(pickle.dumps(thing))  # noqa: S301
    assert same == thing
    assert hash(same) == hash(thing)
    assert copy.deepcopy(thing) == thing
    assert thing != object()
    for field in fields(thing):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field.name, 0.5)
    if not isinstance(thing, FromRates | FunctionRisk):  # a function has no text of its own
        names = vars(directrix.metrics) | vars(directrix.risks)
        assert eval(repr(thing), dict(names)) == thing  # noqa: S307


def test_different_metrics_differ():
    assert len({thing for _, thing in OBJECTS}) == len(OBJECTS)
