"""The reports are made of the tracked measurements."""

from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="populations are read from Parquet files")

from benchmarks.studies import descents

STUDIES = Path(descents.__file__).parent
#: Measured and written at once: no record is kept.
WITHOUT_RECORD = {"card_exports"}


REPORTS = sorted(path for path in STUDIES.rglob("*.md") if path.stem not in WITHOUT_RECORD)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_report_says_what_was_measured(path):
    name = ".".join(path.relative_to(STUDIES).with_suffix("").parts)
    study = import_module(f"benchmarks.studies.{name}").STUDY
    assert study.path == path
    assert path.read_text(encoding="utf-8").splitlines() == "\n".join(study.report()).splitlines()


def test_docs_say_how_many_problems_descents_were_run_on():
    docs = (Path(__file__).parents[3] / "docs" / "frontier.md").read_text(encoding="utf-8")
    rows = descents.RECORD.rows()
    problems = {row["problem"] for row in rows}
    (starts,) = {row["starts"] for row in rows}
    assert len(rows) == len(problems) * len(descents.METRICS)
    assert f"{len(problems):,} problems, the best of {starts} descents each" in docs
