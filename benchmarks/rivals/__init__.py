"""Competitors of the arenas, all behind the signature of `Rival`."""
