"""Stability of a card: shifts in points are those of the scores of rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.cards.stability import card_stability
from directrix.exceptions import DifferentBinsError
from directrix.moments import BinCounts, stability


def table(seed, n, shift=0.0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "age": rng.normal(40 + shift, 10, n),
            "home": rng.choice(["own", "rent"], n),
            "member": rng.random(n) < 0.4,
        }
    )
    risk = np.abs(rows.age - 45) / 6 + 2 * (rows.home == "rent") * rows.member
    return rows, (risk + rng.normal(size=n) > 3).to_numpy()


@pytest.fixture(scope="module", params=[0, None], ids=["additive", "crosses"])
def fitted(request):
    X, y = table(0, 600)
    how = {"cv": 2, "max_lines": None, "binner": Binner(max_bins=8)}
    return ScorecardClassifier("auc", max_crosses=request.param, **how).fit(X, y)


def counts(fitted, rows):
    return BinCounts.of(fitted.binner_, rows, np.zeros(len(rows)))


def test_shifts_sum_to_that_of_the_mean_score(fitted):
    base, later = table(0, 600)[0], table(1, 400, 6.0)[0]
    found = fitted.card_.stability(counts(fitted, later), counts(fitted, base))
    before, after = fitted.predict_points(base), fitted.predict_points(later)
    (score,) = found.scores
    assert score.base_mean == pytest.approx(before.mean())
    assert score.later_mean == pytest.approx(after.mean())
    total = sum(column.shift for column in found.columns)
    assert total == pytest.approx(after.mean() - before.mean())
    assert found.columns[0].column == "age"
    assert len(found.columns) == 3 + len(fitted.card_.crosses)
    if fitted.card_.crosses:
        assert np.isnan([score.base_deviation, score.later_deviation, score.psi]).all()
    else:
        assert score.base_deviation == pytest.approx(before.std())
        assert score.later_deviation == pytest.approx(after.std())


def test_the_training_rows_of_the_card_are_a_base(fitted):
    base, later = table(0, 600)[0], counts(fitted, table(1, 400, 6.0)[0])
    own = fitted.card_.stability(later)
    given = fitted.card_.stability(later, counts(fitted, base))
    for first, second in zip(own.columns, given.columns, strict=False):
        assert first == second
    assert own.population.columns == stability(counts(fitted, base), later).columns
    if not fitted.card_.crosses:
        assert own.scores[0].base_mean == pytest.approx(fitted.predict_points(base).mean())
    assert np.isnan(own.scores[0].base_deviation)


def test_nothing_shifts_where_nothing_changed(fitted):
    base = counts(fitted, table(0, 600)[0])
    found = card_stability(fitted.card_, {"same": base}, base, 0.5)
    assert all(column.shift == 0 for column in found.columns)
    assert all(column.psi == 0 for column in found.columns if column.reading)
    if not fitted.card_.crosses:
        assert found.scores[0].psi == 0


def test_the_index_of_normal_scores_is_that_of_fine_bins(fitted):
    base, later = (counts(fitted, table(k, 500, 3.0 * k)[0]) for k in (0, 1))
    score = replace(fitted.card_, crosses=()).stability(later, base).scores[0]
    grid = np.linspace(-30, 30, 20_001) * max(score.base_deviation, score.later_deviation)
    density = [
        np.exp(-0.5 * ((grid - mean) / deviation) ** 2) / deviation
        for mean, deviation in (
            (score.base_mean, score.base_deviation),
            (score.later_mean, score.later_deviation),
        )
    ]
    p, q = (d / d.sum() for d in density)
    inside = (p > 1e-300) & (q > 1e-300)
    expected = ((q - p) * np.log(np.where(inside, q, 1) / np.where(inside, p, 1)))[inside].sum()
    assert score.psi == pytest.approx(expected, rel=1e-3)


def test_periods_are_printed_and_framed(fitted):
    months = {"May": counts(fitted, table(3, 300)[0]), "June": counts(fitted, table(4, 300, 9)[0])}
    found = fitted.card_.stability(months)
    lines = str(found).splitlines()
    assert lines[3].endswith("age in June")
    assert lines[-1] == "the PSI of the score itself needs the scores of both periods"
    assert [line.split(":")[0] for line in lines[-3:-1]] == ["May", "June"]
    frame = found.to_frame()
    assert frame["shift"].tolist() == [column.shift for column in found.columns]
    assert set(frame["period"]) == {"May", "June"}


def test_what_cannot_be_compared_is_refused(fitted):
    later = counts(fitted, table(5, 100)[0])
    with pytest.raises(ValueError, match="no counts of its training rows: give base="):
        replace(fitted.card_, counts=()).stability(later)
    other = Binner(max_bins=3).fit(table(5, 100)[0])
    with pytest.raises(DifferentBinsError):
        fitted.card_.stability(BinCounts.of(other, table(5, 100)[0], np.zeros(100)))
