"""Replies, error messages, report pages and pictures of the command line."""
