"""The tables of Hasan and Pal 2015, measured again."""
