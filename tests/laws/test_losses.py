"""Laws of every loss; one that is exported is tested by being in the list below.

A loss has the partials it says it has, is what its definition says, counts a row of weight k as k
rows, ignores the order of the rows, and a common offset exactly where it declares so. A convex one
lies above its tangents and above the metric; a tight one tends to the metric.
"""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from loss_oracle import FEW_ROWS, OF_ROW, by_definition

import directrix.losses
from directrix.losses import (
    BetaBernoulli,
    BreakEven,
    Exponential,
    FBetaEnvelope,
    FBetaIsotonic,
    GeneralizedLogistic,
    Hinge,
    Logistic,
    Loss,
    OneMinusTanh,
    PairwiseHinge,
    PairwiseLogistic,
    PairwiseSquare,
    PairwiseSquaredHinge,
    PrecisionTop,
    QuantileSigmoid,
    Ramp,
    RecallTop,
    Sigmoid,
    SquaredHinge,
    TopNegatives,
    ZeroOne,
)
from directrix.metrics import AUC, PRBEP, Error, FBeta, PrecisionAtK, RecallAtFPR, RecallAtK

LOSSES = {
    "logistic": Logistic(),
    "exponential": Exponential(),
    "squared_hinge": SquaredHinge(),
    "hinge": Hinge(),
    "hinge with its corner": Hinge(kappa=0.0),
    "hinge, wide": Hinge(kappa=0.7, margin=2.0),
    "generalized_logistic": GeneralizedLogistic(),
    "generalized_logistic, sharp": GeneralizedLogistic(gamma=20.0),
    "sigmoid": Sigmoid(),
    "sigmoid, sharp": Sigmoid(gamma=5.0),
    "tanh": OneMinusTanh(),
    "zero_one": ZeroOne(),
    "beta_bernoulli": BetaBernoulli(),
    "beta_bernoulli, uneven": BetaBernoulli(mixing=0.4, prior_mean=0.8, gamma=2.0),
    "pairwise_hinge": PairwiseHinge(),
    "pairwise_hinge with its corner": PairwiseHinge(kappa=0.0),
    "pairwise_hinge, wide": PairwiseHinge(kappa=1.5, margin=0.5),
    "pairwise_squared_hinge": PairwiseSquaredHinge(),
    "pairwise_square": PairwiseSquare(margin=0.5),
    "pairwise_logistic": PairwiseLogistic(),
    "break_even": BreakEven(),
    "break_even with its corners": BreakEven(kappa=0.0),
    "break_even, wide": BreakEven(kappa=1.0, margin=2.0),
    "precision_top": PrecisionTop(0.2),
    "precision_top of 3 rows": PrecisionTop(3, kappa=0.5),
    "precision_top of most": PrecisionTop(0.8, kappa=0.3),
    "recall_top": RecallTop(0.2, kappa=0.2),
    "recall_top with its corners": RecallTop(0.6, kappa=0.0),
    "top_negatives": TopNegatives(0.1),
    "top_negatives, one": TopNegatives(0.001, kappa=0.3),
    "top_negatives with its corners": TopNegatives(0.3, kappa=0.0),
    "quantile_sigmoid": QuantileSigmoid(0.1),
    "quantile_sigmoid, sharp": QuantileSigmoid(0.3, gamma=4.0),
    "f_envelope": FBetaEnvelope(),
    "f_envelope, wide": FBetaEnvelope(beta=2.0, kappa=0.8),
    "f_envelope with its corners": FBetaEnvelope(beta=0.5, kappa=0.0),
    "f_isotonic": FBetaIsotonic(),
    "f_isotonic, wide": FBetaIsotonic(beta=2.0, kappa=0.8, margin=1.5),
    "f_isotonic with its corners": FBetaIsotonic(beta=0.5, kappa=0.0),
    "ramp": Ramp(),
    "ramp of a pairwise hinge": Ramp(PairwiseHinge(), gamma=2.0),
    "ramp of the break-even": Ramp(BreakEven(kappa=0.1)),
    "ramp of precision": Ramp(PrecisionTop(0.2, kappa=0.1)),
    "ramp of recall": Ramp(RecallTop(0.7, kappa=0.1)),
    "ramp of top negatives": Ramp(TopNegatives(0.2)),
    "ramp of the top negative": Ramp(TopNegatives(0.001)),
    "ramp of the envelope": Ramp(FBetaEnvelope(kappa=0.2)),
    "ramp of ordered positives": Ramp(FBetaIsotonic(kappa=0.2), gamma=0.5),
}
#: The metric that a loss is made for.
METRIC = {
    PairwiseHinge: lambda _: AUC(),
    PairwiseSquaredHinge: lambda _: AUC(),
    PairwiseSquare: lambda _: AUC(),
    PairwiseLogistic: lambda _: AUC(),
    BreakEven: lambda _: PRBEP(),
    PrecisionTop: lambda loss: PrecisionAtK(loss.k),
    RecallTop: lambda loss: RecallAtK(loss.k),
    TopNegatives: lambda loss: RecallAtFPR(loss.fpr),
    QuantileSigmoid: lambda loss: RecallAtFPR(loss.fpr),
    FBetaEnvelope: lambda loss: FBeta(loss.beta),
    FBetaIsotonic: lambda loss: FBeta(loss.beta),
    Ramp: lambda loss: metric_of(loss.of),
}
#: Their docstrings say what they tend to: no less than the metric.
TENDS_ABOVE = ("ramp of top negatives", "ramp of the envelope")
#: Its plateaus differ, so that one number cannot say what its worst is.
UNEVEN = "beta_bernoulli, uneven"
#: The binned loss is off by h²/16, and its gradient by a multiple of h.
BINNED = "pairwise_logistic"


