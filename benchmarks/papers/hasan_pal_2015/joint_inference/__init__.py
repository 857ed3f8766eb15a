"""Local classifiers inside a graphical model: §5.2 of Hasan and Pal 2015, on generated pages."""
