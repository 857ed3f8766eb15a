"""Laws of risks: a metric as a function of the means and variances of normal scores.

A law takes a metric and its risk, or a risk and score moments to try it on. `metrics` draws
the moments at random; `test_risks` lets Hypothesis search for worse ones.
"""

from itertools import product

import numpy as np
from contracts.cases import require, require_close
from scipy.stats import norm

from directrix.metrics.limit import Limit
from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import CostRisk, MetricRisk, MissAtPrecision

_NEAR = 8e-3  # standard deviations within which there must be no jump
_LOWEST = np.array([-np.inf, 1e-14, -np.inf, 1e-14, 0.0])


def bounds_of(risk):
    """Return the lowest and the highest value of a risk."""
    if isinstance(risk, CostRisk):
        return 0.0, max(risk.fp, risk.fn)
    highest = risk.metric.largest_gap if isinstance(risk, MetricRisk) else 1.0
    return (0.0 if np.isfinite(highest) else -np.inf), highest


def unit_of(risk):
    """Return the highest value of a risk, the unit of its errors; one if it is not bounded."""
    highest = bounds_of(risk)[1]
    return highest if np.isfinite(highest) else 1.0


def is_smooth(risk, moments):
    """Return whether a risk has no jump near these moments.

    The miss rate at a precision jumps where its threshold does: the curve of precision touches the
    limit there.
    """
    if not isinstance(risk, MissAtPrecision):
        return True
    threshold = risk.threshold(moments)
    unit = np.sqrt(min(moments.var_pos, moments.var_neg))
    for k, sign in product(range(4), (-1.0, 1.0)):
        near = list(moments)
        deviation = np.sqrt(near[k]) if k % 2 else near[k]
        deviation += sign * _NEAR * unit
        near[k] = deviation**2 if k % 2 else deviation
        moved = risk.threshold(ScoreMoments(*near))
        if moved != threshold and not abs(moved - threshold) < unit:
            return False
    return True


def scale_does_not_count(risk, moments):
    """Require that multiplying all scores by a positive number changes nothing."""
    value = risk.value(moments)
    for power in (-12, 12):
        scaled = ScoreMoments(
            moments.mean_pos * 2.0**power,
            moments.var_pos * 4.0**power,
            moments.mean_neg * 2.0**power,
            moments.var_neg * 4.0**power,
            moments.prior,
        )
        tolerance = 1e-11 * unit_of(risk)
        message = "value of scaled scores"
        require_close(risk.value(scaled), value, message, absolute=tolerance, relative=1e-11)


def shift_does_not_count(risk, moments, shift):
    """Require that adding a constant to all scores changes nothing, if the risk declares so.

    ``shift`` is the constant in units of the larger standard deviation.
    """
    if risk.shift_invariant and is_smooth(risk, moments):
        unit = np.sqrt(max(moments.var_pos, moments.var_neg))
        moved, value = risk.value(moments.above(shift * unit)), risk.value(moments)
        require_close(moved, value, "value of shifted scores", absolute=1e-11)


def value_is_in_range(risk, moments):
    """Require that the value is within the bounds of the risk."""
    _in_range(risk, moments, 1e-12 * unit_of(risk))


def _in_range(risk, moments, rounding):
    value = risk.value(moments)
    lowest, highest = bounds_of(risk)
    require(lowest - rounding <= value <= highest + rounding, f"{value} is out of bounds")


def finite_however_far_apart(risk):
    """Require that classes that are far apart, or of very different width, have finite values."""
    far = [0.0, *(sign * 10.0**k for sign in (-1, 1) for k in (0, 2, 8))]
    for sd_pos, sd_neg in ((1.0, 1.0), (1e-4, 1.0), (1.0, 1e-4)):
        for z_pos, z_neg in product(far, far):
            moments = ScoreMoments(z_pos * sd_pos, sd_pos**2, z_neg * sd_neg, sd_neg**2, 0.2)
            # Thresholds next to a mean of 1e8 have eight digits after the point.
            widest, narrowest = max(sd_pos, sd_neg), min(sd_pos, sd_neg)
            rounding = 1e-15 * max(abs(z_pos), abs(z_neg), 1e3) * widest / narrowest
            _in_range(risk, moments, rounding)
            require(not np.isnan(risk.threshold(moments)), "a threshold is NaN")


