"""Edits on the page of a card, in a browser, against the same edits in Python.

``python -m benchmarks.studies.cards.edit_page`` writes the page of a card of each of five tables,
opens it in Chromium, and makes random edits in both. After each it compares all points, base
points and cutoff, the metric, its expected value with its interval, and the gap to the card before.
A sixth table, of 25 columns and 300 cells, shows how large the file is and how long an edit takes
in the browser until the page is laid out again: CPU time of the thread of the page, and what a
clock shows.
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

from benchmarks.harness.data import load_table
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, grouped_by
from benchmarks.harness.runner import Part, Study, quiet
from benchmarks.studies.cards.folds import table_of
from directrix import ScorecardClassifier
from directrix.editing import CardEditor
from directrix.exceptions import EditError

#: Metric and scale of points by table.
CARDS: dict[str, tuple[str, str]] = {
    "german_credit": ("recall@fpr=0.1", "log-odds"),
    "hmda_boston": ("auc", "pdo"),
    "credit_data": ("cost(fp=1, fn=5)", "integer"),
    "telco_churn": ("f1", "log-odds"),
    "give_me_some_credit": ("recall@fpr=0.05", "pdo"),
}
#: A table with as many columns and cells as a page should bear.
LARGE = "census_income"
COLUMNS = 25
#: A fifth is the lockbox, which is not in the page.
LARGE_ROWS = 25_000
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


def editor_of(metric: str, points: str, X: Any, y: Any) -> Any:
    """Return the editor of a card of full length."""
    settings = {"max_lines": None, "max_crosses": 0}
    with quiet():
        return CardEditor.of(ScorecardClassifier(metric, points=points, **settings), X, y)


def described(editor: Any) -> tuple[int, int, int, int]:
    """Return the numbers of held-out rows, columns and cells, and the size of the page in bytes."""
    state = editor.state()
    size = len(editor.to_html().encode())
    return len(state["fold"]), len(state["blocks"]), state["n_atoms"], size


def measure(name: str, sequences: list[tuple[int]]) -> list[tuple[object, ...]]:
    """Return rows of the record: sequences of edits, each from the card of a table."""
    X, y = table_of(name, 10_000)
    metric, points = CARDS[name]
    editor = editor_of(metric, points, X, y)
    html, about = editor.to_html(), described(editor)
    rows = []
    with TemporaryDirectory() as folder, chromium() as browser:
        for (sequence,) in sequences:
            page = opened(browser, html, Path(folder))
            worst, times = edited(page, editor, np.random.default_rng([sequence, len(y)]))
            page.close()
            shown = (f"{worst[part]:.3g}" for part in PARTS)
            spent = (f"{median(times):.0f}", f"{min(times):.0f}", f"{max(times):.0f}")
            begin = (name, sequence, metric, points, *about, EDITS)
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


def measure_time(name: str) -> list[tuple[object, ...]]:
    """Return rows of the record of times: one for each edit."""
    X, y = load_table(name)
    rows = np.sort(np.random.default_rng(0).choice(len(y), LARGE_ROWS, replace=False))
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    editor = editor_of("auc", "log-odds", X.iloc[:, :COLUMNS], y)
    rng, times = np.random.default_rng(0), []
    about = described(editor)
    with TemporaryDirectory() as folder, chromium() as browser:
        page = opened(browser, editor.to_html(), Path(folder))
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        for number in range(EDITS):
            with quiet():
                editor = random_edit(editor, rng)
            before = _thread_time(session)
            clock = page.evaluate(APPLY, editor.log()[-1])
            spent = _thread_time(session) - before
            kind = editor.log()[-1]["edit"]
            lines = editor.price()[-1].lines
            times.append(
                (name, number, *about, kind, lines, f"{spent:.0f}", f"{clock:.0f}", commit())
            )
    return times


def _thread_time(session: Any) -> float:
    """Return the CPU time of the thread of a page in milliseconds."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000.0 * next(each["value"] for each in metrics if each["name"] == "TaskDuration")


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    text = ["# Edits on the page and in Python", "", "How: see `edit_page.py`.", ""]
    cells = []
    for (name,), group in grouped_by(rows, "set").items():
        first, edits = group[0], sum(int(row["edits"]) for row in group)
        about = (first[name] for name in ("trained_for", "scale", "rows", "columns", "cells"))
        worst = (f"{max(float(row[part]) for row in group):.1g}" for part in PARTS)
        cells.append((name, *about, edits, *worst))
    names = ("table", "metric", "points", "held-out rows", "columns", "cells", "edits")
    text += table(" | ".join((*names, *PARTS)), cells, "Largest differences")
    most = max(float(row[part]) for row in rows for part in PARTS)
    total = sum(int(row["edits"]) for row in rows)
    text += ["", f"Largest difference of all {total} edits: {most:.1g}.", ""]
    timed = TIMES.rows()
    if timed:
        first, cpu = timed[0], [float(row["cpu"]) for row in timed]
        clock = median(float(row["clock"]) for row in timed)
        text += ["## Time and size", ""]
        text.append(
            f"The page of {first['columns']} columns, {first['cells']} cells and "
            f"{int(first['rows']):,} held-out rows ({first['set']}) has "
            f"{int(first['bytes']) / 1e6:.2f} MB. An edit took {median(cpu):.0f} ms of CPU time in "
            f"the median of {len(cpu)}, {max(cpu):.0f} at most (the first is compiled), and "
            f"{clock:.0f} ms by the clock of a machine that had much other work."
        )
    return text


PARTS = ("points", "base", "metric", "expected", "gap")
RECORD = Record.beside(
    __file__,
    (
        *("set", "sequence", "trained_for", "scale", "rows", "columns", "cells", "bytes", "edits"),
        *(*PARTS, "ms", "fastest", "slowest", "commit"),
    ),
    "set, sequence",
)
TIMES = Record(
    Path(__file__).with_name("edit_page_time.csv"),
    (
        *("set", "number", "rows", "columns", "cells", "bytes"),
        *("edit", "lines", "cpu", "clock", "commit"),
    ),
    "set",
)
PLAN = [(name, k) for name in CARDS for k in range(SEQUENCES)]
STUDY = Study(
    [
        Part(RECORD, lambda _: PLAN, measure, together=1),
        Part(TIMES, lambda _: [(LARGE,)], measure_time),
    ],
    lines,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
