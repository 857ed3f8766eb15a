"""Edits of a card: their laws, their prices, their log, and the lockbox that none of them sees."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.editing import CardEditor
from directrix.editing.base import filled_cells
from directrix.editing.edited import best_index
from directrix.editing.log import EditLog
from directrix.exceptions import (
    BinNotFoundError,
    ColumnNotFoundError,
    EditError,
    LockboxReadWarning,
    NearestCutsWarning,
)
from directrix.fit.guarantee import finite_threshold
from directrix.metrics.base import Curve
from directrix.tables import NumberBins

SCALES = ("log-odds", "integer", "pdo")
#: Editors are shared by tests, which read their lockboxes again.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.LockboxReadWarning")


def table(n=900, seed=0):
    """Return a small table with numbers, missing values and texts, and its labels."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    income = np.exp(rng.normal(7, 0.5, n))
    home = rng.choice(["own", "rent", "free"], n)
    risk = np.abs(age - 45) / 12 - (income > 1500) + (home == "rent") + rng.logistic(size=n)
    income[::9] = np.nan
    return pd.DataFrame({"age": age, "income": income, "home": home}), risk > 2


def editor(points="log-odds", metric="auc", crosses=0, lockbox=0.2, rows=None, **parameters):
    """Return an editor of a card that is quick to fit."""
    X, y = table() if rows is None else rows
    settings = {"max_lines": 14, "max_crosses": crosses, "cv": 3}
    settings["warn_baseline"] = False  # the cards are short
    classifier = ScorecardClassifier(metric, points=points, **(settings | parameters))
    return CardEditor.of(classifier, X, y, lockbox=lockbox)


@pytest.fixture(scope="module", params=SCALES)
def edit(request):
    """An editor of a card in one of three scales."""
    return editor(request.param, "recall@fpr=0.2")


def many_edits(edit):
    """Return an editor after an edit of each kind."""
    edit = edit.merge("age", 0, 1).join_missing("income", 0).monotone("income", "decreasing")
    return edit.points("home", {"rent": 30}).cuts("age", [25, 40, 60]).drop("income")


def same_prices(one, other, within=0.0):
    """Return whether two editors show the same numbers."""
    pairs = zip(one.price(), other.price(), strict=True)
    return all(
        np.allclose([*a[1:3], *a.expected, *a.gap], [*b[1:3], *b.expected, *b.gap], 0, within)
        for a, b in pairs
    )


# ── Laws ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_log_replays_as_dicts_as_json_and_as_code(edit, tmp_path):
    made = many_edits(edit)
    path = tmp_path / "edits.json"
    made.log().save(path)
    for log in (made.log(), list(made.log()), made.log().to_json(), path):
        assert same_prices(edit.apply(log), made)
    names = {"edit": edit}
    exec(str(made.log()), names)  # noqa: S102 - the code that the log prints
    assert same_prices(names["edit"], made)
    assert names["edit"].log() == made.log()


def test_edits_return_new_editors_and_lose_nothing(edit):
    before = edit.price()
    after = edit.drop("age")
    assert edit.n_edits == 0
    assert edit.price() == before
    assert after.price()[0] == before[0]
    assert after.log() == ({"edit": "drop", "column": "age"},)


def test_merging_all_lines_of_a_column_is_dropping_it(edit):
    last = len(edit.lines("age")) - 1
    merged, dropped = edit.merge("age", 0, last), edit.drop("age")
    assert merged.price()[-1][1:] == dropped.price()[-1][1:]
    np.testing.assert_array_equal(merged.card.columns[0], 0.0)


def test_edits_of_different_columns_commute(edit):
    one = edit.merge("age", 1, 2).drop("home")
    other = edit.drop("home").merge("age", 1, 2)
    assert one.price()[-1][1:5] == other.price()[-1][1:5]


def test_fixed_points_stay_and_the_others_are_fitted_around_them(edit):
    free = {line.label: line.points for line in edit.lines("age")}
    made = edit.points("home", {"rent": 95})
    shown = {line.label: line for line in made.lines("home")}
    assert shown["rent"].points == 95
    assert shown["rent"].is_fixed
    assert sum(line.is_fixed for line in shown.values()) == 2  # and one that it is relative to
    card = made.drop("income").merge("age", 0, 1).card
    home = card.columns[2][card.bins[2].cell_of("rent")]
    assert home == 95
    assert {line.label: line.points for line in made.lines("age")} != free
    again = made.points("home", {line.label: None for line in shown.values()})
    np.testing.assert_allclose(again.card.columns[2], edit.card.columns[2], atol=1e-9)