def class_without_spread_is_the_limit(risk):
    """Require that a class whose scores are all equal is the limit of one with a small variance."""
    means = ((2, -1), (-1, 2), (0.7, 0.1), (0.1, 0.7))
    for var_pos, var_neg in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0)):
        for (mean_pos, mean_neg), prior in product(means, (0.03, 0.5, 0.9)):
            moments = ScoreMoments(mean_pos, var_pos, mean_neg, var_neg, prior)
            value = risk.value(moments)
            # A deviation of 1e-7 moves a threshold by a few of it, and is 1e9 times the last digit.
            tiny = ScoreMoments(*np.maximum(np.array(moments), _LOWEST).tolist())
            require_close(value, risk.value(tiny), "limit", absolute=1e-6 * unit_of(risk))
            require(not np.isnan(risk.threshold(moments)), "a threshold is NaN")
    value = risk.value(ScoreMoments(1.0, 0.0, 1.0, 0.0, 0.3))
    lowest, highest = bounds_of(risk)
    require(lowest <= value <= highest, f"{value} for equal scores is out of bounds")


def constant_predictor_has_its_rates(risk):
    """Require that a risk of the rates is that of rates 0 or 1 if one class is always predicted."""
    if not hasattr(risk, "of_rates"):
        return
    for threshold in (-np.inf, np.inf):
        moments = ScoreMoments(1.0, 1.0, -1.0, 4.0, 0.3).above(threshold)
        value, rate = risk.value(moments), float(threshold < 0)
        require(value == risk.of_rates(rate, rate, 0.3), f"value {value} of a constant")


def rates_above(thresholds, moments):
    """Return the true- and false-positive rate by the normal distribution of SciPy."""
    return (
        norm.sf(thresholds, moments.mean_pos, np.sqrt(moments.var_pos)),
        norm.sf(thresholds, moments.mean_neg, np.sqrt(moments.var_neg)),
    )


def no_threshold_is_better(risk, moments):
    """Require that a risk of the rates is lowest at the threshold that it returns."""
    if not hasattr(risk, "of_rates"):
        return
    grid = np.linspace(-9.0, 9.0, 3001)
    thresholds = np.concatenate(
        [
            moments.mean_pos + np.sqrt(moments.var_pos) * grid,
            moments.mean_neg + np.sqrt(moments.var_neg) * grid,
            [np.inf, -np.inf],
        ]
    )
    least = float(np.min(risk.of_rates(*rates_above(thresholds, moments), moments.prior)))
    value = risk.value(moments.above(risk.threshold(moments)))
    require(value <= least + 1e-12 * unit_of(risk), f"{value} where {least} is possible")


def no_threshold_is_better_without_spread(risk):
    """Require that the threshold is the best if the scores of a class are all equal."""
    if not hasattr(risk, "of_rates"):
        return
    spreads = ((0.0, 4.0), (4.0, 0.0), (0.0, 0.0))
    cases = product(spreads, ((2, -1), (-1, 2), (0.3, 0.1), (7.0, 1e6)), (0.03, 0.6))
    for (var_pos, var_neg), means, prior in cases:
        moments = ScoreMoments(means[0], var_pos, means[1], var_neg, prior)
        value = risk.value(moments.above(risk.threshold(moments)))
        near = [np.nextafter(mean, side) for mean in means for side in (-np.inf, np.inf)]
        wide = [mean + 2.0 * z for mean in means for z in np.linspace(-9, 9, 37)]
        least = min(risk.value(moments.above(t)) for t in (*near, *wide, np.inf, -np.inf))
        # Next to a mean of 1e6 floats are 1e-10 apart.
        rounding = (1e-12 if max(means) < 10 else 1e-10) * unit_of(risk)
        require(value <= least + rounding, f"{value} where {least} is possible")


