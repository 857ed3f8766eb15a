"""How few training errors a line can make."""
