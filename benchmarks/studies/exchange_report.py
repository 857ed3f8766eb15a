"""The report of the exchange between twelve sites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.harness.markdown import holds, table
from benchmarks.harness.record import (
    Row,
    commits_of,
    distinct,
    grouped_by,
    mean_of,
    read_rows,
    select,
)

FOLDER = Path(__file__).parent
CONTROL, MOST_ROWS = "min_cell=10", "20000"
GOALS = {"auc": 0.002, "recall": 0.01}
EPSILONS = ("1.0", "4.0")
OURS = ("private, central", "private, sites")
RIVALS = ("DP-EBM", "DP logistic regression")


def lines(rows: list[Row]) -> list[str]:
    """Return the report of cards, of the federated run and of the attacks."""
    federated = read_rows(FOLDER / "exchange_federated.csv")
    attacks = read_rows(FOLDER / "exchange_attacks.csv")
    about = (
        "The training rows of twelve tables (at most 20,000 rows of a table, three folds) are "
        "split among twelve sites. Site k has a share in proportion to 1 / (k + 1), and every "
        "second site prefers high or low values of one column. Values are means of the test rows "
        "of the folds. Made by `python -m benchmarks.studies.exchange`; commits "
        f"{commits_of([*rows, *federated, *attacks])}."
    )
    text = ["# One exchange between twelve sites", "", about]
    few = select(rows, rows=MOST_ROWS)
    text += ["", "## Sites against pooled rows", *_control(few), *_all_rows(rows)]
    text += ["", "## Privacy", *_private(few)]
    if federated:
        text += ["", "## Beside federated learning", *_federated(few, federated)]
    if attacks:
        text += ["", "## Attacks", *_attacks(attacks)]
    return text


# ── sites against pooled rows ─────────────────────────────────────────────────────────────────────


def _means(rows: Sequence[Row], figure: str, method: str, epsilon: str = "") -> dict[str, float]:
    """Return the mean of the folds of each table."""
    chosen = select(rows, method=method, epsilon=epsilon)
    return {name: mean_of(of, figure) for (name,), of in grouped_by(chosen, "table").items()}


def _differences(
    first: dict[str, float], second: dict[str, float], names: Sequence[str] | None = None
) -> dict[str, float]:
    common = [name for name in first if name in second and (names is None or name in names)]
    return {name: first[name] - second[name] for name in common}


def _loss(differences: dict[str, float]) -> str:
    """Return mean and worst of differences in words."""
    worst = min(differences, key=differences.__getitem__)
    mean = fmean(differences.values())
    return f"{mean:+.4f} in the mean, {differences[worst]:+.4f} at worst ({worst})"


def _control(rows: Sequence[Row]) -> list[str]:
    plain = select(rows, method="sites")
    same = sum(row["same"] == "True" for row in plain)
    text = [
        "",
        (
            f"Without control, {same} of {len(plain)} cards of twelve sites are those of the "
            "pooled rows bit for bit: every point and the intercept."
        ),
    ]
    released = select(rows, method=CONTROL)
    if not released:
        return text
    lost, control = _lost(rows, "pooled"), _lost(rows, "pooled, sites that release")
    text += [
        "",
        (
            f"With `{CONTROL}`, the AUC changes by {_loss(lost['auc'])}, and the recall at a "
            f"false-positive rate of 5 % by {_loss(lost['recall'])}. The goal, losses of at most "
            f"{GOALS['auc']} and {GOALS['recall']} in the mean, {_verdicts(lost)}."
        ),
        "",
        (
            "A part of it is rows that are missing: sites with fewer than 20 rows of a class "
            "release nothing, and small tables split among twelve sites have many of these. "
            "Against the pooled rows of the sites that could release, the AUC changes by "
            f"{_loss(control['auc'])}, and the recall by {_loss(control['recall'])}."
        ),
    ]
    cells = [_control_cells(rows, name, lost, control) for name in distinct(released, "table")]
    columns = (
        f"table | pooled: AUC · recall | AUC, {CONTROL} less pooled | recall | AUC less pooled "
        "rows of sites that release | recall | these sites | kB of all files | kB without control"
    )
    return [*text, *table(columns, cells)]


def _lost(rows: Sequence[Row], base: str) -> dict[str, dict[str, float]]:
    """Return what control changes against a method, by figure and table."""
    return {
        figure: _differences(_means(rows, figure, CONTROL), _means(rows, figure, base))
        for figure in GOALS
    }


def _verdicts(lost: dict[str, dict[str, float]]) -> str:
    return " and ".join(
        f"{holds(-fmean(lost[figure].values()) <= goal)} for the {name}"
        for (figure, goal), name in zip(GOALS.items(), ("AUC", "recall"), strict=True)
    )


def _control_cells(
    rows: Sequence[Row],
    name: str,
    lost: dict[str, dict[str, float]],
    control: dict[str, dict[str, float]],
) -> tuple[str, ...]:
    base, other, plain = (
        select(rows, table=name, method=method) for method in ("pooled", CONTROL, "sites")
    )
    changes = (
        f"{of[figure][name]:+.{digits}f}"
        for of in (lost, control)
        for figure, digits in (("auc", 4), ("recall", 3))
    )
    return (
        name,
        f"{mean_of(base, 'auc'):.4f} · {mean_of(base, 'recall'):.3f}",
        *changes,
        f"{mean_of(other, 'same'):.1f}",
        *(f"{mean_of(of, 'bytes') / 1e3:,.0f}" for of in (other, plain)),
    )


def _all_rows(rows: Sequence[Row]) -> list[str]:
    """Return what control changes with all rows of the large tables."""
    large = [row for row in rows if row["rows"] != MOST_ROWS]
    lost = _lost(large, "pooled")
    if not lost["auc"]:
        return []
    cells = []
    for name in lost["auc"]:
        base, other = (select(large, table=name, method=method) for method in ("pooled", CONTROL))
        cells.append(
            (
                name,
                f"{mean_of(base, 'auc'):.4f} · {mean_of(base, 'recall'):.3f}",
                f"{lost['auc'][name]:+.4f}",
                f"{lost['recall'][name]:+.3f}",
                f"{mean_of(other, 'same'):.1f}",
            )
        )
    columns = f"table | pooled: AUC · recall | AUC, {CONTROL} less pooled | recall | sites"
    return ["", "With all rows of the four large tables:", *table(columns, cells)]


# ── privacy ───────────────────────────────────────────────────────────────────────────────────────


#: The comparison that has a goal: at least as good on so many tables.
GOAL_OF, TABLES_WON = (OURS[0], RIVALS[0], EPSILONS[0]), 9


def _goal(won: int) -> str:
    return f" The goal, {TABLES_WON} of 12 tables, {holds(won >= TABLES_WON)}."


def _private(rows: Sequence[Row]) -> list[str]:
    text = [
        "",
        (
            "All private methods know the same public dictionary: cut points of numbers and "
            "levels of texts, from the test rows without labels. δ is 1e-6; the logistic "
            "regression of diffprivlib has none. DP-EBM and diffprivlib see all rows in one "
            'place, and so does "private, central". In "private, sites" each of the twelve sites '
            "adds noise of its own. One draw of noise for each fold."
        ),
    ]
    base = _means(rows, "auc", "pooled, dictionary")
    for epsilon in EPSILONS:
        of = {method: _means(rows, "auc", method, epsilon) for method in (*OURS, *RIVALS)}
        known = {method: values for method, values in of.items() if values}
        if not known:
            continue
        text += ["", f"### ε = {float(epsilon):g}", ""]
        for ours in OURS:
            for rival in RIVALS:
                behind = _differences(of[ours], of[rival])
                if behind:
                    won = sum(value >= 0 for value in behind.values())
                    text.append(
                        f"* {ours} has at least the AUC of {rival} on {won} of {len(behind)} "
                        f"tables; the difference is {_loss(behind)}."
                        f"{_goal(won) if (ours, rival, epsilon) == GOAL_OF else ''}"
                    )
        names = [name for name in base if all(name in values for values in known.values())]
        cells = [
            (name, f"{base[name]:.3f}", *(f"{values[name]:.3f}" for values in known.values()))
            for name in names
        ]
        if names:
            means = [fmean(values[name] for name in names) for values in (base, *known.values())]
            cells.append(("mean", *(f"**{value:.3f}**" for value in means)))
        text += table(f"AUC | without privacy | {' | '.join(known)}", cells)
    return text


# ── federated learning ────────────────────────────────────────────────────────────────────────────


#: How near to its last AUC a federated run must be to count as finished.
NEAR = 0.001


def _federated(rows: Sequence[Row], federated: Sequence[Row]) -> list[str]:
    rounds = distinct(federated, "round")
    cells, needed, ratios = [], [], []
    for name in distinct(federated, "table"):
        first = select(rows, table=name, fold=0)
        for method in ("sites", CONTROL):
            for row in select(first, method=method):
                values = [f"{float(row['auc']):.4f}", *("" for _ in rounds[1:])]
                cells.append((name, f"counts, {method}", *values, f"{int(row['bytes']):,}"))
        for steps in distinct(federated, "steps"):
            run = select(federated, table=name, steps=steps)
            values = [f"{float(row['auc']):.4f}" for row in run]
            one = int(run[0]["bytes"])
            plural = "s" * (steps != "1")
            cells.append((name, f"Flower, {steps} step{plural} a round", *values, f"{one:,}"))
            last = float(run[-1]["auc"])
            near = next(row for row in run if abs(float(row["auc"]) - last) <= NEAR)
            needed.append((steps, int(near["round"])))
            ratios += [
                (method, int(row["bytes"]) / int(near["bytes"]))
                for method in ("sites", CONTROL)
                for row in select(first, method=method)
                if steps == "10"
            ]
    text = [
        "",
        (
            "Flower runs a federated logistic regression (FedAvg, L-BFGS at the sites) as one "
            "server process and twelve client processes on loopback, on the first fold. Its "
            "features are the bins of the dictionary, which it is given for nothing. Its bytes are "
            "those of TCP payload in both directions, all rounds divided by their number. The "
            "bytes of counts are the sizes of all sketches and counts, or releases, that sites "
            "send: one round for the bins and one for the counts."
        ),
        "",
        (
            "Federated learning does not need hundreds of rounds here: "
            + ", ".join(_rounds_of(needed, steps) for steps in distinct(federated, "steps"))
            + f" (within {NEAR} of the AUC of the last round). {_bytes_of(ratios)} What an "
            "exchange of counts has for it: no server and no further rounds, the card of pooled "
            "rows bit for bit if nothing is hidden, and files that can be checked before they "
            "leave. This run of Flower hides nothing either: its updates have no control."
        ),
    ]
    columns = f"AUC on table | method | {' | '.join(f'round {k}' for k in rounds)} | bytes a round"
    return [*text, *table(columns, cells)]


def _rounds_of(needed: Sequence[tuple[str, int]], steps: str) -> str:
    found = sorted(number for of, number in needed if of == steps)
    plural = "s" * (steps != "1")
    return f"{found[0]} to {found[-1]} with {steps} step{plural} a round"


def _bytes_of(ratios: Sequence[tuple[str, float]]) -> str:
    """Return how many times the bytes of a finished federated run counts need."""
    texts = []
    for method, name in (("sites", "counts without control"), (CONTROL, "releases")):
        found = sorted(ratio for of, ratio in ratios if of == method)
        if found:
            texts.append(f"{name} need {found[0]:.1f} to {found[-1]:.0f} times the bytes")
    joined = ", and ".join(texts)
    return f"Of a run with ten steps up to then, {joined}." if texts else ""


# ── attacks ───────────────────────────────────────────────────────────────────────────────────────


def _figures(rows: Sequence[Row], attack: str) -> list[tuple[str, str, dict[str, float]]]:
    groups = grouped_by(select(rows, attack=attack), "table", "setting")
    return [
        (name, setting, {row["figure"]: float(row["value"]) for row in of})
        for (name, setting), of in groups.items()
    ]


def _attacks(rows: Sequence[Row]) -> list[str]:
    return [
        *_differencing(_figures(rows, "difference")),
        *_reconstructions(rows),
        *_membership(_figures(rows, "membership")),
    ]


def _differencing(found: Sequence[tuple[str, str, dict[str, float]]]) -> list[str]:
    cells = [
        (
            name,
            f"{of['rows']:.0f}",
            setting,
            f"{of['changed']:.0%}",
            f"{of['told']:.1f} of {of['all columns']:.0f}",
            f"{of['cross']:.1f}",
        )
        for name, setting, of in found
    ]
    columns = (
        "table | rows of the site | rows left out | releases that differ | columns in which the "
        "changed group has the row's cell | cross sums that differ"
    )
    return [
        "",
        (
            f"**Differencing.** A site releases its rows with `{CONTROL}`, and again without some "
            "of them. Rounded counts do not hide this: a second release of nearly the same rows "
            "must not leave the site. A ledger refuses it below 20 rows of difference; from "
            "there on nearly every column changes, whoever the rows are."
        ),
        *table(columns, cells),
    ]


def _reconstructions(rows: Sequence[Row]) -> list[str]:
    cells = []
    labels = {
        "cross sums": "one release, with cross sums of {} columns",
        "pairs of cells": "the same, for pairs of cells of columns of {}",
        "sketch": "one release and a sketch, columns of {}",
        "other names": "{} releases under other names",
        "other bins": "{} releases in other bins",
    }
    for attack, label in labels.items():
        for name, setting, of in _figures(rows, attack):
            cells.append(
                (
                    name,
                    label.format(setting).replace("1 releases", "1 release"),
                    *(f"{of[figure]:.0f}" for figure in ("small", "pinned", "occupied")),
                    f"{of['width']:.0f}",
                    f"{of['least']:.0f}",
                )
            )
    columns = (
        "table | what the attacker has | cells below 10 rows | known exactly | known not to be "
        "empty | mean width of what is possible, rows | least width"
    )
    return [
        "",
        (
            "**Reconstruction.** Integer programs find the least and the largest number of rows "
            "of every cell, or pair of cells, below 10, from groups, their rounded rows, the rule "
            "of merging and rounded cross sums. Several releases of the same rows, under other "
            "names of the site or in other bins, tell more than one. A ledger refuses them, if "
            "all releases of the site are noted in it. It does not know of sketches, and a sketch "
            "of the same rows tells most."
        ),
        *table(columns, cells),
    ]


def _membership(found: Sequence[tuple[str, str, dict[str, float]]]) -> list[str]:
    if not found:
        return []
    cells = [
        (
            name,
            setting,
            f"{of['trials']:,.0f}",
            f"{of['advantage']:.3f} ({of['low']:.3f} to {of['high']:.3f})",
            f"{of['noise allows']:.3f}",
            f"{of['allowed']:.3f}",
            f"{of['epsilon']:.2f}",
        )
        for name, setting, of in found
    ]
    within = all(of["high"] <= of["allowed"] for *_, of in found)
    columns = (
        "table | ε | trials | advantage (95 % interval) | of the noise | allowed by (ε, δ) | "
        "ε at least, by the trials (95 %)"
    )
    return [
        "",
        (
            "**Membership.** The attacker knows all rows but one and the released numbers, and "
            "decides by the likelihood ratio whether the row is in. The advantage is the share "
            "of members found less the share of others suspected. That it is within what (ε, δ) "
            f"allows: {holds(within)}."
        ),
        *table(columns, cells),
    ]
