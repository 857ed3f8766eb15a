"""Designs: what turns rows into the features of a line or a card."""
