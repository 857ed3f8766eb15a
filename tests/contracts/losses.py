"""Laws of losses: a loss has the gradient, the invariances and the limits that it declares."""

from copy import deepcopy
from dataclasses import FrozenInstanceError, fields, is_dataclass
from functools import partial

import numpy as np
from contracts.cases import draw_rows, require, require_close

from directrix.linear.loss import Loss


def loss_laws(loss, *, convex=False, of_pairs=False):
    """Return the laws of a loss by name, as functions without arguments.

    A constant added to all scores changes nothing in a loss ``of_pairs``.
    """
    laws = {
        "declares what it is": declares_what_it_is,
        "is a value": require_value,
        "gradient is the slope": gradient_is_the_slope,
        "many columns are evaluated as one": many_columns_are_evaluated_as_one,
        "order of rows does not matter": order_of_rows_does_not_matter,
        "weight k is k rows": weight_k_is_k_rows,
        "common offset": partial(common_offset, of_pairs=of_pairs),
        "finite at any scores": finite_at_any_scores,
        "float32 input, left unchanged": float32_input_left_unchanged,
        "rows of one class": rows_of_one_class,
    }
    if convex:
        laws["convex: above its tangents"] = above_its_tangents
    return {name: partial(law, loss) for name, law in laws.items()}


def declares_what_it_is(loss):
    """Require that a loss has a name and a one-line label."""
    require(isinstance(loss, Loss), "it must be a subclass of directrix.linear.loss.Loss")
    require(isinstance(getattr(loss, "name", None), str), "the class needs a name")
    require(loss.model_label and "\n" not in loss.model_label, "the label must be one line of text")
    require(np.isfinite(loss.complexity), "its complexity must be a number")
    require(isinstance(loss.sharpen(2.0), Loss), "sharpen must return a loss")


def common_offset(loss, *, of_pairs):
    """Require that a constant added to all scores changes nothing just if it is of pairs."""
    positive, scores, weight = draw_rows(9)
    value, slope = loss.value_and_grad(positive, scores, weight)
    other, moved = loss.value_and_grad(positive, scores + 3.0, weight)
    if not of_pairs:
        require(abs(other - value) > 1e-3, "a constant added to the scores changes nothing")
        return
    require_close(other, value, "value of shifted scores", absolute=1e-10, relative=1e-10)
    require_close(moved, slope, "gradient of shifted scores", absolute=1e-8)
    total = abs(float(slope.sum()))
    require(total <= 1e-12 * (1.0 + np.abs(slope).sum()), f"the gradient sums to {total}")


def require_value(subject):
    """Raise AssertionError unless an object is a frozen dataclass that equals its copy."""
    require(is_dataclass(subject), "the class must be a dataclass: add @dataclass(frozen=True)")
    same = deepcopy(subject)
    require(same == subject, "a copy must be equal to it")
    require(hash(same) == hash(subject), "a copy must have the same hash")
    require(subject != object(), "it must differ from other objects")
    for field in fields(subject):
        try:
            setattr(subject, field.name, getattr(subject, field.name))
        except FrozenInstanceError:
            continue
        require(condition=False, message=f"{field.name} can be set: add frozen=True")


def gradient_is_the_slope(loss):
    """Require that central differences in random directions agree with the gradient."""
    for seed in range(3):
        rows = draw_rows(seed)
        slope = loss.value_and_grad(*rows)[1]
        rng = np.random.default_rng(seed + 100)
        for _ in range(3):
            toward = rng.normal(size=len(rows.scores))
            measured = _difference(loss, rows, toward, 1e-7)
            size = 1e-6 * (1.0 + float(np.abs(slope) @ np.abs(toward)))
            require_close(slope @ toward, measured, "slope in a direction", absolute=size)


def _difference(loss, rows, toward, step):
    up, down = (
        loss.value_and_grad(rows.positive, rows.scores + s * toward, rows.weight)[0]
        for s in (step, -step)
    )
    return (up - down) / (2.0 * step)


def many_columns_are_evaluated_as_one(loss):
    """Require that `values` of several vectors of scores are the values of each."""
    positive, scores, weight = draw_rows(6)
    columns = scores[:, None] + np.outer(positive, [-0.5, 0.0, 2.0])
    single = [loss.value_and_grad(positive, column.copy(), weight)[0] for column in columns.T]
    require_close(
        loss.values(positive, columns, weight), single, "values", absolute=1e-12, relative=1e-12
    )


def agrees_with_definition(loss, definition, rows, absolute=None):
    """Require that the value is that of the definition.

    ``absolute`` is the absolute tolerance; by default it is 1e-12 times one plus the value.
    """
    value, truth = loss.value_and_grad(*rows)[0], definition(*rows)
    slack = 1e-12 * (1.0 + abs(truth)) if absolute is None else absolute
    require(abs(value - truth) <= slack, f"value {value} instead of {truth}")


