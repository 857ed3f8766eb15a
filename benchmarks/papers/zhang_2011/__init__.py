"""Zhang, Saha and Vishwanathan 2011: smoothing metrics that have corners, against BMRM.

The folder has the year of the paper's number in arXiv, 1202.3776.
"""
