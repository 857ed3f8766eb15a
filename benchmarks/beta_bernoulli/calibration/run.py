"""Log-loss and calibration on rows held out, with and without noise in the training rows.

``python -m benchmarks.beta_bernoulli.calibration.run`` appends one row for each fit to
``measured.csv``, goes on where an interrupted run stopped, and writes ``calibration.md`` and
``calibration.png``. ``--quick`` measures two small sets.

Five stratified folds, the same for all; at most 2,000 rows a set, a fixed sample.
Noise as of the tables: none, one label in ten flipped, a tenth more rows far out. Test rows are as
they are, so that under noise a good model is one that is not misled by it.

* logistic: C of {0.01, 0.1, 1, 10, 100} with the least log-loss in three folds of the training
  rows.
* SVM, isotonic: C of the same by error in three folds, then `CalibratedClassifierCV` with isotonic
  regression over five.
* robust, learned, weak: `BetaBernoulliClassifier` with these plateaus and ``alpha="auto"``.

Log-loss is the mean of minus the log probability of the true class, probabilities within
[1e-6, 1 - 1e-6]: isotonic regression says 0 and 1, which would cost without limit. The calibration
error is the mean over rows of |mean probability - share of positives| of their bin, of ten bins
of equal width; both for each bin are in the file, summed over the folds, for the curves.
"""

from __future__ import annotations

import argparse
import csv

from joblib import Parallel, delayed

from benchmarks.beta_bernoulli.calibration import report
from benchmarks.beta_bernoulli.calibration.fits import (
    METHODS,
    REPEATS,
    RESULTS,
    SETS,
    Judged,
    Key,
    measured,
    read,
)
from benchmarks.zero_one.noise import NOISES

_QUICK = ("heart", "diabetes")


def run(sets: tuple[str, ...], jobs: int) -> None:
    """Measure what is not in the file yet."""
    done, new = read(), not RESULTS.exists()
    missing = [
        key
        for name in sets
        for noise in NOISES
        for repeat in range(REPEATS)
        for method in METHODS
        if (key := Key(name, noise, method, repeat)) not in done
    ]
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(("set", *Key._fields[1:], *Judged._fields))
        parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1)
        for key, judged in zip(missing, parallel(map(delayed(measured), missing)), strict=True):
            writer.writerow((*key, *judged.cells()))
            file.flush()


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two small sets")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    run(_QUICK if args.quick else SETS, args.jobs)
    report.main()


if __name__ == "__main__":
    main()
