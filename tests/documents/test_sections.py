"""What sections of a document are written from."""

import numpy as np
from random_cards import BINS, random_card

from directrix.cards.risk_bands import HeldOutPoints
from directrix.documents.sections import DocumentData


class Fitted:
    """Stand-in for a classifier with a card."""

    classes_ = np.array(["bad", "good"])
    positive_ = "bad"

    def __init__(self, card):
        self.card_ = card


def data(card):
    return DocumentData(Fitted(card), {}, None, None, "duckdb")


def test_training_rows_are_those_of_the_counts():
    assert data(random_card(0)).training == (1000.0, 300.0)
    unknown = data(random_card(0).affine(1.0, 0.0))
    assert unknown.training == (1000.0, 300.0)


def test_columns_with_points_are_ranked_and_crossed_ones_count():
    card = random_card(1, crosses=1)
    columns = tuple(np.zeros(bins.n_cells) for bins in BINS)
    flat = type(card)(0.0, columns, card.crosses, BINS, counts=card.counts)
    assert sorted(data(flat).used) == sorted(card.crosses[0].columns)
    assert data(card).used == card.ranked_columns


def test_without_rows_risks_are_those_that_were_held_out():
    from dataclasses import replace

    points = HeldOutPoints(*np.array([[1.0, 2.0], [5.0, 1.0], [1.0, 5.0], [0.2, 0.7]]), 1.0, 0.1)
    found = data(replace(random_card(0), held_out=points))
    assert found.risks.rows == 12
    assert found.risks.prevalence == 0.5
    assert found.which_rows == "the rows that were held out of the fit"
    assert data(random_card(0)).risks is None
