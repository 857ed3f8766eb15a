"""DirectClassifier over one-hot texts and numbers: our plain line on a table."""

from __future__ import annotations

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Metrics, Rival, Scores
from benchmarks.rivals.one_hot_logistic import one_hot
from benchmarks.rivals.ours import direct
from benchmarks.rivals.table_rival import with_plain_texts


class OneHotDirect(Rival):
    """The features of one-hot logistic regression, and a `DirectClassifier` for each metric."""

    family = "ours"

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Make the features of the training rows, and fit to each metric."""
        transformer = one_hot(train.X).set_params(sparse_threshold=0.0)  # our lines are dense
        fitted = transformer.fit_transform(with_plain_texts(train.X))
        other = transformer.transform(with_plain_texts(test.X))
        return direct.scores(Rows(fitted, train.y), Rows(other, test.y), metrics)


line = OneHotDirect()
