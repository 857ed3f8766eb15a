"""Whether what a fit claims holds on new rows: bias, coverage, limits kept, and the cost."""
