"""How good the frontier of moments is."""
