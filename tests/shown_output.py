"""Comparison of what a page shows with what commands and examples print."""

import re
from fnmatch import fnmatchcase

import pytest

NUMBER = re.compile(r"\d+\.\d+")


def assert_shown(shown, printed):
    """Compare texts; ``...`` stands for any text, and numbers may differ in the third digit.

    So may the number of their digits, and with it the width of columns.
    """
    shown, printed = (re.sub(" +", " ", text) for text in (shown, printed))
    assert len(shown.splitlines()) == len(printed.splitlines())
    for expected, line in zip(shown.splitlines(), printed.splitlines(), strict=True):
        pattern = NUMBER.sub("#", expected).replace("[", "[[]").replace("...", "*")
        assert fnmatchcase(NUMBER.sub("#", line), pattern), line
        if "..." not in expected:
            numbers = [float(number) for number in NUMBER.findall(line)]
            wanted = [float(number) for number in NUMBER.findall(expected)]
            assert numbers == pytest.approx(wanted, rel=5e-3, abs=5e-4), line
