"""Measure Algorithm 1 on the sets of the paper, and write its tables and figures.

``python -m benchmarks.papers.ghanbari_2018.run`` appends the folds that ``measured.csv`` lacks,
then writes ``tables.md``, ``accuracy.png`` and ``auc.png`` anew. ``--quick`` measures one repeat of
four small sets and writes nothing; ``--report`` measures nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.papers.ghanbari_2018 import report
from benchmarks.papers.ghanbari_2018.methods import (
    ARTIFICIAL,
    METRICS,
    REAL,
    VARIANTS,
    Outcome,
    folds_of,
    outcomes_of,
    seed_of,
    split_of,
)
from benchmarks.papers.ghanbari_2018.report import RECORD, Fold, cells, read

QUICK = ("fourclass", "vowel", "segment", "sonar")


def planned(sets: Iterable[str]) -> Iterator[Fold]:
    """Yield every fold of every set for both metrics."""
    for name in sets:
        for repeat, fold in folds_of(name):
            yield from (Fold(metric, name, repeat, fold) for metric in METRICS)


def outcomes(fold: Fold) -> dict[str, Outcome]:
    """Measure all methods on a fold."""
    split, exact = split_of(*fold[1:])
    return outcomes_of(fold.metric, split, seed_of(*fold[1:]), exact)


def _rows(*key: str | int) -> list[tuple[object, ...]]:
    fold = Fold(*key)  # type: ignore[arg-type]
    return cells(fold, outcomes(fold))


def main() -> None:
    """Run and report."""
    parser = option_parser(__doc__, "a minute; writes nothing")
    parser.add_argument("--sets", nargs="*", help="names of sets; all, if not given")
    args = parser.parse_args()
    if args.quick:
        folds = {fold: outcomes(fold) for fold in planned(QUICK) if fold.repeat == 0}
        print("\n".join(report.lines(folds)))
        return
    if not args.report:
        measure_missing(RECORD, planned(args.sets or [*REAL, *VARIANTS, *ARTIFICIAL]), _rows)
    report.write(read())


if __name__ == "__main__":
    main()
