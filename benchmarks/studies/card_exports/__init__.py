"""Exported scorecards compared with the classifier, row by row."""