def test_points_of_two_lines_need_no_other_to_be_relative_to(edit):
    first, second = (line.label for line in edit.lines("home")[:2])
    made = edit.points("home", {first: 10, second: 0})
    assert made.log()[0]["points"] == [[0, 10.0], [1, 0.0]]


def test_a_line_has_one_number_of_points(edit):
    merged = edit.merge("home", 0, len(edit.lines("home")) - 1)
    with pytest.raises(EditError, match="'home' has both 10 and 0 points"):
        merged.points("home", {"own": 10, "rent": 0})


def test_lines_are_found_as_the_card_prints_them():
    X, y = table()
    settings = {"max_crosses": 0, "points": "integer"}
    made = CardEditor.of(ScorecardClassifier("auc", **settings), X[["home", "age"]], y)
    shown = [line.label for line in made.lines("home")]
    printed = [row.bin for row in made.card.table(1) if row.column == "home"]
    assert sorted(printed) == sorted(shown)
    for index, label in enumerate(shown[1:], start=1):
        assert made.merge("home", 0, label).log() == made.merge("home", 0, index).log()


def test_a_level_that_ends_like_a_printed_line_is_itself():
    X, y = table()
    X = X[["home"]].replace({"free": "own; other"})
    settings = {"max_crosses": 0, "max_lines": None, "warn_baseline": False}
    made = CardEditor.of(ScorecardClassifier("auc", **settings), X, y)
    lines = made.lines("home")
    assert {"own", "own; other"} <= {line.label for line in lines}
    for line in lines:
        assert f"{{{line.index}: 1.0" in str(made.points("home", {line.label: 1}).log())


def test_directions_are_kept_by_merging_neighbours(edit):
    for direction, sign in (("increasing", 1), ("decreasing", -1)):
        card = edit.monotone("age", direction).card
        steps = np.diff(card.columns[0][1 : 1 + card.bins[0].n_ordered])
        assert (sign * steps * (1 if card.higher_is_positive else -1) >= 0).all()
    free = edit.monotone("age", "increasing").monotone("age", None)
    assert free.price()[-1][2:5] == edit.price()[-1][2:5]


def test_levels_have_a_direction_if_they_are_listed(edit):
    by_points = sorted(edit.lines("home"), key=lambda line: line.points)
    rising = [line.label for line in by_points]
    rising = rising if edit.card.higher_is_positive else rising[::-1]
    kept = edit.monotone("home", rising)
    assert kept.price()[-1][2:5] == edit.price()[-1][2:5]
    turned = edit.monotone("home", rising[::-1])
    assert len({line.points for line in turned.lines("home")}) == 1


def test_missing_values_join_a_line_and_leave_it(edit):
    apart = edit.join_missing("income")
    assert "missing" in [line.label for line in apart.lines("income")]
    joined = apart.join_missing("income", 0)
    assert joined.lines("income")[0].label.endswith("missing")
    cells = joined.card.columns[1]
    assert cells[0] == cells[1]
    assert joined.join_missing("income").price()[-1][1:5] == apart.price()[-1][1:5]


def test_own_cuts_are_exact_with_rows(edit):
    made = edit.cuts("age", [25, 40.25, 60])
    assert [line.label for line in made.lines("age")] == [
        "<= 25",
        "25 to 40.25",
        "40.25 to 60",
        "> 60",
    ]
    X, y = table()
    kept = made.fit()
    assert (
        kept.card_.bins[0].cells(np.array([25.0, 25.1])).tolist()[0] + 1
        == (kept.card_.bins[0].cells(np.array([25.0, 25.1])).tolist()[1])
    )
    rows = sum(line.rows for line in made.lines("age"))
    assert rows == sum(line.rows for line in edit.lines("age"))
    points = kept.predict_points(X)
    assert len(points) == len(y)


def test_cuts_without_rows_are_the_nearest_and_it_says_so(edit):
    without = CardEditor.load(edit.state())
    with pytest.warns(NearestCutsWarning, match="the nearest cuts") as caught:
        made = without.cuts("age", [25.1, 40.2])
    used = caught[0].message.used
    shown = [line.label for line in made.lines("age") if line.label != "missing"]
    assert shown == [f"<= {used[0]:g}", f"{used[0]:g} to {used[1]:g}", f"> {used[1]:g}"]


