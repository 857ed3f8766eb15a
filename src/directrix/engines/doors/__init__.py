"""Doors: how rows in files, tables of a lake house, streams and cursors become Arrow batches."""

from directrix.engines.doors.select import accepts, open_source

__all__ = ["accepts", "open_source"]
