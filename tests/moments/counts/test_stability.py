"""Population stability: its definition, its laws, and what noise it has where nothing changed."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, entropy

from directrix import Binner
from directrix.exceptions import DifferentBinsError
from directrix.moments import BinCounts, Stability, stability
from directrix.moments.counts.stability import compare_cells, stability_index


def table(seed, n, shift=0.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(40 + shift, 10, n),
            "town": rng.choice(["Graz", "Linz", "Wels\n|"], n, p=[0.5, 0.3, 0.2]),
            "member": rng.random(n) < 0.4,
            "constant": np.ones(n),
        }
    )


BASE = table(0, 3000)
BINNER = Binner(max_bins=10).fit(BASE)


def counts(rows, weight=None):
    return BinCounts.of(BINNER, rows, np.zeros(len(rows)), weight)


def test_the_index_is_both_divergences():
    p, q = np.array([10, 20, 30, 40]), np.array([40, 10, 30, 120])
    # Without smoothing it is that of shares, as SciPy has it.
    expected = entropy(p / p.sum(), q / q.sum()) + entropy(q / q.sum(), p / p.sum())
    assert stability_index(p, q, 0.0).sum() == pytest.approx(expected)
    s, r = (p + 0.5) / (p + 0.5).sum(), (q + 0.5) / (q + 0.5).sum()
    assert stability_index(p, q).sum() == pytest.approx(entropy(s, r) + entropy(r, s))
    # Cells without rows in either period change nothing.
    more = stability_index(np.append(p, 0), np.append(q, 0))
    np.testing.assert_array_equal(more, [*stability_index(p, q), 0.0])


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 2.0])
def test_identical_periods_have_none_and_order_does_not_matter(smoothing):
    rng = np.random.default_rng(1)
    p, q = rng.integers(1, 90, (2, 12))
    assert stability_index(p, p, smoothing).sum() == 0
    assert stability_index(7 * p, p, 0.0).sum() == pytest.approx(0, abs=1e-15)
    forth, back = stability_index(p, q, smoothing), stability_index(q, p, smoothing)
    np.testing.assert_allclose(forth, back, rtol=1e-12)
    assert (forth >= 0).all()


def test_merged_bins_never_show_more():
    rng = np.random.default_rng(2)
    for _ in range(50):
        p, q = rng.integers(1, 90, (2, 8))
        merged = [np.add.reduceat(c, [0, 3, 4, 7]) for c in (p, q)]
        assert stability_index(*merged, 0.0).sum() <= stability_index(p, q, 0.0).sum() + 1e-12


def test_what_is_infinite_or_negative_is_refused():
    with pytest.raises(ValueError, match=r"use smoothing=0\.5"):
        stability_index(np.array([1, 0]), np.array([1, 1]), 0.0)
    with pytest.raises(ValueError, match="not negative, not -1"):
        stability_index(np.array([1, 0]), np.array([1, 1]), -1)


def test_a_column_that_moved_is_named_first():
    moved = table(3, 1000)
    moved["town"] = np.where(np.arange(1000) % 3 == 0, "Wels\n|", moved["town"])
    found = stability(counts(BASE), counts(moved))
    assert found.columns[0].column == "town"
    assert [column.reading for column in found.columns[1:]] == ["within noise"] * 3
    values = [column.psi for column in found.columns]
    assert values == sorted(values, reverse=True)
    text = str(found)
    assert text.splitlines()[3].split()[3:6] == ["large", "change", "town:"]
    assert "Wels\\n|" in text
    assert "1,000" in text
    for column in found.columns:
        assert sum(shift.base for shift in column.bins) == pytest.approx(1)
        assert sum(shift.later for shift in column.bins) == pytest.approx(1)
        assert sum(shift.psi for shift in column.bins) == pytest.approx(column.psi)


def test_shares_are_those_of_the_rows():
    later = table(4, 500, 5.0)
    found = next(c for c in stability(counts(BASE), counts(later)).columns if c.column == "age")
    bins = BINNER.bins_[0]
    for rows, name in ((BASE, "base"), (later, "later")):
        cells = bins.cells(rows["age"].to_numpy())
        share = np.bincount(cells, minlength=bins.n_cells) / len(rows)
        np.testing.assert_allclose([getattr(s, name) for s in found.bins], share)
    assert found.reading == "large change"


@pytest.mark.parametrize(
    ("shift", "reading"), [(0.0, "within noise"), (1.0, "stable"), (4.0, "some change")]
)
def test_readings_are_the_conventions(shift, reading):
    found = stability(counts(BASE), counts(table(5, 20_000, shift)))
    column = next(c for c in found.columns if c.column == "age")
    assert column.reading == reading
    below = {"within noise": column.noise, "stable": 0.1, "some change": 0.25}[reading]
    assert column.psi < below


def test_the_noise_is_what_equal_periods_have():
    rng = np.random.default_rng(6)
    share, n, m = np.array([0.1, 0.2, 0.3, 0.4]), 2000, 500
    p, q = rng.multinomial(n, share, 4000), rng.multinomial(m, share, 4000)
    values = np.array([stability_index(a, b).sum() for a, b in zip(p, q, strict=True)])
    scale = 1 / n + 1 / m
    assert values.mean() == pytest.approx(3 * scale, rel=0.05)
    assert np.mean(values > chi2.ppf(0.95, 3) * scale) == pytest.approx(0.05, abs=0.015)
    towns = next(
        c for c in stability(counts(BASE), counts(table(7, 500))).columns if c.column == "town"
    )
    assert towns.expected == pytest.approx(2 * (1 / 3000 + 1 / 500))
    assert towns.noise == pytest.approx(chi2.ppf(0.95, 2) * (1 / 3000 + 1 / 500))


def test_counts_may_be_added_before_or_rows():
    first, second = table(8, 300, 3.0), table(9, 400, -3.0)
    whole = stability(counts(BASE), counts(pd.concat([first, second])))
    added = stability(counts(BASE), counts(first) + counts(second))
    assert whole.columns == added.columns


def test_labels_and_folds_do_not_matter():
    later = table(10, 300)
    labelled = BinCounts.of(BINNER, later, np.arange(300) % 3, fold=np.arange(300) % 2)
    assert (
        stability(counts(BASE), labelled).columns == stability(counts(BASE), counts(later)).columns
    )


def test_several_periods_are_compared_at_once():
    months = {"May": counts(table(11, 300)), "June": counts(table(12, 500, 8.0))}
    found = stability(counts(BASE), months)
    assert found.n_later == {"May": 300, "June": 500}
    assert (found.columns[0].column, found.columns[0].period) == ("age", "June")
    assert "age in June" in str(found)
    for name, later in months.items():
        alone = stability(counts(BASE), later)
        of_month = [c._replace(period="later") for c in found.columns if c.period == name]
        assert of_month == list(alone.columns)
    frame = found.to_frame()
    assert len(frame) == 8
    assert frame["psi"].tolist() == [column.psi for column in found.columns]
    bins = found.to_frame(bins=True)
    assert len(bins) == 2 * sum(bins.n_cells for bins in BINNER.bins_)
    assert bins.groupby(["period", "column"])["later"].sum().to_numpy() == pytest.approx(1)


def test_weights_that_are_no_numbers_of_rows_count_as_effective_rows():
    weight = np.where(np.arange(3000) % 2 == 0, 0.5, 1.5)
    found = stability(counts(BASE, weight), counts(BASE))
    assert found.n_base == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert stability(counts(BASE, np.full(3000, 2.0)), counts(BASE)).n_base == 6000


def test_what_cannot_be_compared_is_refused():
    other = Binner(max_bins=5).fit(BASE)
    with pytest.raises(DifferentBinsError, match="age"):
        stability(counts(BASE), BinCounts.of(other, BASE, np.zeros(3000)))
    narrow = counts(BASE).rebin(drop=["constant"])
    with pytest.raises(DifferentBinsError, match="constant"):
        stability(counts(BASE), narrow)
    with pytest.raises(ValueError, match="no later period"):
        stability(counts(BASE), {})
    with pytest.raises(TypeError, match="not DataFrame"):
        stability(counts(BASE), BASE)
    with pytest.raises(ValueError, match="no rows in later"):
        stability(counts(BASE), BinCounts.empty(BINNER))
    with pytest.raises(ValueError, match="no rows in the base period"):
        stability(BinCounts.empty(BINNER), counts(BASE))


def test_many_columns_are_counted():
    wide = pd.DataFrame(np.random.default_rng(13).normal(size=(200, 30)))
    binner = Binner(max_bins=3).fit(wide)
    both = BinCounts.of(binner, wide, np.zeros(200))
    found = stability(both, both)
    assert isinstance(found, Stability)
    assert str(found).splitlines()[-1].strip() == "and 10 more in .columns"
    cells = [both.cells(k).sum(axis=0) for k in range(30)]
    assert compare_cells(both.bins, cells, 200, {"later": both}, 0.5).columns == found.columns
