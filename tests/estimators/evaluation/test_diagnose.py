import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import MomentClassifier, Moments, diagnose
from directrix.estimators.evaluation import delong, normality
from directrix.metrics import AUC, Error, PartialAUC, RecallAtFPR
from directrix.metrics.table import TABLE, resolve


def normal_rows(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 3)) * np.where(y, 1.3, 1.0)[:, None]
    X[:, 0] += 1.2 * y
    return X, y


def exponential_rows(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return rng.exponential(np.where(y, 3.0, 1.0))[:, None], y


class Scores:
    """An estimator whose scores are the rows themselves."""

    classes_ = np.array([False, True])

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("metric", ["error", "auc", RecallAtFPR(0.05)], ids=str)
def test_normal_scores_are_trusted(metric):
    classifier = MomentClassifier(metric, sample=0).fit(*normal_rows(seed=1))
    diagnosis = diagnose(classifier, *normal_rows(seed=2))
    assert diagnosis.trusted
    assert diagnosis.positive.verdict == diagnosis.negative.verdict == "close to normal"
    assert diagnosis.metric == resolve(metric)
    (advice,) = diagnosis.advice
    assert "a summary without a sample will do" in advice


def test_exponential_scores_are_far_from_normal_and_there_is_advice():
    classifier = MomentClassifier(RecallAtFPR(0.01), sample=0).fit(*exponential_rows())
    diagnosis = diagnose(classifier, *exponential_rows(seed=1))
    assert not diagnosis.trusted
    assert diagnosis.positive.verdict == diagnosis.negative.verdict == "far from normal"
    advice = "\n".join(diagnosis.advice)
    assert "positive class are skewed" in advice
    assert "negative class are skewed" in advice
    assert "PowerTransformer" in advice
    assert "train from a summary with a sample" in advice


def test_of_other_models_the_advice_is_not_to_train_ours():
    diagnosis = diagnose(Scores(), *exponential_rows(), metric=RecallAtFPR(0.01))
    assert not diagnosis.trusted
    assert any("for this model, take thresholds and rates from rows" in a for a in diagnosis.advice)
    assert not any("choose=" in a for a in diagnosis.advice)


def test_few_rows_of_a_class_are_mentioned():
    X, y = normal_rows(150)
    diagnosis = diagnose(Scores(), X, y)
    few = min(y.sum(), (~y).sum())
    assert few < 100
    assert any(f"one class has {few} rows here" in advice for advice in diagnosis.advice)


def test_heavy_tails_differ_from_skewness():
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2 == 0
    X = rng.standard_t(4, size=4000)[:, None] + y[:, None]
    advice = "\n".join(diagnose(Scores(), X, y).advice)
    assert "heavy- or light-tailed" in advice


def test_normality_is_kolmogorovs_distance_and_two_moments():
    scores = np.random.default_rng(0).gamma(3.0, size=500)
    result = normality(scores, np.ones(500))
    fitted = stats.norm(scores.mean(), scores.std())
    assert result.distance == pytest.approx(stats.kstest(scores, fitted.cdf).statistic, abs=1e-12)
    assert result.skewness == pytest.approx(stats.skew(scores), abs=1e-12)
    assert result.excess_kurtosis == pytest.approx(stats.kurtosis(scores), abs=1e-12)


def test_scores_that_are_all_alike_are_far_from_normal():
    result = normality(np.ones(8), np.ones(8))
    assert result == (0.5, 0.0, 0.0)
    assert result.verdict == "far from normal"


@pytest.mark.parametrize("value", [0.1, 1e8 / 3, 1e-16, 1e-200, 1e200, -1e-310])
@pytest.mark.parametrize("n", [7, 1000])
def test_scores_that_are_alike_but_for_rounding_are_all_alike(value, n):
    rng = np.random.default_rng(0)
    scores = value * (1.0 + 1e-15 * rng.integers(-1, 2, n))
    assert normality(scores, rng.random(n) + 0.1) == (0.5, 0.0, 0.0)


@pytest.mark.parametrize("power", [-1000, -600, -53, 53, 600, 1000])
def test_normality_has_no_units(power):
    rng = np.random.default_rng(0)
    scores, weight = rng.gamma(3.0, size=500), rng.random(500)
    assert normality(scores * 2.0**power, weight) == normality(scores, weight)
    # A variance of 1e-16 of the square is none too little.
    apart = normality(1.0 + 1e-8 * scores, weight)
    assert apart == pytest.approx(normality(scores, weight), abs=1e-6)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_scores_of_extreme_size_are_diagnosed_as_any(size):
    X, y = normal_rows()
    plain, far = (diagnose(Scores(), X * factor, y) for factor in (1.0, size))
    assert far.predicted == pytest.approx(plain.predicted, abs=1e-9)
    assert far.interval == pytest.approx(plain.interval, abs=1e-9)


def test_a_classifier_of_one_class_cannot_be_diagnosed():
    X, y = normal_rows()
    with pytest.warns(UserWarning, match="rows of the other"):
        waiting = MomentClassifier().partial_fit(X[y], y[y], classes=[False, True])
    with pytest.raises(ValueError, match="class False has none"):
        diagnose(waiting, X, y)


def delong_by_hand(positive, scores):
    """Return DeLong's interval from all pairs, on the scale of log-odds."""
    ours, theirs = scores[positive], scores[~positive]
    ahead = (ours[:, None] > theirs) + 0.5 * (ours[:, None] == theirs)
    auc = ahead.mean()
    rows, columns = ahead.mean(axis=1), ahead.mean(axis=0)
    deviation = np.sqrt(rows.var(ddof=1) / len(ours) + columns.var(ddof=1) / len(theirs))
    reach = stats.norm.ppf(0.975) * deviation / (auc * (1.0 - auc))
    odds = np.log(auc / (1.0 - auc)) + np.array([-reach, reach])
    return tuple(1.0 / (1.0 + np.exp(-odds)))


@pytest.mark.parametrize("n", [8, 30, 120])
@pytest.mark.parametrize("seed", range(4))
def test_delongs_interval_is_that_of_all_pairs(n, seed):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < n // 3
    scores = rng.permutation(np.round(2.0 * rng.normal(size=n)) / 2.0) + 0.5 * positive  # ties
    assert len(np.unique(scores)) < n
    expected = delong_by_hand(positive, scores)
    order = rng.permutation(n)
    interval = delong(positive[order], scores[order], np.ones(n))
    assert interval == pytest.approx(expected, abs=1e-12)


def test_delongs_interval_knows_how_many_rows_the_weights_are_worth():
    X, y = normal_rows(300)
    ones, X = np.ones(300), X[:, 0]
    once = delong(y, X, ones)
    assert delong(y, X, 7.0 * ones) == pytest.approx(once, abs=1e-12)  # units do not matter
    uneven = delong(y, X, np.random.default_rng(0).exponential(size=300))
    assert np.ptp(uneven) > 1.1 * np.ptp(once)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_delongs_interval_of_classes_that_are_separated_is_a_point(way):
    positive = np.arange(20) < 5
    auc = 1.0 if way > 0 else 0.0
    assert delong(positive, way * (positive + 0.0), np.ones(20)) == pytest.approx(
        (auc, auc), abs=1e-15
    )


def test_delongs_interval_covers_the_truth_nineteen_times_in_twenty(figure):
    truth, times, covered = stats.norm.cdf(1.0 / np.sqrt(2.0)), 300, 0
    for seed in range(times):
        rng = np.random.default_rng(seed)
        positive = np.arange(120) < 40
        low, high = delong(positive, rng.normal(size=120) + positive, np.ones(120))
        covered += low <= truth <= high
    figure(f"diagnose: DeLong's 95 % interval covers AUC {covered} times of {times}")
    # Five deviations of the count.
    assert abs(covered - 0.95 * times) < 5.0 * np.sqrt(times * 0.95 * 0.05)


OTHERS = {
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)], ids=str)
@pytest.mark.parametrize("model", OTHERS.values(), ids=OTHERS)
def test_any_model_with_scores_can_be_diagnosed(model, labels):
    X, y = normal_rows()
    y = np.array(labels)[y.astype(int)]
    model = clone(model).fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    diagnosis = diagnose(model, X, y)
    scores = model.decision_function(X)
    assert diagnosis.metric == AUC()
    assert diagnosis.method == "DeLong"
    assert diagnosis.empirical == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    assert diagnosis.interval == pytest.approx(delong_by_hand(y == labels[1], scores), abs=1e-12)
    # Without a training summary: two normal distributions of these rows' scores.
    ours, theirs = scores[y == labels[1]], scores[y == labels[0]]
    gap = (ours.mean() - theirs.mean()) / np.sqrt(ours.var() + theirs.var())
    assert diagnosis.predicted == pytest.approx(stats.norm.cdf(gap), abs=1e-9)
    error = diagnose(model, X, y, metric="error")
    assert error.empirical == pytest.approx(1.0 - accuracy_score(y, model.predict(X)), abs=1e-12)
    assert error.method == "posterior draws"
    assert diagnose(model, X, y, metric=PartialAUC(0.1)).method == "DeLong"


