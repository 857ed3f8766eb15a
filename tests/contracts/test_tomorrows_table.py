"""Laws of new rows: predictions warn of columns that have changed, and of nothing else."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_predict

from directrix import (
    Binner,
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
    diagnose,
)
from directrix.exceptions import ChangedColumnsWarning, ColumnKindError
from directrix.export import load, save
from directrix.monitoring import summarize_day
from directrix.tables import Column, Table
from directrix.tables.profile import TableProfile

N = 2_000
CARD = {"max_crosses": 0, "max_lines": None, "cv": 2}
NUMBERS = ["income", "visits", "centred"]
FITS = {
    "card": lambda X, y: ScorecardClassifier("auc", **CARD).fit(X, y),
    "card of a source": lambda X, y: ScorecardClassifier("auc", **CARD).fit_source(
        X.assign(y=y), target="y", progress=False
    ),
    "compact card": lambda X, y: ScorecardClassifier("auc", max_crosses=0, cv=2).fit(X, y),
    "direct": lambda X, y: DirectClassifier("auc", cv=2).fit(X[NUMBERS], y),
    "direct of a source": lambda X, y: DirectClassifier("auc", cv=2).fit_source(
        X[NUMBERS].assign(y=y), target="y", progress=False
    ),
    "moment": lambda X, y: MomentClassifier("auc").fit(X[NUMBERS], y),
}


def table(n=N, seed=0):
    """Return an amount, counts with many zeros, a centred number, texts, and labels."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=(n, 4))
    X = pd.DataFrame(
        {
            "income": np.exp(3.0 + effect[:, 0]),
            "visits": np.floor(np.maximum(4.0 * effect[:, 1], 0.0)),
            "centred": effect[:, 2],
            "area": np.char.add("area", np.floor(40.0 * rng.random(n)).astype(int).astype(str)),
        }
    )
    X["area"] = np.where(effect[:, 3] > 0.0, X["area"], "home")
    return X, effect.sum(axis=1) + rng.normal(size=n) > 1.0


def changed(column, values):
    return lambda X: X.assign(**{column: values(X[column])})


def a_tenth(factor):
    return lambda x: x.where(np.arange(len(x)) % 10 != 3, factor * x)


FAULTS = {
    "hundreds": ("income", "above", lambda x: 100.0 * x),
    "a tenth of thousands": ("income", "above", a_tenth(1_000.0)),
    "a tenth of thousandths": ("income", "near zero", a_tenth(0.001)),
    "a tenth of thousands of counts": ("visits", "above", a_tenth(1_000.0)),
    "thousandths of counts": ("visits", "near zero", lambda x: x / 1_000.0),
    "thousandths around zero": ("centred", "near zero", lambda x: x / 1_000.0),
    "a tenth of zeros": ("income", "near zero", a_tenth(0.0)),
    "another sign": ("income", "below", lambda x: -x),
    "a code": ("income", "below", lambda x: x.where(np.arange(len(x)) % 5 > 0, -999.0)),
}
FAULTS_OF_CARDS = {
    "missing": ("income", "missing", lambda x: x * np.nan),
    "missing texts": ("area", "missing", lambda x: x.where(x == "", None)),
    "new levels": ("area", "new", lambda x: x + " "),
    "numbers for texts": ("area", "new", lambda x: np.arange(len(x))),
}


@pytest.fixture(scope="module", params=FITS)
def model(request):
    return FITS[request.param](*table())


