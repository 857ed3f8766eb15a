import numpy as np
import pytest

from benchmarks.papers.zhang_2012 import figures, trajectories
from benchmarks.papers.zhang_2012.config import (
    LOSSES,
    METHODS_OF_FIGURES,
    SETS_OF_FIGURES,
    UNIT,
    parts_of_figure,
)
from benchmarks.papers.zhang_2012.methods import Objectives, solve
from benchmarks.papers.zhang_2012.results import (
    Curves,
    Point,
    Problem,
    Run,
    Task,
    Trajectory,
    read_choices,
    read_figures,
    read_trajectories,
    relative,
)
from benchmarks.papers.zhang_2012.run import best_of


@pytest.mark.parametrize("loss", LOSSES)
def test_first_evaluations_made_again_have_the_tracked_objective(loss):
    try:
        train, _, test = parts_of_figure("web8")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    task = Task("web8", loss)
    problem = Objectives(Problem(*task, best_of(read_choices()[task])), train, test)
    watch, _ = solve(problem, UNIT, seconds=0.3)
    tracked = {point.evaluations: point for point in read_figures()[task][UNIT]}
    # The first steps are the same on every machine; later ones part by rounding.
    again = [(tracked[k], coef) for k, _, coef in watch.noted if k in tracked and k <= 35]
    assert len(again) >= 2
    for point, coef in again:
        assert problem.exact(coef)[0] == pytest.approx(point.objective, rel=1e-4)
        scores = test.X @ coef[:-1]
        assert problem.metric.score(test.y, scores) == pytest.approx(point.test_metric, abs=2e-3)


def test_every_problem_has_every_method_and_runs_from_the_start():
    known = read_figures()
    assert known.keys() == {Task(name, loss) for name in SETS_OF_FIGURES for loss in LOSSES}
    for curves in known.values():
        assert curves.keys() == METHODS_OF_FIGURES.keys()
        for points in curves.values():
            assert (np.diff([point.evaluations for point in points]) > 0).all()
        last = curves[UNIT][-1]
        assert last.time == pytest.approx(last.evaluations, rel=0.01)  # by the choice of unit


def test_the_report_is_made_of_the_tracked_runs():
    text = figures.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == figures.lines(read_figures())


def test_trajectories_have_the_same_unit_of_time():
    known = read_trajectories()
    for problem in {run.problem for run in known}:
        last = known[Run(problem, UNIT)].points[-1]
        assert last.time == pytest.approx(last.evaluations, rel=0.01)


def test_the_report_of_trajectories_is_made_of_the_tracked_runs():
    text = trajectories.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == trajectories.lines(read_trajectories())


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
