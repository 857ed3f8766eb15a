"""Pictures of README, of the first page, of ``scorecard.md`` and of ``how-a-card-is-made.md``.

The first two show the card of `load_credit`, and the page that edits it; the third has the card
that its page fits, and the last the rows and points of two columns of loans.
``python docs/_ext/pictures.py`` draws them anew; it needs pandas, matplotlib, and Chromium for the
editor. A test compares the card with what would be drawn.
"""

from __future__ import annotations

import subprocess
import tempfile
from doctest import DocTestParser
from html import escape
from pathlib import Path
from shutil import which
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from directrix import ScorecardClassifier
from directrix.cards.card import Card
from directrix.cards.card_printing import Block, card_document
from directrix.datasets import load_credit
from directrix.displays import ScorecardDisplay, style
from directrix.editing import CardEditor

STATIC = Path(__file__).parents[1] / "_static"
#: The lines of README.
SETTINGS = {"metric": "cost(fp=1, fn=5)", "positive": "bad", "max_lines": 40}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
INK, GREY, TEAL, PALE, RULE = "#1b1b1b", "#5f6b76", "#0a7d91", "#d8eef1", "#d5dade"
WIDTH, LINE, GAP, MARGIN, HEAD, FOOT = 360, 18, 13, 20, 58, 30
LABEL, BAR = 38, 56


def draw(card: Card, columns: int) -> str:
    """Return a card as SVG, its blocks in one or two columns of about equal height."""
    blocks = card_document(card).blocks
    heights = [LINE * (1 + len(block.rows)) + GAP for block in blocks]
    parts: list[str] = []
    column, y, lowest = 0, HEAD, 0
    for block, height in zip(blocks, heights, strict=True):
        if column + 1 < columns and y - HEAD + height / 2 > sum(heights) / columns:
            column, y = column + 1, HEAD
        parts += _block(block, MARGIN + column * (WIDTH + 2 * MARGIN), y)
        y += height
        lowest = max(lowest, y)
    width, height = columns * (WIDTH + 2 * MARGIN), lowest + FOOT
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"',
        f' height="{height}" font-family="{FONT}" font-size="12.5" role="img"',
        ' aria-label="A scorecard: columns, bins and points">',
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="#ffffff"',
        f' stroke="{RULE}"/>',
        _text(MARGIN, 28, "Loans: points of an application", size=16, weight=600),
        _text(MARGIN, 46, f"refused above {card.cutoff:g} points in all", colour=GREY),
    ]
    lines = f"{card.n_lines} lines, the whole model"
    foot = _text(MARGIN, height - 14, f"{lines}; values not listed get points too", colour=GREY)
    return "\n".join([*head, *parts, foot, "</svg>", ""])


def _block(block: Block, left: int, top: int) -> list[str]:
    name = block.rows[0].column.replace("_", " ")
    parts = [
        f'<path d="M{left} {top + LINE - 3} h{WIDTH}" stroke="{RULE}"/>',
        _text(left, top + LINE - 8, name, weight=600),
    ]
    for k, row in enumerate(block.rows):
        y = top + LINE * (k + 2) - 6
        length = max(BAR * row.points / 100, 1)
        parts += [
            _text(left, y, _short(row.bin)),
            f'<rect x="{left + WIDTH - 30 - BAR}" y="{y - 10}" width="{length:.1f}" height="12"',
            f' fill="{TEAL if row.points else PALE}"/>',
            _text(left + WIDTH, y, f"{row.points:g}", anchor="end", weight=600),
        ]
    return parts


def _short(label: str) -> str:
    """Return the name of a bin, not too long."""
    label = label.replace("<=", "≤")
    return label if len(label) <= LABEL else label[: LABEL - 2].rpartition(", ")[0] + " …"


def _text(
    x: int,
    y: int,
    text: str,
    *,
    colour: str = INK,
    size: float | None = None,
    weight: int | None = None,
    anchor: str | None = None,
) -> str:
    wanted = {"font-size": size, "font-weight": weight, "text-anchor": anchor}
    styles = "".join(f' {name}="{value}"' for name, value in wanted.items() if value)
    return f'<text x="{x}" y="{y}" fill="{colour}"{styles}>{escape(text)}</text>'


def editor(path: Path) -> None:
    """Take a picture of the page on which the card is edited."""
    browser = which("chromium") or which("google-chrome") or "chromium"
    settings = {**SETTINGS, "max_crosses": 0, "warn_baseline": False}
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "card.html"
        editor = CardEditor.of(ScorecardClassifier(**settings), *load_credit())
        editor.to_html(page, title="Loans")
        subprocess.run(  # noqa: S603 - a browser that is installed, and our own page
            [
                *(browser, "--headless", "--no-sandbox", "--hide-scrollbars"),
                *("--window-size=1000,1096", "--force-device-scale-factor=2"),
                *(f"--screenshot={path}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )


def display(path: Path) -> None:
    """Draw the first columns of the card that ``scorecard.md`` fits."""
    names: dict[str, Any] = {}
    page = (STATIC.parent / "scorecard.md").read_text(encoding="utf-8")
    for example in DocTestParser().get_examples(page):
        if "card" not in names:
            exec(example.source, names)  # noqa: S102 - our own page
    figure = ScorecardDisplay.from_estimator(names["card"], max_panels=6).figure_
    figure.savefig(path, dpi=200)


def making(path: Path) -> None:
    """Draw what the rows of two columns say, the full card, and the card in few lines."""
    X, y = load_credit()
    settings: dict[str, Any] = {"positive": "bad", "points": "log-odds"}
    cards = {
        lines: ScorecardClassifier("auc", max_lines=lines, **settings).fit(X, y).card_
        for lines in (None, 40)
    }
    names = {None: "full card", 40: "40 lines, as printed"}
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    for axes, name in zip(panels, ("duration", "amount"), strict=True):
        index = list(X.columns).index(name)
        bins, counts = cards[None].bins[index], cards[None].counts[index]
        cells = np.arange(1, 1 + bins.n_ordered)
        rows = counts[:, cells].sum(axis=0)
        evidence = np.log((counts[1] + 0.5) / (counts[0] + 0.5))[cells]
        means = np.array(bins.means)
        centre = np.log(counts[1].sum() / counts[0].sum())
        axes.scatter(means, evidence - centre, s=rows, color=style.GREY, alpha=0.5, linewidth=0)
        for (lines, card), colour in zip(cards.items(), (style.SKY, style.BLUE), strict=True):
            points = card.columns[index][cells]
            points = points - rows @ points / rows.sum()
            axes.step(means, points, where="mid", color=colour, label=names[lines])
        style.finish(axes, name, "log-odds of 'bad'", columns=0)
    panels[0].scatter([], [], color=style.GREY, alpha=0.5, label="rows of a bin alone")
    panels[0].legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=200)
    plt.close(figure)


def main() -> None:
    """Draw all pictures."""
    card = ScorecardClassifier(**SETTINGS).fit(*load_credit()).card_
    for name, columns in {"card": 2, "card-narrow": 1}.items():
        (STATIC / f"{name}.svg").write_text(draw(card, columns), encoding="utf-8")
    editor(STATIC / "editor.png")
    display(STATIC / "scorecard-display.png")
    making(STATIC / "how-a-card-is-made.png")


if __name__ == "__main__":
    main()
