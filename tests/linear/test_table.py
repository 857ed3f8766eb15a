import pytest

import directrix.linear
from directrix.linear import Logistic, PairwiseHinge, Ramp
from directrix.linear.loss import Loss
from directrix.linear.table import LOSSES, metric_for, resolve_loss
from directrix.metrics import AUC

every_loss = pytest.mark.parametrize(
    ("metric", "loss"), [(metric, loss) for metric, losses in LOSSES for loss in losses]
)


def test_every_loss_is_listed():
    members = {getattr(directrix.linear, name) for name in directrix.linear.__all__}
    assert {type(loss) for _, losses in LOSSES for loss in losses} == members - {Loss}


@every_loss
def test_a_name_is_the_loss_of_the_table(metric, loss):
    assert resolve_loss(loss.name) == loss
    assert metric_for(loss) == metric


def test_the_metric_of_a_ramp_is_that_of_what_it_is_made_of():
    assert metric_for(Ramp(Ramp(PairwiseHinge()))) == AUC()


def test_a_loss_that_is_not_listed_has_no_metric():
    assert metric_for(type("Other", (Logistic,), {})()) is None


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="'logistic'"):
        resolve_loss("log")
