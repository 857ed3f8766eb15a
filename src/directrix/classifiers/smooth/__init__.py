"""Linear classifiers fitted to all scores of the rows."""