def constraint_of(metric, prior, n_rows):
    """Return what bounds the operating point: the limit, or the quota as a limit."""
    share = metric.quota(prior, n_rows)
    return metric.limit if share is None else Limit("alerts", share, at_most=True)


def threshold_keeps_the_constraint(metric, risk, moments, n_rows):
    """Require that a threshold which the metric fixes just keeps its limit or quota."""
    constraint = constraint_of(metric, moments.prior, n_rows) if metric.fixes_threshold else None
    if constraint is None:
        return
    threshold, prior = risk.threshold(moments), moments.prior
    if np.isinf(threshold):
        # Any threshold is precise enough, or none is.
        require(constraint.rate == "precision", "the threshold is infinite")
        everything = threshold < 0
        require(everything == (prior >= constraint.value), "the threshold has the wrong sign")
        require(risk.value(moments) == (0.0 if everything else 1.0), "value of a constant")
        return
    tpr, fpr = rates_above(threshold, moments)
    alerts = prior * tpr + (1.0 - prior) * fpr
    rates = {"tpr": tpr, "fpr": fpr, "alerts": alerts, "precision": prior * tpr / alerts}
    kept = rates[constraint.rate]
    require_close(kept, constraint.value, f"{constraint.rate} at the threshold", absolute=1e-9)


def profile_is_that_of_single_classifiers(risk):
    """Require that `profile` returns the risk and the threshold of every classifier."""
    rng = np.random.default_rng(8)
    gap, sd_pos, sd_neg = rng.normal(size=40) * 2.0, *np.exp(rng.normal(size=(2, 40)))
    values, thresholds = risk.profile(gap, sd_pos**2, sd_neg**2, 0.3)
    for k in range(40):
        moments = ScoreMoments(gap[k], sd_pos[k] ** 2, 0.0, sd_neg[k] ** 2, 0.3)
        single = risk.threshold(moments)
        require_close(thresholds[k], single, "threshold", absolute=1e-6, relative=1e-6)
        at = moments if risk.shift_invariant else moments.above(single)
        require_close(values[k], risk.value(at), "risk", absolute=1e-12 * unit_of(risk))


#: Score moments from which large samples are drawn.
SAMPLES = {
    "rare and wide": ScoreMoments(1.7, 2.25, -0.4, 1.0, 0.05),
    "frequent and narrow": ScoreMoments(1.0, 1.0, -1.0, 1.44, 0.4),
}
_BATCHES = 20


def normal_sample(moments, n_rows):
    """Return labels and normal scores, ordered so that twenty batches have the exact prior."""
    rng = np.random.default_rng(2024)
    size = n_rows // _BATCHES
    y = np.tile(np.arange(size) < round(moments.prior * size), _BATCHES)
    mean = np.where(y, moments.mean_pos, moments.mean_neg)
    return y, rng.normal(mean, np.sqrt(np.where(y, moments.var_pos, moments.var_neg)))


def standard_errors_off(metric, risk, moments, y, scores):
    """Return the distance of a risk from the exact metric of a sample, in standard errors.

    ``metric`` must not count a number of rows, because the standard error is estimated from
    batches, which have fewer rows. ``moments`` are those from which the scores were drawn; ``y``
    and ``scores`` are as returned by `normal_sample`.
    """
    if not risk.shift_invariant:
        # A constant predictor, whose threshold is infinite, would leave nothing to measure.
        threshold = float(np.clip(risk.threshold(moments), -2.0, 2.0))
        scores, moments = scores - threshold, moments.above(threshold)
    off = abs(metric.score(y, scores) - metric.of_loss(risk.value(moments)))
    batches = zip(y.reshape(_BATCHES, -1), scores.reshape(_BATCHES, -1), strict=True)
    values = [metric.score(*rows) for rows in batches]
    error = float(np.std(values, ddof=1)) / float(np.sqrt(_BATCHES))
    if not error:  # for example the recall at a precision that is below the prior
        return 0.0 if off < 1e-12 else np.inf
    return float(off / error)
