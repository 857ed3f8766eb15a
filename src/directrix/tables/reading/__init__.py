"""Raw columns of any library as one array of numbers."""
