"""Rows scored by a model, in one pass that keeps scores and no features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.evaluation.measures import ScoredRows
from directrix.cli.io.rows import RowFiles, features_of, joined, require_finite
from directrix.cli.output.errors import UsageError
from directrix.engines.plan import Plan
from directrix.moments import Moments
from directrix.moments.tree import tree_sum


@dataclass(frozen=True)
class Score:
    """The task: scores and probabilities of all rows, and their moments where asked for.

    Parameters
    ----------
    model : fitted classifier
    files : RowFiles
    summarized : bool
    """

    model: Any
    files: RowFiles
    summarized: bool = False
    name = "score"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> ScoredRows:
        """Return what is kept of all tables."""
        classes = self.model.classes_
        kept: list[tuple[Any, ...]] = []
        sums = []
        for table in tables:
            block = plan.block(table)
            y = _known(self.files.labels(block.y), classes)
            X = features_of(block.X)
            require_finite(X, block.X.names)
            scores, probability = scores_and_probabilities(self.model, X)
            kept.append((y, scores, probability, block.weight))
            if self.summarized:
                sums.append(
                    Moments.of(block.X, y, block.weight, classes=classes, feature_names=None)
                )
        if not kept:
            msg = "the files hold no rows"
            raise UsageError(msg)
        y, scores, probability = (np.concatenate([own[k] for own in kept]) for k in range(3))
        weight = joined([own[3] for own in kept])
        return ScoredRows(y, scores, probability, weight, tree_sum(sums) if sums else None)


def scored(model: Any, files: RowFiles, *, summarized: bool = False) -> ScoredRows:
    """Score all rows of some files."""
    own = fitting(files, model)
    found: ScoredRows = own.read(Score(model, own, summarized))
    return found


def fitting(files: RowFiles, model: Any) -> RowFiles:
    """Return files of which the model's own features are read, in its order."""
    if files.libsvm:
        return replace(files, n_features=int(model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    if files.features is None and names is not None:
        return replace(files, features=tuple(map(str, names)))
    return files


def scores_and_probabilities(model: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Return the scores of rows and, of two classes, the probability of the last."""
    if X.shape[1] != model.n_features_in_:
        msg = (
            f"the model has {model.n_features_in_} features and the rows have {X.shape[1]}: name "
            "those of the model, in their order, with --features"
        )
        raise UsageError(msg)
    scores = np.asarray(model.decision_function(X))
    probability = np.asarray(model.predict_proba(X))
    return scores, probability[:, 1] if len(model.classes_) == 2 else probability


def _known(y: AnyArray, classes: AnyArray) -> AnyArray:
    """Return labels in the type of the model's own, or say which it does not know."""
    theirs: Sequence[Any] = classes.tolist()
    found, place = np.unique(y, return_inverse=True)
    unknown = [label for label in found.tolist() if label not in theirs]
    if unknown:
        shown = ", ".join(repr(label) for label in unknown[:5])
        ours = ", ".join(repr(label) for label in theirs[:5])
        truths = "; or name the one that is True with --positive" if True in theirs else ""
        msg = (
            f"the rows have labels that the model was not fitted to ({shown}), and its own are "
            f"{ours}: see whether --target is the right column{truths}"
        )
        raise UsageError(msg)
    order = np.array([theirs.index(label) for label in found.tolist()], dtype=np.intp)
    return classes[order[place]]
