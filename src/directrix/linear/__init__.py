"""Linear models from rows: losses of all n scores, their minimisation, and recipes of a search."""
