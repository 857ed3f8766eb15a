"""Output of the command line: replies, error messages, report pages and figures."""
