"""Input of the command line: options, tables of rows, summaries and models."""
