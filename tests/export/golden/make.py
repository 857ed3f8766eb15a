"""How the golden files were made: small rows, a classifier fitted and saved once, its answers.

A golden file is never written again: every later version must read it, and answer as it did, which
`test_golden.py` checks. When the format changes, add cases with the prefix of the new version,
empty ``CASES`` of the old ones, and run this script once. It refuses to overwrite.

The answers beside each file (``*.json``) are those of the classifier before it was saved. Floats
are in hexadecimal, which is exact.
"""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from directrix import (
    BetaBernoulliClassifier,
    Binner,
    DirectClassifier,
    MomentClassifier,
    ScorecardClassifier,
    SmoothClassifier,
)
from directrix.classifiers import IntegerPoints
from directrix.export import save
from directrix.losses import Hinge, Ramp
from directrix.metrics import Cost, FBeta, RecallAtFPR

HERE = Path(__file__).parent
RNG = np.random.default_rng(20)
X = RNG.normal(size=(80, 3)).round(2)
SUM = X @ [1.0, -0.5, 0.1] + RNG.normal(size=80)
Y = SUM > 0.3
NAMES = ["Länge", 'b "&" <c>', "年"]
SPARSE = np.maximum(X, 0.0)

CASES = {
    "v1-moment-names": (
        MomentClassifier(RecallAtFPR(0.05), shrinkage=0.25, class_weight={"ja": 1, "nein": 2.5}),
        pd.DataFrame(X, columns=NAMES),
        np.where(Y, "nein", "ja"),
    ),
    "v1-smooth-ramp": (
        SmoothClassifier(FBeta(2.0), loss=Ramp(Hinge(0.05)), alpha=(0.1,), levels=[1.0, 4.0], cv=3),
        X,
        Y,
    ),
    "v1-direct": (DirectClassifier(Cost(fp=1, fn=5), cv=3), X, np.where(Y, 7, -2)),
    "v1-direct-three-classes": (
        DirectClassifier("auc", cv=3),
        X,
        np.digitize(SUM, [-0.5, 0.7]).astype(np.int8),
    ),
    "v1-plateaus-sparse-prior": (
        BetaBernoulliClassifier(plateaus=(0.1, 0.6), prior="gaussian-laplace", alpha=[0.1, 1.0]),
        X,
        Y.astype(float),
    ),
    "v1-kernel-rbf": (
        BetaBernoulliClassifier(kernel="rbf", kernel_params={"gamma": 0.5}, alpha=0.3),
        X[:30],
        Y[:30],
    ),
    "v1-kernel-min-sparse": (
        BetaBernoulliClassifier(kernel="min", plateaus="learned"),
        sparse.csr_array(SPARSE[:30]),
        Y[:30],
    ),
    "v1-card-names": (
        ScorecardClassifier(
            RecallAtFPR(0.1),
            binner=Binner(max_bins=6, min_rows=1, special_values=[0.0]),
            train_on="counts",
            cv=3,
            monotone={"Länge": "increasing"},
            points=IntegerPoints(9),
        ),
        pd.DataFrame(X, columns=NAMES),
        np.where(Y, "nein", "ja"),
    ),
    "v1-card-crosses": (
        ScorecardClassifier("auc", train_on="counts", cv=3, points="pdo"),
        X,
        X[:, 0] * X[:, 1] > 0,
    ),
    "v1-card-three-classes": (
        ScorecardClassifier("error", train_on="counts", cv=3),
        X,
        np.digitize(SUM, [-0.5, 0.7]).astype(np.int8),
    ),
}


def params_in_file(classifier):
    """Return the parameters that a file holds: of a binner, its bins are kept elsewhere."""
    params = classifier.get_params(deep=False)
    for name in ("n_jobs", "verbose", "limits", "signs"):
        params.pop(name, None)
    return params | ({"binner": "auto"} if "binner" in params else {})


def main():
    """Write every case, or nothing where one exists."""
    existing = sorted(name for name in CASES if (HERE / f"{name}.model").exists())
    if existing:
        msg = f"golden files are never written again, and there is {existing[0]}"
        raise SystemExit(msg)
    for name, (classifier, rows, labels) in CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows
            classifier.fit(rows, labels)
        save(classifier, HERE / f"{name}.model")
        content = (HERE / f"{name}.model").read_bytes()
        scored = SPARSE[60:] if "sparse" in name else X[60:]
        given = pd.DataFrame(scored, columns=NAMES) if "names" in name else scored
        scores = np.asarray(classifier.decision_function(given)).reshape(len(scored), -1)
        points = getattr(classifier, "operating_points_", (None,))
        answers = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "params": repr(sorted(params_in_file(classifier).items())),
            "feature_names": NAMES if "names" in name else None,
            "rows": [[value.hex() for value in row] for row in scored.tolist()],
            "scores": [[value.hex() for value in row] for row in scores.tolist()],
            "probabilities": [
                [value.hex() for value in row] for row in classifier.predict_proba(given).tolist()
            ],
            "labels": classifier.predict(given).tolist(),
            "operating_point": repr(list(points) if len(points) > 1 else points[0]),
        }
        text = json.dumps(answers, indent=1, ensure_ascii=False) + "\n"
        (HERE / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
