"""Counts of rows by cells and pairs of cells: what additive scorecards need of the data."""
