"""The reports are made of the tracked measurements."""

import pytest

pytest.importorskip("statsmodels", reason="statsmodels has McNemar's test")

from benchmarks.papers.hasan_pal_2015 import calibration, kernels, report


def test_tables():
    text = report.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == report.lines(report.Measured())


def test_calibration():
    text = calibration.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == calibration.lines(calibration.read())


def test_kernels():
    assert kernels.REPORT.read_text(encoding="utf-8").splitlines() == kernels.lines()
