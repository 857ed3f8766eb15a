"""The page on which a card is edited, in a real Chromium: it must compute what Python computes."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.metrics.base import Curve
from directrix.metrics.table import TABLE, written
from directrix.models.page import card_page

HOSTILE = ("</script><script>window.pwned=1</script>", "<img src=x onerror='window.pwned=1'>")
LONG = "a long name, \"quoted\" & {{title}} 日本語 \u202e " * 5
#: Two computations of the same sums of doubles; points are multiples of 2.3e-10.
NEAR = {"rel": 1e-9, "abs": 1e-9}


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
    card = ScorecardClassifier("recall@fpr=0.1", positive="bad", max_lines=None, max_crosses=0)
    return card.edit(X, y)


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


NOW = """() => {
    const {now, start, steps} = editor, gap = editor.gap(now, start), last = steps[steps.length - 1];
    const lines = now.columns.map(column => column.groups.map(group => group.points));
    return {lines, intercept: now.intercept, cutoff: now.cutoff, metric: now.value,
            expected: [now.expected, ...now.interval], gap: [gap.mean, gap.low, gap.high],
            step: last ? last.gap.mean : 0};
}"""


def random_edit(editor, columns, rng):
    """Return an edit that the card allows, or None."""
    column = columns[rng.integers(len(columns))]
    lines = editor.lines(column)
    kind = rng.choice(["merge", "cuts", "join_missing", "monotone", "points", "drop"], p=PROBABILITY)
    return column, lines, kind


PROBABILITY = [0.35, 0.25, 0.1, 0.15, 0.1, 0.05]


def after_random_edit(editor, rng):
    """Return the editor after an edit drawn at random; edits that are refused are drawn again."""
    from directrix.exceptions import EditError

    blocks = editor.state()["blocks"]
    while True:
        block = blocks[rng.integers(len(blocks))]
        lines, name = editor.lines(block["name"]), block["name"]
        uppers = [end for end in block.get("upper", []) if end is not None]
        kind = rng.choice(["merge", "cuts", "missing", "monotone", "points", "drop"], p=PROBABILITY)
        line = int(rng.integers(len(lines)))
        try:
            if kind == "merge" and line:
                return editor.merge(name, line - 1, line)
            if kind == "cuts" and uppers and block["kind"] != "boolean":
                size = int(rng.integers(0, len(uppers) + 1))
                return editor.cuts(name, sorted(rng.choice(uppers, size, replace=False).tolist()))
            if kind == "missing" and block["missing"] >= 0:
                return editor.join_missing(name, None if rng.random() < 0.3 else line)
            if kind == "monotone" and block["n_ordered"] > 1:
                return editor.monotone(name, rng.choice(["increasing", "decreasing", ""]) or None)
            if kind == "points" and len(lines) > 1:
                free = rng.random() < 0.3
                value = round(lines[line].points + float(rng.normal(0, 3)))
                return editor.points(name, {line: None if free else value})
            if kind == "drop" and len(lines) > 1:
                return editor.drop(name)
        except EditError:
            continue


def assert_same_card(page, editor):
    """Check that the page shows the card and the price that Python has."""
    shown, price = page.evaluate(NOW), editor.price()[-1]
    for block, points in zip(editor.state()["blocks"], shown["lines"], strict=True):
        expected = [line.points for line in editor.lines(block["name"])]
        assert points == pytest.approx(expected, **NEAR), block["name"]
    card = editor.card
    assert shown["intercept"] == pytest.approx(card.intercept, **NEAR)
    assert shown["cutoff"] == pytest.approx(card.cutoff, **NEAR)
    assert shown["metric"] == pytest.approx(price.metric, **NEAR)
    assert shown["expected"] == pytest.approx(list(price.expected), **NEAR)
    assert shown["gap"] == pytest.approx(list(price.gap), **NEAR)
    assert shown["step"] == pytest.approx(price.step.mean, **NEAR)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("metric", "points"),
    [("recall@fpr=0.1", None), ("auc", "pdo"), ("error", "integer"), ("f1", None)],
)
def test_random_edits_give_the_card_and_price_of_python(browser, tmp_path, metric, points):
    X, y = people()
    settings = {"max_lines": None, "max_crosses": 0, "learn_from": "counts"}
    editor = ScorecardClassifier(metric, positive="bad", points=points, **settings).edit(X, y)
    page = opened(browser, editor.to_html(), tmp_path)
    assert_same_card(page, editor)
    rng = np.random.default_rng(0)
    for _ in range(6):
        editor = after_random_edit(editor, rng)
        page.evaluate("edit => editor.apply(edit)", editor.log()[-1])
        assert_same_card(page, editor)
    assert page.complaints == []


def test_saved_edits_give_the_same_card_in_python(page, editor, tmp_path):
    page.get_by_role("button", name="Leave member out of the card").click()
    page.get_by_label("Risk").first.select_option("rises")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save edits").first.click()
    path = tmp_path / "edits.json"
    download.value.save_as(path)
    assert len(json.loads(path.read_text(encoding="utf-8"))["edits"]) == 2
    assert_same_card(page, editor.apply(path))
