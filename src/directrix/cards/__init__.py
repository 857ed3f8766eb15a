"""Cards from one penalised likelihood: basis, likelihood, crosses, sizes; no metric is known."""
