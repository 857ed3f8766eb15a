"""ScorecardClassifier: bins of every column, and points for each bin."""
