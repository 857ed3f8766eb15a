"""Settings of the whole suite, and the figures that tests measure."""

import os

import pytest
from hypothesis import settings

#: Where everything that the engines need is installed, a test that skips has not been run.
NOTHING_IS_MISSING = os.environ.get("DIRECTRIX_ENGINES") == "all"

# The same cases on every run: a change, not chance, turns a test red.
settings.register_profile("same-cases", derandomize=True, deadline=None)
settings.load_profile("same-cases")


@pytest.fixture
def figure(request):
    """Return a function that notes a measured figure for the end of the test report."""

    def note(text):
        request.node.user_properties.append(("figure", text))

    return note


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return never_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return never_skipped((yield))


def never_skipped(report):
    if NOTHING_IS_MISSING and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing is missing: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter):
    figures = sorted(
        text
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        if report.when == "call"
        for name, text in report.user_properties
        if name == "figure"
    )
    if figures:
        terminalreporter.section("measured")
        for text in figures:
            terminalreporter.write_line(text)
