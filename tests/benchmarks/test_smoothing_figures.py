import numpy as np
import pytest

from benchmarks.smoothing.published_figures import record, report
from benchmarks.smoothing.published_figures.record import METHODS, UNIT, Moment, Task
from benchmarks.smoothing.published_figures.run import SETS, best_of, parts_of
from benchmarks.smoothing.record import LOSSES, Problem
from benchmarks.smoothing.trajectories import Task as Solvable
from benchmarks.smoothing.trajectories import solve


@pytest.mark.parametrize("loss", LOSSES)
def test_first_evaluations_made_again_have_the_tracked_objective(loss):
    try:
        train, _, test = parts_of("web8")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    task = Task("web8", loss)
    problem = Solvable(Problem(*task, best_of(record.read_choices()[task])), train, test)
    watch, _ = solve(problem, UNIT, seconds=0.3)
    tracked = {point.evaluations: point for point in record.read()[task][UNIT]}
    # The first steps are the same on every machine; later ones part by rounding.
    again = [(tracked[k], coef) for k, _, coef in watch.noted if k in tracked and k <= 35]
    assert len(again) >= 2
    for point, coef in again:
        assert problem.exact(coef)[0] == pytest.approx(point.objective, rel=1e-4)
        scores = test.X @ coef[:-1]
        assert problem.metric.score(test.y, scores) == pytest.approx(point.test_metric, abs=2e-3)


def test_every_problem_has_every_method_and_runs_from_the_start():
    known = record.read()
    assert known.keys() == {Task(name, loss) for name in SETS for loss in LOSSES}
    for curves in known.values():
        assert curves.keys() == METHODS.keys()
        for points in curves.values():
            assert (np.diff([point.evaluations for point in points]) > 0).all()
        last = curves[UNIT][-1]
        assert last.time == pytest.approx(last.evaluations, rel=0.01)  # by the choice of unit


def test_the_report_is_made_of_the_tracked_runs():
    text = report.REPORT.read_text(encoding="utf-8")
    assert text == report.text(record.read())


def test_ratios_of_known_curves():
    curves = {
        "lbfgs 1": [Moment(1, 1.0, 0.9, 0.5), Moment(4, 4.0, 0.1, 0.8)],
        "bmrm": [Moment(1, 2.0, 0.95, 0.4), Moment(20, 40.0, 0.1005, 0.8)],
    }
    assert report.objective_ratio(curves, "lbfgs 1") == (10.0, False)
    assert report.metric_ratio(curves, "lbfgs 1") == (10.0, False)
    curves["bmrm"][-1] = Moment(20, 40.0, 0.2, 0.8)
    assert report.objective_ratio(curves, "lbfgs 1") == (10.0, True)
