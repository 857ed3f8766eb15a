"""What documents say of benchmarks exists: modules to run, and paths."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.every_case  # each case sees its own page

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs" / "theory").glob("*.md"),  # other folders are written by the site
    *(ROOT / "benchmarks").rglob("*.md"),
    *(ROOT / "benchmarks").rglob("*.py"),
    ROOT / "Makefile",
]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_paths_of_benchmarks_exist(path):
    text = path.read_text(encoding="utf-8")
    modules = re.findall(r"(?:-m\s+|from )(benchmarks(?:\.\w+)+)", text)
    modules += re.findall(r"^\| `(benchmarks(?:\.\w+)+)", text, flags=re.MULTILINE)
    paths = {ROOT.joinpath(*module.split(".")) for module in modules}
    missing = [p for p in paths if not p.with_suffix(".py").is_file() and not p.is_dir()]
    missing += [p for p in re.findall(r"`(benchmarks/[\w./]+)`", text) if not (ROOT / p).exists()]
    assert not missing
