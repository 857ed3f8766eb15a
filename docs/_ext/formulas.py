"""Formulas as MathML, which browsers render without a script, a font or the network.

The translation is that of docutils, which Sphinx brings along.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

_LOGGER = getLogger(__name__)
#: Commands that docutils does not know, and what replaces them. Brackets grow by themselves.
_INSTEAD = {
    r"\\[td]frac(?![a-zA-Z])": r"\\frac",
    r"\\[bB]ig+[lr]?(?![a-zA-Z])": "",
    r"\\dots(?![a-zA-Z])": r"\\ldots",
}
#: The bars of a norm, which would otherwise be of different heights.
_BARS = re.compile("<mo[^>]*>‖</mo>")


def _mathml(node: nodes.Node, *, block: bool) -> str:
    tex = node.astext()
    for word, other in _INSTEAD.items():
        tex = re.sub(word, other, tex)
    try:
        drawn = str(tex2mathml(tex, as_block=block))
    except MathError as error:
        _LOGGER.warning("cannot draw the formula %r: %s", tex, error, location=node)
        return f"<code>{tex}</code>"
    return _BARS.sub('<mo stretchy="false">‖</mo>', drawn)


def _inline(translator: Any, node: nodes.Node) -> None:
    translator.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.Node) -> None:
    translator.body.append(f'<div class="formula">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Render formulas with this extension."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.connect("config-inited", lambda _, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
