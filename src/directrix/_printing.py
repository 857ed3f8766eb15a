"""Tables as text and as HTML, which every printed result uses, and links to the documentation."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from textwrap import wrap
from typing import Any

_GAP = "  "


def text_table(
    rows: Sequence[Sequence[str]],
    left: Container[int] = (0,),
    *,
    indent: str = "",
    wrap_at: int | None = None,
) -> list[str]:
    r"""Return rows of texts as lines, each column aligned right unless it is one of `left`.

    With `wrap_at`, long texts of the last column go on in the next lines.

    Examples
    --------
    >>> print("\n".join(text_table([["", "rate"], ["recall", "0.9"]])))
            rate
    recall   0.9
    """
    lines = []
    for *cells, last in rows:
        first, *rest = [last] if wrap_at is None else wrapped(last, wrap_at) or [""]
        lines += [[*cells, first], *([*[""] * len(cells), line] for line in rest)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = (
        _GAP.join(
            text.ljust(width) if k in left else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
    return [(indent + line).rstrip() for line in aligned]


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines of at most so many characters; words stay whole."""
    return wrap(printable(text), width, break_long_words=False, break_on_hyphens=False)


def printable(text: str) -> str:
    """Return a text in one line, with escapes for characters that cannot be printed."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def is_unicode(text: str) -> bool:
    """Return whether UTF-8 can encode a text, which must have no half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def cell_style(k: int) -> str:
    """Return the style of a cell in notebooks, some of which leave no room between columns."""
    align = "right; white-space: nowrap" if k else "left"
    return f"padding: 0.25em 0.8em; text-align: {align}"


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str = "",
    *,
    highlighted: int | None = None,
    css: Callable[[int], str] | None = cell_style,
    cell: Callable[..., str] = escape,
) -> str:
    """Return a table as HTML, all texts escaped.

    ``highlighted`` is the index of a row that gets the class "highlighted". ``css`` returns the
    style of the cells of a column from the column's index; with None the style is left to a style
    sheet. ``cell`` turns a cell of ``rows`` into HTML, by default by escaping it.

    Examples
    --------
    >>> html_table(["name", "n"], [["<a>", "1"]], css=None)
    '<table><thead>...</thead><tbody><tr><td>&lt;a&gt;</td><td>1</td></tr></tbody></table>'
    """
    title = f'<caption style="text-align: left"><b>{escape(caption)}</b></caption>'
    styles = ["" if css is None else f' style="{css(k)}"' for k in range(len(header))]
    wrapping = [s and f'{s[:-1]}; white-space: normal"' for s in styles]
    titles = zip(wrapping, header, strict=True)
    top = "".join(f"<th{s}>{escape(text)}</th>" for s, text in titles)
    body = []
    for index, row in enumerate(rows):
        mark = ' class="highlighted"' if index == highlighted else ""
        cells = zip(styles, row, strict=True)
        body.append(f"<tr{mark}>{''.join(f'<td{s}>{cell(text)}</td>' for s, text in cells)}</tr>")
    return (
        f"<table>{title if caption else ''}<thead><tr>{top}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )


class LinkedEstimator:
    """Mixin of estimators that link to their page of the documentation in notebooks.

    The address is the project URL "Documentation" of the installed package; there is no link
    without one. Their methods ``set_fit_request`` and so on, which scikit-learn makes with a page
    of documentation each, have a few lines in ``help``.
    """

    _doc_link_module = "directrix"

    def __init_subclass__(cls, **options: Any) -> None:
        """Shorten what ``help`` says about metadata requests."""
        super().__init_subclass__(**options)
        for name, request in list(vars(cls).items()):
            if name.startswith("set_") and name.endswith("_request") and hasattr(request, "keys"):
                setattr(cls, name, _brief_request(request))

    @property
    def _doc_link_template(self) -> str:
        site = _documentation_url()
        return site and f"{site}/api/directrix.{{estimator_name}}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}


_REQUEST = """Set which metadata `{method}` gets from a pipeline or a search.

Only with ``sklearn.set_config(enable_metadata_routing=True)``.

Parameters
----------
{names} : bool, str or None
    True to request it, False not to, None to raise an error if it is given, a text to request
    it under that name.
"""


def _brief_request(request: Any) -> Any:
    """Return a descriptor of scikit-learn's that makes the same method, with a shorter docstring.

    Its class must stay scikit-learn's: subclasses make such methods anew for descriptors only.
    """

    class BriefRequest(type(request)):  # type: ignore[misc]
        def __get__(self, instance: Any, owner: Any) -> Any:
            function = super().__get__(instance, owner)
            function.__doc__ = _REQUEST.format(method=self.name, names=", ".join(self.keys))
            return function

    return BriefRequest(request.name, request.keys, request.validate_keys)


@cache
def _documentation_url() -> str:
    """Return the address of the documentation of the installed package; empty if it has none."""
    try:
        urls = metadata("directrix").get_all("Project-URL") or []
    except PackageNotFoundError:  # a source tree that is on the path
        return ""
    parted = (url.partition(", ") for url in urls)
    return next((url.rstrip("/") for label, _, url in parted if label == "Documentation"), "")
