"""A scorecard as PMML 4.4, which decision engines of banks read."""

from directrix.export.pmml.document import to_pmml

__all__ = ["to_pmml"]
