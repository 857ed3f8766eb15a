"""Logistic regression with plateaus, and everything that only it needs."""
