"""Designs: candidates of lines, in memory, in a summary and in passes; and edited cards."""
