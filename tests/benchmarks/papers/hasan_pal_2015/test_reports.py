"""The reports are made of the tracked measurements."""

from pathlib import Path

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


def test_docs_have_the_growth_of_support_vectors():
    docs = (Path(__file__).parents[4] / "docs" / "beta-bernoulli.md").read_text(encoding="utf-8")
    growth, methods = kernels.Growth(), (kernels.SVM, kernels.SPARSE)
    for n in growth.sizes(kernels.SVM):
        cells = (
            f"{growth.support(m, n).mean():.0f}, {growth.percent(m, n).mean():.1f} %"
            for m in methods
        )
        assert f"| {n} | {' | '.join(cells)} |" in docs
    exponents = (f"{growth.exponents(m).mean():.2f}" for m in methods)
    assert f"| exponent | {' | '.join(exponents)} |" in docs
    for n in growth.sizes(kernels.PAPERS_SPARSE):
        kept = growth.support(kernels.PAPERS_SPARSE, n).mean()
        error = growth.percent(kernels.PAPERS_SPARSE, n).mean()
        assert f"{kept:.0f} of {n} rows (error {error:.1f} %)" in docs
