"""Laws of metrics: an exact score with weights and ties, a best threshold, and a risk."""

from functools import partial

import numpy as np
from contracts import risks
from contracts.cases import draw_rows, draw_score_moments, require, require_close
from contracts.losses import require_value

from directrix.metrics.base import Curve, CurveStack, Metric
from directrix.moments.risks import RatesRisk, risk_of

#: Number of rows passed to the risk of a metric that counts rows.
N_ROWS = 1000
_DRAWS = 25
_SAMPLE = 200_000
_SLACK = 1e-13
#: Rows whose scores are random, to find the value of chance.
_RANDOM = 20_000


def metric_laws(metric):
    """Return the laws of a metric and of its risk by name, as functions without arguments."""
    return score_laws(metric) | risk_laws(metric)


def score_laws(metric):
    """Return the laws of the exact score."""
    laws = {
        "declares what it is": declares_what_it_is,
        "is a value": require_value,
        "direction": direction_is_as_declared,
        "order of rows does not matter": order_of_rows_does_not_matter,
        "weight k is k rows": weight_k_is_k_rows,
        "labels of any type": labels_of_any_type,
        "scale of the scores does not count": scale_of_the_scores_does_not_count,
        "best threshold": best_threshold_is_the_best,
        "best of some thresholds": best_among_is_the_best,
        "limit is kept": limit_is_kept,
        "value of chance": chance_is_what_random_scores_reach,
        "many curves are evaluated as one": many_curves_are_evaluated_as_one,
        "function of the rates": rates_agree_with_the_score,
    }
    return {name: partial(law, metric) for name, law in laws.items()}


def risk_laws(metric):
    """Return the laws of the risk, on score moments that are drawn at random."""
    risk = risk_of(metric, N_ROWS)
    fixed = {
        "risk: finite however far apart": risks.finite_however_far_apart,
        "risk: class without spread": risks.class_without_spread_is_the_limit,
        "risk: constant predictor": risks.constant_predictor_has_its_rates,
        "risk: best threshold without spread": risks.no_threshold_is_better_without_spread,
        "risk: profile": risks.profile_is_that_of_single_classifiers,
        "risk: scale": partial(_drawn, risks.scale_does_not_count, ratio=2.0, reach=8.0),
        "risk: shift": partial(_drawn, _shifted, ratio=2.0, reach=8.0),
        "risk: range": partial(_drawn, risks.value_is_in_range, ratio=6.0, reach=40.0),
        "risk: best threshold": partial(_drawn, risks.no_threshold_is_better, ratio=6.0),
        "risk: constraint": partial(_drawn, partial(_constrained, metric), ratio=2.0),
    }
    laws = {name: partial(law, risk) for name, law in fixed.items()}
    return laws | {"risk: metric of normal scores": partial(is_its_risk, metric)}


def _drawn(law, risk, **how):
    for seed in range(_DRAWS):
        law(risk, draw_score_moments(seed, **how))


def _shifted(risk, moments):
    for shift in (-8.0, 0.3, 8.0):
        risks.shift_does_not_count(risk, moments, shift)


def _constrained(metric, risk, moments):
    risks.threshold_keeps_the_constraint(metric, risk, moments, N_ROWS)


def is_its_risk(metric, n_rows=_SAMPLE):
    """Require that the metric of a large normal sample is its risk, to four standard errors."""
    if not _is_share(metric):
        return
    for name, moments in risks.SAMPLES.items():
        sample = risks.normal_sample(moments, n_rows)
        off = risks.standard_errors_off(metric, risk_of(metric), moments, *sample)
        require(off <= 4.0, f"the risk is {off:.1f} standard errors from the score ({name})")


def _is_share(metric):
    """Return whether the risk does not depend on the number of rows."""
    try:
        risk_of(metric)
    except ValueError:
        return False
    return True


def _sign(metric):
    return 1.0 if metric.greater_is_better else -1.0


def _score(metric, rows):
    return metric.score(rows.positive, rows.scores, rows.weight)


