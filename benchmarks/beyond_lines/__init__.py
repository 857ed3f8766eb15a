"""Lines on more features, against trees."""
