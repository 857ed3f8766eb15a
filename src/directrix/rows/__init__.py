"""Access to labelled rows: dense and sparse rows, labels, weights, keys, samples and exact sums."""
