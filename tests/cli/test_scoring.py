import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from pyarrow import parquet

from directrix import MomentClassifier, Moments
from directrix.cli.reply import UsageError
from directrix.cli.rows import RowFiles, score_rows, scores_and_probabilities
from directrix.export import load


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # as in commands
def test_rows_are_scored_in_one_pass(files):
    model = load(files / "model.dx")
    rows = RowFiles.of([str(files / "tuesday.parquet")], "fraud")
    scored = score_rows(model, rows, with_moments=True)
    table = parquet.read_table(files / "tuesday.parquet").to_pandas()
    X = table[["amount", "age", "clock"]]
    assert scored.y.tolist() == table["fraud"].tolist()
    assert scored.scores == pytest.approx(model.decision_function(X))
    assert scored.probability == pytest.approx(model.predict_proba(X)[:, 1])
    assert scored.weight is None
    moments = Moments.load(files / "tuesday.moments")
    assert scored.moments.count == 600
    assert scored.moments.positive.mean == pytest.approx(moments.positive.mean)
    assert score_rows(model, rows).moments is None


def test_features_of_the_model_are_selected(files):
    model = load(files / "model.dx")
    rows = RowFiles.of([str(files / "rich.parquet")], "fraud")
    assert rows.for_model(model).features == ("amount", "age", "clock")
    chosen = RowFiles.of([str(files / "rich.parquet")], "fraud", features=["id,three,age"])
    assert chosen.for_model(model).features == ("id", "three", "age")
    libsvm = RowFiles.of([str(files / "tuesday.svm")], None)
    assert libsvm.for_model(model).n_features == 3


def test_a_different_number_of_features_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = MomentClassifier("auc").fit(X, X[:, 0] > 0)
    with pytest.raises(UsageError, match="the model has 2 features and the rows have 3"):
        scores_and_probabilities(model, np.ones((5, 3)))


def test_unknown_labels_are_refused(files):
    model = load(files / "model.dx")
    rows = RowFiles.of([str(files / "rich.parquet")], "kind")
    with pytest.raises(UsageError, match=r"\('bad', 'good'\); the model has False, True: check"):
        score_rows(model, rows)
