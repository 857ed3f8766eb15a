"""Ghanbari and Scheinberg 2018: Algorithm 1, gradient descent on moments, and its rivals."""
