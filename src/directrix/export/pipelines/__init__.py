"""Pipelines of scikit-learn: their features as expressions of raw columns, in no language yet.

A step maps a list of expressions to a list of expressions (`steps`); a language writes each of the
few kinds of expressions (`directrix.export.sql.features`).
"""
