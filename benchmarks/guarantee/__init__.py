"""How often a guaranteed limit is broken on new rows."""