def test_our_classifier_is_diagnosed_by_its_metric_and_its_summary():
    classifier = MomentClassifier(Error(), sample=0).fit(*normal_rows())
    X, y = normal_rows(500, seed=3)
    diagnosis = diagnose(classifier, X, y)
    assert diagnosis.metric == Error()
    # The prediction is that of the training summary, whatever the rows are; a fit shrinks it.
    promised = classifier.operating_point_.predicted.metric
    assert diagnosis.predicted == pytest.approx(promised, abs=2e-3)
    assert diagnosis.predicted == diagnose(classifier, X[:100], y[:100]).predicted
    assert diagnosis.empirical == pytest.approx(np.mean(classifier.predict(X) != y), abs=1e-12)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_weight_is_repetition_in_the_values(row):
    X, y = normal_rows(400)
    weight = np.random.default_rng(0).integers(1, 4, 400)
    index = np.repeat(np.arange(400), weight)
    weighted = diagnose(Scores(), X, y, metric=row.example, sample_weight=weight)
    repeated = diagnose(Scores(), X[index], y[index], metric=row.example)
    assert weighted.predicted == pytest.approx(repeated.predicted, abs=1e-12)
    assert weighted.empirical == pytest.approx(repeated.empirical, abs=1e-12)
    for mine, its in (
        (weighted.positive, repeated.positive),
        (weighted.negative, repeated.negative),
    ):
        assert mine == pytest.approx(its, abs=1e-12)


