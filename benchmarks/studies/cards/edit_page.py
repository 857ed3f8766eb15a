"""Edits on the page of a card, in a browser, against the same edits in Python.

``python -m benchmarks.studies.cards.edit_page`` writes the page of a card of each of five tables,
opens it in Chromium, and makes random edits in both. After each it compares all points, base
points and cutoff, the metric, its expected value with its interval, and the gap to the card before.
It also records how long an edit takes in the browser, until the page is laid out again, and how
large the file is. A sixth table has 25 columns and 20,000 held-out rows, for time and size alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, grouped_by
from benchmarks.harness.runner import Part, Study, quiet
from benchmarks.studies.cards.folds import table_of
from directrix import ScorecardClassifier
from directrix.exceptions import EditError

#: Metric and scale of points by table; the last has as many columns and rows as a page should bear.
CARDS: dict[str, tuple[str, str | None]] = {
    "german_credit": ("recall@fpr=0.1", None),
    "hmda_boston": ("auc", "pdo"),
    "credit_data": ("cost(fp=1, fn=5)", "integer"),
    "telco_churn": ("f1", None),
    "give_me_some_credit": ("recall@fpr=0.05", "pdo"),
    "census_income": ("auc", None),
}
LARGE = "census_income"
COLUMNS = 25
#: A fifth is the lockbox, which is not in the page.
MOST_ROWS = {LARGE: 25_000}
#: Cards begin anew after so many edits, or all columns would be gone.
SEQUENCES, EDITS = 5, 20
KINDS = {"merge": 0.35, "cuts": 0.25, "missing": 0.1, "monotone": 0.15, "points": 0.1, "drop": 0.05}
NOW = """() => {
    const {now, start} = editor, gap = editor.gap(now, start);
    return {points: now.columns.map(column => column.groups.map(group => group.points)).flat(),
            base: [now.intercept, now.cutoff], metric: [now.value],
            expected: [now.expected, ...now.interval], gap: [gap.mean, gap.low, gap.high]};
}"""
#: An edit as people make it: refit, prices, all parts of the page, and its layout.
APPLY = """edit => {
    const began = performance.now();
    apply(edit);
    document.body.offsetHeight;
    return performance.now() - began;
}"""


@contextmanager
def chromium() -> Iterator[Any]:
    """Start Chromium; FileNotFoundError if there is none."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - one test and one study need it

    programs = map(shutil.which, ("chromium", "google-chrome"))
    path = next((program for program in programs if program), None)
    if path is None:
        msg = "no Chromium: install the package chromium, or Google Chrome"
        raise FileNotFoundError(msg)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def random_edit(editor: Any, rng: np.random.Generator) -> Any:
    """Return the editor after an edit drawn at random; what is refused is drawn again."""
    blocks = editor.state()["blocks"]
    while True:
        block = blocks[rng.integers(len(blocks))]
        kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
        try:
            made = _edited(editor, block, kind, rng)
        except EditError:
            continue
        if made is not None:
            return made


def _edited(editor: Any, block: dict[str, Any], kind: str, rng: np.random.Generator) -> Any:
    """Return the editor after an edit of a kind; None if the column has none of it."""
    name, lines = block["name"], editor.lines(block["name"])
    line = int(rng.integers(len(lines)))
    uppers = [end for end in block.get("upper", ()) if end is not None]
    if kind == "merge" and line:
        return editor.merge(name, line - 1, line)
    if kind == "cuts" and uppers and block["kind"] != "boolean":
        size = int(rng.integers(len(uppers) + 1))
        return editor.cuts(name, sorted(rng.choice(uppers, size, replace=False).tolist()))
    if kind == "missing" and block["missing"] >= 0:
        return editor.join_missing(name, None if rng.random() < 0.3 else line)
    if kind == "monotone" and block["n_ordered"] > 1:
        return editor.monotone(name, [None, "increasing", "decreasing"][int(rng.integers(3))])
    if kind == "points" and len(lines) > 1:
        value = (
            None if rng.random() < 0.3 else float(np.rint(lines[line].points + rng.normal(0, 3)))
        )
        return editor.points(name, {line: value})
    return editor.drop(name) if kind == "drop" and len(lines) > 1 else None


