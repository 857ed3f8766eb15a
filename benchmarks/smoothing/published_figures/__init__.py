"""Figures 1–4 of Zhang, Saha and Vishwanathan 2012, with λ chosen on validation rows."""
