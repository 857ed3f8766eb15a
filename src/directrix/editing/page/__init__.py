"""The page on which people edit a card: one HTML file with its data, script and style inside.

The script is in ``arithmetic.js`` (the refit and the metrics, as in Python), ``editor.js`` (the
state of a card and its edits) and ``page.js`` (what people see); ``page.html`` is filled in with
texts that are escaped, and with the state as JSON. The page may run this one script and style, by
their hashes, and may load nothing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from directrix.exceptions import EditError
from directrix.fit.gap import t_quantile

_SCRIPTS = ("arithmetic.js", "editor.js", "page.js")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
#: Metrics that ``arithmetic.js`` has, by their names in THE TABLE.
_METRICS = (
    *("error", "cost", "balanced_error", "f1", "fbeta", "mcc", "gmean"),
    *("recall_at_fpr", "fpr_at_recall", "precision_at_recall", "recall_at_precision"),
    *("auc", "partial_auc", "average_precision"),
)
#: Fields of a state that the page reads as they are.
_PLAIN = ("blocks", "n_atoms", "n_folds", "scale", "bins", "edits", "calibration", "spread")


def card_page(state: Mapping[str, Any], title: str, hide_below: int | None = None) -> str:
    """Return the page on which a card is edited; raise EditError for a metric it does not have.

    Parameters
    ----------
    state : mapping
        That of `CardEditor.state`.
    title : str
    hide_below : int, optional
        Counts of fewer rows are not shown. The file holds the bins of all held-out rows anyway.
    """
    metric = state["metric"]
    if metric["name"] not in _METRICS or (
        metric["name"] == "cost" and len(metric["parameters"]) < 2
    ):
        msg = f"the page cannot compute {metric['label']}: edit this card in Python"
        raise EditError(msg)
    costs = metric["parameters"] if metric["name"] == "cost" else {"fp": 1, "fn": 10}
    n_rows, columns = len(state["fold"]), [b for b in state["blocks"] if b["kind"] != "cross"]
    lead = (
        f"{len(columns)} columns; {n_rows:,} held-out rows; positive: {state['positive']}. "
        "Everything is computed in this file, and nothing is sent."
    )
    texts = {
        "title": title,
        "lead": lead,
        "daily": "1000",
        "cost_fp": f"{costs['fp']:g}",
        "cost_fn": f"{costs['fn']:g}",
        "hide": "" if hide_below is None else " checked",
        "hide_below": str(10 if hide_below is None else hide_below),
        "honest": _HONEST,
    }
    return _page_html(texts, _page_state(state))


_HONEST = (
    "Prices are differences of the value expected on new rows, from held-out rows. Who edits until "
    "a number is good makes it too good: the rows that no edit has seen say what is left of it, "
    "when the edits are applied in Python."
)


def _page_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the script reads of a state; atoms are numbered within their blocks."""
    plain = {name: state.get(name) for name in _PLAIN}
    first = np.array([block["first"] for block in state["blocks"]])
    local = (np.asarray(state["atoms"]) - first).T
    start, weight = state["start"], state["weight"]
    return plain | {
        "metric": dict(state["metric"]),
        "positive": str(state["positive"]),
        "local_atoms": local.astype(np.uint8 if local.max(initial=0) < 256 else np.uint16),
        "positive_rows": np.asarray(state["positive_rows"]).astype(np.uint8),
        "weight": None if weight is None else np.asarray(weight, dtype=np.float64),
        "fold": np.asarray(state["fold"]).astype(np.uint8),
        "curvature": np.asarray(state["curvature"]).astype(np.uint8),
        "first": np.asarray(state["first"], dtype=np.float64),
        "sizes": [float(size) for size in state["sizes"]],
        "cell_atom": [np.asarray(atoms).tolist() for atoms in state["cell_atom"]],
        "cell_weights": [np.asarray(weights).tolist() for weights in state["cell_weights"]],
        "quantile": t_quantile(int(state["n_folds"])),
        "start": {**start, "group": np.asarray(start["group"]).tolist()},
    }


def _page_html(texts: Mapping[str, str], state: Mapping[str, Any]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    texts : mapping of str to str
        Texts of ``page.html`` by name, which are escaped.
    state : mapping
        What the script reads: values of JSON, and arrays, which are packed.
    """
    script = "".join(map(_part, _SCRIPTS))
    style = _part("page.css")
    parts = {name: escape(text) for name, text in texts.items()} | {
        "script": script,
        "script_hash": _source_hash(script),
        "style": style,
        "style_hash": _source_hash(style),
        "state": _json(state),
    }
    # In one pass: a name of a column may look like a place of the template.
    return _PLACE.sub(lambda found: parts[found[1]], _part("page.html"))


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Return the source expression of a Content Security Policy that allows this text alone."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(state: Mapping[str, Any]) -> str:
    """Return JSON that can stand in a script element, whatever names and levels contain."""
    text = json.dumps(state, default=_packed, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _packed(array: Any) -> Any:
    """Return an array as its compressed bytes in base64, with their type and shape."""
    if isinstance(array, np.generic):
        return array.item()
    if not isinstance(array, np.ndarray):
        msg = f"the page has no use for a {type(array).__name__}"
        raise TypeError(msg)
    little = array.astype(array.dtype.newbyteorder("<"))
    data = gzip.compress(little.tobytes(), mtime=0)
    return {
        "dtype": little.dtype.str.lstrip("<|"),
        "shape": list(array.shape),
        "gzip": base64.b64encode(data).decode(),
    }


def framed(page: str) -> str:
    """Return a page as a frame that a notebook shows."""
    style = "width: 100%; height: 720px; border: 1px solid #d8dee4"
    allowed = "allow-scripts allow-downloads"
    return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{escape(page)}"></iframe>'
