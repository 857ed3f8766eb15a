"""The sets of both papers on moments, Ghanbari and others 2018 and 2019.

``moment_sets.csv`` has the real ones in the order of the papers, with their name in each.
``positive`` is the class that is positive, where the file has other classes; ``swapped`` says that
the paper's positive rows are the file's negative ones; ``first`` is how many rows the papers have,
where the file has more; ``printed 2019`` is the name in Table 4.4, where the paper of 2019 has two.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.harness.data import Rows, classes, load
from benchmarks.harness.record import Row, read_rows
from directrix import Moments
from directrix._typing import FloatArray
from directrix.moments import ClassMoments

#: Of sets with more rows a stratified sample is taken: Algorithm 1 on the pairwise hinge takes
#: hours on all of them, as it did in the paper.
MOST_ROWS = 10_000
#: Rows of an artificial set, and the share of them that is tested.
ARTIFICIAL_ROWS, TEST_SHARE = 5_000, 0.2


class Recipe(NamedTuple):
    """An artificial set of normal classes; ``swapped`` is a share of the training labels."""

    features: int
    prior: float
    swapped: float


#: Data 1 to data 9: Table 1 of 2018, Table 4.1 of 2019.
RECIPES = (
    *(Recipe(500, 0.05, 0.0), Recipe(500, 0.35, 0.05), Recipe(500, 0.5, 0.1)),
    *(Recipe(1000, 0.15, 0.0), Recipe(1000, 0.4, 0.05), Recipe(1000, 0.5, 0.1)),
    *(Recipe(2500, 0.1, 0.0), Recipe(2500, 0.35, 0.05), Recipe(2500, 0.5, 0.1)),
)


def real_sets(paper: str) -> dict[str, Row]:
    """Return the real sets of a paper by its names."""
    rows = read_rows(Path(__file__).with_suffix(".csv"))
    return {row[paper]: row for row in rows if row[paper]}


def real_rows(about: Row) -> Rows:
    """Load the rows of a set, as they are in the file but for the labels."""
    X, y = load(about["file"])
    if about["positive"]:
        y = classes(about["file"]) == about["positive"]
    first = int(about["first"]) if about["first"] else None
    return Rows(X[:first], (~y if about["swapped"] else y)[:first])


def sampled(rows: Rows) -> Rows:
    """Return all rows, or a stratified sample of `MOST_ROWS` if there are more."""
    X, y = rows
    if len(y) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)
    return Rows(X, y)


def known_moments(
    means: FloatArray, covariances: list[FloatArray], prior: float, rows: int
) -> Moments:
    """Return known means and covariances as if so many rows had been summarised."""
    d = means.shape[1]
    groups = tuple(
        ClassMoments(rows, rows * share, rows * share**2, mean, rows * share * cov, np.zeros(d))
        for share, mean, cov in zip((1.0 - prior, prior), means, covariances, strict=True)
    )
    return Moments(d, np.array([False, True]), (groups,))
