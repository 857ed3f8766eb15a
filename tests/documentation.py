"""Code and output of pages that doctest does not run, as they need more libraries than it has."""

import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from io import StringIO
from pathlib import Path
from re import DOTALL, findall

DOCS = Path(__file__).parents[1] / "docs"
_BLOCKS = r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?"


def blocks(page, section=None):
    """Return the blocks of Python code, each with the output shown below it or "".

    They are those of the whole page, or of one section of it.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    if section is not None:
        text = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return findall(_BLOCKS, text, DOTALL)


def run(code, output, names, monkeypatch):
    """Execute a block with these names, and compare what it prints with what the page shows."""
    printed = StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", printed)
        exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own page
    if output:
        options = ELLIPSIS | NORMALIZE_WHITESPACE
        same = OutputChecker().check_output(output, printed.getvalue(), options)
        assert same, f"{code}\n{printed.getvalue()}"