def test_cuts_that_exist_already_change_no_counts(edit):
    upper = edit.state()["blocks"][0]["upper"]
    made = edit.cuts("age", upper[1:4])
    assert made._base is edit._base
    assert len(made.lines("age")) == 4


# ── Prices ────────────────────────────────────────────────────────────────────────────────────────


def dense_refit(rows, arrangement, teacher):
    """Return points of all atoms by a plain regression on rows, without directions."""
    q = rows.curve[teacher] / 1020.0 * rows.rows.weight
    names = np.unique(arrangement.group)
    used = [
        name
        for block in rows.blocks
        for name in names[np.isin(names, list(block))]
        if len(np.unique(arrangement.group[block.start : block.stop])) > 1
    ]
    X = np.zeros((len(q), len(used) + 1))
    X[:, -1] = 1.0
    for k, name in enumerate(used):
        X[:, k] = np.isin(rows.of_rows, np.flatnonzero(arrangement.group == name)).any(axis=0)
    ridge = np.diag([0.1] * len(used) + [0.0]) + 1e-9 * np.eye(len(used) + 1)
    of_groups = [np.flatnonzero(arrangement.group == name) for name in used]
    first = [rows.first[teacher][members].sum() for members in of_groups]
    right = np.append(first, rows.first[teacher][-1])
    solution = np.linalg.solve(X.T @ (X * q[:, None]) + ridge, right)
    return X @ solution


@pytest.mark.parametrize("metric", ["auc", "error", "recall@fpr=0.2", "f1"])
def test_a_price_is_that_of_a_plain_regression_of_all_rows(metric):
    edit = editor(metric=metric, crosses=2)
    made = edit.merge("age", 0, 2).drop("home")
    present = made._present
    rows, arrangement = present.rows, present.arrangement
    scores = np.empty(len(rows.rows.positive))
    for fold in range(rows.n_folds):
        inside = rows.rows.fold == fold
        scores[inside] = dense_refit(rows, arrangement, 1 + fold)[inside]
    np.testing.assert_allclose(present.held_out, scores, atol=1e-8)
    curve = Curve.of(rows.rows.positive, np.round(scores, 7), rows.rows.weight)
    by = present.metric
    price = made.price()[-1]
    if by.uses_threshold:
        index = best_index(present.at, curve)
        value = by.at_rates(curve.tpr[index], curve.fpr[index], curve.prior)
        above = np.zeros(2)
        for fold in range(rows.n_folds):
            inside = rows.rows.fold == fold
            others = Curve.of(rows.rows.positive[~inside], np.round(scores[~inside], 7))
            flagged = inside & (scores > finite_threshold(others, best_index(present.at, others)))
            above += [(flagged & side).sum() for side in (rows.rows.positive, ~rows.rows.positive)]
        rates = above[0] / curve.positives, above[1] / curve.negatives
        assert price.expected.value == pytest.approx(by.at_rates(*rates, curve.prior), abs=1e-9)
    else:
        value = by.best_value(curve)
    assert price.metric == pytest.approx(value, abs=1e-9)
    assert price.expected.low < price.expected.value < price.expected.high


def test_scores_of_the_card_are_those_that_were_priced(edit):
    made = many_edits(edit)
    fitted, base = made.fit(), made._base
    present = made._present
    rows = base.table.values
    points = fitted.card_.points(
        np.column_stack(
            [
                bins.cells(column)
                if bins.n_ordered
                else bins.cells(column, ["free", "own", "rent"])
                for bins, column in zip(fitted.card_.bins, rows.T, strict=True)
            ]
        )
    )
    sign = 1 if fitted.card_.higher_is_positive else -1
    order = np.argsort(sign * points, kind="stable")
    assert len(order) == len(present.held_out)
    assert fitted.operating_point_.empirical == present.assessment.empirical
    assert fitted.operating_point_.expected != present.assessment.expected  # that of the lockbox


def test_a_card_of_noise_is_priced_at_chance():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(600, 4)), rng.random(600) < 0.4
    edit = editor(rows=rows, max_lines=10)
    price = edit.merge(0, 0, 1).price()[-1]
    assert price.expected.low < 0.5 < price.expected.high
    fitted = edit.fit()
    assert fitted.report_.expected.low < 0.5 < fitted.report_.expected.high


def test_prices_print_as_a_table_and_as_a_frame(edit):
    made = edit.drop("home")
    text = str(made.price())
    assert "drop('home')" in text
    assert len(text.splitlines()) == 3
    frame = made.price().to_frame()
    assert frame["edit"].tolist()[1] == "drop('home')"
    assert frame["gap"][0] == 0
    assert "drop" in made.price()._repr_html_()


