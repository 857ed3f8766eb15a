"""How the golden files were made: small rows, a classifier fitted and saved once, its answers.

A golden file is never written again: every later version must read it, and answer as it did, which
`test_golden.py` checks. A release whose files hold something new adds cases, named after the format
and the release: replace ``CASES`` by them, and run this script once, with that version installed.
It refuses to overwrite. Files without a release in their name were made before the first one, by
earlier states of this script.

The answers beside each file (``*.json``) are those of the classifier before it was saved. Floats
are in hexadecimal, which is exact; raw rows are plain values, and dates ISO 8601.
"""

import hashlib
import json
import warnings
from dataclasses import fields
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from directrix import OperatingPointClassifier
from directrix.export import save

HERE = Path(__file__).parent
RNG = np.random.default_rng(20)
N, SCORED = 400, 20
X = RNG.normal(size=(N, 3)).round(2)
SUM = X @ [1.0, -0.5, 0.1] + RNG.normal(size=N)
Y = SUM > 0.3
NAMES = ["Länge", 'b "&" <c>', "年"]
NUMBERS = pd.DataFrame(X, columns=NAMES)

#: Classifier, rows, labels, and what else its fit is given.
CASES = {
    "v1-0.3.0-operating-point-scores": (
        OperatingPointClassifier(metric="recall@fpr=0.2", limits={"fpr": 0.3}, guarantee=0.9),
        NUMBERS[[NAMES[0]]],
        Y,
        {},
    ),
}


def params_in_file(classifier):
    """Return the parameters that a file holds: of a binner, its bins are kept elsewhere."""
    params = classifier.get_params(deep=False)
    for name in ("n_jobs", "verbose", "warn_baseline"):
        params.pop(name, None)
    return params | ({"binner": "auto"} if "binner" in params else {})


def plain(value):
    """Return a value of a row as JSON holds it."""
    return value.isoformat() if isinstance(value, date) else value


def main():
    """Write every case, or nothing where one exists."""
    existing = sorted(name for name in CASES if (HERE / f"{name}.model").exists())
    if existing:
        msg = f"golden files are never written again, and there is {existing[0]}"
        raise SystemExit(msg)
    for name, (classifier, rows, labels, given_to_fit) in CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows
            classifier.fit(rows, labels, **given_to_fit)
        save(classifier, HERE / f"{name}.model")
        content = (HERE / f"{name}.model").read_bytes()
        given = rows.tail(SCORED)
        scores = np.asarray(classifier.decision_function(given)).reshape(SCORED, -1)
        answers = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "params": repr(sorted(params_in_file(classifier).items())),
            "feature_names": list(rows.columns),
            "table": [list(map(plain, row)) for row in given.to_numpy(dtype=object).tolist()],
            "scores": [[value.hex() for value in row] for row in scores.tolist()],
            "probabilities": [
                [value.hex() for value in row] for row in classifier.predict_proba(given).tolist()
            ],
            "labels": classifier.predict(given).tolist(),
            "operating_point": points_text(classifier),
        }
        text = json.dumps(answers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        (HERE / f"{name}.json").write_text(text, encoding="utf-8")


def points_text(classifier):
    """Return the fields of the operating points of a classifier, as a dataclass shows them."""
    texts = []
    for point in getattr(classifier, "operating_points_", (None,)):
        shown = [f for f in fields(point) if f.repr] if point is not None else []
        values = ", ".join(f"{each.name}={getattr(point, each.name)!r}" for each in shown)
        texts.append("None" if point is None else f"OperatingPoint({values})")
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


if __name__ == "__main__":
    main()
