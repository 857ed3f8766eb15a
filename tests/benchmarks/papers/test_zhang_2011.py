"""The experiment of Zhang, Saha and Vishwanathan: its objectives, records, reports and claims."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from benchmarks.harness.data import Rows
from benchmarks.papers.zhang_2011 import figures, trajectories
from benchmarks.papers.zhang_2011.methods import Objectives, solve
from benchmarks.papers.zhang_2011.results import (
    FIGURES,
    LOSSES,
    METHODS_OF_FIGURES,
    SETS_OF_FIGURES,
    TRAJECTORIES,
    UNIT,
    Curves,
    Point,
    Problem,
    Trajectory,
    parts_of_figure,
    read,
    read_choices,
    relative,
)
from benchmarks.papers.zhang_2011.run import best_of
from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedROCArea


def small_problem(loss):
    """Return λ, eight rows, coefficients in the paper's units, and the objectives."""
    rng = np.random.default_rng(1)
    rows = Rows(sparse.csr_array(rng.normal(size=(8, 2))), np.array([1, 0, 0, 1, 0, 0, 1, 0]) > 0)
    return 0.3, rows, rng.normal(size=2), Objectives(Problem("", loss, 0.3), rows, rows)


def test_objective_of_break_even_is_that_of_the_paper():
    ridge, rows, coef, task = small_problem("prbep")
    labels = 2.0 * rows.y - 1.0
    scores, n, n_pos = rows.X @ coef, len(rows.y), rows.y.sum()
    risks = [
        (z[rows.y] < 0).sum() / n_pos + scores @ (z - labels) / n  # eq. 2
        for z in (np.array(z) for z in product((-1.0, 1.0), repeat=n))
        if (z[rows.y] < 0).sum() == (z[~rows.y] > 0).sum()
    ]
    in_units = np.append(coef, 0.0)
    value = max(risks) + ridge / 2.0 * coef @ coef
    assert task.exact(in_units)[0] == pytest.approx(value, abs=1e-12)
    # Smoothing lowers it by μD = ε at most.
    assert 0.0 < task.exact(in_units)[0] - task.smoothed(100.0)(in_units)[0] <= 0.1


