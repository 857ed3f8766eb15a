"""Candidates of both frontiers, one validated choice."""
