"""The card of a fitted classifier: points of bins, and what is made of them."""
