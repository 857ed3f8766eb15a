"""Scores of exported scorecards by every route, compared with the classifier on raw rows.

Points of whole numbers must be identical and labels equal; other numbers may differ by 1e-9.
``python -m benchmarks.studies.card_exports.compare`` prints the greatest differences on 100,000
rows, and writes them to ``card_exports.md``; ``--rows 2000`` takes fewer, ``--routes`` some of the
routes, and both only print.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import commit
from benchmarks.studies.card_exports.routes import ROUTES, Answer, by_classifier
from benchmarks.studies.card_exports.samples import CARDS, INTEGER, raw_rows

ROWS = 100_000
_REPORT = Path(__file__).with_name("card_exports.md")
CLOSE = 1e-9


class Difference(NamedTuple):
    """Greatest differences of a route from the classifier.

    ``labels``: rows with another label.
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
    whole = options.rows == ROWS and [*options.routes, *options.cards] == [*ROUTES, *CARDS]
    if whole:
        write_report(_REPORT, report(found, commit()))
    return int(not all(apart.is_close for apart in found))


def report(found: Sequence[Difference], measured: str) -> list[str]:
    """Return the lines of a report: the greatest difference of any card, for each route."""
    how = (
        f"How: see `compare.py`. Measured on commit {measured}: {ROWS:,} rows with missing values, "
        f"unseen texts, special and infinite values; {len(CARDS)} cards, {len(INTEGER)} of them of "
        "whole points."
    )
    lines = [
        "# Exported scorecards, compared with the classifier on raw rows",
        "",
        how,
        "",
        *header(
            *("route", "cards", "whole points", "other points", "score", "probability"),
            "other labels",
        ),
    ]
    for route in dict.fromkeys(apart.route for apart in found):
        some = [apart for apart in found if apart.route == route]
        points = [
            max((apart.points for apart in some if (apart.card in INTEGER) == whole), default=0.0)
            for whole in (True, False)
        ]
        rest = [max(apart[k] for apart in some) for k in (3, 4)]
        numbers = [f"{number:.1e}" for number in (*points, *rest)]
        labels = sum(apart.labels for apart in some)
        lines.append(line(route, str(len(some)), *numbers, str(labels)))
    return lines


if __name__ == "__main__":
    sys.exit(main())
