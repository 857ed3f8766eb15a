"""Load the tables that ship with the package; ``README.md`` has their sources and licences."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.exceptions import MissingLibraryError


def load_credit() -> tuple[Any, AnyArray]:
    """Load 1,000 consumer loans of a German bank, of which 300 were not paid back as agreed.

    18 columns, as an applicant fills them in: 3 numbers and 15 texts, without missing values. The
    loans were granted from 1973 to 1975; bad ones were sampled more often than they occurred.

    Returns
    -------
    X : pandas.DataFrame or polars.DataFrame of shape (1000, 18)
        A pandas data frame if pandas is installed, else a polars data frame.
    y : array of shape (1000,)
        "bad" or "good".

    Notes
    -----
    South German Credit of the UCI Machine Learning Repository, licence CC BY 4.0: the data of
    Hans Hofmann with the meaning of levels corrected by Ulrike Grömping. Levels were shortened,
    and two columns that a lender must not use (sex with marital status, foreign worker) left out.

    Examples
    --------
    >>> from directrix.datasets import load_credit
    >>> X, y = load_credit()
    >>> X.shape, (y == "bad").sum().item()
    ((1000, 18), 300)
    """
    return _load("credit", ("duration", "amount", "age"))


def load_bank() -> tuple[Any, AnyArray]:
    """Load 9,043 calls of a Portuguese bank, of which 1,055 sold a deposit, in the order of time.

    15 columns: 6 numbers and 9 texts, with missing values. The calls were made from May 2008 to
    November 2010, and customers changed meanwhile, so that the last rows differ from the first.

    Returns
    -------
    X : pandas.DataFrame or polars.DataFrame of shape (9043, 15)
        As `load_credit` returns it.
    y : array of shape (9043,)
        "yes" or "no".

    Notes
    -----
    Bank Marketing of the UCI Machine Learning Repository, by Sérgio Moro, Paulo Rita and Paulo
    Cortez, licence CC BY 4.0: every fifth row. Columns were renamed, "unknown" is a missing value,
    and the duration of the call, which is not known before it, was left out.

    Examples
    --------
    >>> from directrix.datasets import load_bank
    >>> X, y = load_bank()
    >>> X.shape, (y == "yes").sum().item()
    ((9043, 15), 1055)
    """
    return _load("bank", ("age", "balance", "day", "calls", "days_since_contact", "calls_before"))


def load_heart() -> tuple[Any, AnyArray]:
    """Load 270 patients with suspected heart disease, of whom 120 have it.

    13 columns: 6 numbers and 7 texts, without missing values.

    Returns
    -------
    X : pandas.DataFrame or polars.DataFrame of shape (270, 13)
        As `load_credit` returns it.
    y : array of shape (270,)
        "present" or "absent".

    Notes
    -----
    Statlog (Heart) of the UCI Machine Learning Repository, licence CC BY 4.0: patients of the
    Cleveland Clinic, collected by Robert Detrano. Codes were replaced by their meaning.

    Examples
    --------
    >>> from directrix.datasets import load_heart
    >>> X, y = load_heart()
    >>> X.shape, (y == "present").sum().item()
    ((270, 13), 120)
    """
    numbers = ("age", "blood_pressure", "cholesterol", "max_heart_rate", "st_depression", "vessels")
    return _load("heart", numbers)


def _load(name: str, numbers: Sequence[str]) -> tuple[Any, AnyArray]:
    """Return the features and the labels, the last column, of a table."""
    packed = files("directrix.datasets").joinpath(f"{name}.csv.gz").read_bytes()
    header, *rows = csv.reader(io.StringIO(gzip.decompress(packed).decode()))
    columns: dict[str, Any] = {}
    for column, cells in zip(header, zip(*rows, strict=True), strict=True):
        if column in numbers:
            values = np.array([float(cell or "nan") for cell in cells])
            whole = np.isfinite(values).all() and (values == values.round()).all()
            columns[column] = values.astype(np.int64) if whole else values
        else:
            columns[column] = [cell or None for cell in cells]
    y = np.array(columns.pop(header[-1]))
    return _frame(columns), y


def _frame(columns: dict[str, Any]) -> Any:
    """Return columns as a data frame of pandas or polars."""
    try:
        from pandas import DataFrame
    except ImportError:
        try:
            from polars import DataFrame
        except ImportError:
            purpose = "the tables of directrix.datasets are data frames of pandas or polars"
            raise MissingLibraryError(purpose, "pandas") from None
    return DataFrame(columns)
