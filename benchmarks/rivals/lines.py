"""The competitors of the arena of sets of numbers: lines, and references that are none."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import (
    INNER_FOLDS,
    Grid,
    Metrics,
    Rival,
    Scores,
    finite_threshold,
    standardized,
)
from benchmarks.rivals.ours import Ours
from directrix import (
    DirectClassifier,
    MomentClassifier,
)
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import Cost, Metric
from directrix.metrics.at_threshold import ThresholdMetric
from directrix.papers import PlateauClassifier, SmoothedROCAreaClassifier


class Prior(Rival):
    """All positive or all negative, whichever is better on the training rows."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Return a constant."""
        constant = np.zeros(len(train.y))
        # Ranks and log-loss have no threshold, and the log-odds of the prior serve both.
        prior = float(logit(np.mean(train.y)))
        return {
            name: np.full(
                len(test.y),
                -finite_threshold(metric, train.y, constant) if metric.uses_threshold else prior,
            )
            for name, metric in metrics.items()
        }


PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


class DefaultLogistic(Rival):
    """With C = 1 and the threshold at probability one half, whatever the metric."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once."""
        train, test = standardized(train, test)
        scores = LogisticRegression().fit(*train).decision_function(test.X)
        return dict.fromkeys(metrics, np.asarray(scores))


def _newton(C: float, class_weight: str | None = None) -> LogisticRegression:
    # It reaches its optimum, which "lbfgs" does not always.
    return LogisticRegression(C=C, solver="newton-cholesky", class_weight=class_weight)


class TunedThreshold(Rival):
    """C = 1; the threshold of best metric in three folds, by its own grid of a hundred."""

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once for each metric that has a threshold."""
        train, test = standardized(train, test)
        model = LogisticRegression().fit(*train)
        plain = np.asarray(model.decision_function(test.X))
        return {
            name: self._moved(train, test, metric) if isinstance(metric, ThresholdMetric) else plain
            for name, metric in metrics.items()
        }

    @staticmethod
    def _moved(train: Rows, test: Rows, metric: Metric) -> FloatArray:
        def score(y: AnyArray, predicted: AnyArray) -> float:
            return metric.score(y, np.where(predicted, 1.0, -1.0))

        tuned = TunedThresholdClassifierCV(
            LogisticRegression(),
            scoring=make_scorer(score, greater_is_better=metric.greater_is_better),
            cv=StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0),
        ).fit(*train)
        probability = tuned.predict_proba(test.X)[:, 1]
        return np.asarray(probability - tuned.best_threshold_)


def _sgd(loss: str, *, probabilities: bool = False) -> Grid:
    return Grid(
        lambda alpha: SGDClassifier(loss=loss, alpha=alpha, random_state=0),
        (1e-5, 1e-4, 1e-3, 1e-2),
        probabilities=probabilities,
    )


class _Adam:
    """Steps of a learning rate, with Kingma and Ba's averages of gradients and their squares."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        rng, betas = np.random.default_rng(0), (0.9, 0.999)
        X = np.column_stack([X, np.ones(len(X))])
        line, mean, square = np.zeros((3, X.shape[1]))
        step = 0
        for _ in range(20):
            order = rng.permutation(len(y))
            for batch in np.array_split(order, max(1, len(y) // 64)):
                step += 1
                grad = X[batch].T @ (expit(X[batch] @ line) - y[batch]) / len(batch)
                mean = betas[0] * mean + (1 - betas[0]) * grad
                square = betas[1] * square + (1 - betas[1]) * grad**2
                unbiased = mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)
                line = line - self.rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        self.line = line
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.line[:-1] + self.line[-1])


