"""Scores of exported scorecards by every route, compared with the classifier on raw rows.

Points of whole numbers must be identical and labels equal; other numbers may differ by 1e-9.
``python -m benchmarks.studies.card_exports.compare`` prints the greatest differences on 100,000
rows; ``--rows 2000`` takes fewer, ``--routes`` some of the routes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.studies.card_exports.routes import ROUTES, Answer, by_classifier
from benchmarks.studies.card_exports.samples import CARDS, INTEGER, raw_rows

ROWS = 100_000
CLOSE = 1e-9


class Difference(NamedTuple):
    """Greatest differences of a route from the classifier.

    Parameters
    ----------
    card, route : str
    points, score, probability : float
    labels : int
        Rows with another label.
    """

    card: str
    route: str
    points: float
    score: float
    probability: float
    labels: int

    @property
    def is_close(self) -> bool:
        """Whether labels are equal, whole points identical and all numbers close."""
        points = 0.0 if self.card in INTEGER else CLOSE
        close = self.points <= points and max(self.score, self.probability) <= CLOSE
        return close and self.labels == 0


def difference(card: str, route: str, rows: pa.Table) -> Difference | None:
    """Return the greatest differences of a route on these rows; None if it has no such cards."""
    classifier = CARDS[card]()
    expected, answer = by_classifier(classifier, rows), ROUTES[route](classifier, rows)
    if answer is None:
        return None
    numbers = [_farthest(answer[k], expected[k]) for k in range(3)]
    return Difference(card, route, *numbers, _unequal(answer, expected))


def _farthest(numbers: np.ndarray, expected: np.ndarray) -> float:
    if numbers.shape != expected.shape or np.isnan(numbers).any():
        return float("inf")
    return float(np.abs(numbers - expected).max())


def _unequal(answer: Answer, expected: Answer) -> int:
    return int((answer.label != expected.label).sum())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences; return 1 if one is too great."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--routes", nargs="*", choices=list(ROUTES), default=list(ROUTES))
    parser.add_argument("--cards", nargs="*", choices=list(CARDS), default=list(CARDS))
    options = parser.parse_args(arguments)
    rows = raw_rows(options.rows, 2, new=True)
    print(f"{options.rows:,} rows; the greatest differences of points, score and probability")
    found = []
    for route in options.routes:
        for card in options.cards:
            apart = difference(card, route, rows)
            if apart is None:
                print(f"{route}, {card}: no such cards", flush=True)
                continue
            print(
                f"{route}, {card}: {apart.points:.1e}, {apart.score:.1e}, {apart.probability:.1e}, "
                f"{apart.labels} other labels{'' if apart.is_close else ': TOO FAR'}",
                flush=True,
            )
            found.append(apart)
    return int(not all(apart.is_close for apart in found))


if __name__ == "__main__":
    sys.exit(main())
