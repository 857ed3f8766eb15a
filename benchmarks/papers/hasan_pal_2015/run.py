"""The tables of Hasan and Pal 2015: printed, measured again, and beside tuned rivals.

``python -m benchmarks.papers.hasan_pal_2015.run`` appends one row for each fit to ``measured.csv``,
goes on where an interrupted run stopped, and writes what it prints to ``tables.md``. ``--tables 3 4
6`` measures only what these need, ``--methods BBLR3`` only these, ``--protocols outl`` only these
of `methods.PROTOCOLS`, ``--quick`` one repeat and no slow method, ``--report`` nothing.

* 3: errors on the training rows themselves.
* 4 and 5: ten times five stratified folds of four sets. 6 and 7: the same folds with noise in the
  training rows: "flip", one label in ten flipped; "outl", a tenth more rows, far out, with random
  labels. Test rows are as they are. All methods see the same folds and the same noise.
* 8: McNemar's test over the test rows of all folds and repeats, without continuity correction; z is
  the root of its statistic.
* 10: five folds, as the test rows of w8a are not at hand; BBLR3 takes them as sparse rows, which
  are scaled and not centred. 12: ten folds.
* Rivals: logistic regression and a linear SVM, C of {0.01, 0.1, 1, 10, 100} with the least error in
  three folds of the training rows; features standardised, those of reviews divided by their
  greatest. "logistic, C=1" is not tuned.
* SLA: the sigmoid loss from a linear SVM, no ridge, and the line that the search finds, with its
  intercept (`methods.SigmoidSearch`).
* BBLR1 to BBLR4 are the methods of the paper. BBLR1 ("weak" plateaus) and BBLR2 ("empirical") by
  SLA, BBLR3 ("empirical") and BBLR4 (learned with the rest) by SLAM, which chooses its constants
  and the ridge on held-out rows. Differences: our SLA keeps the iterate with the fewest training
  errors, and probes a coefficient at all offsets before the next; the ridge of BBLR1 and BBLR2 is
  1, not one of cross-validation; BBLR4 leaves the ridge to SLAM too. Their training errors are
  those on the wrong side of the line that the search found (BBLR4: of the probability one half,
  which it learns).
* Ours: "lbfgs" is a descent from the logistic solution instead of a search; its ridge is 1, or
  where it says "tuned", that of the grid of ``alpha="auto"`` (for reviews {0.1, 1, 10, 100}) with
  the least held-out log-loss. "robust" is our default. Slow methods have fewer repeats.

A row of the file: errors among the rows tested, and which they are, in the order of the test fold:
bits in hexadecimal digits.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.harness.runner import Part, Study
from benchmarks.papers.hasan_pal_2015 import pages, report
from benchmarks.papers.hasan_pal_2015.methods import (
    METHODS,
    PROTOCOLS,
    RECORD,
    SLOW,
    measured,
    repeats_of,
)
from benchmarks.papers.hasan_pal_2015.report import Measured


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield protocol, set, method, repeat and fold of each fit: quick methods, first repeats."""
    protocols = {
        protocol: PROTOCOLS[protocol]
        for protocol in args.protocols
        if set(args.tables) & set(PROTOCOLS[protocol].tables)
    }
    for method in METHODS:
        if method not in args.methods or (args.quick and method in SLOW):
            continue
        most = max((repeats_of(method, protocol) for protocol in protocols), default=0)
        for repeat in range(min(most, 1) if args.quick else most):
            for protocol, about in protocols.items():
                if repeat < repeats_of(method, protocol):
                    names = [name for name in about.sets if not args.sets or name in args.sets]
                    yield from product([protocol], names, [method], [repeat], range(about.folds))


def _rows(*key: Any) -> list[tuple[object, ...]]:
    return [measured(*key).cells()]


_TABLES = sorted({table for protocol in PROTOCOLS.values() for table in protocol.tables})
STUDY = Study(
    [Part(RECORD, planned, _rows)],
    lambda _: report.lines(Measured()),
    quick="one repeat, and no slow method",
    options={
        "--tables": {"nargs": "*", "type": int, "choices": _TABLES, "default": _TABLES},
        "--methods": {"nargs": "*", "choices": METHODS, "default": list(METHODS)},
        "--protocols": {"nargs": "*", "choices": PROTOCOLS, "default": list(PROTOCOLS)},
        "--sets": {"nargs": "*", "help": "all by default"},
        "--minutes": None,
        "--jobs": None,
    },
    report_path=report.REPORT,
    draw=pages.main,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
