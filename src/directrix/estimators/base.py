"""Base classes of the classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix._printing import LinkedEstimator
from directrix._typing import AnyArray, FloatArray
from directrix.estimators.scoring import Response, ScoringFormula
from directrix.estimators.state import (
    ModelMetadata,
    ModelState,
    StateArrays,
    model_params,
    require,
)
from directrix.exceptions import (
    ChangedColumnsWarning,
    LabelNotFoundError,
    StateError,
    TableWarning,
    find_stacklevel,
    is_inside_search,
    is_silenced,
)
from directrix.exceptions.columns import MissingColumnsError, listed
from directrix.fit.progress import run_fits_on_copies, single_blas_thread
from directrix.fit.training_rows import (
    Rows,
    Standardization,
    folds_given,
    relative_weight,
)
from directrix.rows.classes import (
    dates_in_microseconds,
    ending_with,
    plain_labels,
    positive_label,
    require_class_labels,
)
from directrix.rows.frames import feature_names_of, in_memory, require_same_index
from directrix.rows.rows import explain_rejection
from directrix.tables import Column, Table
from directrix.tables.check import TableFinding, check_table
from directrix.tables.profile import N_SEEN, TableProfile

if TYPE_CHECKING:  # only fits to summaries need them
    from directrix.metrics import ScoreHistogram
    from directrix.moments import FeatureMap, Moments

#: Stands for a classifier without ``cv``; None is an invalid value that a user may have given.
_NO_CV = object()
#: Types of features that are used as they are; others are converted to the first.
_FLOATS = (np.float64, np.float32)
#: So many labels are named where there are more than two.
_LISTED = 5
#: Methods for exports and displays, which tab completion leaves out.
_INTERNAL = frozenset({"export_state", "from_state", "scoring_formula", "takes_costs_or_days"})


class LinearClassifier(LinkedEstimator, ClassifierMixin, BaseEstimator):
    """Base class for binary linear classifiers.

    A subclass sets ``classes_`` and ``positive_`` (by `_set_classes`), ``coef_`` and
    ``intercept_`` in `fit` and defines ``predict_proba``. A score above zero predicts the last of
    ``classes_``, whether or not that is the positive class. ``feature_scales_`` has the standard
    deviation of each feature, by which coefficients are compared. Fits run with one BLAS thread, on
    a copy: one that fails changes nothing, and one that succeeds leaves nothing of the last.
    """

    classes_: AnyArray
    coef_: FloatArray
    intercept_: FloatArray
    feature_scales_: FloatArray
    positive: Any
    positive_: Any
    #: What looked odd in the table of the last fit.
    _findings: tuple[TableFinding, ...] = ()
    #: What the columns of the fit were; None for summaries and sparse rows.
    _seen: TableProfile | None = None
    #: Makes the features of a raw table, if a summary of one was learned from.
    _feature_map: FeatureMap | None = None

    def __init_subclass__(cls, *, one_blas_thread: bool = True, **options: Any) -> None:
        """Let fits of every classifier run on copies, and with one BLAS thread by default."""
        run_fits_on_copies(cls, single_blas_thread if one_blas_thread else nullcontext())
        super().__init_subclass__(**options)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row, ``coef_ @ x + intercept_``.

        Rows with a score above zero are predicted to be of the last class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        X = self._validated_features(X)
        scores: FloatArray = safe_sparse_dot(X, self.coef_[0], dense_output=True)
        scores += self.intercept_[0]
        return scores

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row, by the sign of its score.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        """
        scores = self.decision_function(X)
        labels: AnyArray = self.classes_[(scores > 0).astype(np.intp)]
        return labels

    def score_histogram(self, source: Any, *, target: Any, **options: Any) -> ScoreHistogram:
        """Count the scores of all rows of a source, in one pass on any engine.

        The histograms of several days add up, and ``Curve.of_histogram`` returns the rates at
        every threshold.

        Parameters
        ----------
        source : whatever `summarize` reads
        target : str, int or array
        **options
            ``features`` (by default those of the fit), ``weight``, ``transform``, ``engine`` and
            ``progress``, as in `summarize`.

        Returns
        -------
        ScoreHistogram
        """
        from directrix.estimators.evaluation import score_histogram

        return score_histogram(self.scoring_formula(), source, target=target, **options)

    def export_state(self) -> ModelState:
        """Return all that scores rows; `from_state` makes an equal classifier from it."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return ModelState(
            params=model_params(self),
            classes=self.classes_,
            n_features=int(self.n_features_in_),
            feature_names=None if names is None else tuple(map(str, names)),
            feature_map=None if self._feature_map is None else self._feature_map.state(),
            arrays=self._state_arrays() | ({} if self._seen is None else {"seen": self._seen.seen}),
            facts=self._state_facts(),
        )

    @classmethod
    def from_state(cls, state: ModelState) -> Self:
        """Return a fitted classifier with this state; raise `StateError` if none can have it."""
        classifier = cls(**state.params)
        require(len(state.classes) == 2, f"{cls.__name__} has another number of classes")
        attributes = {"classes_": state.classes, "n_features_in_": state.n_features}
        try:
            attributes["positive_"] = positive_label(classifier.positive, state.classes)
        except LabelNotFoundError as error:
            raise StateError(str(error)) from None
        if state.feature_names is not None:
            attributes["feature_names_in_"] = np.array(state.feature_names, dtype=object)
        if state.feature_map is not None:
            from directrix.moments.feature_map import FeatureMap

            attributes["_feature_map"] = FeatureMap.from_state(state.feature_map)
        others = {name: array for name, array in state.arrays.items() if name != "seen"}
        attributes |= cls._restored_attributes(replace(state, arrays=others))
        arrays = StateArrays(state.arrays)
        if "seen" in arrays:
            seen = TableProfile(arrays.take("seen", (N_SEEN, state.n_features), "float64"))
            require(seen.is_valid, "its columns cannot have been like that")
            attributes["_seen"] = seen
        classifier.__dict__.update(attributes)
        return classifier

    def scoring_formula(self) -> ScoringFormula:
        """Return what this classifier computes for a row, as numbers that an export writes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return ScoringFormula(
            classes=tuple(self.classes_.tolist()),
            features=None if names is None else tuple(map(str, names)),
            coefficients=tuple(self.coef_[0].tolist()),
            intercept=float(self.intercept_[0]),
            response=self._response,
            positive=self.positive_,
        )

    @property
    def _response(self) -> Response:
        """The probability of the last class as a function of the score."""
        raise NotImplementedError

    def _state_arrays(self) -> dict[str, Any]:
        """Return the arrays of `export_state`."""
        arrays = {"coef": self.coef_, "intercept": self.intercept_}
        scales = getattr(self, "feature_scales_", None)  # None while only one class has rows
        return arrays if scales is None else arrays | {"scale": scales}

    def _state_facts(self) -> ModelMetadata:
        """Return the facts of `export_state`."""
        return ModelMetadata()

    @classmethod
    def _restored_attributes(cls, state: ModelState) -> dict[str, Any]:
        """Return the attributes of a fitted classifier with this state, after checking it."""
        return cls._restored_scoring(state) | cls._restored_facts(state.facts)

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        """Return the attributes that score rows, after checking the arrays of a state."""
        arrays = StateArrays(state.arrays)
        attributes = {
            "intercept_": arrays.take("intercept", (1,), "float64"),
            "coef_": arrays.take("coef", (1, state.n_features), "float64"),
        }
        if "scale" in arrays:
            attributes["feature_scales_"] = arrays.take("scale", (state.n_features,), "float64")
        arrays.require_empty()
        return attributes

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:
        """Return the attributes that these facts are, after checking them."""
        facts.require_names()
        return {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _INTERNAL]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def _prepare_rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, *, cv: Any = _NO_CV
    ) -> Rows:
        """Validate rows and set ``classes_``; return the rows of weight above zero, with keys."""
        require_same_index(X=X, y=y, sample_weight=sample_weight, groups=groups)
        X, y = self._validated(X, y)
        weight = self._checked_weight(sample_weight, X)
        folds = None if cv is _NO_CV else folds_given(cv, X, y, groups)
        y = dates_in_microseconds(y)
        self._set_classes(two_classes(y[weight > 0]))
        rows = Rows.of(X, y, self.positive_, weight, folds, groups)
        self._check_numbers(rows.X, rows.positive, rows.keys)
        self._seen = TableProfile.of_numbers(rows.X)
        return rows

    def _check_numbers(self, X: Any, positive: AnyArray, keys: AnyArray | None = None) -> None:
        """Warn of odd columns of an array, once; a sparse matrix has too many that are alike."""
        if not isinstance(X, np.ndarray):
            return
        names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])])
        self._check_table([Column(str(name), "number") for name in names], X, positive, keys)

    def _check_table(
        self,
        columns: Sequence[Column],
        X: FloatArray,
        positive: AnyArray,
        keys: AnyArray | None = None,
    ) -> None:
        """Warn of odd columns, once, and keep what was found for the report; see `check_table`."""
        if is_silenced(TableWarning):
            return
        self._findings = check_table(columns, X, positive, keys)
        if self._findings and not is_inside_search():
            warn(TableWarning(self._findings), stacklevel=find_stacklevel())

    def _checked_weight(self, sample_weight: Any, X: Any) -> FloatArray:
        """Return the weights of rows: a factor of all of them changes no fit to rows."""
        return relative_weight(sample_weight, X)

    @property
    def _labels(self) -> AnyArray:
        """The negative and the positive label."""
        return ending_with(self.positive_, self.classes_)

    def _set_classes(self, classes: AnyArray, positive: Any = None) -> None:
        """Store both labels, sorted, and which of them is positive.

        ``positive`` is used if the parameter `positive` names no label; by default it is the last.
        """
        self.classes_ = np.sort(dates_in_microseconds(classes))
        asked = positive if self.positive is None else self.positive
        self.positive_ = positive_label(asked, self.classes_)

    @property
    def _catches_first(self) -> bool:
        """Whether the positive label is the first, so that scores are turned."""
        return bool(self.positive_ == self.classes_.tolist()[0])

    def _set_feature_scales(self, rows: Rows) -> None:
        """Store the standard deviation of each feature, or the root mean square of a sparse one."""
        self.feature_scales_ = Standardization.of(rows.X, rows.weight).scale

    def _open_summary(self, summary: Moments) -> Moments:
        """Take classes and features from a summary; return it with the positive class last."""
        from directrix.linear.pencil import require_rows_of_both

        require_rows_of_both(summary)
        self._set_classes(summary.classes, summary.classes.tolist()[-1])
        self._set_feature_names(summary)
        return summary.with_positive(self.positive_)

    def _set_feature_names(self, moments: Moments) -> None:
        """Copy the number, names, scales and map of the features from a summary."""
        self.n_features_in_ = moments.n_features
        self.feature_scales_ = moments.feature_scales()
        if moments.feature_names is not None:
            self.feature_names_in_ = np.array(moments.feature_names, dtype=object)
        if moments.map is not None:
            self._feature_map = moments.map

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, AnyArray]:
        """Return features and labels as arrays, checked by scikit-learn."""
        X = in_memory(X)
        feature_names_of(X)  # refuses names that are no texts
        y = plain_labels(y)
        try:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=_FLOATS, reset=reset)
        except (TypeError, ValueError):
            self._raise_named(X, reset=reset)
            raise
        return X, y

    def _validated_features(self, X: Any) -> Any:
        """Return features like those of the fit as an array, checked by scikit-learn.

        A raw table is mapped as that of the summary was. Warn of columns that have changed.
        """
        X, made = in_memory(X), self._feature_map
        names = feature_names_of(X)  # refuses names that are no texts
        if made and names is not None and [*names] != [*made.feature_names]:
            columns = [Column(column.name, column.kind) for column in made.columns]
            return made.transform(Table.of(X, columns))
        try:
            features = validate_data(self, X, accept_sparse="csr", dtype=_FLOATS, reset=False)
        except (TypeError, ValueError):
            self._raise_named(X, reset=False)
            raise
        self._warn_about_changes(features, self._number_column)
        return features

    def _number_column(self, k: int) -> Column:
        names = getattr(self, "feature_names_in_", None)
        return Column(f"x{k}" if names is None else str(names[k]), "number")

    def _warn_about_changes(self, values: Any, *of_columns: Any) -> None:
        """Warn of columns of new rows with an effect that are not what they were in the fit.

        The arguments are those of ``changes`` of `TableProfile`.
        """
        found = [] if self._seen is None else self._seen.changes(values, *of_columns)
        if not found or is_silenced(ChangedColumnsWarning) or is_inside_search():
            return
        has_effect = self._has_effect
        changes = tuple(change for change in found if has_effect[change.position])
        if changes:
            warn(ChangedColumnsWarning(changes), stacklevel=find_stacklevel())

    @property
    def _has_effect(self) -> AnyArray:
        """Whether each column has an effect on scores; with a kernel all of them."""
        if not hasattr(self, "coef_"):
            return np.ones(self.n_features_in_, dtype=bool)
        effects: AnyArray = self.coef_[0] != 0.0
        return effects

    def _raise_named(self, X: Any, *, reset: bool) -> None:
        """Raise an error that names the columns for which scikit-learn refused a table, if any."""
        if not reset:
            try:
                validate_data(self, X, skip_check_array=True, reset=False)
            except (TypeError, ValueError) as refusal:  # other features than in the fit come first
                raise_missing_columns(self, X, str(refusal))
                return
        error = explain_rejection(X)
        if error is not None:
            raise error from None


