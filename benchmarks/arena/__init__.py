"""All competitors on the same folds of many sets, for many metrics."""
