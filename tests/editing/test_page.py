"""The page on which a card is edited, in a real Chromium: it must compute what Python computes."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from benchmarks.studies.cards.edit_page import differences, random_edit
from directrix import ScorecardClassifier
from directrix.editing import CardEditor
from directrix.editing.page import card_page
from directrix.exceptions import EditError
from directrix.metrics.base import Curve
from directrix.metrics.table import TABLE, written

HOSTILE = ("</script><script>window.pwned=1</script>", "<img src=x onerror='window.pwned=1'>")
LONG = 'a long name, "quoted" & {{title}} 日本語 \u202e ' * 5
#: Two computations of the same sums of doubles; points are multiples of 2.3e-10.
NEAR = 1e-9
SETTINGS = {
    "positive": "bad",
    "max_lines": None,
    "max_crosses": 0,
    "warn_baseline": False,
}


def people(n=700, seed=0):
    """Return rows with hostile names and levels, missing values, and labels."""
    rng = np.random.default_rng(seed)
    age, amount = rng.normal(45, 12, n).round(), rng.gamma(2.0, 900.0, n).round()
    home = rng.choice(["own", HOSTILE[1], "rent, shared", "é'\"\u2028"], n)
    risk = (amount - 1800) / 1200 - (age - 45) / 20 + (home == "own") + rng.logistic(size=n)
    X = pd.DataFrame(
        {
            HOSTILE[0]: np.where(rng.random(n) < 0.1, np.nan, age),
            LONG: amount,
            "home": np.where(rng.random(n) < 0.05, None, home),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "member": rng.random(n) < 0.4,
        }
    )
    return X, np.where(risk > 0.8, "bad", "good")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="a browser is driven by the group 'browser'"
    )
    programs = map(shutil.which, ("chromium", "google-chrome"))
    path = next((program for program in programs if program), None)
    if path is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser, html, folder, **settings):
    """Open a page from a file; whatever it loads besides, or says, is an error."""
    path = folder / "card.html"
    path.write_text(html, encoding="utf-8")
    page = browser.new_page(**settings)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("request", lambda request: page.complaints.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    assert page.complaints.pop(0) == path.as_uri()
    return page


@pytest.fixture(scope="module")
def editor():
    X, y = people()
    return CardEditor.of(ScorecardClassifier("recall@fpr=0.1", **SETTINGS), X, y)


@pytest.fixture
def page(browser, editor, tmp_path):
    page = opened(browser, editor.to_html(), tmp_path)
    yield page
    assert page.complaints == []
    page.close()


# ── the arithmetic is that of Python ──────────────────────────────────────────────────────────────


def test_every_metric_chooses_the_threshold_of_python(page):
    rng = np.random.default_rng(0)
    for row in TABLE:
        if row.name in {"precision_at_k", "recall_at_k", "prbep", "from_rates"}:
            continue
        metric, n = row.example, 200
        y = rng.random(n) < 0.3
        scores = np.round(rng.normal(size=n) + y, 1)  # with ties
        best = metric.best(Curve.of(y, scores))
        given = {
            "text": written(metric),
            "label": metric.label,
            "parameters": dataclasses.asdict(metric),
            "greater_is_better": metric.greater_is_better,
            "at": None,
        }
        code = """([given, scores, y]) => {
            const metric = new PageMetric(given), part = new Uint8Array(y.length);
            const ranked = rankRows(Float64Array.from(scores), Uint8Array.from(y), null, part, 1);
            const curve = curveOf(ranked, [0]), index = metric.best(curve);
            return [index, metric.value(curve, index)];
        }"""
        index, value = page.evaluate(code, [given, scores.tolist(), y.astype(int).tolist()])
        assert value == pytest.approx(best.value, abs=1e-12), row.name
        assert index == best.index, row.name


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("metric", "points"),
    [("recall@fpr=0.1", "log-odds"), ("auc", "pdo"), ("error", "integer"), ("f1", "log-odds")],
)
def test_random_edits_give_the_card_and_price_of_python(browser, tmp_path, metric, points):
    X, y = people()
    edited = CardEditor.of(ScorecardClassifier(metric, points=points, **SETTINGS), X, y)
    page = opened(browser, edited.to_html(), tmp_path)
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert max(differences(page, edited).values()) < NEAR
        edited = random_edit(edited, rng)
        page.evaluate("edit => editor.apply(edit)", edited.log()[-1])
    assert max(differences(page, edited).values()) < NEAR
    assert page.evaluate("editor.countLines(editor.now)") == edited.price()[-1].lines
    assert page.complaints == []


def test_page_begins_with_the_edits_made_in_python(browser, editor, tmp_path):
    edited = editor.drop("member").merge("home", 0, 1)
    page = opened(browser, edited.to_html(), tmp_path)
    assert max(differences(page, edited).values()) < NEAR
    assert page.locator("#list li").count() == 2
    page.get_by_role("button", name="Undo").click()
    assert max(differences(page, editor.drop("member")).values()) < NEAR


def test_saved_edits_give_the_same_card_in_python(page, editor, tmp_path):
    page.get_by_role("button", name="Leave member out of the card").click()
    page.get_by_label("Risk").first.select_option("increasing")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save edits").first.click()
    path = tmp_path / "edits.json"
    download.value.save_as(path)
    assert len(json.loads(path.read_text(encoding="utf-8"))["edits"]) == 2
    assert max(differences(page, editor.apply(path)).values()) < NEAR


def test_rows_have_the_points_of_the_card(page, editor):
    X, _ = people(40, seed=1)
    X.loc[0, "home"] = "never seen"
    card = editor.card
    expected = card.points(card_cells(editor, X))
    texts = X.astype(object).where(X.notna(), "").to_numpy()
    code = """rows => rows.map(row => {
        const text = value => value === true ? "1" : value === false ? "0" : String(value);
        return editor.pointsOf(row.map((value, k) => editor.cellOf(k, text(value))));
    })"""
    rows = [[v.date().isoformat() if hasattr(v, "date") else v for v in row] for row in texts]
    assert page.evaluate(code, rows) == pytest.approx(expected.tolist(), abs=NEAR)


def card_cells(editor, X):
    from directrix import Binner

    return Binner.from_json(editor.state()["bins"]).cells(X)


# ── what people do ────────────────────────────────────────────────────────────────────────────────


def lines_of(page, column):
    return page.evaluate("k => editor.now.columns[k].groups.map(group => group.label)", column)


def test_two_clicks_merge_bins_and_undo_takes_it_back(page):
    before = lines_of(page, 2)
    buttons = page.locator("#column-2 .bin button[data-key^=b]")
    buttons.nth(0).click()
    assert buttons.nth(0).get_attribute("aria-pressed") == "true"
    buttons.nth(1).click()
    assert len(lines_of(page, 2)) == len(before) - 1
    assert "merge" in page.inner_text("#list")
    page.get_by_role("button", name="Undo").click()
    assert lines_of(page, 2) == before


def test_keyboard_chooses_merges_moves_and_removes(page):
    buttons = page.locator("#column-1 .bin button[data-key^=b]")
    n_lines = len(lines_of(page, 1))
    buttons.nth(0).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    buttons.nth(1).focus()
    page.keyboard.press("Enter")
    assert len(lines_of(page, 1)) == n_lines - 1
    handle = page.locator("#column-1 .cut").first
    at = int(handle.get_attribute("aria-valuenow"))
    handle.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("editor.cutsOf(1)[0]") == at - 1
    assert page.evaluate("document.activeElement.getAttribute('aria-valuenow')") == str(at - 1)
    page.keyboard.press("Delete")
    assert len(lines_of(page, 1)) == n_lines - 2


def test_cut_is_dragged_and_dragged_away(page):
    page.evaluate("apply(editor.cutEdit(1, [5, 20, 30]))")
    chart = page.locator("#column-1 .chart")
    chart.scroll_into_view_if_needed()
    box, size = chart.bounding_box(), page.evaluate("editor.blocks[1].nOrdered")
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 20 / size, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 15 / size, middle, steps=4)
    page.mouse.up()
    assert page.evaluate("editor.cutsOf(1)") == [5, 15, 30]
    page.mouse.move(box["x"] + box["width"] * 15 / size, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 15 / size, box["y"] - 120, steps=4)
    page.mouse.up()
    assert page.evaluate("editor.cutsOf(1)") == [5, 30]


def test_points_that_are_typed_in_are_kept(page):
    field = page.locator("#column-2 input.points").first
    field.fill("7")
    field.press("Enter")
    assert page.evaluate("editor.now.columns[2].groups[0].points") == 7
    page.get_by_role("button", name="Leave member out of the card").click()
    assert page.evaluate("editor.now.columns[2].groups[0].points") == 7


def test_missing_values_join_a_bin_and_leave_it(page):
    column = page.evaluate("editor.blocks.findIndex(block => block.missing >= 0)")
    before = lines_of(page, column)
    missing = page.locator(f"#column-{column} .bin button", has_text="missing").first
    missing.click()
    page.locator(f"#column-{column} .bin button[data-key^=b]").first.click()
    assert lines_of(page, column)[0].endswith("; missing")
    page.get_by_role("button", name="a line of their own").first.click()
    assert lines_of(page, column) == before


def test_slider_counts_people_and_money(page, editor):
    state, cutoff = editor.state(), 0.25
    page.locator("#cutoff-number").fill(str(cutoff))
    page.locator("#daily").fill("500")
    page.locator("#cost-fp").fill("2")
    page.locator("#cost-fn").fill("30")
    scores = np.array(page.evaluate("Array.from(editor.now.scores)"))
    at = page.evaluate("cut => editor.now.toScore(cut)", cutoff)
    positive, flagged = state["positive_rows"], scores > at
    cells = page.locator("#confusion tbody td").all_inner_texts()
    table = [int(text.replace(",", "")) for text in cells]
    both = [int((positive & flagged).sum()), int((positive & ~flagged).sum())]
    assert table[:3] == [*both, int(positive.sum())]
    assert table[3] == int((~positive & flagged).sum())
    figures = page.locator("#figures b").all_inner_texts()
    shown = [float(text.replace(",", "").removesuffix("%")) for text in figures]
    n, n_flagged, n_positive = len(positive), both[0] + table[3], int(positive.sum())
    cost = 500 * (2 * table[3] + 30 * both[1]) / n
    rates = [both[0] / n_positive, table[3] / (n - n_positive), both[0] / n_flagged]
    expected = [*(100 * rate for rate in rates), 500 * n_flagged / n]
    assert shown[:4] == pytest.approx(expected, abs=0.051)  # as it is rounded
    assert shown[4] == pytest.approx(cost, abs=0.51)


def test_small_counts_are_hidden_on_request(browser, editor, tmp_path):
    shown = opened(browser, editor.to_html(), tmp_path)
    few = shown.evaluate("Math.min(...editor.now.columns[1].groups.map(group => group.rows))")
    hidden = opened(browser, editor.to_html(hide_below=int(few) + 1), tmp_path)
    assert f"< {int(few) + 1}" not in shown.inner_text("#column-1 table")
    assert f"< {int(few) + 1}" in hidden.inner_text("#column-1 table")


# ── names, people, screens and files ──────────────────────────────────────────────────────────────


def test_hostile_names_are_texts(page):
    assert page.evaluate("window.pwned === undefined")
    text = page.inner_text("#columns") + page.inner_text("#form")
    for name in (*HOSTILE, LONG.strip()):
        assert " ".join(name.split()) in " ".join(text.split())
    assert page.locator("img").count() == 0


@pytest.mark.every_case
@pytest.mark.parametrize("width", [1400, 400])
def test_page_fits_its_window(browser, editor, tmp_path, width):
    page = opened(browser, editor.to_html(), tmp_path, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = """[...document.querySelectorAll('.column, .panel, .figure')].map(
        element => element.scrollWidth - element.clientWidth)"""
    assert max(page.evaluate(boxes)) <= 0


NAMELESS = """() => {
    const controls = [...document.querySelectorAll('button, input, select, [role=slider]')];
    const named = e => e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim();
    return controls.filter(control => !named(control)).length;
}"""
#: Texts whose contrast is less than 4.5, by the formula of WCAG 2.
FAINT = r"""() => {
    const numbers = text => text.match(/[\d.]+/g).map(Number);
    const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) =>
        .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
    const ground = element => {
        for (let e = element; e; e = e.parentElement) {
            const colour = numbers(getComputedStyle(e).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const contrast = e => {
        const both = [numbers(getComputedStyle(e).color), ground(e)].map(luminance);
        return (Math.max(...both) + .05) / (Math.min(...both) + .05);
    };
    const hasText = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    return [...document.querySelectorAll('body *')]
        .filter(e => hasText(e) && !e.disabled && !e.closest('script, noscript'))
        .filter(e => contrast(e) < 4.5).map(e => e.outerHTML.slice(0, 80));
}"""


def test_every_control_has_a_name_and_text_has_contrast(page):
    assert page.evaluate(NAMELESS) == 0
    assert page.evaluate(FAINT) == []


def test_file_of_25_columns_and_20000_rows_is_at_most_2_mb(editor, figure):
    rng, state = np.random.default_rng(0), editor.state()
    n, columns, cells = 20_000, 25, 12
    names = [f"column {k}" for k in range(columns)]
    blocks = [
        {**state["blocks"][1], "name": name, "first": cells * k, "n_atoms": cells}
        for k, name in enumerate(names)
    ]
    atoms = (rng.integers(0, cells, (n, columns)) + cells * np.arange(columns)).astype(np.uint16)
    large = {
        **state,
        "blocks": blocks,
        "atoms": atoms,
        "fold": rng.integers(0, 5, n).astype(np.uint8),
        "positive_rows": rng.random(n) < 0.1,
        "curvature": rng.integers(0, 256, (6, n)).astype(np.uint8),
        "first": rng.normal(size=(6, columns * cells + 1)),
    }
    size = len(card_page(large, "a card").encode())
    figure(f"page of {columns} columns and {n} rows: {size / 1e6:.2f} MB")
    assert size <= 2_000_000


def test_page_is_written_to_a_file(editor, tmp_path):
    path = tmp_path / "card.html"
    html = editor.to_html(path, title="A <card> & more")
    assert path.read_text(encoding="utf-8") == html
    assert "<title>A &lt;card&gt; &amp; more</title>" in html
    assert html.count("<script") == 2
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_notebook_shows_the_page_in_a_frame(browser, editor):
    shown = editor._repr_html_()
    assert shown.startswith("<iframe")
    assert shown.count("<") == 2  # all of the page is inside the attribute
    page = browser.new_page()
    page.set_content(shown)
    page.frame_locator("iframe").get_by_role("button", name="Leave member out of the card").click()
    assert "member: left out" in page.frame_locator("iframe").locator("#list").inner_text()


def test_metric_that_the_page_lacks_is_refused(editor):
    state = editor.state()
    state["metric"] = {**state["metric"], "name": "other", "label": "recall of the top 10 %"}
    with pytest.raises(EditError, match="cannot compute recall of the top 10 %"):
        card_page(state, "a card")
