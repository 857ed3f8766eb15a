import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from directrix import ScorecardClassifier, SmoothClassifier
from directrix.export import save


@pytest.fixture
def smooth_model(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = SmoothClassifier(loss="sigmoid", levels=(1, 4))
    save(model.fit(X, X[:, 0] + rng.normal(size=60) > 0), tmp_path / "smooth.dx")
    return tmp_path / "smooth.dx"


@pytest.mark.parametrize("figure", ["frontier", "margins", "tradeoff"])
def test_figures_of_a_model(call, files, tmp_path, figure):
    output = tmp_path / "a.png"
    rows = [files / "tuesday.parquet", "-t", "fraud"]
    result = call("plot", figure, files / "model.dx", *rows, "-o", output)
    assert result.code == 0, result.err
    assert output.read_bytes().startswith(b"\x89PNG")


def test_the_frontier_of_a_summary(call, files, tmp_path):
    output = tmp_path / "a.svg"
    result = call("plot", "frontier", files / "monday.moments", "-m", "f1", "-o", output)
    assert result.code == 0, result.err
    assert "<svg" in output.read_text(encoding="utf-8")


def test_the_picture_of_a_card(call, files, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    card = ScorecardClassifier("auc", learn_from="counts", max_crosses=0, max_lines=6)
    save(card.fit(X, X[:, 0] + rng.normal(size=300) > 0), tmp_path / "card.dx")
    result = call("plot", "card", tmp_path / "card.dx", "-o", tmp_path / "card.png")
    assert result.code == 0, result.err
    assert (tmp_path / "card.png").read_bytes().startswith(b"\x89PNG")
    refused = call("plot", "card", files / "model.dx", "-o", tmp_path / "b.png")
    assert refused.code == 1
    assert "MomentClassifier is not a card" in refused.err


def test_losses(call, files, tmp_path, smooth_model):
    result = call("plot", "losses", "-o", tmp_path / "a.png")
    assert result.code == 0, result.err
    result = call("plot", "losses", smooth_model, "-o", tmp_path / "b.png")
    assert result.code == 0, result.err
    refused = call("plot", "losses", files / "model.dx", "-o", tmp_path / "c.png")
    assert refused.code == 1
    assert "fit with -c smooth" in refused.err


def test_the_path_of_a_smooth_model(call, files, tmp_path, smooth_model):
    rows = [files / "tuesday.parquet", "-t", "fraud", "--features", "amount,age,clock"]
    result = call("plot", "path", smooth_model, *rows, "-o", tmp_path / "a.png")
    assert result.code == 0, result.err
    refused = call("plot", "path", files / "model.dx", *rows, "-o", tmp_path / "b.png")
    assert refused.code == 1
    assert "-c smooth" in refused.err


def test_a_ranking_has_no_tradeoff(call, files, tmp_path):
    rows = [files / "tuesday.parquet", "-t", "fraud", "-m", "auc"]
    refused = call("plot", "tradeoff", files / "model.dx", *rows, "-o", tmp_path / "a.png")
    assert refused.code == 1
    assert "uses no threshold" in refused.err


def test_an_unknown_file_type_is_refused(call, tmp_path):
    refused = call("plot", "losses", "-o", tmp_path / "a.docx")
    assert refused.code == 1
    assert "a.docx cannot be written" in refused.err
