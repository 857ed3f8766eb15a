"""Label the faces of generated pages, face by face and jointly, with many local classifiers.

``python -m benchmarks.beta_bernoulli.joint_inference.run`` measures what is not in
``measured.csv`` yet, and then writes ``joint_inference.md`` and ``joint_inference.png`` from it.
Delete the file first when a classifier has changed, or old and new would be mixed.

For each of 30 seeds local classifiers are trained on the faces of 60 pages and label those of 100
other pages (`documents`), with four kinds of noise, before and after exact inference in the
network of each page (`network`). The label is the more probable one. The network's own numbers
are those of the generator, so that methods differ only in their local evidence.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from benchmarks.beta_bernoulli.joint_inference import figure, record, report
from benchmarks.beta_bernoulli.joint_inference.documents import CONDITIONS, task
from benchmarks.beta_bernoulli.joint_inference.local_classifiers import local_probabilities
from benchmarks.beta_bernoulli.joint_inference.network import Network
from benchmarks.beta_bernoulli.joint_inference.record import Outcome, scores

SEEDS, QUICK_SEEDS = 30, 3


def measured(seed: int, condition: str) -> list[Outcome]:
    """Return the outcomes of all methods, which see the same pages."""
    X, y, pages = task(seed, condition)
    truth = np.concatenate([page.person for page in pages])
    local = local_probabilities(X, y, np.vstack([page.features for page in pages]))
    networks = [Network(page) for page in pages]
    ends = np.cumsum([len(page.person) for page in pages])[:-1]
    outcomes = []
    for method, own in local.items():
        parts = zip(networks, np.split(own, ends), strict=True)
        joint = np.concatenate([network.posterior(part) for network, part in parts])
        for stage, probability in (("local", own), ("joint", joint)):
            about = (seed, condition, method, stage, len(truth))
            outcomes.append(Outcome(*about, *scores(truth, probability)))
    return outcomes


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three seeds; writes nothing")
    quick = parser.parse_args().quick
    known = [] if quick else record.read()
    done = {(outcome.seed, outcome.condition) for outcome in known}
    for seed, condition in product(range(QUICK_SEEDS if quick else SEEDS), CONDITIONS):
        if (seed, condition) not in done:
            outcomes = measured(seed, condition)
            known += outcomes
            if not quick:
                record.append(outcomes)
                print(f"seed {seed}, {condition}", flush=True)
    if quick:
        print("\n".join(report.lines(known)))
        return
    report.write(known)
    figure.draw(known)


if __name__ == "__main__":
    main()
