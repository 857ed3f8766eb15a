"""The reports are made of the tracked measurements."""

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="populations are read from Parquet files")

from benchmarks.studies import (
    bent_boundaries,
    beyond_lines,
    daily_refit,
    descents,
    search_quality,
    store_crashes,
)
from benchmarks.studies.cards import integer_cards, monotone_cards, optbinning_tutorial
from benchmarks.studies.monitoring import census_years, checks, rivals
from benchmarks.studies.new_rows import (
    card_claims,
    claims,
    discrete_columns,
    noise,
    probabilities,
    quality,
)
from benchmarks.studies.scale import cards, cluster, guarantee, partials

REPORTS = {
    bent_boundaries.REPORT: bent_boundaries.lines,
    beyond_lines.REPORT: beyond_lines.lines,
    integer_cards.REPORT: integer_cards.lines,
    monotone_cards.REPORT: monotone_cards.lines,
    optbinning_tutorial.REPORT: optbinning_tutorial.lines,
    card_claims.REPORT: lambda: card_claims.lines(card_claims.RECORD.rows()),
    claims.REPORT: lambda: claims.lines(claims.RECORD.rows()),
    discrete_columns.REPORT: discrete_columns.lines,
    noise.REPORT: lambda: noise.lines(noise.RECORD.rows()),
    probabilities.REPORT: lambda: probabilities.lines(probabilities.RECORD.rows()),
    cards.REPORT: cards.lines,
    census_years.REPORT: census_years.lines,
    checks.REPORT: checks.lines,
    cluster.REPORT: cluster.lines,
    daily_refit.REPORT: daily_refit.lines,
    guarantee.REPORT: guarantee.lines,
    partials.REPORT: partials.lines,
    rivals.REPORT: rivals.lines,
    search_quality.REPORT: search_quality.lines,
    store_crashes.REPORT: store_crashes.lines,
    quality.REPORT: lambda: quality.lines(quality.RECORD.rows()),
}


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_report_says_what_was_measured(path):
    assert path.read_text(encoding="utf-8").splitlines() == REPORTS[path]()


def test_docs_say_how_many_problems_descents_were_run_on():
    docs = (Path(__file__).parents[3] / "docs" / "frontier.md").read_text(encoding="utf-8")
    rows = descents.RECORD.rows()
    problems = {row["problem"] for row in rows}
    (starts,) = {row["starts"] for row in rows}
    assert len(rows) == len(problems) * len(descents.METRICS)
    assert f"{len(problems):,} problems, the best of {starts} descents each" in docs