class _Resampled(LogisticRegression):
    """Logistic regression of rows to which others, between those of the rarer class, are added."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        from imblearn.over_sampling import SMOTE  # noqa: PLC0415 - optional

        rarer = int(min(np.bincount(y.astype(int))))
        if rarer > 1:  # a single row has no neighbour
            X, y = SMOTE(k_neighbors=min(5, rarer - 1), random_state=0).fit_resample(X, y)
        return super().fit(X, y, sample_weight)


class _Vowpal:
    """Examples are given in shuffled order; features by number, the constant by the program."""

    def __init__(self, l2: float) -> None:
        self.l2 = l2

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        from vowpalwabbit import Workspace  # noqa: PLC0415 - optional

        self.model = Workspace(f"--loss_function logistic --l2 {self.l2} --quiet -b 18")
        lines = [
            f"{1 if positive else -1} | {text}"
            for positive, text in zip(y, self._texts(X), strict=True)
        ]
        rng = check_random_state(0)
        for _ in range(5):
            for k in rng.permutation(len(lines)):
                self.model.learn(lines[k])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.array([self.model.predict(f"| {text}") for text in self._texts(X)])

    @staticmethod
    def _texts(X: FloatArray) -> list[str]:
        return [" ".join(f"{j}:{value:.6g}" for j, value in enumerate(row)) for row in X]


class _Line:
    """AUCMLoss with PESG, balanced batches, as in the library's tutorials."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        import torch  # noqa: PLC0415 - optional
        from libauc.losses import AUCMLoss  # noqa: PLC0415 - optional
        from libauc.optimizers import PESG  # noqa: PLC0415 - optional

        torch.manual_seed(0)
        torch.set_num_threads(1)
        rng = np.random.default_rng(0)
        line = torch.nn.Linear(X.shape[1], 1)
        loss = AUCMLoss(device="cpu")
        steps = PESG(line.parameters(), loss_fn=loss, lr=self.rate, margin=1.0, device="cpu")
        rows = torch.tensor(X, dtype=torch.float32)
        classes = np.flatnonzero(y), np.flatnonzero(~y)
        for _ in range(max(300, 5 * len(y) // 128)):
            batch = np.concatenate([rng.choice(rows_of_class, 64) for rows_of_class in classes])
            given = torch.tensor(y[batch].astype(np.float32))[:, None]
            value = loss(torch.sigmoid(line(rows[batch])), given)
            steps.zero_grad()
            value.backward()
            steps.step()
        self.line = line.weight.detach().numpy()[0].astype(np.float64)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.line)


class CostLogistic(Rival):
    """For costs alone: of other metrics it says nothing."""

    needs = "empulse"

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once for each metric that is a cost; the threshold is the cheapest probability."""
        from empulse.models import CSLogitClassifier  # noqa: PLC0415 - optional

        train, test = standardized(train, test)
        scores = {}
        for name, metric in metrics.items():
            if isinstance(metric, Cost):
                model = CSLogitClassifier(fp_cost=metric.fp, fn_cost=metric.fn)
                model.fit(train.X, train.y.astype(int))
                probability = model.predict_proba(test.X)[:, 1]
                scores[name] = np.asarray(probability - metric.fp / (metric.fp + metric.fn))
        return scores


def _log_odds(model: Any, X: Any) -> FloatArray:
    joint = model.predict_joint_log_proba(X)
    return np.asarray(joint[:, 1] - joint[:, 0])


class _Ranker:
    def fit(self, X: Any, y: AnyArray) -> Self:
        from xgboost import XGBRanker  # noqa: PLC0415 - optional

        # Pairs of all ranks, as AUC counts them; by default it looks at the first 32 places.
        pairs = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 4}
        self.ranker = XGBRanker(objective="rank:pairwise", n_jobs=1, random_state=0, **pairs)
        self.ranker.fit(X, y.astype(int), qid=np.zeros(len(y), dtype=int))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(self.ranker.predict(X), dtype=np.float64)


def _discriminant(**options: Any) -> Grid:
    return Grid(lambda _: LinearDiscriminantAnalysis(**options), probabilities=True)


TUNED = "logistic, tuned"
#: By name, in the order of the tables. Rankings have no threshold of their own, so that of the
#: error is moved too.
RIVALS: dict[str, Rival] = {
    "direct": Ours(DirectClassifier),
    "moment": Ours(MomentClassifier),
    "beta-bernoulli": Grid(
        lambda lam: make_pipeline(RobustScaler(), PlateauClassifier("robust", lam=lam)),
        (0.1, 1.0, 10.0, 100.0),
        family="ours",
    ),
    "prior": Prior(),
    "Fisher": _discriminant(solver="svd"),
    "LDA, shrunk": _discriminant(solver="lsqr", shrinkage="auto"),
    "logistic": DefaultLogistic(),
    TUNED: Grid(_newton, PENALTIES, probabilities=True),
    "balanced logistic, tuned": Grid(
        lambda C: _newton(C, "balanced"), PENALTIES, probabilities=True
    ),
    "logistic, tuned threshold": TunedThreshold(),
    "linear SVC, tuned": Grid(lambda C: LinearSVC(C=C, dual="auto"), (0.001, 0.01, 0.1, 1.0, 10.0)),
    "SGD, hinge": _sgd("hinge"),
    "SGD, log": _sgd("log_loss", probabilities=True),
    "Adam": Grid(_Adam, (0.001, 0.01), probabilities=True),
    # By L-BFGS, with the corner of Zhang and others (2011).
    "pairwise hinge": Grid(
        lambda lam: make_pipeline(
            StandardScaler(), SmoothedROCAreaClassifier(lam=lam, fit_intercept=True)
        ),
        (1e-4, 1e-2),
        moves_all=True,
    ),
    "SMOTE + logistic": Grid(lambda C: _Resampled(C=C), (0.01, 1.0, 100.0), needs="imblearn"),
    "Vowpal Wabbit": Grid(_Vowpal, (0.0,), needs="vowpalwabbit", probabilities=True),
    "LibAUC": Grid(_Line, (0.1,), needs="libauc", moves_all=True),
    "empulse": CostLogistic(),
    "naive Bayes": Grid(
        lambda _: GaussianNB(), family="reference", probabilities=True, score=_log_odds
    ),
    "HistGradientBoosting": Grid(
        lambda _: HistGradientBoostingClassifier(random_state=0),
        family="reference",
        probabilities=True,
    ),
    "XGBoost, pairwise": Grid(
        lambda _: _Ranker(), needs="xgboost", family="reference", moves_all=True
    ),
}
OURS, LINEAR, REFERENCES = (
    tuple(name for name, rival in RIVALS.items() if rival.family == family)
    for family in ("ours", "linear", "reference")
)
