"""The linear support vector machine of LIBLINEAR, through scikit-learn."""

from __future__ import annotations

from sklearn.svm import LinearSVC

from benchmarks.rivals.base import Grid

tuned = Grid(lambda C: LinearSVC(C=C, dual="auto"), (0.001, 0.01, 0.1, 1.0, 10.0))
