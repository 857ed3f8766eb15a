"""The page of losses lists what THE TABLE does."""

from pathlib import Path

import pytest

import directrix.losses
from directrix.losses import Loss
from directrix.metrics import TABLE, Error, RecallAtFPR, resolve_loss

PAGE = Path(__file__).parents[2] / "docs" / "losses.md"
LOSSES = [(row, loss) for row in TABLE for loss in row.losses]


def test_the_page_lists_every_loss_of_the_table():
    rows = [
        line.split("|")[1:6]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and '`"' in line
    ]
    listed = [tuple(cell.strip() for cell in cells) for cells in rows]
    assert listed == [
        (
            row.name,
            f'`"{loss.name}"`',
            f"`{type(loss).__name__}`",
            "yes" if loss.convex else "",
            "yes" if loss.tight else "",
        )
        for row, loss in LOSSES
    ]


def test_every_loss_is_in_the_table():
    exported = {
        cls
        for cls in vars(directrix.losses).values()
        if isinstance(cls, type) and issubclass(cls, Loss) and cls is not Loss
    }
    assert {type(loss) for _, loss in LOSSES} == exported


@pytest.mark.parametrize(("row", "loss"), LOSSES, ids=lambda each: each.name)
def test_a_name_is_the_loss_with_the_parameters_of_the_metric(row, loss):
    assert resolve_loss(loss.name, row.example) == loss
    assert resolve_loss(loss, Error()) is loss


def test_parameters_come_from_the_metric():
    assert resolve_loss("top_negatives", RecallAtFPR(0.2)).fpr == 0.2


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"no loss named 'log'.*'logistic'"):
        resolve_loss("log", Error())
