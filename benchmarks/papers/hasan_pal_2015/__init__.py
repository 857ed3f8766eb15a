"""Hasan and Pal 2015: Beta-Bernoulli logistic regression, its kernels and its probabilities."""