# ── The classifier, files and the lockbox ─────────────────────────────────────────────────────────


def test_an_editor_prints_its_card_its_rows_and_its_prices():
    X, y = table()
    card = ScorecardClassifier("auc", positive="bad", max_crosses=0)
    edit = CardEditor.of(card, X, np.where(y, "bad", "good"))
    assert "is predicted 'bad'" in str(edit)
    assert str(edit.card) == str(edit.fit().card_)
    said = re.search(r"made of (\d+) rows, without the lockbox of (\d+) rows, which", str(edit))
    assert sum(map(int, said.groups())) == 900
    assert str(edit).endswith(str(edit.price()))
    assert "made of 900 rows\n" in str(
        CardEditor.of(card, X, np.where(y, "bad", "good"), lockbox=None)
    )


def test_the_classifier_is_like_any_other(edit, tmp_path):
    from directrix.export import load, save, to_sql

    X, _ = table()
    made = many_edits(edit).fit()
    assert isinstance(made, ScorecardClassifier)
    assert "age" in to_sql(made).score
    save(made, tmp_path / "card.dx")
    again = load(tmp_path / "card.dx")
    np.testing.assert_array_equal(again.decision_function(X), made.decision_function(X))
    assert made.reasons(X[:3], k=2) is not None
    assert len(made.card_.bands(3)) <= 3
    assert "After 6 edits" in str(made.report_)
    if edit._base.scale.is_whole:
        assert made.card_.is_whole


def test_edits_of_a_saved_editor_give_the_same_card(edit, tmp_path):
    X, _ = table()
    made = many_edits(edit)
    edit.cuts("age", [25, 40, 60]).save(tmp_path / "finer.json")
    made.save(tmp_path / "editor.json")
    again = CardEditor.load(tmp_path / "editor.json")
    assert again.log() == made.log()
    assert same_prices(again, made, 1e-9)
    fitted, other = made.fit(), again.fit()
    np.testing.assert_allclose(other.decision_function(X), fitted.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(other.predict_proba(X), fitted.predict_proba(X), atol=1e-9)
    assert other.report_.expected == fitted.report_.expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockboxReadWarning)
        log = edit.drop("home").log()
        third = edit.apply(log.to_json()).fit()
    assert not third.card_.columns[2].any()
    json.loads((tmp_path / "editor.json").read_text())


@pytest.mark.parametrize("layout", [0, 2])
def test_editors_and_edits_of_another_version_are_refused(edit, layout):
    words = f"of another version: {layout}, and this program reads 1"
    with pytest.raises(EditError, match=words):
        CardEditor.load(edit.state() | {"layout": layout})
    log = {"layout": layout, "edits": [{"edit": "drop", "column": "age"}]}
    with pytest.raises(EditError, match=words):
        edit.apply(json.dumps(log))


def test_labels_and_weights_of_the_lockbox_are_seen_by_no_edit():
    X, y = table()
    apart = np.zeros(len(y), dtype=bool)
    apart[::4] = True
    one = editor(lockbox=apart, rows=(X, y))
    other = editor(lockbox=apart, rows=(X, y ^ apart))  # all of its labels turned
    assert one.price() == other.price()
    made, turned = one.merge("age", 0, 1), other.merge("age", 0, 1)
    assert made.price() == turned.price()
    fitted, against = made.fit(), turned.fit()
    np.testing.assert_array_equal(fitted.predict_points(X), against.predict_points(X))
    for counts in fitted.card_.counts:
        assert counts.sum() == (~apart).sum()
    sum_of_areas = fitted.report_.expected.value + against.report_.expected.value
    assert sum_of_areas == pytest.approx(1.0)


def test_the_lockbox_is_a_share_of_each_class_that_does_not_depend_on_the_order_of_rows():
    X, y = table()
    one = editor(rows=(X, y))
    box = one._base.lockbox
    assert abs(len(box.positive) - len(y) / 5) < 3
    assert abs(box.positive.mean() - y.mean()) < 0.01
    order = np.random.default_rng(1).permutation(len(y))
    other = editor(rows=(X.iloc[order], y[order]))
    assert other.price() == one.price()


