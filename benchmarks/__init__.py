"""Measurements of directrix: the papers' tables, an arena of competitors, studies and speed.

BLAS runs on one thread, so that CPU times can be compared: the limit only works if it is set before
NumPy is imported, hence here.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_NUM_THREADS="1")
