"""Reading tables and options, and writing files, for the command line."""
