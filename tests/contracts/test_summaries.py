"""Laws of all summaries of rows: scalar multiples, decay, windows, other labels, fewer rows."""

from datetime import date, timedelta
from inspect import isabstract

import numpy as np
import pytest

from directrix import Binner, Moments
from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts, Summary
from directrix.monitoring import decayed

N_DAYS, DAY_ROWS = 40, 50
FIRST = date(2026, 1, 1)
LABELS = np.array(["bad", "good"])


class Rows:
    """Rows of some days with a column of numbers far from zero, a text and missing values."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n = N_DAYS * DAY_ROWS
        self.day = np.repeat(np.arange(N_DAYS), DAY_ROWS)
        self.y = LABELS[(rng.random(n) < 0.3).astype(int)]
        self.X = rng.normal(size=(n, 4)) * [1.0, 3.0, 0.01, 50.0] + [0.0, 1e4, 1.0, -7.0]
        self.X[:, 0] += self.y == "good"
        self.table = np.empty((n, 3), dtype=object)
        self.table[:, 0] = np.round(self.X[:, 0], 1)
        self.table[:, 1] = np.where(rng.random(n) < 0.1, None, rng.choice(["a", "b", "c"], n))
        self.table[:, 2] = rng.integers(0, 4, n)
        self.rng = rng


class OfMoments:
    tolerance = 1e-12

    def __init__(self, rows):
        self.rows = rows.X
        self.classes = LABELS

    def __call__(self, index, y, weight=None):
        return Moments.of(self.rows[index], y, weight, classes=self.classes)

    def distance(self, a, b):
        worst = 0.0
        for label in a.classes.tolist():
            left, right = a.by_class[label], b.by_class[label]
            assert left.count == right.count
            if not left.count:
                continue
            assert left.weight == pytest.approx(right.weight, rel=1e-13)
            assert left.effective_count == pytest.approx(right.effective_count, rel=1e-12)
            size = np.sqrt(right.scatter.diagonal())
            off = np.abs(left.scatter - right.scatter) / np.multiply.outer(size, size)
            gap = np.abs((left.mean - right.mean) + (left.mean_tail - right.mean_tail))
            worst = max(worst, off.max(), (gap / (size / np.sqrt(right.weight))).max())
        return worst


class OfCounts:
    tolerance = 1e-12

    def __init__(self, rows):
        self.rows, self.classes = rows.table, LABELS
        self.binner = Binner(max_bins=5, min_rows=1).fit(rows.table)

    def __call__(self, index, y, weight=None):
        return BinCounts.of(self.binner, self.rows[index], y, weight, classes=self.classes)

    def distance(self, a, b):
        if a.exact and b.exact:
            return 0.0 if a == b else np.inf
        worst = 0.0
        for left, right in zip(a.parts[0], b.parts[0], strict=True):
            assert left.count == right.count
            assert left.weight_sq == pytest.approx(right.weight_sq, rel=1e-12)
            off = np.abs((left.pairs - right.pairs).toarray()).max(initial=0.0)
            worst = max(worst, off / (right.weight or 1))
        return worst


class OfScores:
    tolerance = 1e-12

    def __init__(self, rows):
        self.rows, self.classes = rows.X[:, 0] - 0.5, LABELS

    def __call__(self, index, y, weight=None):
        return ScoreHistogram.of_scores(y, self.rows[index], weight, classes=self.classes)

    def distance(self, a, b):
        assert a.weight_sq == pytest.approx(b.weight_sq, rel=1e-12)
        return np.abs(a.counts - b.counts).max() / b.counts.sum()


KINDS = [OfMoments, OfCounts, OfScores]


@pytest.fixture(params=range(3))
def rows(request):
    return Rows(request.param)


@pytest.fixture(params=KINDS)
def of(request, rows):
    return request.param(rows)


def every(rows):
    return np.arange(len(rows.y))


def by_day(rows, of):
    return {
        FIRST + timedelta(days=k): of(rows.day == k, rows.y[rows.day == k]) for k in range(N_DAYS)
    }


def test_there_is_a_kind_for_every_summary():
    made = {type(kind(Rows(0))(slice(0, 9), Rows(0).y[:9])) for kind in KINDS}
    assert made == {kind for kind in below(Summary) if not isabstract(kind)}


def below(kind):
    """Return all subclasses of a class, at any depth."""
    return {kind, *(deeper for each in kind.__subclasses__() for deeper in below(each))}


@pytest.mark.parametrize("factor", [0.99, 3, 1e-9, np.float32(0.5)])
def test_a_multiple_is_the_summary_of_weighted_rows(rows, of, factor):
    whole = of(every(rows), rows.y)
    weighted = of(every(rows), rows.y, np.full(len(rows.y), float(factor)))
    for product in (factor * whole, whole * factor):
        assert of.distance(product, weighted) <= of.tolerance


def test_multiples_distribute_over_sums(rows, of):
    first, second = rows.day < 9, rows.day >= 9
    a, b = of(first, rows.y[first]), of(second, rows.y[second])
    assert of.distance(0.3 * (a + b), 0.3 * a + 0.3 * b) <= of.tolerance
    assert of.distance((0.25 * a) * 2, 0.5 * a) <= of.tolerance


def test_zero_times_rows_are_no_rows(rows, of):
    whole = of(every(rows), rows.y)
    assert 0 * whole == of(slice(0, 0), rows.y[:0])
    assert of.distance(0 * whole + whole, whole) == 0.0


@pytest.mark.parametrize("factor", [-1, np.nan, np.inf])
def test_a_factor_that_is_no_weight_is_refused(rows, of, factor):
    with pytest.raises(ValueError, match="finite number that is not negative"):
        factor * of(every(rows), rows.y)


def test_what_is_no_number_is_refused(rows, of):
    with pytest.raises(TypeError):
        of(every(rows), rows.y) * "2"


@pytest.mark.parametrize("half_life", [0.7, 7, 365.0])
def test_decay_is_a_weighted_pass_over_all_rows(rows, of, half_life):
    weight = 0.5 ** ((N_DAYS - 1 - rows.day) / half_life)
    total = decayed(by_day(rows, of), half_life=half_life)
    assert of.distance(total, of(every(rows), rows.y, weight)) <= of.tolerance


def test_a_rolling_decay_is_that_of_all_days(rows, of):
    days, factor = by_day(rows, of), 0.5 ** (1 / 7)
    rolling = None
    for summary in days.values():
        rolling = summary if rolling is None else factor * rolling + summary
    assert of.distance(rolling, decayed(days, half_life=7)) <= of.tolerance


def test_a_window_that_rolls_is_the_sum_of_its_days(rows, of):
    days = list(by_day(rows, of).values())
    window = days[0]
    for day in days[1:10]:
        window = window + day
    for k in range(10, N_DAYS):
        window = window + days[k] - days[k - 10]
        inside = (rows.day > k - 10) & (rows.day <= k)
        assert of.distance(window, of(inside, rows.y[inside])) <= of.tolerance


def test_relabelled_rows_are_those_of_a_new_pass(rows, of):
    whole = of(every(rows), rows.y)
    changed = rows.rng.choice(len(rows.y), 1000, replace=False)
    late = rows.y.copy()
    late[changed] = np.where(late[changed] == "good", "bad", "good")
    relabelled = whole - of(changed, rows.y[changed]) + of(changed, late[changed])
    assert of.distance(relabelled, of(every(rows), late)) <= 1e-10
    if not isinstance(whole, Moments):
        assert relabelled == of(every(rows), late)


def test_removed_rows_leave_what_a_pass_without_them_gives(rows, of):
    customer = rows.rng.random(len(rows.y)) < 0.02
    whole = of(every(rows), rows.y)
    rest = whole - of(customer, rows.y[customer])
    assert of.distance(rest, of(~customer, rows.y[~customer])) <= 1e-10
    if not isinstance(whole, Moments):
        assert rest == of(~customer, rows.y[~customer])


def test_rows_without_labels_form_one_class(rows, of):
    whole = of(every(rows), rows.y)
    of.classes = None
    unlabelled = of(every(rows), None)
    assert unlabelled.classes.tolist() == [None]
    if isinstance(whole, Moments):
        merged = whole.unlabelled().by_class[None]
        assert np.allclose(merged.scatter, unlabelled.by_class[None].scatter, rtol=1e-12, atol=1e-9)
        assert merged.count == unlabelled.by_class[None].count
    else:
        assert whole.unlabelled() == unlabelled
    with pytest.raises((TypeError, ValueError), match=r"labels|classes"):
        whole + unlabelled


def test_rows_get_their_labels_late(rows, of):
    known = rows.day < 20
    labelled = of(known, rows.y[known])
    both = of.classes
    of.classes = None
    waiting = of(every(rows), None) - of(known, None)
    late = rows.day == 20
    waiting = waiting - of(late, None)
    assert of.distance(waiting, of(rows.day > 20, None)) <= 1e-10
    of.classes = both
    until = rows.day <= 20
    whole = of(until, rows.y[until])
    assert of.distance(labelled + of(late, rows.y[late]), whole) <= of.tolerance


@pytest.mark.parametrize("labelled", [True, False])
def test_a_file_gives_the_summary_back(rows, of, labelled, tmp_path):
    of.classes = LABELS if labelled else None
    summary = 0.37 * of(every(rows), rows.y if labelled else None)
    summary.save(tmp_path / "summary")
    again = type(summary).load(tmp_path / "summary")
    assert again == summary
    again.save(tmp_path / "again")
    assert (tmp_path / "summary").read_bytes() == (tmp_path / "again").read_bytes()
