"""The table, the report and the card of README.md; its other examples are doctests."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest
import sklearn
from shown_output import assert_shown

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA = Path(os.environ.get("DIRECTRIX_DATA", ROOT / ".." / "shared" / "data"))
TABLE = DATA.parent / "tables" / "credit_data.parquet"


def test_the_example_prints_what_the_page_shows(monkeypatch):
    pytest.importorskip("pyarrow", reason="the example reads a Parquet file")
    if not TABLE.exists():
        pytest.skip("beside the folder DIRECTRIX_DATA there is no table credit_data")
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
        pytest.skip("the page shows what the newest libraries give")
    section = README.split("## One table in, one card out")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    report, card = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(TABLE.parent)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})  # noqa: S102 - our own page
    first, second = printed.getvalue().split("base points", 1)
    assert_shown(report.strip(), first.strip())
    columns = ("base points" + second).split("\n\n")
    assert_shown(card.strip(), "\n\n".join(columns[:4]))


def test_every_file_that_it_links_to_exists():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists() and "://" not in link] == []
