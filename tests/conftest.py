"""Settings of the whole suite, and the figures that tests measure."""

import os
from pathlib import Path

import pytest
import sklearn
import spark_cluster
from few_cases import SELECTION, examples, few
from hypothesis import settings

#: Where everything that the engines need is installed, a test that skips has not been run.
NOTHING_IS_MISSING = os.environ.get("DIRECTRIX_ENGINES") == "all"
#: A file for the names of the tests that skip, so that they are run where nothing is missing.
SKIPPED = os.environ.get("DIRECTRIX_SKIPPED")
#: What scikit-learn, since 1.9, makes of sparse results: "spmatrix", its default, or "sparray".
SPARSE_INTERFACE = os.environ.get("DIRECTRIX_SPARSE_INTERFACE")
#: The reasons of tests whose data sets are not part of the repository name this variable.
DATA = "DIRECTRIX_DATA"


def pytest_addoption(parser):
    group = parser.getgroup("cases")
    group.addoption(
        "--cases",
        type=int,
        default=SELECTION.limit,
        metavar="N",
        help="how many cases of a parametrised test are run, unless it is marked every_case",
    )
    group.addoption("--all-cases", action="store_true", help="run every case of every test")


def pytest_configure(config):
    if SPARSE_INTERFACE:
        sklearn.set_config(sparse_interface=SPARSE_INTERFACE)
    SELECTION.limit = None if config.getoption("all_cases") else config.getoption("cases")
    # The same cases on every run: a change, not chance, turns a test red.
    settings.register_profile(
        "same-cases", derandomize=True, deadline=None, max_examples=examples(100)
    )
    settings.load_profile("same-cases")


def pytest_report_header():
    if SELECTION.limit is not None:
        return f"quick form: at most {SELECTION.limit} cases of a test; --all-cases runs all"
    return None


@pytest.fixture
def figure(request):
    """Return a function that notes a measured figure for the end of the test report."""

    def note(text):
        request.node.user_properties.append(("figure", text))

    return note


# For the whole run, so that tests of one kind of session follow one another.
@pytest.fixture(
    scope="session",
    params=[
        pytest.param(spark_cluster.THREADS, id="classic"),
        pytest.param(spark_cluster.CONNECT, id="connect"),
    ],
)
def spark_master(request):
    """Return the name of the session that Spark tests use."""
    return request.param


@pytest.fixture
def spark(spark_master):
    """Return a session of Spark: a classic one, and one of Spark Connect."""
    return spark_cluster.session(spark_master)


def pytest_collection_modifyitems(config, items):
    if SELECTION.limit is not None:
        items[:], left_out = few(items, SELECTION.limit)
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return never_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return never_skipped((yield))


def never_skipped(report):
    if NOTHING_IS_MISSING and lacks_something(report):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing is missing: {report.longrepr}"
    return report


def lacks_something(report):
    """Return whether a test skips for want of a library or a program."""
    expected_to_fail = hasattr(report, "wasxfail")
    # Where scikit-learn asks for a setting of scipy, no library is missing.
    other_reasons = (DATA, "SCIPY_ARRAY_API is not set")
    said = str(report.longrepr)
    return report.skipped and not expected_to_fail and not any(why in said for why in other_reasons)


def pytest_terminal_summary(terminalreporter):
    if SKIPPED:
        skipped = terminalreporter.getreports("skipped")
        names = {report.nodeid for report in skipped if lacks_something(report)}
        Path(SKIPPED).write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")
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
