"""Scorecards under conditions: directions, few columns, whole points; and beside optbinning."""
