import json
import re

import numpy as np
import pytest

pytest.importorskip("typer")

from directrix import Frontier, Moments, SmoothClassifier
from directrix.classifiers.evaluation.feature_importance import feature_importances
from directrix.cli.output.pictures import Reliability
from directrix.export import load, save
from directrix.metrics import RecallAtFPR


def test_what_if_leaves_features_out(files):
    moments = Moments.load(files / "monday.moments")
    model, metric = load(files / "model.dx"), RecallAtFPR(0.1)
    found = feature_importances(model, ["amount", "age", "clock"], moments, metric)
    assert found.features[0].name == "amount"
    assert found.with_all == pytest.approx(1 - Frontier(moments).best(metric).risk)
    without = 1 - Frontier(moments.select(["age", "clock"])).best(metric).risk
    assert found.features[0].without == pytest.approx(without)


def test_reliability_of_probabilities_that_are_right():
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    found = Reliability.of(p, rng.random(50_000) < p, np.ones(50_000))
    assert found.error < 0.01
    assert sum(own.low <= own.predicted <= own.high for own in found.bins) >= 12
    assert sum(own.weight for own in found.bins) == 50_000


def test_reliability_keeps_equal_probabilities_together():
    p = np.array([0.2] * 50 + [0.7] * 50)
    found = Reliability.of(p, np.arange(100) % 2 == 0, np.ones(100))
    assert [own.weight for own in found.bins] == [50, 50]


class TestPictures:
    @pytest.fixture(autouse=True)
    def _drawn(self):
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("kind", ["frontier", "margins", "tradeoff"])
    def test_of_a_model(self, call, files, tmp_path, kind):
        output = tmp_path / "a.png"
        rows = [files / "tuesday.parquet", "-t", "fraud"]
        done = call("plot", kind, files / "model.dx", *rows, "-o", output)
        assert done.code == 0, done.err
        assert output.read_bytes().startswith(b"\x89PNG")

    def test_of_a_summary(self, call, files, tmp_path):
        output = tmp_path / "a.svg"
        done = call("plot", "frontier", files / "monday.moments", "-m", "f1", "-o", output)
        assert done.code == 0, done.err
        assert "<svg" in output.read_text(encoding="utf-8")

    def test_of_losses(self, call, tmp_path):
        done = call("plot", "losses", "-o", tmp_path / "a.png")
        assert done.code == 0, done.err

    def test_of_a_path(self, call, files, tmp_path):
        model = SmoothClassifier(loss="sigmoid", levels=(1, 4))
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        save(model.fit(X, X[:, 0] + rng.normal(size=60) > 0), tmp_path / "m.dx")
        rows = [files / "tuesday.parquet", "-t", "fraud", "--features", "amount,age,clock"]
        done = call("plot", "path", tmp_path / "m.dx", *rows, "-o", tmp_path / "a.png")
        assert done.code == 0, done.err
        refused = call("plot", "path", files / "model.dx", *rows, "-o", tmp_path / "b.png")
        assert refused.code == 1
        assert "-c smooth" in refused.err

    def test_the_report_is_one_file(self, call, files, tmp_path):
        output = tmp_path / "r.html"
        fit = {
            "classifier": "DirectClassifier",
            "candidates": [{"name": "<moments>", "metric": 0.5, "error": 0.02}],
            "compared_on": "held-out rows",
            "chosen": "<moments>",
            "why": "it is",
            "expected_on_new_rows": {"value": 0.48, "low": 0.4, "high": 0.55},
            "better_than_logistic": {"mean": 0.1, "low": None, "high": None},
        }
        (tmp_path / "fit.json").write_text(json.dumps(fit), encoding="utf-8")
        rows = [files / "tuesday.parquet", "-t", "fraud", "--fit", tmp_path / "fit.json"]
        done = call("report", files / "model.dx", *rows, "-o", output)
        assert done.code == 0, done.err
        page = output.read_text(encoding="utf-8")
        assert len(re.findall(r'src="data:image/png;base64,', page)) == 4
        assert not re.findall(r'(?:src|href)="(?!data:)|https?://|url\(', page)
        headings = re.findall(r"<h2>(.*?)</h2>", page)
        assert headings == [
            "Data",
            "Operating point",
            "ROC curve and frontier",
            "Normality of the scores",
            "Calibration of the probabilities",
            "Feature importance",
            "Candidates",
        ]
        assert "&lt;moments&gt;" in page
        assert "<moments>" not in page
        assert "Expected on new rows: 0.4800 (0.4000 to 0.5500)." in page
        found = call("evaluate", files / "model.dx", *rows[:3], "--json").json
        assert f"{found['metric']['value']:.4f}" in page
