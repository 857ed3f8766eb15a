"""Counts of rows by cells and pairs of cells: what additive scorecards need of the data."""

from directrix.tables.coding.crosses import PairGain
from directrix.tables.counts.bin_counts import BinCounts, weights_of_evidence
from directrix.tables.counts.feature_moments import CellMoments
from directrix.tables.counts.stability import (
    LATER,
    Stability,
    compare_cells,
    psi_reading,
    stability,
    stability_index,
)

__all__ = [
    "LATER",
    "BinCounts",
    "CellMoments",
    "PairGain",
    "Stability",
    "compare_cells",
    "psi_reading",
    "stability",
    "stability_index",
    "weights_of_evidence",
]
