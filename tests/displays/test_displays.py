"""Laws of every display; one that is exported is tested by being in the table below.

A display computes once and stores: what it stores is exact, counts a row of weight k as k rows, and
does not depend on what the labels are called. It draws what it stores, as often as asked, into new
axes or given ones, and computes nothing for it. Legends cover no data.
"""

import dataclasses
import re
import sys
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

import directrix.displays
from directrix import (
    MomentClassifier,
    ScorecardClassifier,
)
from directrix.displays import (
    DaysDisplay,
    NetBenefitDisplay,
    ScorecardDisplay,
    TradeoffDisplay,
)
from directrix.metrics import Cost
from directrix.monitoring import Monitor, summarize_day

ROOM = Path(directrix.displays.__file__).parent


class Rows(NamedTuple):
    """Rows of a random problem with ties; all are of one weight unless said otherwise."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None

    @property
    def positive(self):
        return self.y == np.unique(self.y)[1]

    @property
    def weights(self):
        return np.ones(len(self.y)) if self.weight is None else self.weight


def plain():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3 == 0
    X = np.round(rng.normal(size=(240, 3)) * np.where(y, 1.5, 1.0)[:, None], 1)
    X[:, 0] += 1.2 * y
    return Rows(X, y.astype(int))


def weighted():
    return plain()._replace(weight=np.random.default_rng(1).integers(0, 4, 240).astype(float))


def in_words():
    rows = plain()
    return rows._replace(y=np.where(rows.y == 1, "spam", "ham"))


ROWS = {"plain": plain, "weighted": weighted, "in words": in_words}


@cache
def line(kind, metric="f1"):
    """Return a fitted classifier; how it was fitted does not matter here, so moments will do."""
    rows = ROWS[kind]()._replace(weight=None)
    return MomentClassifier(metric, sample=0).fit(rows.X, rows.y)


def kind_of(rows):
    return "in words" if rows.y.dtype.kind == "U" else "plain"


class Case(NamedTuple):
    """A display: how to make it of rows, what it must hold, and how many axes it has."""

    name: str
    make: object
    exact: object
    axes: int = 1
    of_rows: bool = True


def tradeoff_of_line(against, rows, ax=None):
    return TradeoffDisplay.from_estimator(
        line(kind_of(rows)), rows.X, rows.y, against=against, sample_weight=rows.weight, ax=ax
    )


def tradeoff_of_scores(rows, ax=None):
    scores = line(kind_of(rows)).decision_function(rows.X)
    return TradeoffDisplay.from_predictions(
        rows.y, scores, metric="f1", sample_weight=rows.weight, ax=ax
    )


def tradeoff_is_exact(display, rows):
    classifier = line(kind_of(rows))
    scores = classifier.decision_function(rows.X)
    f1 = partial(fbeta_score, rows.positive, beta=1, sample_weight=rows.weight, zero_division=0)
    expected = f1(classifier.predict(rows.X) == np.unique(rows.y)[1])
    assert display.point[1] == pytest.approx(expected)
    assert display.kept.all()
    w, positive = rows.weights, rows.positive
    for k in range(0, len(display.x), 25):
        if display.against == "threshold":
            above = scores > display.x[k]
        elif display.against == "quota":
            above = flagged(scores, w, display.x[k])
        else:
            above = cheapest(scores, positive, w, display.x[k])
        assert display.values[k] == pytest.approx(f1(above))
    at = {"threshold": 0.0, "quota": w @ (scores > 0) / w.sum()}
    if display.against in at:
        assert display.point[0] == pytest.approx(at[display.against])


def flagged(scores, weight, share):
    """Return the rows of highest score that make up a share of the weight."""
    levels = np.unique(scores[weight > 0])
    taken = [weight @ (scores >= level) / weight.sum() for level in levels]
    if share == 0:
        return np.zeros(len(scores), dtype=bool)
    return scores >= levels[np.argmin(np.abs(np.array(taken) - share))]


def cheapest(scores, positive, weight, ratio):
    """Return which rows are above the threshold of least cost; of equals, the highest."""
    levels = np.unique(scores[weight > 0])[::-1]
    cuts = [scores > levels[0], *(scores >= level for level in levels)]
    costs = [
        weight @ (above & ~positive) + ratio * (weight @ (positive & ~above)) for above in cuts
    ]
    return cuts[int(np.argmin(costs))]


@cache
def card():
    rows = plain()
    how = {
        "cv": 2,
        "max_crosses": 0,
        "max_lines": None,
        "warn_baseline": False,
    }
    return ScorecardClassifier("auc", **how).fit(rows.X[:, :2], rows.y)


def scorecard(rows, ax=None):  # noqa: ARG001 - a card shows its training rows
    return ScorecardDisplay.from_estimator(card(), ax=ax)


@cache
def checks():
    rows = plain()
    day = summarize_day(line("plain"), rows.X, rows.y == 1)
    monitor = Monitor(day.scores)
    halves = (summarize_day(line("plain"), rows.X[k::2]) for k in range(2))
    return [monitor.check(half, f"2026-01-0{k + 1}") for k, half in enumerate(halves)]


def days(rows, ax=None):  # noqa: ARG001 - a display of checks
    return DaysDisplay.from_checks(checks(), realised=[0.3, 0.4], ax=ax)


def net_benefit_of_line(rows, ax=None):
    return NetBenefitDisplay.from_estimator(line("plain"), rows.X, rows.y, ax=ax)


DISPLAYS = (
    *(
        Case(f"tradeoff against {against}", partial(tradeoff_of_line, against), tradeoff_is_exact)
        for against in ("threshold", "cost", "quota")
    ),
    Case("tradeoff of scores", tradeoff_of_scores, tradeoff_is_exact),
    Case("scorecard", scorecard, None, axes=2, of_rows=False),
    Case("days", days, None, axes=3, of_rows=False),
    Case("net benefit", net_benefit_of_line, None, of_rows=False),
)

every_display = pytest.mark.parametrize("case", DISPLAYS, ids=lambda case: case.name)
displays_of_rows = pytest.mark.parametrize(
    "case", [case for case in DISPLAYS if case.of_rows], ids=lambda case: case.name
)


@pytest.fixture
def plt():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@cache
def made(case, kind="plain"):
    """Return a display of some rows, made once: it may be drawn as often as wanted."""
    return case.make(ROWS[kind]())


def stored(display):
    return {field.name: getattr(display, field.name) for field in dataclasses.fields(display)}


def flat(value):
    """Return the numbers and words that a display stores, by where they are."""
    if dataclasses.is_dataclass(value) and hasattr(value, "plot"):
        value = stored(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, tuple):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        return {f"{key}.{k}": v for key, inner in value.items() for k, v in flat(inner).items()}
    return {"": value}


def assert_same(display, other, but=()):
    first, second = flat(display), flat(other)
    assert first.keys() == second.keys()
    for key, value in first.items():
        if any(name in key for name in but):
            continue
        if isinstance(value, np.ndarray | float):
            np.testing.assert_allclose(value, second[key], atol=1e-6, err_msg=key)
        else:
            assert value == second[key], key


def drawn(display):
    """Return what is on the axes."""
    return [
        (artist.get_label(), artist.get_xydata().tolist())
        for ax in np.ravel(display.ax_)
        for artist in ax.get_lines()
    ]


def test_every_display_has_laws():
    made = {name for name in directrix.displays.__all__ if name.endswith("Display")}
    tested = {"TradeoffDisplay", "ScorecardDisplay", "DaysDisplay", "NetBenefitDisplay"}
    assert made == tested == {word_of(case) for case in DISPLAYS}


def word_of(case):
    word = case.name.split()[0].strip(",")
    words = {"net": "NetBenefit"}
    return words.get(word, word.capitalize()) + "Display"


@every_display
def test_plot_draws_a_new_figure_and_returns_the_display(plt, case):
    display = made(case)
    plt.close("all")
    assert display.plot() is display
    assert [display.figure_.number] == plt.get_fignums()
    assert display.figure_.get_figwidth() == 6.0
    assert np.size(display.ax_) == case.axes
    assert all(ax.figure is display.figure_ for ax in np.ravel(display.ax_))


@every_display
def test_plot_draws_into_the_axes_given(plt, case):
    before = plt.get_fignums()  # pages that ran before may have left some open
    figure, axes = plt.subplots(1, 4)
    target = axes[: case.axes] if case.axes > 1 else axes[0]
    display = case.make(plain(), ax=target)
    assert plt.get_fignums() == [*before, figure.number]
    assert list(np.ravel(display.ax_)) == list(np.ravel(target))
    assert [ax.has_data() for ax in axes] == [k < case.axes for k in range(4)]
    with pytest.raises(ValueError, match="axes, and ax has 4: give"):
        display.plot(axes)


#: Texts of a metric or a limit, which are no computation.
WORDS = ("label", "rate_label", "percent")


@every_display
def test_plot_computes_nothing(plt, case):  # noqa: ARG001
    display = made(case)
    before, shown = flat(display), drawn(display)
    called = []

    def note(frame, event, _):
        name = frame.f_code.co_filename
        ours = "directrix" in name and f"{ROOM}" not in name and "tests" not in name
        made = ROOM.name in name and frame.f_code.co_name.startswith(("from_", "_of"))
        if event == "call" and (ours or made) and frame.f_code.co_name not in WORDS:
            called.append(f"{name}:{frame.f_code.co_name}")

    before_that = sys.getprofile()
    sys.setprofile(note)
    try:
        display.plot()
    finally:
        sys.setprofile(before_that)
    assert called == []
    assert all(value is flat(display)[key] for key, value in before.items())
    assert drawn(display) == shown


@every_display
def test_what_is_stored_makes_the_display(plt, case):  # noqa: ARG001
    display = made(case)
    again = type(display)(**stored(display))
    assert not hasattr(again, "ax_")
    assert drawn(again.plot()) == drawn(display)


@pytest.mark.parametrize("kind", ROWS)
@displays_of_rows
def test_stored_values_are_exact(plt, case, kind):  # noqa: ARG001
    case.exact(made(case, kind), ROWS[kind]())


@displays_of_rows
def test_a_row_of_weight_k_is_k_rows(plt, case):  # noqa: ARG001
    rows = weighted()
    times = rows.weight.astype(int)
    repeated = Rows(np.repeat(rows.X, times, axis=0), np.repeat(rows.y, times))
    assert_same(made(case, "weighted"), case.make(repeated))


@displays_of_rows
def test_labels_may_be_words(plt, case):  # noqa: ARG001
    assert_same(made(case), made(case, "in words"), but=("name",))


@every_display
def test_nothing_is_outside_or_covered(plt, case):  # noqa: ARG001
    display = made(case).plot()
    figure = display.figure_
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    outside = figure.get_tightbbox(renderer)
    width, height = figure.get_size_inches()
    assert outside.x0 >= -0.02
    assert outside.y0 >= -0.02
    assert outside.x1 <= width + 0.02
    assert outside.y1 <= height + 0.02
    legends = [ax.get_legend() for ax in np.ravel(display.ax_)]
    assert any(legend is not None for legend in legends)
    for ax, legend in zip(np.ravel(display.ax_), legends, strict=True):
        assert ax.get_ylabel()
        assert not ax.get_title()
        if legend is not None:
            assert legend.get_window_extent(renderer).y0 >= ax.get_window_extent(renderer).y1 - 1
    assert np.ravel(display.ax_)[-1].get_xlabel()


@every_display
def test_a_missing_matplotlib_is_said_before_anything_is_computed(monkeypatch, case):
    line("plain"), card(), checks()  # fitted before: nothing but drawing is left to fail
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'directrix\[plot\]'"):
        case.make(plain())


def test_colours_are_written_once():
    pattern = re.compile(r"#[0-9a-fA-F]{6}\b|[\"'](red|blue|green|black|white|tab:\w+|C\d)[\"']")
    importing = {path.stem for path in ROOM.glob("*.py") if pattern.search(path.read_text("utf-8"))}
    assert importing == {"style"}


def test_costs_of_single_rows_are_drawn_for_no_threshold():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    with pytest.raises(ValueError, match="differs from row to row, and is drawn for no threshold"):
        TradeoffDisplay.from_predictions(y, rng.normal(size=200), metric=Cost(fp=5, fn="amount"))
