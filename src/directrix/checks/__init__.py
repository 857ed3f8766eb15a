"""Checks: the laws that every loss and every metric keeps, for new ones too.

`check_loss` and `check_metric` run all of them and raise AssertionError at the first that fails;
`loss_checks` and `metric_checks` return them one by one, so that a test suite can parametrise them.
"""

from directrix.checks.check import Check
from directrix.checks.losses import check_loss, loss_checks
from directrix.checks.metrics import check_metric, metric_checks

__all__ = ["Check", "check_loss", "check_metric", "loss_checks", "metric_checks"]


def __dir__() -> list[str]:
    return __all__
