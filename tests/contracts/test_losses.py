"""Laws of every loss of THE TABLE, and of the same losses with other parameters.

The laws themselves are in `contracts.losses`: a loss that has a row in THE TABLE is tested by being
there. The oracle of `loss_oracle` is optional; a loss without one keeps all other laws.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from contracts.cases import draw_rows
from contracts.losses import agrees_with_definition, loss_laws
from loss_oracle import by_definition, has_definition

import directrix.linear
from directrix.linear import (
    BetaBernoulli,
    BreakEven,
    Hinge,
    PairwiseHinge,
    Ramp,
    Sigmoid,
    SmoothedROCArea,
    ZeroOne,
)
from directrix.linear.loss import Loss
from directrix.linear.table import LOSSES as LOSS_TABLE

#: Losses of THE TABLE, by their names, and other parameters of some of them.
LOSSES = {loss.name: loss for _, losses in LOSS_TABLE for loss in losses} | {
    "hinge with its corner": Hinge(kappa=0.0),
    "hinge, wide": Hinge(kappa=0.7, margin=2.0),
    "sigmoid, sharp": Sigmoid(gamma=5.0),
    "beta_bernoulli, uneven": BetaBernoulli(mixing=0.4, prior_mean=0.8, gamma=2.0),
    "pairwise_hinge with its corner": PairwiseHinge(kappa=0.0),
    "pairwise_hinge, wide": PairwiseHinge(kappa=1.5, margin=0.5),
    "smoothed_roc_area with its corner": SmoothedROCArea(epsilon=0.0),
    "smoothed_roc_area, wide": SmoothedROCArea(epsilon=0.2),
    "break_even with its corners": BreakEven(kappa=0.0),
    "break_even, wide": BreakEven(kappa=1.0, margin=2.0),
    "ramp of a pairwise hinge": Ramp(PairwiseHinge(), gamma=2.0),
    "ramp of the break-even": Ramp(BreakEven(kappa=0.1)),
}
LAWS = [
    pytest.param(law, id=f"{name}-{title}")
    for name, loss in LOSSES.items()
    for title, law in loss_laws(loss).items()
]
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def those(keep):
    """Return a mark that runs a law for some of the losses."""
    kept = {name: loss for name, loss in LOSSES.items() if keep(loss)}
    return pytest.mark.parametrize("loss", kept.values(), ids=kept)


def is_solved(loss):
    return isinstance(loss.base, BreakEven)


@pytest.mark.every_case
@pytest.mark.parametrize("law", LAWS)
def test_law(law):
    law()


def test_every_loss_of_the_room_has_a_row():
    in_table = {type(loss) for _, losses in LOSS_TABLE for loss in losses}
    exported = {getattr(directrix.linear, name) for name in directrix.linear.__all__}
    assert exported - {Loss} == in_table
    assert len({loss_class.name for loss_class in in_table}) == len(in_table)


@those(lambda loss: has_definition(loss) and not is_solved(loss))
@pytest.mark.parametrize("ties", [False, True])
def test_is_what_its_definition_says(loss, ties):
    agrees_with_definition(loss, partial(by_definition, loss), draw_rows(7, 200, ties=ties))


@those(lambda loss: has_definition(loss) and is_solved(loss))
@pytest.mark.parametrize("seed", range(4))
def test_is_the_maximum_that_its_definition_says(loss, seed):
    rows = draw_rows(seed, 9, ties=seed % 2 == 1, whole=True)
    rows = rows.take(rows.weight > 0)
    agrees_with_definition(loss, partial(by_definition, loss), rows, 1e-6)


@those(lambda loss: loss.gap(*draw_rows(0)[::2]) > 0)
def test_smoothing_lowers_the_loss(loss):
    sharp = loss.sharpen(np.inf)
    for seed in range(10):
        rows = draw_rows(seed + 60, ties=seed % 2 == 1, spread=(0.1, 1.0, 10.0)[seed % 3])
        assert sharp.value_and_grad(*rows)[0] >= loss.value_and_grad(*rows)[0] - 1e-12


@those(lambda loss: isinstance(loss, BetaBernoulli))
def test_plateaus_end_at_the_error(loss):
    assert loss.sharpen(np.inf) == ZeroOne()


@every_loss
def test_pickle_and_text_give_the_same_loss(loss):
    same = pickle.loads(pickle.dumps(loss))  # noqa: S301
    assert same == loss
    assert hash(same) == hash(loss)
    assert eval(repr(loss), dict(vars(directrix.linear))) == loss  # noqa: S307


def test_different_losses_differ():
    assert len(set(LOSSES.values())) == len(LOSSES)