def declares_what_it_is(metric):
    """Require that a metric has one-line labels and consistent flags."""
    require(isinstance(metric, Metric), "it must be a subclass of directrix.metrics.Metric")
    for label in (metric.label, metric.rate_label):
        require(label and "\n" not in label, f"the label {label!r} must be one line of text")
    require(metric.uses_threshold or not metric.fixes_threshold, "it fixes an unused threshold")
    require(metric.limit is None or metric.fixes_threshold, "a limit must fix the threshold")
    require(metric.unit > 0, "its unit must be above zero")


def direction_is_as_declared(metric):
    """Require that perfect scores are no worse than their opposite, and less risk is better."""
    positive, scores, weight = draw_rows(1, 80)
    perfect = np.where(positive, 1.0, -1.0) * (1.0 + np.abs(scores))
    values = [_sign(metric) * metric.score(positive, s, weight) for s in (perfect, -perfect)]
    require(values[0] >= values[1], "opposite scores are better than perfect ones")
    low, high = (_sign(metric) * float(metric.of_loss(loss)) for loss in (0.25, 0.0))
    require(low < high, "of_loss must turn a lower risk into a better metric")


def order_of_rows_does_not_matter(metric):
    """Require that a permutation of the rows leaves the score alone."""
    rows = draw_rows(8, 80, ties=True)
    order = np.random.default_rng(0).permutation(len(rows.scores))
    other = _score(metric, rows.take(order))
    require_close(
        other, _score(metric, rows), "score of other order", relative=1e-13, absolute=1e-13
    )


def weight_k_is_k_rows(metric):
    """Require that a row of weight k counts as k rows, a row of weight zero not at all."""
    for seed in range(3):
        rows = draw_rows(seed + 20, 80, ties=True, whole=True)
        repeated, _ = rows.repeated()
        value = _score(metric, rows)
        for same in (repeated, rows.take(rows.weight > 0)):
            require_close(
                _score(metric, same),
                value,
                "score of repeated rows",
                absolute=1e-12,
                relative=1e-12,
            )
        plain = metric.score(repeated.positive, repeated.scores)
        require_close(plain, value, "score without weights", absolute=1e-13, relative=1e-13)


def labels_of_any_type(metric):
    """Require that booleans, 0 and 1, −1 and 1, and two texts are the same labels."""
    positive, scores, weight = draw_rows(2, 80, ties=True)
    value = metric.score(positive, scores, weight)
    for labels in (
        positive.astype(int),
        np.where(positive, 1, -1),
        np.where(positive, "yes", "no"),
    ):
        require(metric.score(labels, scores, weight) == value, f"score of {labels.dtype} labels")


def scale_of_the_scores_does_not_count(metric):
    """Require that scaling changes nothing, nor increasing maps unless the threshold is zero."""
    positive, scores, weight = draw_rows(3, 80, ties=True)
    value = metric.score(positive, scores, weight)
    maps = [8.0 * scores, 0.125 * scores]
    if metric.fixes_threshold or not metric.uses_threshold:
        maps += [np.exp(scores), 5.0 * scores - 7.0, np.arctan(scores)]
    for mapped in maps:
        require(metric.score(positive, mapped, weight) == value, "score of mapped scores")


def _curve(rows):
    return Curve.of(rows.positive, rows.scores, rows.weight)


def best_threshold_is_the_best(metric):
    """Require that the best threshold has the value it claims, and that none is better."""
    for seed in range(3):
        rows = draw_rows(seed + 30, 80, ties=True)
        curve = _curve(rows)
        best = metric.best(curve)
        require(0 <= best.index < len(curve.true_positives), "the index is not on the curve")
        require(best.threshold == curve.threshold(best.index), "index and threshold differ")
        require(best.value == metric.best_value(curve), "best and best_value differ")
        value, slack = best.value, _SLACK * metric.unit
        require_close(metric.value_at(curve, best.index), value, "value at best", absolute=slack)
        above = np.where(rows.scores > best.threshold, 1.0, -1.0)
        free = metric.uses_threshold and not metric.fixes_threshold
        at = metric.score(rows.positive, above if free else rows.scores, rows.weight)
        require_close(at, value, "score at the best threshold", absolute=slack)
        others = [_sign(metric) * metric.value_at(curve, k) for k in range(len(curve.tpr))]
        require(max(others) <= _sign(metric) * value + slack, "another threshold is better")


