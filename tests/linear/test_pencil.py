"""The family of lines: by eigendecomposition, by Cholesky, by conjugate gradients."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from directrix.linear import pencil as module
from directrix.linear.pencil import EigenPencil, SolvedPencil, angle_at


def covariances(d=5, seed=0):
    """Return two covariances, and a difference of means."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, d, 2 * d))
    positive, negative = factors @ factors.transpose(0, 2, 1) / (2 * d)
    return positive, 3.0 * negative, rng.normal(size=d)


def of_operators(positive, negative, delta):
    return SolvedPencil(aslinearoperator(positive), aslinearoperator(negative), delta)


@pytest.fixture(autouse=True)
def _exact_gradients(monkeypatch):
    monkeypatch.setattr(module, "_RESIDUAL", 1e-14)


PENCILS = {"eigen": EigenPencil, "cholesky": SolvedPencil, "operators": of_operators}
every_pencil = pytest.mark.parametrize("make", PENCILS.values(), ids=PENCILS)


@every_pencil
@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 1.2, np.pi / 2])
def test_the_direction_solves_the_equation_of_the_family(make, angle):
    positive, negative, delta = covariances()
    w = make(positive, negative, delta).directions(np.array([angle]))[0]
    expected = np.linalg.solve(np.cos(angle) * positive + np.sin(angle) * negative, delta)
    cosine = w @ expected / np.linalg.norm(w) / np.linalg.norm(expected)
    assert cosine == pytest.approx(1.0, abs=1e-12)


@every_pencil
def test_scores_are_those_of_the_directions(make):
    positive, negative, delta = covariances()
    pencil = make(positive, negative, delta)
    angles = np.array([0.1, 0.7, 1.5])
    scores = pencil.scores(angles)
    for k, angle in enumerate(angles):
        w = pencil.directions(np.array([angle]))[0]
        assert scores.gap[k] == pytest.approx(w @ delta, rel=1e-9)
        assert scores.var_pos[k] == pytest.approx(w @ positive @ w, rel=1e-9)
        assert scores.var_neg[k] == pytest.approx(w @ negative @ w, rel=1e-9)


@every_pencil
def test_the_grid_lies_on_the_arcs_and_has_as_many_angles_as_asked_for(make):
    pencil = make(*covariances())
    arcs, grids, scores = pencil.grid
    assert arcs == pencil.arcs()
    search = pencil.search
    expected = [search.first_arc, *[search.other_arcs] * (len(arcs) - 1)]
    assert [len(logits) for logits in grids] == expected
    assert len(scores.gap) == sum(expected)
    angles = np.concatenate([angle_at(*arc, g) for arc, g in zip(arcs, grids, strict=True)])
    np.testing.assert_array_equal(scores.gap, pencil.scores(angles).gap)


def test_angles_are_denser_towards_the_ends_of_an_arc():
    angles = angle_at(1.0, 3.0, np.linspace(-30.0, 30.0, 61))
    assert angles[30] == 2.0
    assert (angles >= 1.0).all()
    assert (angles <= 3.0).all()
    assert 0.0 < angles[0] - 1.0 < 1e-12
    assert (np.diff(angles[:31], n=2) > 0.0).all()


def test_the_first_arc_is_where_the_pencil_is_positive_definite():
    positive, negative, delta = covariances()
    low, high = EigenPencil(positive, negative, delta).arcs()[0]
    assert low < 0.0 < np.pi / 2 < high  # the quadrant, and beyond

    def least_eigenvalue(angle):
        mixed = np.cos(angle) * positive + np.sin(angle) * negative
        return np.linalg.eigvalsh(mixed)[0]

    inside = np.linspace(low + 1e-6, high - 1e-6, 50)
    assert min(least_eigenvalue(angle) for angle in inside) > 0.0
    assert least_eigenvalue(low) == pytest.approx(0.0, abs=1e-12)
    assert least_eigenvalue(high) == pytest.approx(0.0, abs=1e-12)


def test_the_other_arcs_are_two_past_each_end_of_the_first():
    arcs = EigenPencil(*covariances()).arcs()
    assert len(arcs) == 5
    (low, high), after, before, last, first = arcs
    assert (after[0], last[0]) == (high, after[1])
    assert (before[1], first[1]) == (low, before[0])


def test_scores_are_finite_at_a_pole_and_for_equal_means():
    positive, negative, delta = covariances()
    pencil = EigenPencil(positive, negative, delta)
    poles = np.array(pencil.arcs()).ravel()
    assert all(np.isfinite(moments).all() for moments in pencil.scores(poles))
    same_means = EigenPencil(positive, negative, np.zeros(5))
    np.testing.assert_array_equal(same_means.scores(np.array([0.3, 0.5])).gap, 0.0)


def test_a_singular_pencil_is_an_error_at_once():
    singular = np.diag([1.0, 0.0])
    for pencil in (EigenPencil, SolvedPencil):
        with pytest.raises(np.linalg.LinAlgError):
            pencil(singular, singular, np.ones(2))


def test_an_angle_is_solved_for_once():
    pencil = SolvedPencil(*covariances())
    first = pencil.directions(np.array([0.5, 0.7, 0.5]))
    pencil.positive = pencil.negative = None
    np.testing.assert_array_equal(pencil.directions(np.array([0.7, 0.5])), first[[1, 2]])


def test_equations_of_operators_are_solved_alike_alone_and_together():
    angles = np.array([0.0, 0.3, 1.2])
    together = of_operators(*covariances(40)).directions(angles)
    for angle, line in zip(angles, together, strict=True):
        alone = of_operators(*covariances(40)).directions(np.array([angle]))[0]
        np.testing.assert_allclose(line, alone, rtol=1e-12)


def test_without_a_difference_of_means_the_line_is_zero():
    positive, negative, delta = covariances()
    pencil = of_operators(positive, negative, 0.0 * delta)
    assert not pencil.directions(np.array([0.3])).any()
