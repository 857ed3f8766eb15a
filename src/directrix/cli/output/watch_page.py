"""HTML page about a day of a model in use."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from directrix.cli.output.html_page import Page
from directrix.displays import DaysDisplay

if TYPE_CHECKING:
    from directrix.monitoring import DayCheck

_SHOWN_COLUMNS = 20


def watch_page(model: str, history: Sequence[DayCheck], check: DayCheck) -> str:
    """Return the page of a day as HTML.

    Parameters
    ----------
    model : str
        Path of the model.
    history : sequence of DayCheck
        Earlier days, in order.
    check : DayCheck
    """
    state = "alarm" if check.alarm else "no alarm"
    lead = (
        f"{Path(model).name}; {check.n_rows:,.0f} rows of {check.day} against "
        f"{check.n_reference:,.0f} reference rows"
    )
    page = Page(f"{check.day}: {check.verdict}, {state}", lead)
    page.paragraph(check.explanation())
    _figures(page, check)
    page.heading("Days")
    display = DaysDisplay.from_checks([*history, check])
    page.figure(display.figure_, "prevalence, alerts and p-values by day")
    page.paragraph(
        "Intervals and expected alerts hold if only the share of positives has changed since the "
        "reference. A small p-value says that more has changed.",
        note=True,
    )
    if check.promises:
        _promises(page, check)
    if check.columns:
        _columns(page, check)
    return page.html()


def _figures(page: Page, check: DayCheck) -> None:
    prevalence, alerts, precision = check.prevalence, check.alerts, check.precision()
    span = f"{100 * prevalence.low:.2f} to {100 * prevalence.high:.2f} %"
    page.cards(
        [
            (
                f"{100 * prevalence.share:.2f} %",
                f"positives ({span}); reference {100 * prevalence.reference:.2f} %",
            ),
            (
                f"{alerts.observed:,.0f}",
                f"alerts; {alerts.low:,.0f} to {alerts.high:,.0f} expected",
            ),
            (
                f"{precision[0]:.3f}",
                f"precision expected ({precision[1]:.3f} to {precision[2]:.3f})",
            ),
            (
                f"{check.score_stability.psi:.4f}",
                f"PSI of the scores, {check.score_stability.reading}",
            ),
            (f"{check.p_value:.2g}", "p-value of no drift"),
        ]
    )


def _promises(page: Page, check: DayCheck) -> None:
    page.heading("Promised and realised")
    rows = []
    for each in check.promises:
        promised = isfinite(each.promised)
        rows.append(
            [
                each.name,
                f"{each.promised:.4f}" if promised else "",
                f"{each.promised_low:.4f} to {each.promised_high:.4f}" if promised else "",
                f"{each.realised:.4f}",
                f"{each.low:.4f} to {each.high:.4f}",
                ("kept" if each.kept else "not kept") if promised else "nothing promised",
            ]
        )
    page.table(["", "promised", "interval", "realised", "95 % interval", ""], rows)


def _columns(page: Page, check: DayCheck) -> None:
    page.heading("Columns")
    rows = [
        [
            column.column,
            f"{column.residual:+.1f}",
            f"{column.psi:.4f}",
            f"{column.noise:.4f}",
            column.reading,
        ]
        for column in check.columns[:_SHOWN_COLUMNS]
    ]
    page.table(["column", "unexplained (standard errors)", "PSI", "noise below", "reading"], rows)
    if len(check.columns) > _SHOWN_COLUMNS:
        page.paragraph(f"{len(check.columns) - _SHOWN_COLUMNS} more columns.", note=True)
