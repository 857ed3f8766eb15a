"""BetaBernoulliClassifier: logistic regression with bounded losses, robust to outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf, isinf
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import numpy as np
from scipy.special import expit

from directrix.classifiers.beta_bernoulli.fit import FitSettings, FittedModel
from directrix.classifiers.beta_bernoulli.plateaus import (
    PlateauResponse,
    even_score,
    pair_of,
    probability,
)
from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
from directrix.classifiers.kernels import (
    KernelScoring,
    kernel_facts,
    kernel_units,
    support_attributes,
)
from directrix.classifiers.smooth import validate_grid
from directrix.classifiers.state import ModelMetadata, StateArrays, require, restored_loss_fit
from directrix.exceptions import OneClassPredictedWarning, find_stacklevel
from directrix.files.layout import is_number
from directrix.fitting.choice import sizes_of
from directrix.fitting.copies import warn_about_copies
from directrix.fitting.finish import few_rows_caution, warn_of
from directrix.fitting.progress import Progress
from directrix.fitting.training_rows import Standardization, checked_weight, relative_weight
from directrix.linear import BetaBernoulli

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.scoring import ScoringFormula
    from directrix.classifiers.state import ModelState

# ── Parameters with which BetaBernoulliClassifier is one of the paper's configurations ────────────

#: Hasan and Pal 2015, section 5: plateaus and the search.
PAPER_SETTINGS: dict[str, dict[str, Any]] = {
    "BBLR1": {"plateaus": "weak", "solver": "sla"},
    "BBLR2": {"plateaus": "empirical", "solver": "sla"},
    "BBLR3": {"plateaus": "empirical", "solver": "slam"},
    "BBLR4": {"plateaus": "learned", "solver": "slam"},
}

# ── The state of a fitted BetaBernoulliClassifier as facts and arrays, and its checks ─────────────

_FACTS = ("alpha", "held_out", "kernel", "loss", "n_iter", "prior", "shift")
_PRIOR_PARAMS = ("scale", "share", "variance")


def _restored_prior(facts: Any) -> GaussianLaplace | None:
    if facts is None:
        return None
    complete = isinstance(facts, ModelMetadata) and sorted(facts) == list(_PRIOR_PARAMS)
    require(
        complete and all(map(is_number, facts.values())),
        "its prior is not a share, a variance and a scale",
    )
    return GaussianLaplace(**facts)


# ── BetaBernoulliClassifier: logistic regression with bounded losses, robust to outliers ──────────

_ALPHAS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_FOLDS = 5


class BetaBernoulliClassifier(KernelScoring):
    r"""Logistic regression with plateaus: its probabilities never reach 0 or 1.

    .. math:: \min_{w, b}\ -\sum_i \omega_i \log p(y_i \mid x_i) + \frac{\alpha}{2} \|w\|^2,
              \qquad p(1 \mid x) = \mu(x) = \varpi\theta + (1 - \varpi)\, \sigma(\gamma\, f(x)),
              \quad f(x) = w^\top x + b

    Hasan and Pal 2015, eq. 19 and 39. The loss of a row far on the wrong side is bounded by the
    plateau :math:`-\log \varpi\theta` or :math:`-\log \varpi(1 - \theta)`, so that outliers and
    wrong labels have little influence on the coefficients. Features are standardised inside: by
    median and quartiles, so that outliers do not set the units of the penalty either; by mean and
    standard deviation with non-linear kernels and with the solvers "sla" and "slam". The intercept
    is not penalised (but for 1e-8 of its square, so that it has a best value even on a plateau).
    The minimisation starts from the solution of logistic regression with the same α.

    The paper's configurations, ``BetaBernoulliClassifier.paper("BBLR3")`` and so on, are:

    ===== =========== ====== ======================================================
    name  plateaus    solver
    ===== =========== ====== ======================================================
    BBLR1 "weak"      "sla"  γ follows the path, λ is `alpha`
    BBLR2 "empirical" "sla"  the same
    BBLR3 "empirical" "slam" held-out rows choose λ, r, γ_min and γ_max
    BBLR4 "learned"   "slam" the same, in turn with gradient descent in ϖ, θ and γ
    ===== =========== ====== ======================================================

    The other combinations are ours, among them the defaults.

    With this penalty (γ, α) and (1, α/γ²) are the same model: γ is 1 but for a search.

    With a kernel, :math:`f(x) = \sum_j a_j K(x, x_j) + b` (eq. 36–38) and the penalty is
    :math:`\frac{\alpha}{2} a^\top K a`, the norm of f, by the representer theorem; the paper puts
    :math:`|a|^2` there, which is ``prior="gaussian-coefficients"``. The paper's KBBLR is that with
    ``solver="sla"`` or ``"slam"``.

    Parameters
    ----------
    positive : label, optional
        Label of two whose probability is :math:`\mu`, which `plateaus` bound. By default the last
        of ``classes_``, which are sorted. Scores above zero predict the last of ``classes_`` in any
        case, as in scikit-learn.
    plateaus : "robust", "weak", "empirical", "learned" or (a, b)
        Probabilities are from a to a + b (eq. 5). "robust", the default, is (0.15, 0.7), for
        decisions; "weak", α = β = 1 and n = 100, hence (0.01, 0.98); "empirical", (π/2, 1/2) with
        π the share of positives; "learned", ϖ and θ are learned, starting from the error rates of
        logistic regression (eq. 29–35), with "sla" and "slam" γ too. Choose "learned" if the
        probabilities matter.
    alpha : float, sequence of float or "auto"
        Ridge, in units of the sum of the losses over rows; 1 by default. With several values, the
        one with the least held-out log-loss is chosen; "auto" tries 0.01 to 100.
    kernel : None, "linear", "rbf", "polynomial", "min" or callable
        "min" is the intersection kernel, the sum of the lesser of both features, for features
        that are never negative. Features are not standardised for it and for functions.
    kernel_params : dict, optional
        Parameters of scikit-learn's kernel, such as ``{"gamma": 0.1}``, or of the function. For
        "rbf" the bandwidth τ may be given instead, ``{"bandwidth": 2.0}``: gamma is 1 / (2 τ²).
    prior : "gaussian", "gaussian-coefficients" or "gaussian-laplace"
        "gaussian" is the ridge, with a kernel the norm of the function; "gaussian-coefficients" is
        the sum of the squared coefficients, with a kernel those of rows, as in the paper;
        "gaussian-laplace" is the mixture (eq. 41), under which most coefficients become zero, those
        of features or with a kernel those of rows. The mixture is fitted to the coefficients: with
        "sla" and "slam" by the paper's Algorithm 3, otherwise by our variant of it, which starts
        from the coefficients of the ridge.
    solver : "lbfgs", "sgd", "sla" or "slam"
        "sgd" takes one row at a time; with a kernel it is unstable unless alpha is small. "sla" and
        "slam" are the paper's searches for the least training error; "slam" also chooses the ridge.
        Their γ is the last of the search, so that nearly all probabilities are plateaus; with
        ``plateaus="learned"`` it is the most likely. Keep "lbfgs" if unsure.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn.
    random_state : int, RandomState or None
        Random state of the solver "sgd".
    verbose : int
        What a fit prints to stdout: 0 nothing, 1 a line for each stage, 2 also one for each
        candidate. The model is the same. See "Progress and threads" in the user guide.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
        Coefficients of the score, which is zero where both classes are equally probable. With a
        kernel there is no ``coef_``.
    dual_coef_, support_vectors_ : arrays of shape (1, m) and (m, d)
        With a kernel: the coefficients a, and the rows they belong to.
    support_, n_support_ : array of int and int
        Indices and number of the features with a coefficient that is not pruned; with a kernel, of
        the distinct rows of weight above zero.
    classes_ : array of shape (2,)
    loss_ : BetaBernoulli
        The loss, with ϖ, θ and γ.
    plateaus_ : tuple of float
        a and b.
    alpha_ : float
        The ridge; with "slam" the one that it chose.
    held_out_ : dict
        Held-out log-loss of each alpha, if there are several.
    prior_ : GaussianLaplace or None
        The fitted mixture prior.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import BetaBernoulliClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = BetaBernoulliClassifier().fit(X, y)
    >>> classifier.score(X, y) > 0.97
    True
    >>> probability = classifier.predict_proba(X)[:, 1]
    >>> float(probability.min().round(2)), float(probability.max().round(2))
    (0.15, 0.85)
    """

    loss_: BetaBernoulli
    plateaus_: tuple[float, float]
    alpha_: float
    held_out_: dict[float, float]
    prior_: GaussianLaplace | None
    n_iter_: int

    def __init__(
        self,
        *,
        positive: Any = None,
        plateaus: str | tuple[float, float] = "robust",
        alpha: str | float | Sequence[float] = 1.0,
        kernel: Any = None,
        kernel_params: dict[str, Any] | None = None,
        prior: str = "gaussian",
        solver: str = "lbfgs",
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.positive = positive
        self.plateaus = plateaus
        self.alpha = alpha
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.prior = prior
        self.solver = solver
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, name: str, **params: Any) -> Self:
        """Return the classifier of one of the paper's configurations (Hasan and Pal 2015, §5).

        Parameters
        ----------
        name : "BBLR1", "BBLR2", "BBLR3" or "BBLR4"
        **params
            Parameters that the configuration does not fix, such as ``alpha`` or ``positive``.
        """
        if name not in PAPER_SETTINGS:
            msg = f"the paper has the configurations {', '.join(PAPER_SETTINGS)}, not {name!r}"
            raise ValueError(msg)
        settings = PAPER_SETTINGS[name]
        for fixed in settings.keys() & params.keys():
            msg = (
                f"{name} has {fixed}={settings[fixed]!r}, not {params[fixed]!r}: for a variant of "
                "it, give all parameters to BetaBernoulliClassifier itself"
            )
            raise ValueError(msg)
        return cls(**settings, **params)

    def _checked_weight(self, sample_weight: Any, X: Any) -> FloatArray:
        """Return weights relative to their mean where rows are held out, else as repetitions."""
        several = len(validate_grid(self.alpha, _ALPHAS, "alpha")) > 1
        return (relative_weight if several else checked_weight)(sample_weight, X)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            How much each row counts. With one `alpha` a weight of two is two rows; with several, of
            which held-out rows choose, weights are relative, and a row is in one fold.
        groups : array of shape (n,), optional
            Group of each row, such as a customer or a patient: a group is in one fold.
        """
        settings = FitSettings.of(self)
        progress = Progress(self)
        alphas = validate_grid(self.alpha, _ALPHAS, "alpha")
        given = self._prepare_rows(X, y, sample_weight, groups)
        weighted = given.weighted(self.class_weight, self._labels)
        fewest = min(sizes_of(weighted))
        warn_of(few_rows_caution(fewest, "the model and its probabilities rest", ""))
        self._kernel = settings.kernel
        self._units = _units_for(settings, weighted.X, weighted.weight)
        rows = weighted._replace(X=self._units.rows(weighted.X))
        self.held_out_ = {}
        several = len(alphas) > 1 and settings.solver != "slam"  # which chooses the ridge itself
        purpose = f"{len(alphas)} values of alpha" if several else f"alpha {alphas[0]:g}"
        progress.report_rows(given.X, _FOLDS if several else None, purpose)
        if several:
            warn_about_copies(given, self._labels)
            folded = weighted.in_folds(_FOLDS)
            folded = folded._replace(X=self._units.rows(folded.X))
            self.held_out_ = settings.held_out_losses(folded, alphas, progress)
        # With too few rows to hold any out, the middle one is used.
        middle = sorted(alphas)[len(alphas) // 2]
        self.alpha_ = min(self.held_out_, key=self.held_out_.__getitem__, default=middle)
        fitted = settings.fit(rows, self.alpha_)
        self.alpha_ = fitted.alpha
        self._set_model(given.X, fitted.sign_flipped() if self._catches_first else fitted)
        if self._kernel is None:
            self._set_feature_scales(given)
        a, b = self.plateaus_
        progress.stage(
            f"chosen: alpha {self.alpha_:g}; probabilities from {a:.3g} to {a + b:.3g}, "
            f"{self.n_support_:,} coefficients, {self.n_iter_} iterations"
        )
        return self

    def _set_model(self, X: Any, fitted: FittedModel) -> None:
        """Store a model, its scores shifted to be zero where both classes are equally probable."""
        self.loss_, self.plateaus_ = fitted.loss, pair_of(fitted.loss)
        self.n_iter_, self.prior_ = fitted.n_iter, fitted.prior
        self.support_, self.n_support_ = fitted.support, len(fitted.support)
        self._shift = even_score(fitted.loss)
        if isinf(self._shift):
            self._shift = self._one_class_shift(fitted.scores)
        coef = fitted.coef
        if self._kernel is None:
            coef = self._units.line_back(coef)
            self.coef_ = coef[None, :-1].copy()
        else:
            self.dual_coef_ = coef[None, fitted.kept]
            self.support_vectors_ = X[self.support_]
        self.intercept_ = coef[-1:] - self._shift

    def _one_class_shift(self, scores: FloatArray) -> float:
        """Warn that one class is more probable at every score; return a score beyond all rows."""
        above = self._shift < 0
        label, (a, b) = self.classes_.tolist()[above], self.plateaus_
        warn(
            f"every row is predicted {label!r}: probabilities are from {a:.3g} to {a + b:.3g}, on "
            "one side of one half. Give plateaus with a below and a + b above it, or use "
            "predict_proba with a threshold of your own.",
            OneClassPredictedWarning,
            stacklevel=find_stacklevel(),
        )
        reach = float(np.ptp(scores)) or 1.0
        return float(scores.min() - reach if above else scores.max() + reach)

    def predict(self, X: Any) -> AnyArray:
        """Return the more probable class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        """
        labels = super().predict(X)
        even = even_score(self.loss_)
        if isinf(even):  # the score of a new row may be beyond all training rows
            labels[:] = self.classes_[int(even < 0)]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class under the model: never 0 nor 1 (eq. 19).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n, 2)
        """
        scores = self.decision_function(X) + self._shift
        positive = probability(self.loss_, expit(self.loss_.gamma * scores))
        return np.column_stack([1.0 - positive, positive])

    def scoring_formula(self) -> ScoringFormula:
        """Return what this classifier computes for a row; raise ValueError with a kernel."""
        even = even_score(self.loss_)
        always = int(even < 0) if isinf(even) else None
        return replace(super().scoring_formula(), always=always)

    @property
    def _response(self) -> PlateauResponse:
        return PlateauResponse.of(self.loss_, float(self._shift))

    def _state_arrays(self) -> dict[str, Any]:
        support = np.asarray(self.support_, dtype=np.int64)
        return {"intercept": self.intercept_, "support": support} | super()._state_arrays()

    def _state_facts(self) -> ModelMetadata:
        return ModelMetadata(
            alpha=self.alpha_,
            held_out=self.held_out_,
            kernel=kernel_facts(self._kernel),
            loss=self.loss_,
            n_iter=self.n_iter_,
            prior=None if self.prior_ is None else ModelMetadata(asdict(self.prior_)),
            shift=float(self._shift),
        )

    @classmethod
    def _restored_attributes(cls, state: ModelState) -> dict[str, Any]:
        calibrated = state.calibration is not None or state.operating_point is not None
        require(not calibrated, f"{cls.__name__} has no calibration and no operating point")
        return super()._restored_attributes(state)

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        if "rows" in state.arrays:
            return super()._restored_scoring(state)
        kept = support_attributes(StateArrays(state.arrays))
        others = {name: array for name, array in state.arrays.items() if name != "support"}
        attributes = super()._restored_scoring(replace(state, arrays=others)) | kept
        support = attributes["support_"]
        ordered = (np.diff(support) > 0).all() and (support < state.n_features).all()
        require(ordered, "support is beyond the features, or not in their order")
        pruned = np.delete(attributes["coef_"][0], support)
        require(not pruned.any(), "support lacks a feature with a coefficient")
        return attributes

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:
        facts.require_names(*_FACTS)
        attributes = restored_loss_fit(facts)
        loss = attributes["loss_"]
        require(isinstance(loss, BetaBernoulli), "its loss has no plateaus")
        inside = 0 <= loss.mixing < 1 and 0 <= loss.prior_mean <= 1 and 0 < loss.gamma < inf
        require(inside, "its plateaus are not probabilities")
        require(is_number(facts["shift"]), "its shift is not a number")
        held_out = facts["held_out"]
        # Nested ModelMetadata are not a dictionary of floats, even if they are empty.
        numbers = type(held_out) is dict and all(
            type(number) is float for pair in held_out.items() for number in pair
        )
        require(numbers, "its held-out losses are not numbers")
        return attributes | {
            "plateaus_": pair_of(loss),
            "held_out_": held_out,
            "prior_": _restored_prior(facts["prior"]),
            "_shift": facts["shift"],
        }


def _units_for(settings: FitSettings, X: Any, weight: FloatArray) -> Standardization:
    """Return the standardisation of the features: by quartiles for linear models and L-BFGS."""
    linear = settings.kernel is None or settings.kernel.name == "linear"
    if linear and settings.solver == "lbfgs":
        return Standardization.robust(X, weight)
    if settings.kernel is None:
        return Standardization.of(X, weight)
    return kernel_units(settings.kernel, X, weight)
