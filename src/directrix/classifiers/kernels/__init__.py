"""Kernels, kernel expansions as linear models, and stochastic gradient descent."""
