"""Other functions of every pair: what is special about them."""

import numpy as np
import pytest
from scipy.signal import fftconvolve

from directrix.losses import PairwiseLogistic, PairwiseSquare, PairwiseSquaredHinge, Ramp
from directrix.losses.pairwise import _convolve


def rows(n=400):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.3
    return positive, rng.normal(positive, 2.0), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("loss", [PairwiseSquare(), PairwiseSquaredHinge(), PairwiseLogistic()])
def test_no_ramp_of_what_is_no_hinge(loss):
    with pytest.raises(ValueError, match="give a hinge"):
        Ramp(loss).value_and_grad(*rows())


def test_squared_hinge_is_the_square_where_every_pair_is_short():
    positive, scores, weight = rows()
    short = 0.01 * scores
    hinge, square = (
        loss.value_and_grad(positive, short, weight)
        for loss in (PairwiseSquaredHinge(), PairwiseSquare())
    )
    assert hinge[0] == pytest.approx(square[0], rel=1e-12)
    assert hinge[1] == pytest.approx(square[1], abs=1e-14)


def test_finer_bins_are_nearer_by_their_square():
    positive, scores, weight = rows()
    d = np.subtract.outer(scores[positive], scores[~positive])
    pairs = np.multiply.outer(weight[positive], weight[~positive])
    truth = np.average(np.log1p(np.exp(-d)), weights=pairs)
    for bins in (2, 3, 32, 256, 2048):
        over = PairwiseLogistic(bins).value_and_grad(positive, scores, weight)[0] - truth
        assert -1e-13 <= over <= (np.ptp(scores) / (bins - 1)) ** 2 / 16.0


def test_fewer_than_two_bins_are_refused():
    with pytest.raises(ValueError, match="bins must be two at least, not 1"):
        PairwiseLogistic(1).value_and_grad(*rows())


@pytest.mark.parametrize("bins", [2, 3, 100, 2048])
def test_the_convolution_is_that_of_scipy_signal(bins):
    rng = np.random.default_rng(bins)
    values, kernel = rng.random(bins), np.logaddexp(0.0, rng.normal(size=2 * bins - 1))
    expected = fftconvolve(values, kernel, mode="full")
    np.testing.assert_allclose(_convolve(values, kernel), expected, rtol=1e-13, atol=1e-13)
