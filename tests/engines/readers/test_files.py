import gzip
import re

import pytest

pytest.importorskip("pyarrow")

from directrix import DirectClassifier, summarize
from directrix.engines.readers import matching_files, require_utf8
from directrix.exceptions.files import NotUtf8Error

ROWS = [(1, 2, "no"), (2, 1, "yes"), (3, 1, "yes"), (1, 5, "no")] * 5


def text(names=("a", "b", "y"), rows=ROWS):
    return "".join(",".join(map(str, row)) + "\n" for row in [names, *rows])


#: Content in another encoding, and its first line that is not UTF-8.
WRONG = {
    "header": (text(("größe", "b", "y")).encode("latin-1"), 1),
    "labels": (text(rows=[*ROWS, (1, 1, "weiß nicht")]).encode("latin-1"), 22),
    "a feature": (text(rows=[*ROWS, (1, "fünf", "no")]).encode("latin-1"), 22),
    # Far beyond the rows from which the types of columns are taken.
    "a late label": (text(rows=[*ROWS * 10_000, (1, 1, "weiß nicht")]).encode("latin-1"), 200_002),
    "UTF-16": (text().encode("utf-16"), 1),
}


#: A column that only a second file has is not read.
FORMS = ["file", "compressed", "folder", "pattern"]
CASES = [(name, form) for name in WRONG for form in FORMS]
CASES += [(name, "second") for name in WRONG if name != "header"]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_the_file_the_line_and_the_remedy_are_named(name, form, tmp_path):
    content, line = WRONG[name]
    path = tmp_path / ("b.csv.gz" if form == "compressed" else "b.csv")
    path.write_bytes(gzip.compress(content) if form == "compressed" else content)
    source = {"folder": tmp_path, "pattern": str(tmp_path / "*.csv")}.get(form, path)
    if form == "second":
        (tmp_path / "a.csv").write_text(text(), encoding="utf-8")
        source = [tmp_path / "a.csv", path]
    with pytest.raises(NotUtf8Error, match="is not UTF-8: line") as caught:
        summarize(source, target="y")
    assert caught.value.path == str(path)
    assert caught.value.line == line
    encoding = "UTF-16" if name == "UTF-16" else "ISO-8859-1"
    assert f"iconv -f {encoding} -t UTF-8 {path}" in str(caught.value)


def test_the_remedy_helps(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(WRONG["header"][0].decode("latin-1").encode())
    assert summarize(path, target="y").feature_names == ("größe", "b")


def test_two_passes_say_it_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(WRONG["header"][0])
    with pytest.raises(NotUtf8Error):
        DirectClassifier("auc").fit_source(path, target="y")


def test_another_error_stays_what_it_is(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text(rows=[*ROWS, (1, "fünf", "no")]), encoding="utf-8")
    with pytest.raises(TypeError, match=re.escape("column 'b' holds string")):
        summarize(path, target="y")


def test_a_character_may_lie_across_two_blocks(tmp_path):
    path = tmp_path / "a.csv"
    for start in range(4):
        path.write_bytes(b"\n" * start + "\n€".encode() * 400_000)
        require_utf8(path)
    path.write_bytes("\n€".encode() * 400_000 + b"\xe2\x82")  # cut short
    with pytest.raises(NotUtf8Error) as caught:
        require_utf8(path)
    assert caught.value.line == 400_001


def test_patterns_match_data_files_only(tmp_path):
    for name in ("b.csv", "a.csv", "_SUCCESS.csv", ".hidden.csv", "odd[1].csv"):
        (tmp_path / name).touch()
    matches = matching_files(str(tmp_path / "?.csv"))
    assert matches == [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert matching_files(str(tmp_path / "*.csv"))[-1] == str(tmp_path / "odd[1].csv")
    # A file whose name looks like a pattern is itself.
    assert matching_files(str(tmp_path / "odd[1].csv")) == [str(tmp_path / "odd[1].csv")]
    with pytest.raises(FileNotFoundError, match="no file at"):
        matching_files(str(tmp_path / "missing.csv"))
