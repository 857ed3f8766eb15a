"""scikit-learn's SGDClassifier: hinge and logistic loss."""

from __future__ import annotations

from sklearn.linear_model import SGDClassifier

from benchmarks.rivals.base import Grid

_ALPHAS = (1e-5, 1e-4, 1e-3, 1e-2)


def _sgd(loss: str, alpha: float) -> SGDClassifier:
    return SGDClassifier(loss=loss, alpha=alpha, random_state=0)


hinge = Grid(lambda alpha: _sgd("hinge", alpha), _ALPHAS)
log = Grid(lambda alpha: _sgd("log_loss", alpha), _ALPHAS, probabilities=True)
