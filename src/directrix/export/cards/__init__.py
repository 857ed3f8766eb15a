"""Scorecards as plain content: what JSON and Python source are written from."""
