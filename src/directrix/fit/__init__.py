"""Fits: training rows, candidates and their choice, thresholds, guarantees, passes over sources."""
