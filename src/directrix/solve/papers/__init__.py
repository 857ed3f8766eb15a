"""Solvers of the five papers that the package implements, as the papers define them."""
