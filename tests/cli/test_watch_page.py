import pytest
from monitored_days import Days

from directrix import MomentClassifier
from directrix.monitoring import Monitor, summarize_day

pytest.importorskip("matplotlib").use("agg")
pytest.importorskip("typer")


def test_the_page_has_the_figures_of_the_check():
    from directrix.cli.pages import watch_page

    day = Days(0)
    model = MomentClassifier("recall@fpr=0.05", positive="bad").fit(*day(2000, 0.2))
    reference = summarize_day(model, *day(8000, 0.2))
    point = model.operating_point_
    monitor = Monitor(reference.scores, operating_point=point)
    checks = [
        monitor.check(summarize_day(model, *day(1000, 0.2)), f"2026-01-0{k}") for k in range(1, 4)
    ]
    page = watch_page("some/<model>.dx", checks[:-1], checks[-1])
    assert "&lt;model&gt;.dx" in page
    assert f"{100 * checks[-1].prevalence.share:.2f} %" in page
    assert f"<b>{checks[-1].alerts.observed:,.0f}</b>" in page
    assert "Promised and realised" in page
    assert page.count("data:image/png") == 1
