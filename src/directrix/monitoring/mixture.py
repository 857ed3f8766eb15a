r"""Prior shift: the share of positives among unlabelled rows, and a test of what else has changed.

If only the share π of positives has changed, the mean of any vector of numbers of a row (features,
indicators of bins) lies on the segment between its means in the two classes,

.. math:: m = \pi \mu_1 + (1 - \pi) \mu_0 .

With the residual :math:`r(\pi) = \hat m - \pi \hat\mu_1 - (1 - \pi) \hat\mu_0` of a day of n rows,
and reference rows in numbers :math:`n_1` and :math:`n_0`,

.. math:: X^2(\pi) = r^\top C^{-1} r, \qquad
          C(\pi) = \frac{\pi \Sigma_1 + (1 - \pi) \Sigma_0}{n}
                   + \frac{\pi^2 \Sigma_1}{n_1} + \frac{(1 - \pi)^2 \Sigma_0}{n_0} ,

the least value over π is nearly chi-squared with one degree of freedom less than the vector has
dimensions (Hansen 1982, for moment conditions in general), and the values of π within 3.84 of it
are a 95 % interval for the share of positives among the day's rows. No histogram of a class and no
calibrated probability is needed, and the uncertainty of the reference is included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtrc, chdtri

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Share of the largest variance below which a direction is constant: rounding.
_CONSTANT = 1e-9
#: Least share of a class in the covariance: a direction may vary in one class only.
_LEAST_SHARE = 1e-6
#: Reweightings of the components until the share of positives settles.
_STEPS = 8


class ClassMeans(NamedTuple):
    """Mean and covariance of a vector in each class of the reference rows.

    ``mean``, of shape (2, d), is the mean of the negatives and that of the positives.
    ``covariance`` has the shape (2, d, d). ``size``, of shape (2,), are the effective sample sizes.
    """

    mean: FloatArray
    covariance: FloatArray
    size: FloatArray


class MixtureFit(NamedTuple):
    """Share of positives among unlabelled rows, and how well the reference explains them.

    ``share`` is the estimated share of positives, and ``low`` and ``high`` are the ends of its
    confidence interval. ``statistic`` is the least chi-squared distance of the rows from any
    mixture of the two reference classes. ``freedom`` is the number of its degrees of freedom, which
    is zero if the vector has only one dimension; nothing is tested then. ``p_value`` is the
    probability of such a distance if only the share of positives had changed. ``residual``, of
    shape (d,), is the mean of the rows minus that of the fitted mixture, in standard errors.
    ``expected`` is the mean of the requested combination of components under the fitted mixture,
    and ``error`` the standard error of the rows' mean about it; both are NaN if no combination was
    requested.
    """

    share: float
    low: float
    high: float
    statistic: float
    freedom: int
    p_value: float
    residual: FloatArray
    expected: float
    error: float


def fit_mixture(
    mean: FloatArray,
    n_rows: float,
    reference: ClassMeans,
    *,
    level: float = 0.95,
    dispersion: float = 1.0,
    share_dispersion: float = 1.0,
    combination: FloatArray | None = None,
) -> MixtureFit:
    """Fit the share of positives to the mean of unlabelled rows.

    ``mean``, of shape (d,), is the mean of the vector over the rows, and ``n_rows`` the effective
    sample size. ``level`` is the confidence level of the interval. ``dispersion`` is the variance
    between days in units of that of independent rows; it is one if days differ by chance only.
    ``share_dispersion`` is the same for the estimated share: days may differ most in the direction
    from one class to the other, about which the residuals say nothing. ``combination``, of shape
    (d,), holds the weights of the components in a sum to predict, such as the indicators of alerts.

    Raises
    ------
    ValueError
        If the classes do not differ in the mean of any component.
    """
    problem = _Problem.of(mean, n_rows, reference, dispersion)
    share = problem.best_share()
    statistic = problem.distance(share)
    reach = statistic + share_dispersion * float(chdtri(1, 1.0 - level))
    freedom = len(problem.mean) - 1
    fitted = share * reference.mean[1] + (1.0 - share) * reference.mean[0]
    error = problem.error(share, reference)
    residual = np.divide(mean - fitted, error, out=np.zeros_like(mean), where=error > 0)
    expected = sum_error = float("nan")
    if combination is not None:
        expected = float(combination @ fitted)
        sum_error = float(problem.error(share, reference, combination))
    return MixtureFit(
        share,
        problem.end(share, 0.0, reach),
        problem.end(share, 1.0, reach),
        statistic,
        freedom,
        float(chdtrc(freedom, statistic)) if freedom else 1.0,
        residual,
        expected,
        sum_error,
    )


def chi_squared(mean: FloatArray, n_rows: float, reference: ClassMeans, share: float) -> float:
    """Return X²(π): the distance of the rows from a mixture with a given share of positives.

    At the true share it is above its least value, the statistic of `fit_mixture`, by chi-squared
    with one degree of freedom, if days differ by chance only.

    ``mean``, ``n_rows`` and ``reference`` are as for `fit_mixture`. ``share`` is the share of
    positives π.
    """
    return _Problem.of(mean, n_rows, reference, 1.0).distance(share)


class _Problem(NamedTuple):
    """A mixture problem in coordinates of unit variance, without constant directions."""

    mean: FloatArray
    n_rows: float
    means: FloatArray
    covariances: FloatArray
    sizes: FloatArray
    dispersion: float

    @classmethod
    def of(
        cls, mean: FloatArray, n_rows: float, reference: ClassMeans, dispersion: float
    ) -> _Problem:
        pooled = reference.covariance.sum(axis=0)
        scale = np.sqrt(np.maximum(pooled.diagonal(), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        values, vectors = np.linalg.eigh(pooled / np.multiply.outer(scale, scale))
        kept = values > _CONSTANT * max(values.max(initial=0.0), _CONSTANT)
        inverse = (vectors[:, kept] / np.sqrt(values[kept])).T / scale
        center = reference.mean[0]
        means = (reference.mean - center) @ inverse.T
        gap = means[1] - means[0]
        if not gap.any():
            msg = "the classes have the same means, so that rows do not tell the share of positives"
            raise ValueError(msg)
        covariances = np.stack([inverse @ each @ inverse.T for each in reference.covariance])
        return cls(
            inverse @ (mean - center),
            n_rows,
            means,
            covariances,
            reference.size,
            dispersion,
        )

    def covariance(self, share: float, covariances: FloatArray) -> FloatArray:
        """Return C(π) for the covariances of both classes."""
        shares = np.clip([1.0 - share, share], _LEAST_SHARE, 1.0)
        factors = self.dispersion * shares / self.n_rows + shares**2 / self.sizes
        return np.tensordot(factors, covariances, 1)

    def distance(self, share: float) -> float:
        """Return X²(π)."""
        rest = self.mean - share * self.means[1] - (1.0 - share) * self.means[0]
        return float(rest @ self._solve(share, rest))

    def best_share(self) -> float:
        """Return the share of the least distance."""
        share = self.settle(0.5)
        best = minimize_scalar(
            self.distance, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-7}
        )
        # The function may have two valleys where the reference is small: keep the deeper one.
        return float(best.x) if best.fun < self.distance(share) else share

    def settle(self, share: float) -> float:
        """Return the share that is estimated with its own weights, found by reweighting."""
        gap = self.means[1] - self.means[0]
        for _ in range(_STEPS):
            weights = self._solve(share, gap)
            share = float(np.clip(weights @ (self.mean - self.means[0]) / (weights @ gap), 0, 1))
        return share

    def end(self, share: float, bound: float, reach: float) -> float:
        """Return where the distance exceeds ``reach`` between the estimate and a bound."""
        if self.distance(bound) <= reach:
            return bound
        return float(brentq(lambda p: self.distance(p) - reach, share, bound, xtol=1e-9))

    def error(
        self, share: float, reference: ClassMeans, combination: FloatArray | None = None
    ) -> Any:
        """Return the standard error of the residual of a sum of components, the share being fitted.

        The covariance of the residuals is that before the fit less what the fit removes along the
        gap between the classes.

        ``combination``, of shape (d,), holds the weights of the components; by default the errors
        of the single components are returned.
        """
        total = self.covariance(share, reference.covariance)
        distance = reference.mean[1] - reference.mean[0]
        if combination is None:
            before, along = total.diagonal(), distance
        else:
            before, along = combination @ total @ combination, combination @ distance
        gap = self.means[1] - self.means[0]
        removed = along**2 / float(gap @ self._solve(share, gap))
        return np.sqrt(np.maximum(before - removed, 0.0))

    def _solve(self, share: float, vector: FloatArray) -> FloatArray:
        factor = cho_factor(self.covariance(share, self.covariances), lower=True)
        solved: FloatArray = cho_solve(factor, vector)
        return solved
