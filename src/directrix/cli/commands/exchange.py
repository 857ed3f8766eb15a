"""The commands of an exchange between institutions: ``sketch``, ``bins`` and ``release``."""

from __future__ import annotations

import json
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import load_bins, load_sketch, require, require_output
from directrix.cli.reply import Reply, UsageError, format_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.tables import Table, TableSketch

Site = Annotated[str, typer.Option("--site", help="Name of the institution whose rows they are.")]
Period = Annotated[
    str, typer.Option("--period", help="Period of the rows; no two periods share a row.")
]
MinCell = Annotated[
    int,
    typer.Option(
        "--min-cell", help="Fewest rows behind any number shown; 1 for no disclosure control."
    ),
]
Mapping = Annotated[
    str | None,
    typer.Option(
        "--map",
        help=(
            "JSON file that maps names at the site to the agreed names: objects columns, levels "
            "(by column) and kinds."
        ),
    ),
]
#: What a file of names may hold.
_MAPPED = ("columns", "levels", "kinds")
#: Values of a column of a sketch that are listed.
_LISTED_VALUES = 8


def sketch(
    *,
    rows: opt.Rows,
    output: opt.Output,
    site: Site,
    period: Period = "",
    min_cell: MinCell = 10,
    mapping: Mapping = None,
    force: opt.Force = False,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Sketch columns, so that several sites can agree on bins."""
    from directrix.tables import TableSketch

    require_output(output, [*rows, mapping], force=force)
    names = _read_mapping(mapping)
    table, _ = _read_table(rows, target, features, drop, names)
    made = TableSketch.of(table, min_cell=min_cell, site=site, period=period)
    made.save(output)
    return describe_release(made, output)


def bins(
    *,
    sketches: Annotated[
        list[str], typer.Argument(metavar="SKETCHES", help="Files written by sketch.")
    ],
    output: opt.Output,
    max_bins: Annotated[int, typer.Option(help="Largest number of bins of a column.")] = 16,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Make the bins that all sites use, from the sketches of every site."""
    require_output(output, sketches, force=force)
    whole = reduce(add, map(load_sketch, sketches))
    binner = whole.binner(max_bins=max_bins)
    binner.save(output)
    text = f"from {_described(whole)}\n\n{binner.table()}\n\nwrote {output}"
    return Reply(text, {"output": output, "columns": [each.name for each in binner.bins_]})


def release(
    *,
    rows: opt.Rows,
    output: opt.Output,
    agreed: Annotated[str, typer.Option("--bins", help="Bins that the sites have agreed on.")],
    site: Site,
    period: Period = "",
    min_cell: Annotated[
        int | None,
        typer.Option(
            "--min-cell",
            help="Fewest rows behind any number shown, 10 without --epsilon; 1 for no control.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="ε of differential privacy; OpenDP adds the noise."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="δ of differential privacy, such as 1e-6.")
    ] = None,
    content: Annotated[
        str,
        typer.Option(
            "--content", help="With --epsilon: cells, cross (sums of two columns too) or auto."
        ),
    ] = "auto",
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            help="With --epsilon, and needed there: all labels that rows may have, such as no,yes.",
        ),
    ] = None,
    ledger: Annotated[
        str, typer.Option(help="File that records what this site has released; keep it secret.")
    ] = "releases.ledger",
    mapping: Mapping = None,
    force: opt.Force = False,
    target: opt.Target = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Count rows in agreed bins, under disclosure control."""
    from directrix.tables import BinCounts

    require_output(output, [*rows, agreed, mapping, ledger], force=force)
    private = epsilon is not None
    require(private or delta is None, "it goes with --epsilon", "--delta")
    require(not private or delta is not None, "it goes with --delta, such as 1e-6", "--epsilon")
    require(not private or min_cell is None, "noise takes its place: leave it out", "--min-cell")
    require(
        not private or classes,
        "a private release has all labels that rows may have: one that is there because of one row "
        "discloses that row. Name them all, such as no,yes",
        "--classes",
    )
    binner = load_bins(agreed)
    table, y = _read_table(rows, target, None, None, _read_mapping(mapping))
    _require_columns(table, [each.name for each in binner.bins_])
    counts = BinCounts.of(binner, table, y)
    made = counts.release(
        min_cell=min_cell,
        epsilon=epsilon,
        delta=delta,
        content=content,
        classes=None if classes is None else _labels(classes.split(","), y),
        site=site,
        period=period,
        ledger=ledger,
    )
    made.save(output)
    return describe_release(made, output)


def _require_columns(table: Table, agreed: Sequence[Any]) -> None:
    """Raise an error that names agreed columns which a table lacks, and says how to map them."""
    lacking = [str(name) for name in agreed if name not in table.names]
    if lacking:
        known = {"columns": {f"name of {name} here": name for name in lacking}}
        msg = (
            f"the rows have no column {', '.join(map(repr, lacking))}, which the agreed bins have: "
            f"if it has another name here, give --map a JSON file such as {json.dumps(known)}; "
            "if it was not recorded, add it with missing values"
        )
        raise UsageError(msg)


def _labels(texts: list[str], y: Any) -> list[Any]:
    """Return labels that are written as texts, in the type of the labels of rows."""
    from directrix.rows.labels import as_labels

    kind = as_labels(y).dtype.kind
    try:
        if kind == "b":
            return [{"false": False, "true": True}[text.strip().lower()] for text in texts]
        number = {"i": int, "f": float}.get(kind, str)
        return [number(text.strip()) for text in texts]
    except (KeyError, ValueError):
        msg = f"--classes {','.join(texts)} has other labels than rows, such as {y[0]}"
        raise UsageError(msg) from None


def describe_release(made: Any, output: str | None = None) -> Reply:
    """Return a reply that describes a sketch or a release, and the file it was written to."""
    parts = [
        {"site": part.site, "period": part.period, "id": part.id, "control": dict(part.control)}
        for part in made.parts
    ]
    values: dict[str, Any] = {"kind": type(made).__name__, "parts": parts}
    lines = [_described(made)]
    lines += [f"  {part['site']} {part['period']} ({part['id']})" for part in parts]
    if output is not None:
        values |= {"output": output, "bytes": Path(output).stat().st_size}
        lines.append(f"wrote {output} ({values['bytes']:,} bytes)")
    return Reply("\n".join(lines), values)


def describe_sketch(made: TableSketch) -> Reply:
    """Return a reply with all that a sketch shows of each column of its parts."""
    about, header = describe_release(made), ["column", "kind", "missing", "values shown"]
    tables, columns = [], {}
    for part in made.parts:
        shown = {each.name: [*each.values, *each.edges] for each in part.columns}
        columns[part.key[0]] = {str(name): values for name, values in shown.items()}
        rows = [
            [str(each.name), each.kind, f"{each.missing:,.0f}", _listed(shown[each.name])]
            for each in part.columns
        ]
        tables.append(f"{part.site} {part.period}\n{format_table(header, rows, (0, 1, 3))}")
    text = "\n\n".join([_described(made), *tables])
    return Reply(text, {**about.values, "columns": columns})


def _listed(values: Sequence[Any]) -> str:
    """Return the first of some values as text, and how many there are."""
    shown = [f"{each:g}" if isinstance(each, float) else str(each) for each in values]
    more = f", … ({len(shown)} in all)" if len(shown) > _LISTED_VALUES else ""
    return ", ".join(shown[:_LISTED_VALUES]) + more if shown else "none"


def _described(made: Any) -> str:
    return repr(made).removeprefix(f"<{type(made).__name__}: ").removesuffix(">")


def _read_table(
    rows: list[str],
    target: str | None,
    features: list[str] | None,
    drop: list[str] | None,
    names: dict[str, Any],
) -> tuple[Table, Any]:
    """Return the columns of files under agreed names, and the labels."""
    from directrix.cli.rows import RowFiles, read_rows
    from directrix.tables import Table

    read = read_rows(RowFiles.of(rows, target, features, drop), raw=True)
    table = Table.of_kinds(read.X, names["kinds"])
    return table.renamed(names["columns"], names["levels"]), read.y


def _read_mapping(path: str | None) -> dict[str, Any]:
    """Return names of columns and levels, and kinds, from a JSON file."""
    if path is None:
        return {name: {} for name in _MAPPED}
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give a JSON file that maps names"
        raise UsageError(msg)
    try:
        given = json.loads(Path(path).read_text())
    except ValueError as error:
        msg = f"{path} is not JSON ({error})"
        raise UsageError(msg) from None
    known = isinstance(given, dict) and set(given) <= set(_MAPPED)
    if not known or not all(isinstance(value, dict) for value in given.values()):
        msg = f"{path} must be an object with objects {', '.join(_MAPPED)}"
        raise UsageError(msg)
    return {name: given.get(name, {}) for name in _MAPPED}
