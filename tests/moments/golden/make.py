"""How the golden files were made: small rows, their summary saved once, and the exact answer.

A golden file is never written again: every later version must read it, which `test_golden.py`
checks. When the format changes, add cases with the prefix of the new version, empty ``CASES`` of
the old ones, and run this script once. It refuses to overwrite.

The answer beside each file (``*.json``) comes from rational arithmetic over the rows and owes
nothing to directrix. Floats are in hexadecimal, which is exact.
"""

import hashlib
import json
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np

from directrix import Moments

HERE = Path(__file__).parent

ROWS = [[1, 2], [3, -2], [5, 0], [-1, 4], [0, 0], [2, 8], [-6, 2], [8, -2]]
CASES = {
    "v1-int-labels": {"X": ROWS, "y": [-1, 7, -1, 7, 7, 7, -1, -1]},
    "v1-text-names-folds": {
        "X": [[0.5, 1, -3], [2, 2, 5], [4, 0.25, 1], [1, 1, 1], [-2, 0, 6], [3, 3, 0], [7, 1, 2]],
        "y": ["ja", "nein", "ja", "nein", "nein", "größer", "ja"],
        "fold": [0, 0, 0, 1, 1, 3, 3],
        "feature_names": ["Länge", "b & <c>", "年"],
    },
    "v1-weights-prior": {
        "X": [*ROWS, [100, 100]],
        "y": [0, 1, 0, 1, 1, 1, 0, 0, 0],
        "weight": [4, 1, 1, 1, 0.25, 1.75, 2.75, 0.25, 0],
        "prior": 0.125,
    },
    "v1-float-labels": {
        "X": [[0.1, 1e-3], [0.7, 2e-3], [0.3, -1e-3], [-0.9, 0], [11.3, 5e-3], [0.6, 7e-3]],
        "y": [0.1, -2.5, 0.1, 0.1, -2.5, -2.5],
        "weight": [0.1, 3, 0.7, 1.1, 1, 0.9],
    },
    "v1-bool-labels-empty-class": {
        "X": ROWS[:4],
        "y": [True, True, True, True],
        "classes": [False, True],
    },
    "v1-one-row": {"X": [[0.1, -7, 1e150, 1e-150]], "y": [3]},
    "v1-far-from-zero": {
        "X": [[1e12 + first, second / 4 - 1e12] for first, second in ROWS],
        "y": [0, 0, 1, 1, 0, 0, 1, 1],
    },
    "v1-one-feature-thirds": {"X": [[1], [2], [5], [1e6]], "y": ["a", "a", "a", "b"]},
    "v1-no-rows": {"X": np.empty((0, 3)), "y": []},
}


def main():
    """Write every case, or nothing where one exists."""
    existing = sorted(name for name in CASES if (HERE / f"{name}.moments").exists())
    if existing:
        msg = f"golden files are never written again: {', '.join(existing)}"
        raise SystemExit(msg)
    for name, case in CASES.items():
        path = HERE / f"{name}.moments"
        summary(**case).save(path)
        record = answer(**case) | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        text = json.dumps(record, indent=1, ensure_ascii=False)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def summary(X, y, weight=None, classes=None, fold=None, feature_names=None, prior=None):
    """Return the summary to be saved."""
    options = {"classes": classes, "fold": fold, "feature_names": feature_names}
    moments = Moments.of(np.array(X, dtype=float), y, weight, **options)
    return moments if prior is None else moments.with_prior(prior)


def answer(X, y, weight=None, classes=None, fold=None, feature_names=None, prior=None):
    """Return what must be read from the file."""
    labels = sorted(set(y if classes is None else classes))
    numbers = range(1 if fold is None else max(fold) + 1)
    rows = list(
        zip(
            [[Fraction(value) for value in row] for row in X],
            y,
            [Fraction(1)] * len(y) if weight is None else [Fraction(value) for value in weight],
            [0] * len(y) if fold is None else fold,
            strict=True,
        )
    )
    d = np.shape(X)[1]
    return {
        "n_features": d,
        "labels": labels,
        "feature_names": feature_names,
        "folded": fold is not None,
        "prior": prior,
        "parts": [
            [
                moments_of(
                    [(x, w) for x, row_label, w, part in rows if (row_label, part) == (label, k)], d
                )
                for label in labels
            ]
            for k in numbers
        ],
    }


def moments_of(rows, d):
    """Return the moments of rows ``(x, weight)`` of one class, each rounded once."""
    rows = [(x, w) for x, w in rows if w]
    total = sum((w for _, w in rows), Fraction(0))
    mean = [sum(w * x[i] for x, w in rows) / total if rows else Fraction(0) for i in range(d)]
    scatter = [
        [
            sum((w * (x[i] - mean[i]) * (x[j] - mean[j]) for x, w in rows), Fraction(0))
            for j in range(d)
        ]
        for i in range(d)
    ]
    rounded = [float(value) for value in mean]
    exact = all(float(value) == value for value in chain(mean, *scatter))
    return {
        "count": len(rows),
        "weight": hexadecimal(total),
        "weight_sq": hexadecimal(sum((w * w for _, w in rows), Fraction(0))),
        "exact": exact,
        "mean": [hexadecimal(value) for value in mean],
        "mean_tail": [hexadecimal(a - Fraction(b)) for a, b in zip(mean, rounded, strict=True)],
        "scatter": [[hexadecimal(value) for value in row] for row in scatter],
    }


def hexadecimal(value):
    """Return a fraction, rounded once to a float, in hexadecimal."""
    return float(value).hex()


if __name__ == "__main__":
    main()