def best_among_is_the_best(metric):
    """Require that the best of some thresholds is one of them, and the best of all the best."""
    curve = _curve(draw_rows(4, 80))
    every = np.arange(len(curve.true_positives))
    if metric.fixes_threshold or not metric.uses_threshold:
        chosen = metric.best_among(curve, every[::3])
        require(chosen in every[::3], "it chose a threshold that was not given")
        return
    require_close(
        metric.value_at(curve, metric.best_among(curve, every)),
        metric.best_value(curve),
        "value of the best of all thresholds",
        absolute=_SLACK * metric.unit,
    )


def limit_is_kept(metric):
    """Require that the best threshold keeps the limit of the metric wherever a threshold does."""
    limit = metric.limit
    for seed in range(3):
        curve = _curve(draw_rows(seed + 40, 80, ties=True))
        if metric.uses_threshold:
            values, kept = metric.at_thresholds(curve)
            require(values.shape == kept.shape == curve.tpr.shape, "one value for every threshold")
            require(limit is not None or kept.all(), "without a limit every threshold is allowed")
        if limit is None:
            continue
        index = metric.best(curve).index
        rate = float(getattr(curve, limit.rate)[index])
        slack = 1e-9  # sums of weights are rounded
        keeps = rate <= limit.value + slack if limit.at_most else rate >= limit.value - slack
        require(keeps or not kept.any(), f"{limit.label} is broken: {rate}")


def chance_is_what_random_scores_reach(metric):
    """Require that random scores reach the value of chance, and constant ones nothing better.

    The best of many thresholds on n random scores is above chance by some standard errors of a
    rate, and a limit on few rows is met later than on all: five per cent of the unit are allowed.
    """
    rng = np.random.default_rng(9)
    positive = rng.random(_RANDOM) < 0.3
    slack, sign = 0.05 * metric.unit, _sign(metric)
    chance = metric.chance(float(positive.mean()), _RANDOM)
    reached = metric.best_value(Curve.of(positive, rng.random(_RANDOM)))
    require_close(reached, chance, "best value of random scores", absolute=slack, relative=0.0)
    for constant in (-1.0, 1.0):
        value = metric.score(positive, np.full(_RANDOM, constant))
        require(sign * (value - chance) <= 1e-9, f"constant scores have {value}, chance {chance}")
    perfect = metric.best_value(Curve.of(positive, np.where(positive, 1.0, -1.0)))
    require(sign * (perfect - chance) >= 0, f"perfect scores have {perfect}, chance {chance}")


def many_curves_are_evaluated_as_one(metric):
    """Require that `best_of_each` of a stack of curves is `best` of every curve."""
    first = _curve(draw_rows(5, 80))
    rng = np.random.default_rng(6)
    factors = rng.uniform(0.5, 2.0, (2, 3, 1))
    stack = CurveStack(first.true_positives * factors, first.false_positives * factors[::-1])
    values, indices = metric.best_of_each(stack)
    singles = [metric.best(curve) for curve in stack.each()]
    require_close(
        values.ravel(), [single.value for single in singles], "values of many", absolute=1e-12
    )
    expected = [single.index for single in singles]
    require(indices.ravel().tolist() == expected, "thresholds of many curves differ")


def rates_agree_with_the_score(metric):
    """Require that a metric with its threshold at zero is a function of the rates there."""
    if metric.fixes_threshold or not metric.uses_threshold:
        return
    rows = draw_rows(7, 80)
    curve = _curve(rows)
    index = int(np.count_nonzero(curve.levels > 0))
    value = metric.at_rates(curve.tpr[index], curve.fpr[index], curve.prior)
    require_close(
        value, _score(metric, rows), "function of the rates", absolute=_SLACK * metric.unit
    )
    risk = risk_of(metric)
    if isinstance(risk, RatesRisk):
        of_risk = risk.of_rates(curve.tpr[index], curve.fpr[index], curve.prior)
        slack = _SLACK * metric.unit
        require_close(metric.of_loss(of_risk), value, "function of the rates", absolute=slack)
    values = metric.at_thresholds(curve)[0]
    require_close(values[index], value, "value at a threshold", absolute=_SLACK * metric.unit)
