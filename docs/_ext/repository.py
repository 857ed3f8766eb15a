"""Links to files of the repository, rewritten so that they work on the site.

A page links to a report, or to source, by its path: ``../benchmarks/arena/arena.md``. Every
such Markdown or Python file becomes a page of the site, under ``repository/``, and the links are
rewritten to it. Sphinx itself copies pictures and tables of numbers.
"""

from __future__ import annotations

import re
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = "repository"
#: Folders of docs that are written while the site is built.
GENERATED = (MADE, "api", "gallery")
#: Folders that have a page.
_FOLDERS = {"examples": "/gallery/index.rst"}
_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")


class Pages:
    """The files that pages link to, directly or through other such files."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        for page in sorted(DOCS.rglob("*.md")):
            path = page.relative_to(DOCS)
            if path.parts[0] not in GENERATED:
                self.rewritten(page.read_text(encoding="utf-8"), PurePosixPath("docs", path).parent)

    def rewritten(self, text: str, folder: PurePosixPath, home: str | None = None) -> str:
        """Return a text with its links rewritten; ``folder`` is its folder in the repository.

        Parameters
        ----------
        text : str
        folder : PurePosixPath
        home : str, optional
            Folder of the page that the text is put on, if it is another.
        """

        def target(match: re.Match[str]) -> str:
            link = match[1]
            path = normpath(folder / link).replace("\\", "/")
            if path in _FOLDERS:
                return _FOLDERS[path]
            if link.startswith("/") or not (ROOT / path).is_file():
                return link  # Sphinx reports it if it is broken
            if path.startswith("docs/"):
                return link if home is None else path.removeprefix("docs")
            if path.endswith((".md", ".py")):
                return self._page(path)
            return link if home is None else relpath(ROOT / path, DOCS / home)

        return _LINK.sub(target, text)

    def _page(self, path: str) -> str:
        """Return the path of the page of a file, which is created if necessary."""
        name = f"{MADE}/{path.removesuffix('.md')}"
        if name not in self.texts:
            self.texts[name] = ""  # it may link to itself
            home = str(PurePosixPath(name).parent)
            if path.endswith(".md"):
                text = (ROOT / path).read_text(encoding="utf-8")
                body = self.rewritten(text, PurePosixPath(path).parent, home)
            else:
                source = relpath(ROOT / path, DOCS / home)
                body = f"# {path}\n\n```{{literalinclude}} {source}\n:language: python\n```\n"
            self.texts[name] = f"---\norphan: true\n---\n\n{body}"
        return f"/{name}.md"

    def write(self) -> None:
        """Write the pages that are new or have changed, and remove those without a link."""
        wanted = {DOCS / f"{name}.md": text for name, text in self.texts.items()}
        for old in set((DOCS / MADE).rglob("*.md")) - set(wanted):
            old.unlink()
        for path, text in wanted.items():
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")


def _begin(app: Sphinx, _: Any) -> None:
    app.directrix_pages = Pages()  # type: ignore[attr-defined]
    app.directrix_pages.write()  # type: ignore[attr-defined]


def _rewrite(app: Sphinx, name: str, source: list[str]) -> None:
    is_page = (DOCS / f"{name}.md").is_file()
    if is_page and not name.startswith(tuple(f"{folder}/" for folder in GENERATED)):
        folder = PurePosixPath("docs", name).parent
        source[0] = app.directrix_pages.rewritten(source[0], folder)  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages first, and rewrite the links of every page as it is read."""
    app.connect("config-inited", _begin)
    app.connect("source-read", _rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
