"""Fit diffprivlib's logistic regression; run by `exchange_rivals` in an environment of its own."""

import sys
import warnings

import numpy as np


def main(source: str, target: str) -> None:
    """Fit to the rows of a file for each epsilon, and write the scores of its test rows."""
    from diffprivlib.models import LogisticRegression  # noqa: PLC0415 - optional

    warnings.simplefilter("ignore")
    with np.load(source) as given:
        norm, scores = float(given["data_norm"]), []
        for epsilon in given["epsilons"].tolist():
            model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000)
            model.fit(given["X"], given["y"])
            scores.append(model.decision_function(given["X_test"]))
    np.save(target, np.array(scores))


if __name__ == "__main__":
    main(*sys.argv[1:])
