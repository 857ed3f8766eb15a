"""Algorithm 1 of Ghanbari and Scheinberg 2018: gradient descent on moments, and on its rivals.

BLAS runs on one thread: the limit must be set before NumPy loads, and so stands here.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_NUM_THREADS="1")
