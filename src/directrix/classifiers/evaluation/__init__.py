"""Evaluation of a fitted classifier on rows it was not fitted to."""