def test_a_lockbox_that_is_read_again_after_more_edits_warns(edit):
    fresh = CardEditor.load(edit.state() | {"lockbox": None})
    assert fresh.fit().report_.rows.startswith("held-out rows")
    boxed = editor()
    boxed.fit()
    boxed.fit()  # the same card: nothing was chosen in between
    with pytest.warns(LockboxReadWarning, match="after 0 edits"):
        boxed.drop("home").fit()


def test_weights_count_rows():
    X, y = table(500)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) + 0.5
    classifier = ScorecardClassifier("auc", max_lines=10, max_crosses=0, cv=3)
    made = CardEditor.of(classifier, X, y, weight)
    again = CardEditor.load(made.state())
    assert same_prices(made.drop("home"), again.drop("home"), 1e-9)


# ── What is refused ───────────────────────────────────────────────────────────────────────────────


def test_columns_and_bins_that_do_not_exist_are_named(edit):
    with pytest.raises(ColumnNotFoundError, match="did you mean 'income'"):
        edit.drop("incme")
    with pytest.raises(BinNotFoundError, match="rent"):
        edit.merge("home", "rnt", "own")
    with pytest.raises(EditError, match="has lines 0 to"):
        edit.merge("age", 0, 99)


def test_edits_that_cannot_be_made_say_what_to_do(edit):
    cases = [
        (lambda: edit.cuts("home", [1]), "merge its lines"),
        (lambda: edit.cuts("age", ["x"]), "cuts must be numbers"),
        (lambda: edit.cuts("age", [np.inf]), "cuts must be finite"),
        (lambda: edit.join_missing("age"), "missing_with"),
        (lambda: edit.monotone("age", "up"), "'increasing' or 'decreasing'"),
        (lambda: edit.monotone("age", ["a"]), "has no levels"),
        (lambda: edit.monotone("home", "increasing"), "have no order: give its levels"),
        (lambda: edit.points("home", {0: np.nan}), "finite"),
        (lambda: edit.apply([{"edit": "split", "column": "age"}]), "edits are merge"),
        (lambda: edit.apply([{"edit": "merge", "column": "age"}]), "it lacks 'from'"),
        (lambda: edit.apply("{}"), "list of dicts"),
        (lambda: edit.apply([{"edit": "points", "column": "age", "points": [[77, 1]]}]), "lines 0"),
    ]
    for call, message in cases:
        with pytest.raises(EditError, match=message):
            call()
    if edit._base.scale.is_whole:
        with pytest.raises(EditError, match="whole numbers"):
            edit.points("home", {0: 1.5})
    first, second = (line.label for line in edit.lines("home")[:2])
    fixed = edit.points("home", {first: 1, second: 2})
    with pytest.raises(EditError, match="free one of them"):
        fixed.merge("home", first, second)


def test_fixed_points_that_break_a_direction_are_refused(edit):
    rising = edit._base.scale.kappa > 0
    wrong = {0: 9, 1: 3} if rising else {0: 3, 1: 9}
    with pytest.raises(EditError, match="break the direction"):
        edit.monotone("age", "increasing").points("age", wrong)


def test_parameters_that_an_editor_has_no_use_for_are_refused():
    X, y = table(200)
    for parameters in ({"guarantee": 0.9}, {"class_weight": "balanced"}):
        with pytest.raises(EditError, match="does not go with"):
            CardEditor.of(ScorecardClassifier("recall@fpr=0.1", **parameters), X, y)
    with pytest.raises(ValueError, match="Only binary classification"):
        CardEditor.of(ScorecardClassifier(), X, np.arange(200) % 3)
    for lockbox, message in (
        (0.9, "at most one half"),
        ([True], "booleans"),
        (0.01, "rows of each"),
    ):
        with pytest.raises(EditError, match=message):
            CardEditor.of(ScorecardClassifier(), X[:80], y[:80], lockbox=lockbox)
    with pytest.raises(EditError, match="both classes"):
        CardEditor.of(ScorecardClassifier(), X, y, lockbox=y)


def test_bins_without_rows_belong_to_the_bin_before_them():
    bins = NumberBins("x", "number", (1.0, 2.0, 3.0), (0.0, 1.5, 2.5, 4.0))
    assert filled_cells(bins, np.array([-1, -1, 5, -1, 6])).tolist() == [-1, 5, 5, 5, 6]


def test_a_log_is_a_tuple_of_dicts():
    log = EditLog.read([{"edit": "drop", "column": "age"}])
    assert str(log) == "edit = edit.drop('age')"
    assert json.loads(log.to_json())["edits"] == [{"edit": "drop", "column": "age"}]
