"""Speed as a ratio to a named piece of work, measured side by side in one run."""
