"""Settings of the whole suite, and the figures that tests measure."""

import pytest
from hypothesis import settings

# The same cases on every run: a change, not chance, turns a test red.
settings.register_profile("same-cases", derandomize=True, deadline=None)
settings.load_profile("same-cases")


@pytest.fixture
def figure(request):
    """Return a function that notes a measured figure for the end of the test report."""

    def note(text):
        request.node.user_properties.append(("figure", text))

    return note


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