def test_objective_of_the_roc_area_is_that_of_the_paper():
    ridge, rows, coef, task = small_problem("auc")
    m = rows.y.sum() * (~rows.y).sum()
    assert task.smoothed(100.0).loss == SmoothedROCArea(100.0 * 0.001 / (m / 2.0) * m / 2.0)
    scores = rows.X @ coef
    apart = np.subtract.outer(scores[rows.y], scores[~rows.y])
    # Eq. 3, less the mean of w·(x_i − x_j), which it lacks.
    value = np.maximum(apart, 1.0 - apart).mean() - apart.mean() + ridge / 2.0 * coef @ coef
    assert task.exact(np.append(coef, 0.0))[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_gradient_changes_faster_than_the_bound_of_the_paper(loss):
    task = small_problem(loss)[-1]
    rng = np.random.default_rng(2)
    for times in (1.0, 100.0, 1000.0):
        smooth = task.smoothed(times)
        for size in (1e-3, 0.1, 1.0):
            a, step = rng.normal(size=3), size * rng.normal(size=3)
            step[-1] = 0.0
            change = np.linalg.norm(smooth(a + step)[1] - smooth(a)[1])
            assert change <= task.lipschitz(times) * np.linalg.norm(step) * (1.0 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_first_evaluations_made_again_have_the_tracked_objective(loss):
    try:
        train, _, test = parts_of_figure("web8")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    task = Problem("web8", loss, best_of(read_choices()["web8", loss]))
    problem = Objectives(task, train, test)
    watch, _ = solve(problem, UNIT, seconds=0.3)
    tracked = {point.evaluations: point for point in read(FIGURES.rows())[task][UNIT]}
    # The first steps are the same on every machine; later ones part by rounding.
    again = [(tracked[k], coef) for k, _, coef in watch.noted if k in tracked and k <= 35]
    assert len(again) >= 2
    for point, coef in again:
        assert problem.exact(coef)[0] == pytest.approx(point.objective, rel=1e-4)
        scores = test.X @ coef[:-1]
        assert problem.metric.score(test.y, scores) == pytest.approx(point.test_metric, abs=2e-3)


def test_every_problem_has_every_method_and_runs_from_the_start():
    known = read(FIGURES.rows())
    assert {problem[:2] for problem in known} == set(product(SETS_OF_FIGURES, LOSSES))
    for curves in known.values():
        assert curves.keys() == METHODS_OF_FIGURES.keys()
        for points in curves.values():
            assert (np.diff([point.evaluations for point in points]) > 0).all()
        last = curves[UNIT][-1]
        assert last.time == pytest.approx(last.evaluations, rel=0.01)  # by the choice of unit


def test_the_report_is_made_of_the_tracked_runs():
    text = figures.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == figures.lines(read(FIGURES.rows()))


def test_trajectories_have_the_same_unit_of_time():
    for curves in read(TRAJECTORIES.rows()).values():
        last = curves.end(UNIT)
        assert last.time == pytest.approx(last.evaluations, rel=0.01)


def test_the_report_of_trajectories_is_made_of_the_tracked_runs():
    text = trajectories.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == trajectories.lines(TRAJECTORIES.rows())


def test_times_are_in_evaluations_of_the_unit():
    runs = {
        UNIT: Trajectory([Point(1, 0.5, 0.9, 0.5), Point(4, 1.0, 0.1, 0.8)], 0.0),
        "bmrm": Trajectory([Point(1, 3.0, 0.9, 0.5)], 0.0),
    }
    times = {m: [point.time for point in run.points] for m, run in relative(runs).items()}
    assert times == {UNIT: [2.0, 4.0], "bmrm": [12.0]}


def test_ratios_of_known_curves():
    curves = Curves(
        {
            "lbfgs 1": [Point(1, 1.0, 0.9, 0.5), Point(4, 4.0, 0.1, 0.8)],
            "bmrm": [Point(1, 2.0, 0.95, 0.4), Point(20, 40.0, 0.1005, 0.8)],
        }
    )
    assert figures.objective_ratio(curves, "lbfgs 1") == (10.0, False)
    assert figures.metric_ratio(curves, "lbfgs 1") == (10.0, False)
    curves["bmrm"][-1] = Point(20, 40.0, 0.2, 0.8)
    assert figures.objective_ratio(curves, "lbfgs 1") == (10.0, True)


def test_claims_of_known_curves():
    fast = [Point(1, 1.0, 0.9, 0.5), Point(4, 4.0, 0.1, 0.8)]
    slow = [Point(1, 2.0, 0.95, 0.4), Point(40, 40.0, 0.1005, 0.8)]
    fixed = {
        Problem("a9a", "auc", ridge): Curves(
            {
                "lbfgs 1": fast,
                "lbfgs 100": fast,
                "bmrm": slow,
                "nesterov 100": [Point(count, float(count), 0.1, 0.8)],
            }
        )
        for ridge, count in ((1e-3, 10), (1e-5, 60))
    }
    words = [claim.verdict for claim in figures.judged([*fixed.values()], fixed)]
    assert words == ["holds"] * 5
    for curves in fixed.values():
        curves["bmrm"] = [Point(4, 2.0, 0.1, 0.9)]
    fixed[Problem("a9a", "auc", 1e-5)]["nesterov 100"] = [Point(110, 110.0, 0.1, 0.8)]
    fixed[Problem("a9a", "auc", 1e-5)]["bmrm"] = [Point(500, 2.0, 0.1, 0.9)]
    words = [claim.verdict for claim in figures.judged([*fixed.values()], fixed)]
    assert words == ["does not hold"] * 5
