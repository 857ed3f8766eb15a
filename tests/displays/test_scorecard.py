"""What ScorecardDisplay stores is the card, and what it leaves out is said."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from directrix import Binner, ScorecardClassifier
from directrix.cards.card import Card
from directrix.displays import ScorecardDisplay
from directrix.displays.scorecard import ColumnPanel, CrossPanel, column_panel, short
from directrix.tables import NumberBins

pytest.importorskip("matplotlib").use("Agg")

HOSTILE = ["$x$", "<b>", "two\nlines", "a very long level that does not fit"]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    n = 600
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "wealth": np.exp(rng.normal(8, 2, n)) * rng.choice([-1, 0, 1], n),
            "income": np.exp(rng.normal(8, 2, n)),
            "si$nce\n": np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("m8[D]"),
            "home": rng.choice(HOSTILE, n),
            "member": rng.random(n) < 0.5,
            "constant": 1.0,
        }
    )
    table.loc[::9, "age"] = np.nan
    table.loc[::10, "age"] = -999.0
    risk = np.abs(table.age.fillna(70).clip(18) - 45) / 9
    risk += 3 * ((table.home == "<b>") ^ table.member)
    y = (risk + rng.normal(size=n) > 4).to_numpy()
    binner = Binner(max_bins=8, special_values=[-999.0])
    options = {"cv": 2, "max_lines": None, "points": "log-odds"}
    return ScorecardClassifier("auc", binner=binner, **options).fit(table, y)


@pytest.fixture(autouse=True)
def _close():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def changed(fitted, card, slope=None):
    """Return a classifier with another card."""
    calibration = fitted.calibration_
    if slope is not None:
        calibration = replace(calibration, below=slope, above=slope)
    other = fitted.with_state(fitted.operating_point_, calibration, None)
    other.card_ = card
    return other


def test_panels_are_in_the_order_of_the_printed_card(fitted):
    card = fitted.card_
    assert card.crosses
    display = ScorecardDisplay.from_estimator(fitted, max_panels=99)
    names = [panel.name for panel in display.panels if isinstance(panel, ColumnPanel)]
    assert names == [card.bins[k].name for k in card.ranked_columns if np.ptp(card.columns[k])]
    crosses = [panel for panel in display.panels if isinstance(panel, CrossPanel)]
    assert len(crosses) == len(card.crosses) == len(display.heat_maps_)
    assert display.n_more == 0


def test_a_panel_has_the_points_shares_and_intervals_of_its_bins(fitted):
    card, slope = fitted.card_, 2.0
    for index, bins in enumerate(card.bins):
        panel = column_panel(card, index, slope)
        rows = card.column_table(index)
        assert panel.points.size
        # Every bin with training rows is drawn, and none overlaps another.
        assert panel.share.sum() == pytest.approx(1)
        order = np.argsort(panel.left)
        assert (panel.right[order][:-1] <= panel.left[order][1:] + 1e-12).all()
        assert panel.left.min() >= 0
        assert panel.right.max() <= 1 + 1e-12
        assert set(panel.points) <= {row.points for row in rows}
        if bins.kind in ("number", "date"):
            ordered = card.columns[index][1 : 1 + bins.n_ordered]
            assert panel.n_steps == 1 + np.count_nonzero(np.diff(ordered))
        else:
            assert panel.n_steps == 0
        if bins.kind == "text":
            assert (np.diff(panel.points) >= 0).all()
    # By hand: False and True of a boolean.
    index = [bins.name for bins in card.bins].index("member")
    panel = column_panel(card, index, slope)
    for k, cell in enumerate((1, 2)):
        negative, positive = card.counts[index][:, cell]
        error = np.sqrt(1 / (negative + 0.5) + 1 / (positive + 0.5))
        half = (panel.high[k] - panel.low[k]) / 2
        assert half == pytest.approx(1.96 * error / slope, rel=1e-4)


def test_cuts_are_in_their_order_on_the_axis(fitted):
    for index, bins in enumerate(fitted.card_.bins):
        panel = column_panel(fitted.card_, index, 1.0)
        steps = slice(0, panel.n_steps)
        assert (panel.right[steps] > panel.left[steps]).all()
        assert (panel.left[steps][1:] == panel.right[steps][:-1]).all()
        values = [
            float(text) for text in panel.tick_labels[: panel.n_scale] if bins.kind == "number"
        ]
        assert values == sorted(values)
        assert (np.diff(panel.ticks[: panel.n_scale]) > 0).all()
        # A tick is between the cuts that its value is between.
        for value, tick in zip(values, panel.ticks, strict=False):
            cell = int(bins.cells(np.array([value]))[0])
            step = next(k for k, row in enumerate(_steps(fitted.card_, index)) if cell in row.cells)
            assert panel.left[step] - 1e-9 <= tick <= panel.right[step] + 1e-9


@pytest.mark.parametrize(
    "cuts",
    [
        (0.0,),
        (-1.5e308, 0.0, 1.5e308),
        (-1.7e308, -1.0, 0.0, 1e-300, 5.0, 1.7e308),
        (1e-9, 1e-3, 1.0, 2.0, 3.0, 1e12),
        (1.0, 1.0 + 1e-12),
        (-5e-324, 5e-324),
        (),
    ],
)
def test_any_cuts_fit_the_axis(cuts):
    bins = NumberBins("x", "number", cuts, tuple(range(len(cuts) + 1)))
    points = np.arange(bins.n_cells, dtype=float)
    card = Card(0.0, (points,), (), (bins,), counts=(np.ones((2, bins.n_cells)),))
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        panel = column_panel(card, 0, 1.0)
    assert panel.n_steps == len(cuts) + 1
    steps = slice(0, panel.n_steps)
    assert (panel.left[steps] <= panel.right[steps]).all()
    assert np.isfinite(panel.left).all()
    assert np.isfinite(panel.ticks).all()
    assert (panel.left >= 0).all()
    assert (panel.right <= 1 + 1e-12).all()


def _steps(card, index):
    n = card.bins[index].n_ordered
    return [row for row in card.column_table(index) if 1 <= row.cells[0] <= n]


def test_few_panels_say_how_many_are_left_out(fitted):
    everything = ScorecardDisplay.from_estimator(fitted, max_panels=99)
    display = ScorecardDisplay.from_estimator(fitted, max_panels=3)
    assert len(display.panels) == 3 == display.ax_.size
    assert display.n_more == len(everything.panels) - 3
    assert display.figure_.get_supxlabel() == f"and {display.n_more} more"


def test_names_are_drawn_as_they_are(fitted):
    display = ScorecardDisplay.from_estimator(fitted, max_panels=99)
    display.figure_.draw_without_rendering()  # a formula that cannot be parsed would fail here
    texts = [tick.get_text() for ax in display.ax_ for tick in ax.get_xticklabels()]
    assert r"\$x\$" in texts
    assert short(HOSTILE[3]) in texts
    assert short("two\nlines") == "two lines"


def test_whole_points_and_cards_without_counts_are_drawn(fitted):
    card = fitted.card_
    whole = replace(
        card,
        columns=tuple(np.round(10 * points) for points in card.columns),
        crosses=tuple(replace(c, points=np.round(10 * c.points)) for c in card.crosses),
    )
    display = ScorecardDisplay.from_estimator(changed(fitted, whole, 0.1))
    points = [panel.points for panel in display.panels if isinstance(panel, ColumnPanel)]
    assert all(np.array_equal(values, np.round(values)) for values in points)
    display = ScorecardDisplay.from_estimator(changed(fitted, replace(card, counts=())))
    assert all(np.isnan(p.low).all() for p in display.panels if isinstance(p, ColumnPanel))
    display.figure_.draw_without_rendering()


def test_what_has_no_card_is_refused(fitted):
    line = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="LogisticRegression has no card"):
        ScorecardDisplay.from_estimator(line)
    with pytest.raises(NotFittedError):
        ScorecardDisplay.from_estimator(ScorecardClassifier())
    card = fitted.card_
    flat = replace(card, columns=tuple(0 * points for points in card.columns), crosses=())
    with pytest.raises(ValueError, match="nothing to draw"):
        ScorecardDisplay.from_estimator(changed(fitted, flat))


def test_intervals_are_inside_the_frame_and_the_title_says_who_is_predicted(fitted):
    display = ScorecardDisplay.from_estimator(fitted, title="Loans $1", max_panels=99)
    for panel, axes in zip(display.panels, display.ax_, strict=True):
        if isinstance(panel, ColumnPanel):
            low, high = axes.get_ylim()
            assert low < np.nanmin(panel.low)
            assert high > np.nanmax(panel.high)
    title = display.figure_.get_suptitle()
    assert title.startswith("Loans \\$1\nbase points")
    assert "points is predicted" in title
    assert not ScorecardDisplay(display.panels, 0).plot().figure_.get_suptitle()
