"""What each example of the gallery must do, checked while the site runs it.

The rules are those of ``tests/test_examples.py``: no warning, at least one figure, and a title over
every figure.
"""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from sphinx.errors import ExtensionError
from sphinx_gallery.scrapers import matplotlib_scraper

_running = ExitStack()
#: Names of the examples that have drawn a figure; sphinx-gallery gives no folders at the end.
_drawn: set[str] = set()


def require_titles(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of a block, all of which must have a title."""
    example = Path(block_vars["src_file"]).name
    for number in plt.get_fignums():
        _drawn.add(example)
        if not plt.figure(number).get_suptitle():
            message = f"{example}: figure {number} has no title; call figure.suptitle"
            raise ExtensionError(message)
    return matplotlib_scraper(block, block_vars, gallery_conf)


def require_no_warnings(_: dict[str, Any], example: str | None, when: str) -> None:
    """Turn warnings into errors while an example runs; afterwards it must have drawn a figure."""
    if example is None:  # a folder of examples begins
        return
    if when == "before":
        _running.enter_context(warnings.catch_warnings(action="error"))
        return
    _running.close()
    if Path(example).name not in _drawn:
        message = f"{example} draws no figure"
        raise ExtensionError(message)
