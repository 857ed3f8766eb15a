from datetime import date

import numpy as np
import pytest

from directrix import Moments
from directrix.monitoring import SummaryStore
from directrix.monitoring.store import expired, is_span, require_other_days_kept

DAYS = [date(2026, 1, day) for day in (1, 5, 9, 10)]


def test_days_count_back_from_the_latest():
    assert expired(DAYS, 6) == DAYS[:1]
    assert expired(DAYS, 5) == DAYS[:2]
    assert expired(DAYS, None) == expired([], 3) == []


@pytest.mark.parametrize(("days", "valid"), [(None, True), (1, True), (0, False), (2.0, False)])
def test_a_span_is_a_whole_number_of_days(days, valid):
    assert is_span(days) == valid


def test_a_day_that_would_remove_all_others_is_refused():
    require_other_days_kept(date(2027, 1, 9), DAYS, 5)
    require_other_days_kept(date(2027, 12, 1), DAYS, 1000)
    require_other_days_kept(date(2062, 1, 1), DAYS, None)
    require_other_days_kept(date(2062, 1, 1), [], 5)
    with pytest.raises(ValueError, match=r"2027-01-10 would remove all other days, .* 2026-01-10"):
        require_other_days_kept(date(2027, 1, 10), DAYS, 5)


def test_a_mistyped_year_does_not_empty_a_store(tmp_path):
    store = SummaryStore(tmp_path, keep_days=10)
    rows = Moments.of(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1])
    for day in DAYS:
        store.add(day, rows)
    with pytest.raises(ValueError, match="check the date"):
        store.add("2062-01-13", rows)
    assert store.days() == DAYS
