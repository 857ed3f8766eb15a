"""Monitored days: coverage of intervals, false alarms, days until drift is found, and rivals."""
