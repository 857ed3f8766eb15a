"""Laws of costs of single rows, for every classifier that takes them."""

import numpy as np
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import CostColumnError
from directrix.export import load, save
from directrix.fit.money import BY_ROW, BY_THRESHOLD
from directrix.metrics import Cost, InEverySegment

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CLASSIFIERS = {
    "lines": DirectClassifier,
    "cards": lambda metric: ScorecardClassifier(metric, max_crosses=0, max_lines=None),
    "any model": lambda metric: OperatingPointClassifier(LogisticRegression(), metric),
}


@pytest.fixture(params=sorted(CLASSIFIERS))
def made(request):
    return CLASSIFIERS[request.param]


def drawn(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.15
    X = rng.normal(size=(n, 3)) + y[:, None] * np.array([1.2, 0.8, 0.0])
    return X, y, np.exp(rng.normal(3, 1, n))


def spent(y, flagged, amount, fp=8.0):
    return np.where(y != flagged, np.where(y, amount, fp), 0.0).mean()


def test_rows_are_flagged_where_that_saves_money(made):
    X, y, amount = drawn()
    model = made(Cost(fp=8, fn="amount")).fit(X, y, amount=amount)
    p = model.predict_proba(X)[:, 1]
    assert (model.predict(X, amount=amount) == (p * amount > (1 - p) * 8)).all()
    assert model.expected_saving(X, amount=amount) == pytest.approx(p * amount - (1 - p) * 8)
    assert model.score(X, y, amount=amount) == pytest.approx(
        -spent(y, model.predict(X, amount=amount), amount)
    )


def test_one_threshold_decides_where_costs_are_not_known(made):
    X, y, amount = drawn()
    model = made(Cost(fp=8, fn="amount", known=False)).fit(X, y, amount=amount)
    assert (model.predict(X) == (model.decision_function(X) > 0)).all()
    assert model.score(X, y, amount=amount) == pytest.approx(-spent(y, model.predict(X), amount))


@pytest.mark.parametrize("known", [True, False])
def test_decisions_do_not_depend_on_the_currency(made, known):
    X, y, amount = drawn()
    cheap = made(Cost(fp=8, fn="amount", known=known)).fit(X, y, amount=amount)
    dear = made(Cost(fp=8000, fn="amount", known=known)).fit(X, y, amount=1000 * amount)
    assert (cheap.predict(X, amount=amount) == dear.predict(X, amount=1000 * amount)).all()
    assert dear.operating_point_.expected.metric == pytest.approx(
        1000 * cheap.operating_point_.expected.metric
    )
    assert dear.operating_point_.expected.tpr == pytest.approx(
        cheap.operating_point_.expected.tpr, abs=1e-9
    )


def test_rates_are_those_of_rows_and_money_has_its_own_name(made):
    X, y, amount = drawn()
    model = made(Cost(fp=8, fn="amount", known=False)).fit(X, y, amount=amount)
    point = model.operating_point_
    # The rates of rows, not those of money: recall of the amounts differs by far more.
    assert point.empirical.tpr == pytest.approx(model.predict(X)[y].mean(), abs=0.08)
    assert point.empirical.fpr == pytest.approx(model.predict(X)[~y].mean(), abs=0.03)
    assert point.metric == Cost(fp=8, fn="amount", known=False)
    assert point.money[BY_THRESHOLD].cost.value == point.expected.metric
    assert point.money.cost_of_none == pytest.approx(np.where(y, amount, 0).mean())
    assert "money on held-out rows" in str(point)
    assert model.report_.metric == point.metric


def test_the_money_to_expect_is_that_of_new_rows(made):
    X, y, amount = drawn(4000)
    model = made(Cost(fp=8, fn="amount")).fit(X, y, amount=amount)
    X, y, amount = drawn(40_000, seed=1)
    found = model.operating_point_.money[BY_ROW]
    cost = -model.score(X, y, amount=amount)
    saved = np.where(y, amount, 0).mean() - cost
    assert found.cost.low <= cost <= found.cost.high
    assert found.saved_on_none.low <= saved <= found.saved_on_none.high
    caught = model.predict(X, amount=amount)
    low, high = model.operating_point_.intervals.tpr
    assert low <= caught[y].mean() <= high


def test_a_column_of_the_table_is_the_same_as_one_given(made):
    pandas = pytest.importorskip("pandas")
    X, y, amount = drawn()
    table = pandas.DataFrame(X, columns=list("abc")).assign(amount=amount)
    of_table = made(Cost(fp=8, fn="amount")).fit(table, y)
    given = made(Cost(fp=8, fn="amount")).fit(table, y, amount=amount)
    assert (of_table.predict(table) == given.predict(table, amount=amount)).all()


def test_the_order_of_rows_does_not_matter(made):
    X, y, amount = drawn()
    order = np.random.default_rng(5).permutation(len(y))
    one = made(Cost(fp=8, fn="amount")).fit(X, y, amount=amount)
    other = made(Cost(fp=8, fn="amount")).fit(X[order], y[order], amount=amount[order])
    assert (one.predict(X, amount=amount) == other.predict(X, amount=amount)).all()
    assert str(one.operating_point_.money) == str(other.operating_point_.money)


def test_rows_of_weight_zero_do_not_count(made):
    X, y, amount = drawn()
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    one = made(Cost(fp=8, fn="amount")).fit(X, y, weight, amount=amount)
    if isinstance(one, OperatingPointClassifier):
        one.set_params(estimator=FrozenEstimator(one.estimator_)).fit(X, y, weight, amount=amount)
    other = made(Cost(fp=8, fn="amount"))
    if isinstance(one, OperatingPointClassifier):
        other.set_params(estimator=one.estimator)
    other.fit(X[kept], y[kept], amount=amount[kept])
    assert (one.predict(X, amount=amount) == other.predict(X, amount=amount)).all()


def test_scikit_learn_routes_the_costs(made):
    X, y, amount = drawn()
    with sklearn.config_context(enable_metadata_routing=True):
        model = made(Cost(fp=8, fn="amount"))
        found = cross_validate(model, X, y, cv=3, params={"amount": amount}, error_score="raise")
    assert (found["test_score"] < 0).all()


def test_a_model_file_keeps_the_decisions(made, tmp_path):
    X, y, amount = drawn()
    model = made(Cost(fp=8, fn="amount")).fit(X, y, amount=amount)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    if hasattr(loaded, "around"):  # a file has the threshold, and not the estimator
        loaded = loaded.around(model.estimator_)
    assert (loaded.predict(X, amount=amount) == model.predict(X, amount=amount)).all()
    assert loaded.operating_point_.metric == Cost(fp=8, fn="amount")


def test_any_model_decides_by_money(made):
    X, y, amount = drawn()
    model = made("auc").fit(X, y)
    p = model.predict_proba(X)[:, 1]
    flagged = model.predict(X, at=Cost(fp=8, fn="amount"), amount=amount)
    assert (flagged == (p * amount > (1 - p) * 8)).all()


def test_limits_are_kept_beside_money(made):
    X, y, amount = drawn(3000)
    model = made(Cost(fp=8, fn="amount", known=False))
    model.set_params(limits={"alerts": 0.2}, guarantee=0.9).fit(X, y, amount=amount)
    assert model.predict(drawn(20_000, seed=1)[0]).mean() <= 0.2
    assert model.operating_point_.money is not None


@pytest.mark.parametrize("limits", [{"fpr": 0.2}, InEverySegment({"fpr": 0.2})])
def test_limits_do_not_go_with_decisions_row_by_row(made, limits):
    X, y, amount = drawn(400)
    model = made(Cost(fp=8, fn="amount")).set_params(limits=limits, guarantee=0.9)
    with pytest.raises(ValueError, match=r"limits= keeps .* known=False"):
        model.fit(X, y, amount=amount)


def test_mistakes_are_named(made):
    X, y, amount = drawn(300)
    model = made(Cost(fp=8, fn="amount"))
    with pytest.raises(CostColumnError, match="pass an array as amount="):
        model.fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'amount'"):
        made("auc").fit(X, y, amount=amount)
    if not isinstance(model, OperatingPointClassifier):
        with pytest.raises(TypeError, match="unexpected keyword argument 'amont': the columns are"):
            model.fit(X, y, amont=amount)
        with pytest.raises(ValueError, match="do not go with class_weight="):
            made(Cost(8, "amount")).set_params(class_weight="balanced").fit(X, y, amount=amount)
    model.fit(X, y, amount=amount)
    with pytest.raises(CostColumnError, match="pass an array as amount="):
        model.predict(X)


@pytest.mark.parametrize("classifier", [MomentClassifier])
def test_others_refuse_costs_of_single_rows(classifier):
    X, y, _ = drawn(300)
    with pytest.raises(CostColumnError, match="DirectClassifier"):
        classifier(Cost(fp=8, fn="amount")).fit(X, y)
