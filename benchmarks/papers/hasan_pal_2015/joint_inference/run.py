"""Label the faces of generated pages, face by face and jointly, with many local classifiers.

``python -m benchmarks.papers.hasan_pal_2015.joint_inference.run`` measures what is
not in ``measured.csv`` yet, and then writes ``joint_inference.md`` and ``joint_inference.png`` from
it; ``--quick`` three seeds, and writes nothing; ``--report`` measures nothing. Delete the file
first when a classifier has changed, or old and new would be mixed.

For each of 30 seeds local classifiers are trained on the faces of 60 pages and label those of 100
other pages (`documents`), with four kinds of noise, before and after exact inference in the
network of each page (`network`). The label is the more probable one. The network's own numbers
are those of the generator, so that methods differ only in their local evidence.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.papers.hasan_pal_2015.joint_inference import report
from benchmarks.papers.hasan_pal_2015.joint_inference.documents import CONDITIONS, task
from benchmarks.papers.hasan_pal_2015.joint_inference.methods import (
    RECORD,
    Outcome,
    local_probabilities,
    read,
    scores,
)
from benchmarks.papers.hasan_pal_2015.joint_inference.network import Network

SEEDS, QUICK_SEEDS = 30, 3


def measured(seed: int, condition: str) -> list[Outcome]:
    """Return the outcomes of all methods, which see the same pages."""
    X, y, pages = task(seed, condition)
    truth = np.concatenate([page.person for page in pages])
    local = local_probabilities(X, y, np.vstack([page.features for page in pages]))
    networks = [Network(page) for page in pages]
    ends = np.cumsum([len(page.person) for page in pages])[:-1]
    outcomes = []
    for method, alone in local.items():
        parts = zip(networks, np.split(alone, ends), strict=True)
        joint = np.concatenate([network.posterior(part) for network, part in parts])
        for stage, probability in (("local", alone), ("joint", joint)):
            key = (seed, condition, method, stage, len(truth))
            outcomes.append(Outcome(*key, *scores(truth, probability)))
    return outcomes


def _rows(seed: int, condition: str) -> list[tuple[object, ...]]:
    return [outcome.cells() for outcome in measured(seed, condition)]


def main() -> None:
    """Run and report."""
    args = option_parser(__doc__, "three seeds; writes nothing").parse_args()
    if args.quick:
        outcomes = [
            outcome for key in product(range(QUICK_SEEDS), CONDITIONS) for outcome in measured(*key)
        ]
        print("\n".join(report.lines(outcomes)))
        return
    if not args.report:
        measure_missing(RECORD, product(range(SEEDS), CONDITIONS), _rows)
    report.write(read())


if __name__ == "__main__":
    main()
