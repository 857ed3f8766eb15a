"""The fit of ScorecardClassifier to rows wherever they are, in a few passes."""
