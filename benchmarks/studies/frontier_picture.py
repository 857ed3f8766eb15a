"""The figure of README: the frontier of magic04, logistic regression, and DirectClassifier.

``python -m benchmarks.studies.frontier_picture`` fits both to half of the rows, draws their ROC
curves on the other half into ``docs/_static/frontier.png``, and prints their recall at 1 % false
positives.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import load
from directrix import DirectClassifier
from directrix.displays import FrontierDisplay

PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "frontier.png"
METRIC = "recall@fpr=0.01"


def main() -> None:
    """Fit, draw and print."""
    X, y = load("magic04")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    direct = DirectClassifier(METRIC).fit(X, y)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = FrontierDisplay.from_estimator(direct, X_test, y_test)
    fpr, tpr, _ = roc_curve(y_test, logistic.decision_function(X_test))
    display.ax_.plot(fpr, tpr, color="#009E73", linestyle="-.", label="logistic regression")
    display.ax_.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    display.figure_.savefig(PICTURE, dpi=110, bbox_inches="tight")
    plt.close(display.figure_)
    for name, model in {"DirectClassifier": direct, "logistic regression": logistic}.items():
        fpr, tpr, _ = roc_curve(y_test, model.decision_function(X_test))
        print(f"{name}: recall {tpr[fpr <= 0.01].max():.3f}")


if __name__ == "__main__":
    main()
