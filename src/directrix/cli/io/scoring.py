"""Scoring of rows by a model, in one pass that keeps the scores but not the features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers import ScorecardClassifier
from directrix.classifiers.evaluation import ScoredRows
from directrix.classifiers.labels import ending_with, positive_of
from directrix.cli.io.rows import (
    RowFiles,
    concatenate_weights,
    feature_matrix,
    matching_label,
    require_finite,
)
from directrix.cli.output.errors import UsageError
from directrix.engines.plan import Plan
from directrix.exceptions.columns import NotNumericError, UnusableColumnsError
from directrix.moments import Moments
from directrix.rows.sums import tree_sum

#: Labels that a message lists.
_LISTED_LABELS = 5


@dataclass(frozen=True)
class ScoreTask:
    """Task that computes scores and probabilities of all rows, and optionally their moments.

    With two classes they are in favour of the positive label of the model.

    Parameters
    ----------
    model : fitted classifier
    files : RowFiles
    with_moments : bool
    """

    model: Any
    files: RowFiles
    with_moments: bool = False
    name = "score"

    def __call__(self, plan: Plan, tables: Iterator[Any]) -> ScoredRows:
        """Return the scored rows of all tables."""
        classes = self.model.classes_
        blocks: list[tuple[Any, ...]] = []
        weights: list[Any] = []
        moments: list[Moments] = []
        for table in tables:
            block = plan.block(table)
            y = labels_for_model(self.model, self.files, block.y)
            X = block.X
            if not takes_raw_rows(self.model):
                X = feature_matrix(block.X)
                require_finite(X, block.X.names)
            scores, probability = scores_and_probabilities(self.model, X)
            if len(classes) == 2 and positive_of(self.model) != classes.tolist()[-1]:
                scores, probability = -scores, 1.0 - probability
            blocks.append((y, scores, probability))
            weights.append(block.weight)
            if self.with_moments:
                moments.append(
                    Moments.of(block.X, y, block.weight, classes=classes, feature_names=None)
                )
        if not blocks:
            msg = "the files hold no rows"
            raise UsageError(msg)
        y, scores, probability = map(np.concatenate, zip(*blocks, strict=True))
        weight = concatenate_weights(weights)
        summary = tree_sum(moments) if moments else None
        if summary is not None and len(classes) == 2:
            summary = summary.with_positive(positive_of(self.model))
        return ScoredRows(y, scores, probability, weight, summary)


def labels_of(model: Any) -> AnyArray:
    """Return the labels of a model; of two, the positive one is last."""
    classes: AnyArray = model.classes_
    return ending_with(positive_of(model), classes) if len(classes) == 2 else classes


def score_rows(model: Any, files: RowFiles, *, with_moments: bool = False) -> ScoredRows:
    """Score all rows of some files."""
    files = select_features(files, model)
    task = ScoreTask(model, files, with_moments)
    raw = takes_raw_rows(model)
    if raw and with_moments:
        msg = (
            "this is about linear models, and the model is a scorecard: use evaluate, or in Python "
            "ScorecardDisplay"
        )
        raise UsageError(msg)
    if files.features is None:  # all columns are read, and some may be left out
        scored: ScoredRows = files.read(task, raw=raw)
    else:
        with model_columns():
            scored = files.read(task, raw=raw)
    return scored


def takes_raw_rows(model: Any) -> bool:
    """Return whether a model scores texts and missing values as they are: a scorecard does."""
    return isinstance(model, ScorecardClassifier)


@contextmanager
def model_columns() -> Iterator[None]:
    """Reword errors about the columns of a model, which cannot be left out.

    Raises
    ------
    UsageError
        For an `UnusableColumnsError`.
    """
    try:
        yield
    except UnusableColumnsError as error:
        leave_out = "" if isinstance(error, NotNumericError) else ", or leave those rows out"
        msg = (
            f"{error.problem}: the model needs finite numbers there, so prepare these rows like "
            f"those it was fitted to{leave_out}"
        )
        raise UsageError(msg) from None


def select_features(files: RowFiles, model: Any) -> RowFiles:
    """Return files from which the features of a model are read, in the model's order."""
    if files.libsvm:
        return replace(files, n_features=int(model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    if files.features is None and names is not None:
        return replace(files, features=tuple(map(str, names)))
    return files


def scores_and_probabilities(model: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Return scores and probabilities of rows; with two classes, those of the second class."""
    if X.shape[1] != model.n_features_in_:
        msg = (
            f"the model has {model.n_features_in_} features and the rows have {X.shape[1]}: give "
            "the columns of the model, in their order, with --features"
        )
        raise UsageError(msg)
    scores = np.asarray(model.decision_function(X))
    probability = np.asarray(model.predict_proba(X))
    return scores, probability[:, 1] if len(model.classes_) == 2 else probability


def labels_for_model(model: Any, files: RowFiles, y: Any) -> AnyArray:
    """Return the labels of rows as those of a model; raise an error for an unknown label."""
    classes = model.classes_
    if files.positive is not None and not files.libsvm and len(classes) == 2:
        asked = matching_label(files.positive, classes)
        if asked is not None and asked != positive_of(model):
            msg = (
                f"the model is for the label {positive_of(model)!r}, not {asked!r}: leave "
                "--positive out, or fit a model with it"
            )
            raise UsageError(msg)
    return known_labels(files.labels(y, classes), classes)


def known_labels(y: AnyArray, classes: AnyArray) -> AnyArray:
    """Return labels in the type of the model's classes; raise an error for an unknown label."""
    known: Sequence[Any] = classes.tolist()
    labels, index = np.unique(y, return_inverse=True)
    unknown = [label for label in labels.tolist() if label not in known]
    if unknown:
        listed = ", ".join(repr(label) for label in unknown[:_LISTED_LABELS])
        expected = ", ".join(repr(label) for label in known[:_LISTED_LABELS])
        remedy = "; or give the label that is True with --positive" if True in known else ""
        msg = (
            f"the rows have labels that the model was not fitted to ({listed}); the model has "
            f"{expected}: check that --target is the right column{remedy}"
        )
        raise UsageError(msg)
    order = np.array([known.index(label) for label in labels.tolist()], dtype=np.intp)
    return classes[order[index]]
