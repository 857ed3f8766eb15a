"""Ghanbari, Li and Scheinberg 2019: training from class moments, measured again."""
