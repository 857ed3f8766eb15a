import numpy as np
import pytest

from benchmarks.arena.protocol import METRICS
from benchmarks.harness.data import Rows
from benchmarks.rivals.lines import RIVALS
from directrix.metrics import AUC, Error


class TestRivals:
    def rows(self, n=150, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.random(n) < 0.4
        X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1]
        X[:, 0] += 2.0 * y
        return Rows(X, y)

    @pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")
    @pytest.mark.parametrize("name", list(RIVALS))
    def test_every_competitor_scores_new_rows_for_its_metrics(self, name):
        rival = RIVALS[name]
        if rival.missing:
            pytest.skip(f"{name} needs the group 'rivals': {rival.missing}")
        metrics = {"error": Error(), "AUC": AUC(), "cost 1:20": METRICS["cost 1:20"]}
        train, test = self.rows(), self.rows(seed=1)
        scores = rival.scores(train, test, metrics)
        assert set(scores) <= set(metrics)
        for metric, values in scores.items():
            assert values.shape == (150,)
            assert np.isfinite(values).all()
            value = metrics[metric].score(test.y, values)
            if name != "prior" and metric == "AUC":
                assert value > 0.8
            if name != "prior" and metric == "error":
                assert value < 0.25

    def test_doing_nothing_is_the_prior(self):
        train, test = self.rows(), self.rows(seed=1)
        scores = RIVALS["prior"].scores(train, test, {"error": Error(), "AUC": AUC()})
        assert Error().score(test.y, scores["error"]) == pytest.approx(test.y.mean())
        assert AUC().score(test.y, scores["AUC"]) == 0.5
