"""The reports are made of the tracked measurements."""

from benchmarks.papers.hasan_pal_2015 import calibration, kernels, pages, report


def test_tables():
    text = report.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == report.lines(report.Measured())


def test_docs_have_the_tables_and_the_claims():
    assert pages.PAGE.read_text(encoding="utf-8") == pages.embedded(report.Measured())


def test_calibration():
    text = calibration.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == calibration.lines(calibration.read())


def test_kernels():
    assert kernels.REPORT.read_text(encoding="utf-8").splitlines() == kernels.lines()
