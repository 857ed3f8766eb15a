import pytest

from directrix.fitting import progress as module
from directrix.fitting.progress import Clock


@pytest.fixture
def now(monkeypatch):
    """Return the time, in a list of one number."""
    time = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: time[0])
    return time


def test_without_a_budget_time_is_never_up(now):
    clock = Clock()
    now[0] += 1e9
    assert not clock.is_over(1e9)
    assert not clock(1, 2)
    assert not clock.part(1, 3).is_over()


def test_what_the_first_candidate_took_is_kept_for_the_end(now):
    clock = Clock(10.0)
    now[0] += 2.0
    assert not clock(1, 5)  # the first took two seconds
    now[0] = 107.9
    assert not clock.is_over()
    now[0] = 108.1
    assert clock.is_over()
    assert clock(2, 5)
    assert not clock.is_over(-1.0)
    now[0] = 110.1
    assert clock.is_over(-1.0)


@pytest.mark.parametrize(("first", "end"), [(0.01, 9.0), (5.0, 6.0)])
def test_at_least_a_tenth_and_at_most_four_tenths_are_kept(first, end, now):
    clock = Clock(10.0)
    now[0] += first
    clock(1, 5)
    now[0] = 100.0 + end - 0.01
    assert not clock.is_over()
    now[0] = 100.0 + end + 0.01
    assert clock.is_over()


def test_before_the_first_candidate_it_is_assumed_to_take_long(now):
    clock = Clock(10.0)
    now[0] += 6.1
    assert clock.is_over()


def test_work_that_cannot_be_interrupted_must_fit_in(now):
    clock = Clock(10.0)
    now[0] += 1.0
    clock(1, 5)
    now[0] = 107.5
    assert not clock.is_over(1.0)
    now[0] = 108.5
    assert not clock.is_over()
    assert clock.is_over(1.0)


def test_several_fits_share_the_budget_and_what_one_leaves_the_next_may_use(now):
    clock = Clock(9.0)
    first, second = clock.part(0, 3), clock.part(1, 3)
    now[0] = 101.0
    assert not first.is_over()
    now[0] = 103.0
    assert first.is_over()
    assert not second.is_over()
    now[0] = 106.0
    assert second.is_over()


def test_a_candidate_that_is_tried_and_fitted_is_reported_once():
    reports = []
    clock = Clock(None, lambda *counts: reports.append(counts))
    for done in (1, 1, 2):
        assert not clock(done, 4)
    assert reports == [(1, 4), (2, 4)]


def test_a_true_answer_to_progress_stops():
    clock = Clock(None, lambda done, planned: done == planned)
    assert not clock(1, 2)
    assert clock(2, 2)
