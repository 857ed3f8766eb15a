"""Files that are whole or absent, and checks of what they hold."""
