from dataclasses import replace

import pytest
from contracts.cases import draw_rows

from directrix.linear.beta_bernoulli import BetaBernoulli


@pytest.mark.parametrize("parameter", ["mixing", "prior_mean", "gamma"])
@pytest.mark.parametrize(
    "loss",
    [BetaBernoulli(), BetaBernoulli(mixing=0.4, prior_mean=0.8, gamma=2.0)],
    ids=["even", "uneven"],
)
def test_partial_derivatives_by_the_parameters(loss, parameter):
    rows = draw_rows(6)
    at = getattr(loss, parameter)
    up, down = (
        replace(loss, **{parameter: at + step}).value_and_grad(*rows)[0] for step in (1e-6, -1e-6)
    )
    stated = getattr(loss.partials(*rows), parameter)
    assert stated == pytest.approx((up - down) / 2e-6, abs=1e-8)
