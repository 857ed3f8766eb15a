"""Counts of rows by cells and pairs of cells: what additive scorecards need of the data."""

from directrix.tables.counts.bin_counts import BinCounts
from directrix.tables.counts.evidence import weights_of_evidence
from directrix.tables.counts.feature_moments import CellMoments
from directrix.tables.counts.pair_gains import PairGain

__all__ = ["BinCounts", "CellMoments", "PairGain", "weights_of_evidence"]
