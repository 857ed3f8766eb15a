"""Readers: how rows in files, datasets and tables of a lake house become Arrow batches."""
