"""What every fit to rows shares: rows with keys, folds, thresholds and what is claimed of them."""
