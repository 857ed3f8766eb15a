"""Load tables as people have them: numbers, texts and missing values in columns with names.

They are Parquet files in the folder ``tables`` beside that of the data sets, which the environment
variable ``DIRECTRIX_DATA`` names. `benchmarks/harness/MANIFEST.md` says where they come from.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.data import Rows, folder


class Table(NamedTuple):
    """What is to be predicted in a table.

    ``target``: column of the labels. ``positive``: label to catch, as text. ``unknown``: columns
    that are known only after the fact, and are left out.
    """

    target: str
    positive: str
    unknown: tuple[str, ...] = ()


#: By file name without its ending, from few cells to many.
TABLES: dict[str, Table] = {
    "german_credit": Table("creditability", "bad"),
    "hmda_boston": Table("deny", "yes"),
    "attrition": Table("Attrition", "Yes"),
    "credit_data": Table("Status", "bad"),
    "mlc_churn": Table("churn", "yes"),
    "telco_churn": Table("churn", "Yes"),
    "give_me_some_credit": Table("SeriousDlqin2yrs", "1"),
    # How long a call lasted is known when its outcome is.
    "bank_marketing": Table("y", "yes", unknown=("duration",)),
    "lending_club": Table("Class", "bad"),
    "pakdd_2009": Table("TARGET_LABEL_BAD", "1"),
    "census_income": Table("income", "50000+."),
    "caravan": Table("Purchase", "Yes"),
}


def table_folder() -> Path:
    """Return the folder of the tables, or say how to name one."""
    path = folder().parent / "tables"
    if not path.is_dir():
        msg = (
            f"there is no folder {path}: put the tables as NAME.parquet beside the folder that the "
            "environment variable DIRECTRIX_DATA names"
        )
        raise FileNotFoundError(msg)
    return path


def load_table(name: str) -> Rows:
    """Return the columns of a table as a pandas frame, and which of its rows are positive.

    FileNotFoundError where: there is no folder of tables, or no such file in it. ValueError where:
    the label to catch is none of those in the file, or the only one.
    """
    import pandas as pd  # noqa: PLC0415 - sets of numbers need none

    table = TABLES[name]
    frame = pd.read_parquet(table_folder() / f"{name}.parquet")
    y = (frame[table.target].astype(str) == table.positive).to_numpy(dtype=bool)
    if not 0 < y.sum() < len(y):
        msg = (
            f"{y.sum()} of {len(y)} rows of {name!r} have the label {table.positive!r} in the "
            f"column {table.target!r}; some but not all should"
        )
        raise ValueError(msg)
    return Rows(frame.drop(columns=[table.target, *table.unknown]), y)