def those(keep):
    """Return a mark that runs a law for the losses that it is about."""
    names = [name for name, loss in LOSSES.items() if keep(loss)]
    return pytest.mark.parametrize("name", names)


every_loss = those(lambda _: True)


def metric_of(loss):
    return METRIC.get(type(loss), lambda _: Error())(loss)


def metric_loss(loss, positive, scores, weight):
    """Return the loss of the metric, exactly."""
    metric = metric_of(loss)
    value = metric.score(positive, scores, weight)
    return 1.0 - value if metric.greater_is_better else value


def draw(seed, n=40, *, ties=False, whole=False, spread=1.5):
    """Return labels, scores and weights of random rows, both classes among them."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < rng.uniform(0.2, 0.6)
    positive[:2] = True, False
    scores = rng.normal(positive - 0.5, spread)
    weight = rng.integers(0, 4, n).astype(float) if whole else rng.uniform(0.2, 2.0, n)
    weight[:2] = 1.0, 2.0
    return positive, np.round(2.0 * scores) / 2.0 if ties else scores, weight


def test_every_exported_loss_is_here():
    exported = {getattr(directrix.losses, name) for name in directrix.losses.__all__}
    assert exported - {Loss} == {type(loss) for loss in LOSSES.values()}
    assert len({kind.name for kind in exported - {Loss}}) == len(exported) - 1


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_gradient_is_the_slope(name, seed):
    loss = LOSSES[name]
    positive, scores, weight = draw(seed)
    slope = loss.value_and_grad(positive, scores, weight)[1]
    rng = np.random.default_rng(seed + 100)
    for _ in range(3):
        toward = rng.normal(size=len(scores))
        if name == BINNED:  # its grid follows the lowest and the highest score
            toward[[scores.argmin(), scores.argmax()]] = 0.0
        step = 1e-7 * toward
        ends = [loss.value_and_grad(positive, scores + s, weight)[0] for s in (step, -step)]
        size = 1e-6 * (1.0 + np.abs(slope) @ np.abs(toward))
        assert slope @ toward == pytest.approx((ends[0] - ends[1]) / 2e-7, abs=size)


@every_loss
def test_curvature_is_the_slope_of_the_gradient(name):
    loss = LOSSES[name]
    positive, scores, weight = draw(5)
    bend = loss.curvature(positive, scores, weight)
    if bend is None:
        return
    step = 1e-6
    up, down = (loss.value_and_grad(positive, scores + s, weight)[1] for s in (step, -step))
    assert bend == pytest.approx((up - down) / (2.0 * step), abs=1e-7 * (1.0 + np.abs(bend).max()))


@those(lambda loss: isinstance(loss, BetaBernoulli))
def test_partials_by_its_own_parameters(name):
    loss, rows = LOSSES[name], draw(6)
    stated = loss.partials(*rows)
    for parameter in ("mixing", "prior_mean", "gamma"):
        at = getattr(loss, parameter)
        up, down = (
            replace(loss, **{parameter: at + s}).value_and_grad(*rows)[0] for s in (1e-6, -1e-6)
        )
        assert getattr(stated, parameter) == pytest.approx((up - down) / 2e-6, abs=1e-8)


def is_solved(loss):
    return isinstance(getattr(loss, "of", loss), FEW_ROWS)


@those(lambda loss: not is_solved(loss))
@pytest.mark.parametrize("ties", [False, True])
def test_is_what_its_definition_says(name, ties):
    loss = LOSSES[name]
    rows = draw(7, 200, ties=ties)
    off = 0.0
    if name == BINNED:
        off = (np.ptp(rows[1]) / (loss.bins - 1)) ** 2 / 16.0
    value, truth = loss.value_and_grad(*rows)[0], by_definition(loss, *rows)
    assert truth - 1e-12 * (1.0 + truth) <= value <= truth + off + 1e-12 * (1.0 + truth)


@those(is_solved)
@pytest.mark.parametrize("seed", range(4))
def test_is_the_maximum_that_its_definition_says(name, seed):
    loss = LOSSES[name]
    rows = draw(seed, 9, ties=seed % 2 == 1, whole=True)
    rows = tuple(values[rows[2] > 0] for values in rows)
    # Tangents and a grid of counts are off by squares of their steps.
    slack = 2e-4 if isinstance(getattr(loss, "of", loss), FBetaEnvelope | FBetaIsotonic) else 1e-6
    assert loss.value_and_grad(*rows)[0] == pytest.approx(by_definition(loss, *rows), abs=slack)


@every_loss
def test_order_of_rows_does_not_matter(name):
    loss = LOSSES[name]
    rows = draw(8, ties=True)
    value, slope = loss.value_and_grad(*rows)
    order = np.random.default_rng(0).permutation(len(slope))
    other, its = loss.value_and_grad(*(values[order] for values in rows))
    assert other == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert its == pytest.approx(slope[order], rel=1e-9, abs=1e-11)


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_weight_k_is_k_rows_and_weight_zero_none(name, seed):
    loss = LOSSES[name]
    positive, scores, weight = draw(seed + 20, whole=True)
    scores[2:4], weight[2:4] = (30.0, -30.0), 0.0  # however far away
    value, slope = loss.value_and_grad(positive, scores, weight)
    times = weight.astype(int)
    owner = np.repeat(np.arange(len(scores)), times)
    other, parts = loss.value_and_grad(positive[owner], scores[owner], np.ones(len(owner)))
    assert other == pytest.approx(value, rel=1e-11, abs=1e-11)
    assert np.bincount(owner, parts, len(scores)) == pytest.approx(slope, rel=1e-8, abs=1e-10)
    assert not slope[times == 0].any()


@every_loss
def test_common_offset(name):
    loss = LOSSES[name]
    positive, scores, weight = draw(9)
    value, slope = loss.value_and_grad(positive, scores, weight)
    other, its = loss.value_and_grad(positive, scores + 3.0, weight)
    if not loss.shift_invariant:
        assert abs(other - value) > 1e-3
        return
    assert other == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert its == pytest.approx(slope, abs=1e-8)
    rounding = 1e-3 if name == BINNED else 1e-12  # the grid, for which it is exact, does not move
    assert abs(slope.sum()) <= rounding * (1.0 + np.abs(slope).sum())


@those(lambda loss: loss.convex)
@pytest.mark.parametrize("ties", [False, True])
def test_convex_lies_above_its_tangents(name, ties):
    loss = LOSSES[name]
    rng = np.random.default_rng(1)
    for seed in range(5):
        positive, scores, weight = draw(seed + 30, ties=ties)
        value, slope = loss.value_and_grad(positive, scores, weight)
        for size in (0.05, 1.0, 5.0):
            step = size * rng.normal(size=len(scores))
            there = loss.value_and_grad(positive, scores + step, weight)[0]
            middle = loss.value_and_grad(positive, scores + step / 2.0, weight)[0]
            slack = 1e-10 * (1.0 + there)
            if name == BINNED:
                slack = 2e-3 * size
            assert there >= value + slope @ step - slack
            assert middle <= (value + there) / 2.0 + slack


@those(lambda loss: loss.convex)
@pytest.mark.parametrize("ties", [False, True])
def test_convex_is_never_below_the_metric(name, ties):
    loss = LOSSES[name]
    for seed in range(10):
        rows = draw(seed + 40, ties=ties, spread=(0.1, 1.0, 10.0)[seed % 3])
        bound = loss.value_and_grad(*rows)[0] + loss.gap(rows[0], rows[2])
        assert bound >= loss.worst * metric_loss(loss, *rows) - 1e-12


@those(lambda loss: loss.tight)
def test_tight_tends_to_the_metric(name):
    if name == UNEVEN:
        return
    loss = LOSSES[name]
    sharp = loss.sharpen(1e7)
    for seed in range(6):
        rows = draw(seed + 50)
        share = (sharp.value_and_grad(*rows)[0] - sharp.best) / (sharp.worst - sharp.best)
        truth = metric_loss(loss, *rows)
        if name in TENDS_ABOVE:
            assert share >= truth - 1e-6
        else:
            assert share == pytest.approx(truth, abs=1e-6)


def test_those_that_tend_above_the_metric_do_not_tend_to_it():
    for name in TENDS_ABOVE:
        sharp = LOSSES[name].sharpen(1e7)
        rows = [draw(seed + 50) for seed in range(6)]
        off = [sharp.value_and_grad(*r)[0] - metric_loss(sharp, *r) for r in rows]
        assert max(off) > 0.01


@those(lambda loss: loss.gap(*draw(0)[::2]) > 0)
def test_is_within_the_gap_of_what_it_smooths(name):
    loss = LOSSES[name]
    sharp = loss.sharpen(np.inf)
    for seed in range(10):
        rows = draw(seed + 60, ties=seed % 2 == 1, spread=(0.1, 1.0, 10.0)[seed % 3])
        below = sharp.value_and_grad(*rows)[0] - loss.value_and_grad(*rows)[0]
        if isinstance(loss, GeneralizedLogistic):
            below = -below
        assert -1e-12 <= below <= loss.gap(rows[0], rows[2]) + 1e-12


@those(lambda loss: not isinstance(loss, Ramp))
def test_infinitely_sharp_is_the_end_of_the_path(name):
    loss = LOSSES[name]
    rows = draw(70)
    near, end = (loss.sharpen(s).value_and_grad(*rows)[0] for s in (1e7, np.inf))
    if isinstance(loss, BetaBernoulli):  # the path ends at its plateaus, not at 0 and 1
        assert end == pytest.approx(Error().score(*rows), abs=1e-12)
    else:
        assert near == pytest.approx(end, abs=1e-6)


@every_loss
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e9])
def test_finite_at_any_scores(name, size):
    loss = LOSSES[name]
    positive, scores, weight = draw(10)
    for s in (size * scores, size + np.zeros(len(scores)), -size + np.zeros(len(scores))):
        value, slope = loss.value_and_grad(positive, s, weight)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()


@every_loss
def test_takes_float32_and_leaves_its_input_alone(name):
    loss = LOSSES[name]
    positive, scores, weight = draw(11)
    single = scores.astype(np.float32)
    double = single.astype(np.float64)
    kept = positive.copy(), single.copy(), double.copy(), weight.copy()
    value, slope = loss.value_and_grad(positive, single, weight)
    truth, its = loss.value_and_grad(positive, double, weight)
    assert value == pytest.approx(truth, rel=1e-5, abs=1e-6)
    assert slope == pytest.approx(its, rel=1e-3, abs=1e-5)
    assert slope.dtype == np.float64
    for values, before in zip((positive, single, double, weight), kept, strict=True):
        assert (values == before).all()


@those(lambda loss: not isinstance(getattr(loss, "of", loss), (*OF_ROW, BetaBernoulli)))
def test_one_class_is_refused(name):
    positive, scores, weight = draw(12)
    for alone in (np.zeros_like(positive), np.ones_like(positive)):
        with pytest.raises(ValueError, match="one class only"):
            LOSSES[name].value_and_grad(alone, scores, weight)
    with pytest.raises(ValueError, match="one class only"):
        LOSSES[name].value_and_grad(positive, scores, weight * positive)


@every_loss
def test_is_a_value(name):
    loss = LOSSES[name]
    same = pickle.loads(pickle.dumps(loss))  # noqa: S301
    assert same == loss
    assert hash(same) == hash(loss)
    assert copy.deepcopy(loss) == loss
    assert eval(repr(loss), dict(vars(directrix.losses))) == loss  # noqa: S307
    for field in fields(loss):
        with pytest.raises(FrozenInstanceError):
            setattr(loss, field.name, 0.5)


def test_different_losses_differ():
    assert len(set(LOSSES.values())) == len(LOSSES)
