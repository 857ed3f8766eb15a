"""Linear classifiers fitted from class moments."""