def in_python(editor: Any) -> dict[str, list[float]]:
    """Return the card and its price, as `NOW` returns those of the page."""
    names = [block["name"] for block in editor.state()["blocks"]]
    price, card = editor.price()[-1], editor.card
    return {
        "points": [line.points for name in names for line in editor.lines(name)],
        "base": [card.intercept, card.cutoff],
        "metric": [price.metric],
        "expected": list(price.expected),
        "gap": list(price.gap),
    }


def differences(page: Any, editor: Any) -> dict[str, float]:
    """Return the largest difference between the page and Python, by what is compared."""
    shown, known = page.evaluate(NOW), in_python(editor)
    return {
        name: float(np.abs(np.subtract(shown[name], values)).max())
        for name, values in known.items()
    }


def opened(browser: Any, html: str, folder: Path) -> Any:
    """Return the page of a file that holds this HTML, once it is ready."""
    path = folder / "card.html"
    path.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page


def measure(name: str, sequences: list[tuple[int]]) -> list[tuple[object, ...]]:
    """Return rows of the record: sequences of edits, each from the card of a table."""
    X, y = table_of(name, MOST_ROWS.get(name, 10_000))
    metric, points = CARDS[name]
    with quiet():
        card = ScorecardClassifier(metric, points=points, max_lines=None, max_crosses=0)
        editor = card.edit(X.iloc[:, :COLUMNS], y)
    html, state = editor.to_html(), editor.state()
    about = (len(state["fold"]), len(state["blocks"]), state["n_atoms"], len(html.encode()))
    rows = []
    with TemporaryDirectory() as folder, chromium() as browser:
        for (sequence,) in sequences:
            page = opened(browser, html, Path(folder))
            worst, times = edited(page, editor, np.random.default_rng([sequence, len(y)]))
            page.close()
            shown = (f"{worst[part]:.3g}" for part in PARTS)
            spent = (f"{median(times):.0f}", f"{min(times):.0f}", f"{max(times):.0f}")
            begin = (name, sequence, metric, points or "scores", *about, EDITS)
            rows.append((*begin, *shown, *spent, commit()))
    return rows


def edited(
    page: Any, editor: Any, rng: np.random.Generator
) -> tuple[dict[str, float], list[float]]:
    """Edit a card on its page and in Python; return the largest differences, and milliseconds."""
    worst, times = dict.fromkeys(PARTS, 0.0), []
    for _ in range(EDITS):
        with quiet():
            editor = random_edit(editor, rng)
        times.append(page.evaluate(APPLY, editor.log()[-1]))
        found = differences(page, editor)
        worst = {part: max(worst[part], found[part]) for part in PARTS}
    return worst, times


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    text = ["# Edits on the page and in Python", "", "How: see `edit_page.py`.", ""]
    cells = []
    for (name,), group in grouped_by(rows, "set").items():
        first = group[0]
        about = (first["metric"], first["scale"], first["rows"], first["columns"], first["cells"])
        size, edits = f"{int(first['bytes']) / 1e6:.2f}", sum(int(row["edits"]) for row in group)
        spent = (f"{float(row['ms']):.0f}" for row in group), [float(r["fastest"]) for r in group]
        worst = (f"{max(float(row[part]) for row in group):.1g}" for part in PARTS)
        cells.append(
            (name, *about, size, edits, *worst, " ".join(spent[0]), f"{min(spent[1]):.0f}")
        )
    names = ("table", "metric", "points", "held-out rows", "columns", "cells", "MB", "edits")
    heading = " | ".join((*names, *PARTS, "ms, median of each 20", "ms, fastest"))
    text += table(heading, cells, "Largest differences, and milliseconds of an edit in Chromium")
    most = max(float(row[part]) for row in rows for part in PARTS)
    total = sum(int(row["edits"]) for row in rows)
    return [*text, "", f"Largest difference of all {total} edits: {most:.1g}."]


PARTS = ("points", "base", "metric", "expected", "gap")
RECORD = Record.beside(
    __file__,
    (
        *("set", "sequence", "metric", "scale", "rows", "columns", "cells", "bytes", "edits"),
        *(*PARTS, "ms", "fastest", "slowest", "commit"),
    ),
    "set, sequence",
)
PLAN = [(name, k) for name in CARDS for k in range(1 if name == LARGE else SEQUENCES)]
STUDY = Study([Part(RECORD, lambda _: PLAN, measure, together=1)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