def raise_missing_columns(classifier: Any, X: Any, refusal: str = "") -> None:
    """Raise `MissingColumnsError`, with similar names, if a table lacks columns of the fit.

    ``refusal`` is the error message of scikit-learn about the table.
    """
    fitted, given = getattr(classifier, "feature_names_in_", None), feature_names_of(X)
    if fitted is None or given is None:
        return
    known = set(given)
    missing = [name for name in fitted.tolist() if name not in known]
    if missing:
        without_points = set(getattr(classifier, "_columns_without_points", ()))
        needed = [name for name in missing if name not in without_points]
        unused = () if needed else missing
        if not refusal and len(needed) > 1:
            refusal = f"{len(needed)} columns of the fit are missing: {listed(tuple(needed))}"
        raise MissingColumnsError(
            (needed or missing)[0], given, refusal, unused, fitted.tolist()
        ) from None


def two_classes(y: AnyArray) -> AnyArray:
    """Return the two labels of y; raise an error with a remedy for any other number of labels."""
    classes = np.unique(y)
    require_class_labels(classes)  # given all of y, it would look for the labels again
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:_LISTED].tolist()))
        left = len(classes) - _LISTED
        more = f" and {left} more" if left > 0 else ""
        msg = (
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: there are {len(classes)} labels, {shown}{more}. Fit one "
            'classifier for each, with `y == label`: see "More than two classes" in the user guide.'
        )
        raise ValueError(msg)
    if not len(classes):
        msg = "there are no rows to learn from (rows of weight zero do not count)"
        raise ValueError(msg)
    if len(classes) < 2:
        msg = (
            f"y has one class only, {classes.tolist()}: a classifier needs rows of both. (Rows of "
            "weight zero do not count.)"
        )
        raise ValueError(msg)
    return classes
