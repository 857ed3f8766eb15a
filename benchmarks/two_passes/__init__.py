"""DirectClassifier in two passes, at size."""
