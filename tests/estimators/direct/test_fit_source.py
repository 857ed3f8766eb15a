"""DirectClassifier in two passes: what it makes of the rows of every engine that is there."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from directrix import DirectClassifier
from directrix.engines import HashFolds
from directrix.linear import lines_to_count as sources
from directrix.linear.lines_to_count import near_the_best
from directrix.metrics import RecallAtFPR

pytestmark = pytest.mark.filterwarnings("ignore:logistic regression is as good:UserWarning")
FEATURES = ["a", "b", "c"]


@cache
def frame(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 3))
    X[:, 0] = np.where(y, 3 + 0.3 * X[:, 0], 4 * X[:, 0])
    X[:, 1] += 1.5 * y
    return pd.DataFrame(X, columns=FEATURES).assign(y=np.where(y, "yes", "no"), id=np.arange(n))


def fit(source):
    """Fit with folds by a key, which are the same on every engine."""
    return DirectClassifier(RecallAtFPR(0.02)).fit_source(
        source, target="y", features=FEATURES, fold=HashFolds(5, key="id")
    )


@pytest.fixture(scope="module")
def fitted():
    return fit(frame())


def value(classifier, metric):
    new = frame(20_000, 1)
    return metric.score(new["y"] == "yes", classifier.decision_function(new[FEATURES]))


def test_it_is_about_as_good_as_a_fit_to_rows_in_memory(fitted, figure):
    rows = frame()
    alone = DirectClassifier(RecallAtFPR(0.02)).fit(rows[FEATURES], rows["y"])
    values = [value(each, RecallAtFPR(0.02)) for each in (fitted, alone)]
    figure(f"recall at FPR 2 % of new rows: two passes {values[0]:.3f}, in memory {values[1]:.3f}")
    assert values[0] > values[1] - 0.03


def test_class_weights_count_in_the_sample_as_weights_of_the_rows_do(monkeypatch):
    rows, searched, compare = frame(), [], sources.lines_to_count

    def watched(metric, moments, sample, n_jobs):
        searched.append(sample)
        return compare(metric, moments, sample, n_jobs)

    monkeypatch.setattr(sources, "lines_to_count", watched)
    rows = rows.assign(w=np.where(rows["y"] == "yes", 6.0, 1.0))
    options = {"target": "y", "features": FEATURES, "fold": HashFolds(5, key="id")}
    DirectClassifier("error", class_weight={"yes": 6.0}).fit_source(rows, **options)
    DirectClassifier("error").fit_source(rows, weight="w", **options)
    by_class, by_row = searched
    np.testing.assert_array_equal(by_class.X, by_row.X)
    mean = rows["w"].mean()
    np.testing.assert_allclose(by_class.weight, by_row.weight * mean, rtol=1e-9)
    assert by_class.weight[by_class.positive].min() > 5.0 * by_class.weight.min()


def test_it_knows_names_classes_and_what_it_did(fitted):
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_.tolist() == FEATURES
    assert fitted.operating_point_.empirical.fpr <= 0.02
    assert "all rows" in str(fitted.report_)
    assert any("logistic regression" in own.name for own in fitted.report_.tried)
    assert any("discriminant" in own.name for own in fitted.report_.tried)


def test_partitions_in_files_give_the_same_line(fitted, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for k, part in enumerate(np.array_split(np.arange(6000), 5)):
        frame().iloc[part].to_parquet(tmp_path / f"{k}.parquet", index=False)
    files = fit(str(tmp_path / "*.parquet"))
    np.testing.assert_allclose(files.coef_, fitted.coef_, rtol=1e-4)
    np.testing.assert_allclose(files.intercept_, fitted.intercept_, rtol=1e-3)


def test_rows_are_read_twice_and_no_more():
    class Chunks:
        times = 0

        def __iter__(self):
            type(self).times += 1
            yield from (frame().iloc[k::3] for k in range(3))

    DirectClassifier("auc").fit_source(Chunks(), target="y", features=FEATURES)
    assert Chunks.times == 2


def test_what_it_cannot_do_is_said():
    with pytest.raises(ValueError, match="too few for these folds"):
        DirectClassifier().fit_source(frame().iloc[:8], target="y", fold=HashFolds(5))


# ── which candidates the second pass counts ───────────────────────────────────────────────────────


def counted(losses, error, logistic=()):
    """Return the numbers of the candidates that are counted; some are logistic regression."""
    behind, simple = np.asarray(losses), [k in logistic for k in range(len(losses))]
    return near_the_best(behind, np.full(len(losses), error), simple)


def test_candidates_within_two_standard_errors_of_the_best_are_counted():
    losses = np.linspace(0.0, 1.0, 50)
    assert counted(losses, 0.1) == list(range(10))  # up to 0.2
    assert counted(losses, 0.2) == list(range(20))
    assert counted(losses, 0.0) == [0, 1, 2, 3]
    assert counted(losses, 9.0) == list(range(32))
    assert counted(losses[:3], 0.0) == [0, 1, 2]


def test_the_best_logistic_regression_is_always_counted_and_once():
    losses = np.linspace(0.0, 1.0, 50)
    for place in (0, 3, 30):
        chosen = counted(losses, 0.1, logistic=(place, 40))
        assert chosen[0] == place
        assert sorted(chosen) == sorted({place, *range(10)})
