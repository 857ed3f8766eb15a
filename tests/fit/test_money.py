import numpy as np
import pytest

from directrix.exceptions import CostColumnError
from directrix.fit.money import (
    BY_ROW,
    BY_THRESHOLD,
    CostOfRows,
    Money,
    RowCosts,
    long_tailed_interval,
    stated_metric,
    training_weights,
)
from directrix.metrics import Cost, Error


def rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.1
    costs = RowCosts(rng.random(n) * 5, np.exp(rng.normal(4, 2, n)))
    return positive, costs, rng.random(n) < 0.3


def test_the_weighted_error_is_the_mean_cost():
    positive, costs, flagged = rows()
    weight = np.random.default_rng(1).integers(1, 4, len(positive)).astype(float)
    factor, mean = training_weights(costs.of_own_error(positive), weight)
    error = Error().score(positive, np.where(flagged, 1.0, -1.0), weight * factor)
    spent = float(weight @ costs.of_decisions(positive, flagged)) / weight.sum()
    assert error * mean == pytest.approx(spent, rel=1e-12)
    assert weight @ factor == pytest.approx(weight.sum())


def test_the_metric_of_training_has_the_mean_cost_at_its_rates():
    positive, costs, _ = rows()
    weight = np.ones(len(positive))
    metric, factor = CostOfRows.of(Cost(fp="a", fn="b"), costs, positive, weight)
    assert (factor == 1).all()
    assert metric.fn == pytest.approx(costs.fn[positive].mean())
    assert metric.score(positive, -weight) == pytest.approx(np.where(positive, costs.fn, 0).mean())
    assert stated_metric(metric) == Cost(fp="a", fn="b")
    assert stated_metric(Error()) == Error()
    assert metric.decides_by == BY_ROW
    unknown, factor = CostOfRows.of(Cost("a", "b", known=False), costs, positive, weight)
    assert unknown.decides_by == BY_THRESHOLD
    assert unknown.score(positive, -weight, factor) == pytest.approx(
        np.where(positive, costs.fn, 0).mean()
    )


def test_costs_are_numbers_columns_given_or_columns_of_the_table():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"amount": [1.0, 2.0], "x": [0.0, 0.0]})
    costs = RowCosts.of(Cost(fp=5, fn="amount"), 2, {}, table)
    assert costs.fp.tolist() == [5.0, 5.0]
    assert costs.fn.tolist() == [1.0, 2.0]
    given = RowCosts.of(Cost(fp=5, fn="amount"), 2, {"amount": [3, 4]}, table)
    assert given.fn.tolist() == [3.0, 4.0]
    with pytest.raises(CostColumnError, match="'loss' was not given") as caught:
        RowCosts.of(Cost(fp=5, fn="loss"), 2, {}, table)
    assert caught.value.column == "loss"
    assert caught.value.available == ("amount", "x")


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        ([1.0, np.nan], "nan in row 1"),
        ([-1.0, 1.0], "-1.0 in row 0"),
        ([1.0], "one cost for each of 2 rows"),
        (["a", "b"], "must be a number"),
    ],
)
def test_wrong_costs_are_named(amount, message):
    with pytest.raises(ValueError, match=message):
        RowCosts.of(Cost(fp=5, fn="amount"), 2, {"amount": amount})


def test_errors_that_cost_nothing_are_refused():
    with pytest.raises(ValueError, match="costs nothing"):
        training_weights(np.zeros(3), np.ones(3))


def test_a_row_is_flagged_where_that_saves_money():
    costs = RowCosts(np.array([5.0, 5.0]), np.array([100.0, 10.0]))
    saving = costs.expected_saving(np.array([0.1, 0.1]))
    assert saving == pytest.approx([5.5, -3.5])


def test_money_adds_up():
    positive, costs, flagged = rows()
    money = Money.of(costs, positive, np.ones(len(positive)), {"random": flagged})
    found = money["random"]
    assert found.saved_on_none.value == pytest.approx(money.cost_of_none - found.cost.value)
    assert found.saved_on_all.value == pytest.approx(money.cost_of_all - found.cost.value)
    for estimate in (found.cost, found.saved_on_none, found.saved_on_all):
        assert estimate.low <= estimate.value <= estimate.high
    assert found.flagged == flagged.mean()
    moved = Money.of(costs, positive, np.ones(2000), {BY_THRESHOLD: flagged}, optimism=2.0)
    assert moved[BY_THRESHOLD].cost.value == pytest.approx(found.cost.value + 2)
    assert moved[BY_THRESHOLD].saved_on_none.value == pytest.approx(found.saved_on_none.value - 2)
    assert "flag none" in str(money)


def test_few_rows_with_most_of_the_money_are_said_in_words():
    positive, flagged = np.ones(1000, dtype=bool), np.zeros(1000, dtype=bool)
    amount = np.ones(1000)
    weight = np.ones(1000)
    many = Money.of(RowCosts(amount, amount), positive, weight, {"none": flagged})
    assert many.half == 500
    assert not many.few_rows
    amount[3] = 5000
    few = Money.of(RowCosts(amount, amount), positive, weight, {"none": flagged})
    assert few.few_rows.startswith("one row is half of all that misses would cost")
    assert few.few_rows in str(few)


def test_rows_of_a_group_count_as_one():
    positive, costs, flagged = rows(500)
    weight, group = np.ones(500), np.arange(500)
    repeated = [np.repeat(each, 4) for each in (positive, weight, flagged, group)]
    copied = costs.take(np.repeat(np.arange(500), 4))
    once = Money.of(costs, positive, weight, {"a": flagged}, group=group)["a"].cost
    four = Money.of(copied, *repeated[:2], {"a": repeated[2]}, group=repeated[3])["a"].cost
    assert four == pytest.approx(once)


def test_the_interval_does_not_depend_on_the_order_of_rows():
    values = np.exp(np.random.default_rng(0).normal(0, 2, 300))
    assert long_tailed_interval(values[::-1]) == pytest.approx(long_tailed_interval(values))
    low, high = long_tailed_interval(-values)
    assert (-high, -low) != (0, 0)
    assert low < -values.mean() < high


def test_equal_values_have_no_width():
    assert long_tailed_interval(np.full(10, 3.0)) == (3.0, 3.0)


def test_light_tails_have_an_interval_of_the_normal_width():
    values = np.random.default_rng(0).random(4000)
    low, high = long_tailed_interval(values)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(4000), rel=0.15)


@pytest.mark.parametrize("tail", ["lognormal", "pareto"])
def test_the_interval_covers_the_mean_of_long_tails(tail):
    rng = np.random.default_rng(0)
    covered, n, repeats = 0, 2000, 150
    for _ in range(repeats):
        caught = rng.random(n) < 0.03
        if tail == "lognormal":
            amount = 100 * np.exp(2 * rng.normal(size=n) - 2)
        else:
            amount = 50 * rng.pareto(1.5, n)
        low, high = long_tailed_interval(np.where(caught, amount, 0.0))
        covered += low <= 3.0 <= high
    assert covered / repeats >= 0.9
