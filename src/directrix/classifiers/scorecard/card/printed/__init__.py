"""A card as people read it: rows, text, Markdown and HTML."""
