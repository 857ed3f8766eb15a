"""Designs: what lines and cards are to a fit, their features, structure and candidates."""
