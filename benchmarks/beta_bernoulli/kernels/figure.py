"""The figure of how support vectors grow: ``support_vectors.png``, from the file beside it."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.beta_bernoulli.kernels.growth import Growth
from benchmarks.beta_bernoulli.kernels.support_vectors import FORWARD, SPARSE, SVM

mpl.use("Agg")
from matplotlib import pyplot as plt

FIGURE = Path(__file__).with_name("support_vectors.png")
_TICKS = (20, 50, 100, 200, 500, 1000, 2000)
#: Of Okabe and Ito, told apart by colour-blind readers; markers differ too.
_LOOKS = {
    SVM: ("#000000", "o", "-"),
    **dict(zip(FORWARD, [("#0072B2", "s", "--"), ("#56B4E9", "D", "-.")], strict=True)),
    SPARSE: ("#D55E00", "^", ":"),
}


def main() -> None:
    """Draw support vectors on the left and the test error on the right, by training rows."""
    found = Growth()
    drawn, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.8), layout="constrained")
    for method, (color, marker, line) in _LOOKS.items():
        sizes = found.sizes(method)
        looks = {"color": color, "marker": marker, "linestyle": line, "markersize": 5}
        for axes, value in ((left, found.support), (right, found.percent)):
            means = [np.mean(value(method, n)) for n in sizes]
            deviations = [found.deviation(value(method, n)) for n in sizes]
            axes.errorbar(sizes, means, deviations, label=method, capsize=2, **looks)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(found.sizes(SVM), [str(n) for n in found.sizes(SVM)])
        axes.minorticks_off()
        axes.set_xlabel("training rows")
        axes.grid(alpha=0.3)
    left.set_yscale("log")
    left.set_yticks(_TICKS, [str(tick) for tick in _TICKS])
    left.minorticks_off()
    left.set_ylabel("support vectors (rows)")
    right.set_ylabel("test error (%)")
    right.set_ylim(bottom=0)
    drawn.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    drawn.savefig(FIGURE, dpi=120)
    plt.close(drawn)


if __name__ == "__main__":
    main()