def test_a_classifier_of_a_summary_can_be_diagnosed():
    X, y = normal_rows()
    classifier = MomentClassifier("auc").fit_summary(Moments.of(X[::2], y[::2], sample=0))
    diagnosis = diagnose(classifier, X[1::2], y[1::2])
    promised = classifier.operating_point_.predicted.metric
    assert diagnosis.predicted == pytest.approx(promised, abs=1e-2)
    assert diagnosis.trusted


def test_a_diagnosis_as_text():
    diagnosis = diagnose(Scores(), *exponential_rows())
    first, second, third, *advice = str(diagnosis).splitlines()
    assert first.startswith("scores of the positive class: far from normal (distance 0.1")
    assert second.startswith("scores of the negative class: far from normal (distance 0.1")
    assert third.startswith(f"AUC: predicted {diagnosis.predicted:.4f}, on these rows ")
    assert third.endswith("DeLong)")
    assert advice == [f"- {each}" for each in diagnosis.advice]
    assert advice


def test_rows_of_one_class_are_refused():
    X, _ = normal_rows(50)
    with pytest.raises(ValueError, match="of one class only"):
        diagnose(Scores(), X, np.ones(50, bool))


def test_a_metric_with_a_limit_names_both_cutoffs():
    X, y = normal_rows()
    lower = Scores()
    lower.decision_function = lambda rows: np.asarray(rows)[:, 0] + 1.0
    diagnosis = diagnose(lower, X, y, metric="recall@fpr=0.1")
    recall = float(np.mean(X[y, 0] > -1.0))
    assert diagnosis.at_threshold == pytest.approx(recall)
    assert diagnosis.empirical == pytest.approx(RecallAtFPR(0.1).score(y, X[:, 0]))
    lines = str(diagnosis).splitlines()
    assert f"recall at FPR 10 %: {recall:.4f} on these rows, at the model's cutoff" in lines
    assert any(
        line.startswith("recall at FPR 10 %, best cutoff on these rows: 0.") for line in lines
    )
