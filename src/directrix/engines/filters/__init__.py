"""Row filters: the conditions of ``where=`` on every engine."""

from directrix.engines.filters.row_filter import RowFilter

__all__ = ["RowFilter"]