def order_of_rows_does_not_matter(loss):
    """Require that a permutation of the rows permutes the gradient and leaves the value alone."""
    rows = draw_rows(8, ties=True)
    value, slope = loss.value_and_grad(*rows)
    order = np.random.default_rng(0).permutation(len(slope))
    other, permuted = loss.value_and_grad(*rows.take(order))
    require_close(other, value, "value of other order", absolute=1e-12, relative=1e-12)
    require_close(permuted, slope[order], "gradient of other order", absolute=1e-11, relative=1e-9)


def weight_k_is_k_rows(loss):
    """Require that a row of weight k counts as k rows, and a row of weight zero not at all."""
    for seed in range(3):
        rows = draw_rows(seed + 20, whole=True)
        rows.scores[2:4], rows.weight[2:4] = (30.0, -30.0), 0.0  # however far away
        value, slope = loss.value_and_grad(*rows)
        copies, original = rows.repeated()
        other, parts = loss.value_and_grad(*copies)
        require_close(other, value, "value of repeated rows", absolute=1e-11, relative=1e-11)
        summed = np.bincount(original, parts, len(slope))
        require_close(summed, slope, "gradient of repeated rows", absolute=1e-10, relative=1e-8)
        require(not slope[rows.weight == 0].any(), "a row of weight zero has a gradient")


def above_its_tangents(loss):
    """Require that a convex loss is above its tangents and below its chords."""
    rng = np.random.default_rng(1)
    for seed in range(30, 35):
        for ties in (False, True):
            positive, scores, weight = draw_rows(seed, ties=ties)
            value, slope = loss.value_and_grad(positive, scores, weight)
            for size in (0.05, 1.0, 5.0):
                step = size * rng.normal(size=len(scores))
                there = loss.value_and_grad(positive, scores + step, weight)[0]
                middle = loss.value_and_grad(positive, scores + step / 2.0, weight)[0]
                slack = 1e-10 * (1.0 + there)
                require(there >= value + slope @ step - slack, "it is below a tangent")
                require(middle <= (value + there) / 2.0 + slack, "it is above a chord")


def finite_at_any_scores(loss):
    """Require that value and gradient are finite for scores that are equal, tiny or huge."""
    positive, scores, weight = draw_rows(10)
    zero = np.zeros(len(scores))
    for size in (0.0, 1e-9, 1e9):
        for case in (size * scores, size + zero, -size + zero):
            value, slope = loss.value_and_grad(positive, case, weight)
            require(np.isfinite(value), f"the value is {value} at scores of size {size:g}")
            require(np.isfinite(slope).all(), f"the gradient is not finite at size {size:g}")


def float32_input_left_unchanged(loss):
    """Require that 32-bit scores are accepted, the gradient has 64, and no input is changed."""
    positive, scores, weight = draw_rows(11)
    single = scores.astype(np.float32)
    double = single.astype(np.float64)
    inputs = (positive, single, double, weight)
    before = [values.copy() for values in inputs]
    value, slope = loss.value_and_grad(positive, single, weight)
    truth, exact = loss.value_and_grad(positive, double, weight)
    require_close(value, truth, "value of 32-bit scores", absolute=1e-6, relative=1e-5)
    require_close(slope, exact, "gradient of 32-bit scores", absolute=1e-5, relative=1e-3)
    require(slope.dtype == np.float64, f"the gradient is of type {slope.dtype}")
    for values, copy in zip(inputs, before, strict=True):
        require((values == copy).all(), "it writes to its input")


def rows_of_one_class(loss):
    """Require that a separable loss is a mean over rows, and others refuse one class."""
    rows = draw_rows(12)
    if loss.separable:
        try:
            single = [
                loss.value_and_grad(*rows.take(np.array([k])))[0] for k in range(len(rows.scores))
            ]
        except ValueError as error:
            msg = f"a separable loss must accept a single row: {error}"
            raise AssertionError(msg) from None
        mean = np.average(single, weights=rows.weight)
        require_close(
            loss.value_and_grad(*rows)[0], mean, "mean over rows", absolute=1e-12, relative=1e-12
        )
        return
    positive, scores, weight = rows
    cases = ((np.zeros_like(positive), weight), (np.ones_like(positive), weight))
    for alone, kept in (*cases, (positive, weight * positive)):
        try:
            loss.value_and_grad(alone, scores, kept)
        except ValueError as error:
            require("one class only" in str(error), f"the error must say so, not {error}")
        else:
            require(condition=False, message="rows of one class must raise ValueError")
