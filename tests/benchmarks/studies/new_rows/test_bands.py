"""The study of bands: where its cuts in the tails are, and what its report adds up."""

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="tables are read from Parquet files")

from benchmarks.studies.new_rows.bands import RECORD, lines, tail_cuts
from directrix.cards.risk_bands import HeldOutPoints


def test_cuts_in_the_tails_are_points_of_rows():
    points = np.arange(1000.0)
    held_out = HeldOutPoints(points, np.ones(1000), np.zeros(1000), np.full(1000, 0.1), 1.0, 1.0)
    assert tail_cuts(held_out) == [9, 29, 99, 499, 899, 969, 989]


def test_the_report_adds_up_the_bands_of_all_cards():
    about = dict.fromkeys(RECORD.columns, "1") | {"table": "a", "bands": "10", "inside": "9"}
    rows = [about | {"kind": kind, "seed": seed} for kind in ("10", "20", "tails") for seed in "12"]
    text = "\n".join(lines(rows))
    assert "| all | 2 | 20 | 18 | 90.0% |" in text