def warned(model, X, method="predict"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(X)
    return [each.message for each in caught if isinstance(each.message, ChangedColumnsWarning)]


def columns_of(model, X):
    return X[model.feature_names_in_]


@pytest.mark.every_case("fault")
@pytest.mark.parametrize(
    ("model", "fault"),
    [
        (name, fault)
        for name in FITS
        for fault in [*FAULTS, *(FAULTS_OF_CARDS if "card" in name else ())]
    ],
    indirect=["model"],
)
def test_a_changed_column_is_named_once_whatever_the_classifier(model, fault):
    name, problem, change = (FAULTS | FAULTS_OF_CARDS)[fault]
    new = table(seed=1)[0]
    faulty = changed(name, change)(new)
    (warning,) = warned(model, columns_of(model, faulty))
    assert warning.columns == (name,)
    (found,) = warning.changes
    assert (found.problem, found.total) == (problem, N)
    assert f"'{name}'" in str(warning)
    assert not warned(model, columns_of(model, new))
    small = columns_of(model, faulty.iloc[:5])
    assert not warned(model, small)


def test_a_loaded_model_and_a_pickle_warn_as_well(model, tmp_path):
    X = table(seed=1)[0]
    faulty = columns_of(model, X.assign(income=1_000.0 * X["income"]))
    save(model, tmp_path / "model.dx")
    for again in (load(tmp_path / "model.dx"), pickle.loads(pickle.dumps(model))):  # noqa: S301
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(again, method):
                (warning,) = warned(again, faulty, method)
                assert str(warning) == str(*warned(model, faulty))


def test_a_number_that_came_as_text_is_an_error_that_names_it():
    X, y = table()
    card = FITS["card"](X, y)
    with pytest.raises(ColumnKindError, match="'income' holds texts"):
        card.predict(X.assign(income=X["income"].map("{:.2f} EUR".format)))


def test_other_threshold_size_and_text_of_the_same_model_warn():
    X, y = table()
    card = FITS["compact card"](X, y)
    faulty = X.assign(income=1_000.0 * X["income"])
    (point,) = card.operating_points(["f1"])
    for each in (card.with_threshold(point), card.compact(None)):
        assert len(warned(each, faulty)) == 1
    assert len(warned(card, faulty, "reasons")) == 1
    with pytest.warns(ChangedColumnsWarning, match="income"):
        diagnose(card, faulty, y)


def test_a_column_without_effect_is_not_named():
    X, y = table()
    X["constant"] = 1.0
    card = FITS["card"](X, y)
    assert not warned(card, X.assign(constant=np.arange(N)))


def test_one_row_in_variations_is_no_changed_table():
    X, y = table()
    X.loc[X.index % 50 == 0, "income"] = np.nan
    X["age"] = np.arange(N) % 70
    card = FITS["card"](X, y)
    assert not warned(card, X.iloc[[50] * 70].assign(age=range(70), visits=3.0))


def test_fits_searches_and_days_do_not_warn():
    X, y = table()
    order = np.argsort(X["income"].to_numpy())
    X, y = X.iloc[order], y[order]  # folds of another range each
    card = ScorecardClassifier("auc", warn_baseline=False, **CARD)
    halves = [(np.arange(N // 2), np.arange(N // 2, N)), (np.arange(N // 2, N), np.arange(N // 2))]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ChangedColumnsWarning)
        cross_val_predict(card, X, y, cv=halves)
        OperatingPointClassifier(card, "auc", cv=halves).fit(X, y)
        summarize_day(card.fit(X, y), X.assign(income=1_000.0 * X["income"]))
    assert not warned(card, X)


# ── Nothing is said of rows like those of the fit ─────────────────────────────────────────────────


def column(rng, n):
    """Return random values of a column of any kind, as many as rows, and its levels."""
    kind = rng.integers(9)
    if kind < 3:
        n_levels = int(rng.choice([2, 50, 3_000, n, n // 10, n // 20]))
        return np.floor(n_levels * rng.random(n) ** rng.integers(1, 3)), n_levels
    numbers = (
        lambda: rng.normal(size=n),
        lambda: rng.standard_cauchy(n),
        lambda: rng.lognormal(0.0, 3.0, n) * (rng.random(n) < rng.choice([0.003, 0.1, 1.0])),
        lambda: rng.integers(0, 4, n).astype(float),
        lambda: (rng.random(n) < 0.02).astype(float),
        lambda: 10.0 ** rng.uniform(-8.0, 8.0, n) * rng.choice([-1.0, 1.0], n),
    )
    values = numbers[kind - 3]()
    return np.where(rng.random(n) < rng.choice([0.0, 0.05, 0.6]), np.nan, values), 0


@pytest.mark.every_case
@pytest.mark.parametrize("n_columns", [1, 10, 100, 300])
@pytest.mark.parametrize(("n", "n_new"), [(60, 40), (1_000, 20), (1_000, 5_000), (5_000, 1_000)])
def test_rows_of_the_same_population_are_never_news(n_columns, n, n_new):
    if n_columns * (n + n_new) > 1_000_000:
        n, n_new = n // 5, n_new // 5
    rng = np.random.default_rng(n_columns + n)
    drawn = [column(rng, n + n_new) for _ in range(n_columns)]
    columns = tuple(
        Column(f"x{k}", "text", tuple(f"{level:06}" for level in range(n_levels)))
        if n_levels
        else Column(f"x{k}", "number")
        for k, (_, n_levels) in enumerate(drawn)
    )
    rows = Table(columns, np.asfortranarray(np.column_stack([values for values, _ in drawn])))
    fitted = np.arange(n + n_new) < n
    training = rows.take(fitted).with_levels_of(np.ones(n, dtype=bool))
    binner = Binner().fit_table(training)
    profile = TableProfile.of_bins(binner, training)
    for each in (training, rows.take(~fitted)):
        found = profile.changes(each.values, each.columns.__getitem__, binner.cells(each))
        assert not found, str(found[0])
