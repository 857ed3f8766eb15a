"""Measurements behind every claim: one file for each table, results tracked beside it."""
