import numpy as np
import pytest

from directrix.monitoring.mixture import ClassMeans, chi_squared, fit_mixture

D = 5
GAP = np.array([1.0, 0.5, 0.0, 0.0, 0.2])


def draw(rng, n, share, shift=0.0):
    y = rng.random(n) < share
    X = rng.normal(size=(n, D)) * np.where(y[:, None], 1.5, 1.0) + y[:, None] * GAP
    X[:, 3] += shift
    return X, y


def class_means(X, y):
    groups = [X[~y], X[y]]
    return ClassMeans(
        np.stack([group.mean(axis=0) for group in groups]),
        np.stack([np.cov(group.T, bias=True) for group in groups]),
        np.array([float(len(group)) for group in groups]),
    )


def test_intervals_cover_and_tests_keep_their_level(figure):
    rng = np.random.default_rng(0)
    covered = alarms = 0
    n_days = 300
    for day in range(n_days):
        if day % 10 == 0:
            reference = class_means(*draw(rng, 3000, 0.2))
        X, y = draw(rng, 800, rng.uniform(0.05, 0.6))
        fit = fit_mixture(X.mean(axis=0), 800, reference)
        covered += fit.low <= y.mean() <= fit.high
        alarms += fit.p_value < 0.05
    figure(f"mixture of two classes: {covered / n_days:.3f} covered, {alarms / n_days:.3f} alarms")
    assert covered / n_days > 0.92
    assert 0.01 < alarms / n_days < 0.09


def test_what_no_share_of_positives_explains_is_found():
    rng = np.random.default_rng(1)
    reference = class_means(*draw(rng, 20_000, 0.2))
    X, _ = draw(rng, 2000, 0.4, shift=0.3)
    fit = fit_mixture(X.mean(axis=0), 2000, reference)
    assert fit.p_value < 1e-6
    assert np.abs(fit.residual).argmax() == 3
    assert fit.freedom == D - 1


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_day_of_one_class(share):
    rng = np.random.default_rng(2)
    reference = class_means(*draw(rng, 5000, 0.3))
    X, _ = draw(rng, 1000, share)
    fit = fit_mixture(X.mean(axis=0), 1000, reference)
    assert fit.low <= share <= fit.high
    assert 0 <= fit.low <= fit.share <= fit.high <= 1


def test_a_component_that_varies_in_one_class_only():
    rng = np.random.default_rng(2)
    X, y = draw(rng, 5000, 0.3)
    X[:, 2] = y * (rng.random(5000) < 0.5)
    day, truth = draw(rng, 1000, 0.0)
    day[:, 2] = truth
    fit = fit_mixture(day.mean(axis=0), 1000, class_means(X, y))
    assert (fit.low, fit.high < 0.01) == (0.0, True)


def test_repeated_and_constant_components_change_nothing():
    rng = np.random.default_rng(3)
    X, y = draw(rng, 5000, 0.3)
    day, _ = draw(rng, 1000, 0.5)
    plain = fit_mixture(day.mean(axis=0), 1000, class_means(X, y))
    wide = [np.column_stack([rows, rows[:, 0], np.full(len(rows), 7.0)]) for rows in (X, day)]
    fit = fit_mixture(wide[1].mean(axis=0), 1000, class_means(wide[0], y))
    assert fit.freedom == plain.freedom
    assert fit.share == pytest.approx(plain.share, abs=1e-5)
    assert fit.statistic == pytest.approx(plain.statistic, rel=1e-4)


def test_units_change_nothing():
    rng = np.random.default_rng(4)
    X, y = draw(rng, 5000, 0.3)
    day, _ = draw(rng, 1000, 0.5)
    plain = fit_mixture(day.mean(axis=0), 1000, class_means(X, y))
    scale = np.array([1e-9, 1e9, 1.0, 3.0, 1e4])
    fit = fit_mixture((day * scale).mean(axis=0), 1000, class_means(X * scale, y))
    assert fit.share == pytest.approx(plain.share, abs=1e-5)
    assert fit.p_value == pytest.approx(plain.p_value, rel=1e-3)


def test_dispersion_makes_intervals_wider_and_alarms_rarer():
    rng = np.random.default_rng(5)
    reference = class_means(*draw(rng, 5000, 0.3))
    X, _ = draw(rng, 1000, 0.3, shift=0.1)
    plain, wide = (
        fit_mixture(X.mean(axis=0), 1000, reference, dispersion=factor) for factor in (1.0, 4.0)
    )
    assert wide.high - wide.low > 1.5 * (plain.high - plain.low)
    assert wide.p_value > plain.p_value


def test_dispersion_of_the_share_makes_its_interval_wider_and_nothing_else():
    rng = np.random.default_rng(5)
    reference = class_means(*draw(rng, 5000, 0.3))
    X, _ = draw(rng, 1000, 0.3)
    plain, wide = (
        fit_mixture(X.mean(axis=0), 1000, reference, share_dispersion=factor)
        for factor in (1.0, 4.0)
    )
    assert (wide.high - wide.low) / (plain.high - plain.low) == pytest.approx(2.0, rel=0.1)
    assert (wide.share, wide.p_value) == (plain.share, plain.p_value)


def test_chi_squared_at_the_true_share_has_one_degree_of_freedom():
    rng = np.random.default_rng(7)
    values = []
    for _ in range(300):
        reference = class_means(*draw(rng, 3000, 0.3))
        X, y = draw(rng, 1000, 0.1)
        least = fit_mixture(X.mean(axis=0), 1000, reference).statistic
        values.append(chi_squared(X.mean(axis=0), 1000, reference, y.mean()) - least)
    assert np.mean(values) == pytest.approx(1.0, abs=3 * (2 / 300) ** 0.5)
    assert min(values) >= -1e-9


def test_a_combination_is_predicted_with_its_error():
    rng = np.random.default_rng(6)
    combination = np.array([1.0, -2.0, 0.0, 0.5, 0.0])
    z = []
    for _ in range(200):
        reference = class_means(*draw(rng, 3000, 0.3))
        X, _ = draw(rng, 1000, 0.4)
        mean = X.mean(axis=0)
        fit = fit_mixture(mean, 1000, reference, combination=combination)
        z.append((combination @ mean - fit.expected) / fit.error)
    assert np.std(z) == pytest.approx(1.0, abs=0.2)
    assert abs(np.mean(z)) < 0.25


def test_one_component_tells_the_share_and_tests_nothing():
    rng = np.random.default_rng(7)
    X, y = draw(rng, 5000, 0.3)
    fit = fit_mixture(
        np.array([GAP[0] * 0.5]),
        1000,
        class_means(X[:, :1], y)._replace(
            covariance=np.stack([X[~y, :1].var() * np.eye(1), X[y, :1].var() * np.eye(1)])
        ),
    )
    assert fit.share == pytest.approx(0.5, abs=0.05)
    assert (fit.freedom, fit.p_value) == (0, 1.0)


def test_classes_with_equal_means_are_refused():
    same = ClassMeans(np.zeros((2, 2)), np.stack([np.eye(2)] * 2), np.array([9.0, 9.0]))
    with pytest.raises(ValueError, match="same means"):
        fit_mixture(np.zeros(2), 10, same)
