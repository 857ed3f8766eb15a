"""Estimators for the pipelines of other libraries; each module needs its library."""
