"""What ``calibration.md`` says, and its curves."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.beta_bernoulli.calibration.fits import METHODS, REPEATS, SETS, Judged, Key, read
from benchmarks.markdown import header, line
from benchmarks.zero_one.noise import NOISES

REPORT = Path(__file__).with_name("calibration.md")
FIGURE = Path(__file__).with_name("calibration.png")
RIVALS = ("logistic", "SVM, isotonic")
OURS = tuple(method for method in METHODS if method not in RIVALS)
#: Differences of log-loss below this are a tie.
_TIE = 0.005
_NOISES = {"none": "no noise", "flipped": "10 % of labels flipped", "outliers": "10 % far outliers"}
#: Of Okabe and Ito.
_COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00")
_MARKERS = "osv^D"


def main() -> None:
    """Write the table and the curves."""
    found = read()
    text = "\n".join(_lines(found)) + "\n"
    print(text, end="")
    REPORT.write_text(text, encoding="utf-8")
    _figure(found)


def _of(found: dict[Key, Judged], name: str, noise: str, method: str) -> list[Judged]:
    keys = [Key(name, noise, method, repeat) for repeat in range(REPEATS)]
    return [found[key] for key in keys if key in found]


def _lines(found: dict[Key, Judged]) -> list[str]:
    lines = [
        "# Log-loss and calibration on rows held out",
        "",
        "Five folds together. How: see `run.py`. The least of a row in bold.",
    ]
    totals = []
    for noise in NOISES:
        sets = [s for s in SETS if all(_of(found, s, noise, m) for m in METHODS)]
        if not sets:
            continue
        for what, of in (("log-loss", "log_loss"), ("calibration error", "error")):
            table = np.array(
                [
                    [
                        np.mean([getattr(own, of) for own in _of(found, name, noise, method)])
                        for method in METHODS
                    ]
                    for name in sets
                ]
            )
            lines += ["", f"## {what.capitalize()}, {_NOISES[noise]}", ""]
            lines += header("set", *METHODS)
            for name, row in zip(sets, table, strict=True):
                cells = (f"**{v:.4f}**" if v == row.min() else f"{v:.4f}" for v in row)
                lines.append(line(name, *cells))
            lines.append(line("mean", *(f"{value:.4f}" for value in table.mean(axis=0))))
            if of == "log_loss":
                totals += [
                    (_NOISES[noise], ours, rival, *_counts(table, ours, rival))
                    for ours in OURS
                    for rival in RIVALS
                ]
    lines += ["", f"## Log-loss: wins, ties (within {_TIE}) and losses over the sets", ""]
    lines += header("training rows", "ours", "against", "wins", "ties", "losses")
    lines += [line(*row) for row in totals]
    return lines


def _counts(table: np.ndarray, ours: str, rival: str) -> tuple[str, str, str]:
    order = list(METHODS)
    gap = table[:, order.index(rival)] - table[:, order.index(ours)]
    counts = (gap > _TIE).sum(), (abs(gap) <= _TIE).sum(), (gap < -_TIE).sum()
    return str(counts[0]), str(counts[1]), str(counts[2])


def _figure(found: dict[Key, Judged]) -> None:
    figure, panels = plt.subplots(1, len(NOISES), figsize=(11, 4.2), sharey=True)
    for panel, noise in zip(panels, NOISES, strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for method, colour, marker in zip(METHODS, _COLOURS, _MARKERS, strict=True):
            own = [judged for key, judged in found.items() if key[1:3] == (noise, method)]
            if not own:
                continue
            # Each set counts alike, however many rows it has.
            weight = [1.0 / judged.rows.sum() for judged in own]
            rows, probability, positives = (
                sum(w * getattr(judged, part) for w, judged in zip(weight, own, strict=True))
                for part in Judged._fields[2:]
            )
            there = rows > 0
            panel.plot(
                probability[there] / rows[there],
                positives[there] / rows[there],
                color=colour,
                marker=marker,
                markersize=5,
                label=method,
            )
        panel.set_title(_NOISES[noise])
        panel.set_xlabel("mean probability of a bin")
        panel.set_aspect("equal")
    panels[0].set_ylabel("share of positives in it")
    panels[0].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
