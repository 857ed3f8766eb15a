"""The kernels of Hasan and Pal 2015: their tables, how support vectors grow, and what they cost."""
