"""Codings of bins: features that are linear in cells, and crosses of columns."""
