"""The command ``edit``."""

import json
import shutil

import pytest

pytest.importorskip("typer")

from directrix.export import load

EDITS = {
    "layout": 1,
    "edits": [
        {"edit": "drop", "column": "clock"},
        {"edit": "merge", "column": "amount", "from": 0, "to": 2},
    ],
}


@pytest.fixture(scope="module")
def card(tmp_path_factory, files):
    """Return a folder with a scorecard, and edits."""
    folder = tmp_path_factory.mktemp("edit")
    shutil.copy(files / "card.dx", folder)
    (folder / "edits.json").write_text(json.dumps(EDITS), encoding="utf-8")
    return folder


def test_page_is_written_and_its_edits_applied(call, files, card, tmp_path):
    rows = [card / "card.dx", files / "monday.parquet", "-t", "fraud"]
    page = call("edit", *rows, "-o", tmp_path / "card.html", "--title", "A <card>")
    assert page.code == 0, page.err
    html = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "<title>A &lt;card&gt;</title>" in html
    edits = ["--apply", card / "edits.json"]
    made = call("edit", *rows, *edits, "-o", tmp_path / "edited.dx")
    assert made.code == 0, made.err
    assert "drop('clock')" in made.out
    edited = load(tmp_path / "edited.dx")
    points = dict(zip(edited.feature_names_in_, edited.card_.columns, strict=True))
    assert not points["clock"].any()
    assert points["amount"].any()


def test_saved_editor_gives_the_same_card(call, files, card, tmp_path):
    rows = [card / "card.dx", files / "monday.parquet", "-t", "fraud"]
    assert call("edit", *rows, "-o", tmp_path / "card.editor").code == 0
    edits = ["--apply", card / "edits.json", "--json"]
    values = [
        call("edit", *given, *edits, "-o", tmp_path / f"{k}.html").json
        for k, given in enumerate((rows, [tmp_path / "card.editor"]))
    ]
    assert values[0]["edits"] == EDITS["edits"]
    assert values[0]["prices"] == values[1]["prices"]
    assert values[0]["prices"][0]["lines"] > values[0]["prices"][2]["lines"]
    pages = [(tmp_path / f"{k}.html").read_text(encoding="utf-8") for k in range(2)]
    assert pages[0] == pages[1]


def test_what_is_no_scorecard_or_lacks_rows_is_refused(call, files, card, tmp_path):
    output = ["-o", tmp_path / "card.html"]
    other = call("edit", files / "model.dx", files / "monday.parquet", "-t", "fraud", *output)
    assert other.code != 0
    assert "is no scorecard" in other.err
    lacking = call("edit", card / "card.dx", *output)
    assert lacking.code != 0
    assert "give the rows of" in lacking.err
