"""What the documentation says of the arenas and of papers, written from the tracked files.

``python -m benchmarks.arena.pages`` writes ``docs/evidence.md`` with its picture, the picture of
README, and the blocks between two comments each in other pages. It measures nothing. A test
compares the pages with what it would write.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.arena import evidence
from benchmarks.arena.blocks import BLOCKS
from benchmarks.arena.everything import Everything
from benchmarks.arena.tables.picture import PICTURE, picture

ROOT = Path(__file__).parents[2]


def embedded(page: str, arena: Everything) -> str:
    """Return the text of a page with its blocks made anew."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for (block_page, name), made in BLOCKS.items():
        if block_page == page:
            begin = f"<!-- {name}: made by benchmarks.arena.pages -->\n"
            end = f"<!-- {name}: end -->"
            before, rest = text.split(begin)
            block = "\n".join(made(arena))
            text = f"{before}{begin}\n{block}\n\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    """Write the page, the pictures and the blocks."""
    arena = Everything()
    evidence.PAGE.write_text(evidence.text(arena), encoding="utf-8")
    evidence.picture(arena).savefig(evidence.PICTURE, dpi=110)
    picture(arena).savefig(PICTURE, dpi=120)
    for page in dict.fromkeys(page for page, _ in BLOCKS):
        (ROOT / page).write_text(embedded(page, arena), encoding="utf-8")


if __name__ == "__main__":
    main()
