"""Load the data sets of all benchmarks.

A set is read from the first of these sources that has it:

1. The folder of the environment variable ``DIRECTRIX_DATA``, or ``../shared/data`` beside the
   repository, as LIBSVM text where it stands: ``NAME.svm.bz2``, or ``NAME.train.svm.bz2`` and
   ``NAME.test.svm.bz2``.
2. The user's cache, ``$XDG_CACHE_HOME/directrix`` or ``~/.cache/directrix``.
3. The LIBSVM site, for the sets of ``public_sets.csv``, from which it is downloaded into that
   cache. A file is trusted if its rows, its features and, where known, its positive rows are as
   many as they should be; only real-sim has a checksum, published by
   github.com/pratikrathore8/rlaopt-experiments in src/rlaopt_experiments/suites/real_erm/data.py.

Parsed sets are kept in the cache too.
"""

from __future__ import annotations

import bz2
import lzma
import os
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.error import URLError

import numpy as np
from scipy import sparse
from sklearn.datasets import fetch_file, load_svmlight_file

from benchmarks.harness.record import Row, read_rows
from directrix._typing import AnyArray, FloatArray

SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
#: By name; ``NAME.test`` is the published test part of ``NAME``.
PUBLIC_SETS = {row["name"]: row for row in read_rows(Path(__file__).with_name("public_sets.csv"))}
BESIDE = Path(__file__).parents[3] / "shared" / "data"
#: Wider sets stay sparse.
_MOST_DENSE = 2000
#: Sets of the folder whose last columns hold no value in some part.
_FEATURES = {"mnist": 784, "rcv1_vw_small": 47117}


class Rows(NamedTuple):
    """Rows, and which of them are positive."""

    X: Any
    y: AnyArray


class Split(NamedTuple):
    """Rows to train on and rows to test on."""

    X: FloatArray
    y: AnyArray
    X_test: FloatArray
    y_test: AnyArray


def folder() -> Path:
    """Return the folder of the data sets, or say how to name one."""
    path = Path(os.environ.get("DIRECTRIX_DATA") or BESIDE)
    if not path.is_dir():
        msg = (
            f"there is no folder {path}: set the environment variable DIRECTRIX_DATA to the folder "
            "that holds the data sets as NAME.svm.bz2 or NAME.train.svm.bz2"
        )
        raise FileNotFoundError(msg)
    return path


def load(name: str, part: str = "train") -> tuple[Any, AnyArray]:
    """Return the rows of a data set and which of them are positive.

    ``name``: as in ``NAME.svm.bz2``, ``keel/NAME`` for those of KEEL, or a name in
    `PUBLIC_SETS`. ``NAME.test`` is short for the test part. ``part``: of a set with a
    published split; one without is all train part.
    """
    name, part = _name_and_part(name, part)
    key = name if part == "train" else f"{name}.{part}"
    if source := _in_folder(name, part, "svm"):
        about = source.stat()
        kept = f"{key.replace('/', '_')}-{about.st_size}-{about.st_mtime_ns}"
        X, y = _parsed(source, kept, positive=None)
        X.resize((X.shape[0], max(X.shape[1], _FEATURES.get(name, 0))))
    elif key in PUBLIC_SETS:
        X, y = _downloaded(key, PUBLIC_SETS[key])
    else:
        msg = (
            f"no data set {key!r}: the folder that DIRECTRIX_DATA names has no such file, and "
            f"benchmarks/harness/public_sets.csv has only {', '.join(sorted(PUBLIC_SETS))}"
        )
        raise FileNotFoundError(msg)
    return X.toarray() if X.shape[1] <= _MOST_DENSE else X, y


def classes(name: str, part: str = "train") -> AnyArray:
    """Return the class of each row before classes were made two: an array of str."""
    return np.array(_lines(*_name_and_part(name, part), "classes"))


def _name_and_part(name: str, part: str) -> tuple[str, str]:
    stem, _, last = name.rpartition(".")
    if stem and last in {"train", "test"}:
        return stem, last
    if part not in {"train", "test"}:
        msg = f"part must be 'train' or 'test', not {part!r}"
        raise ValueError(msg)
    return name, part


def _in_folder(name: str, part: str, content: str) -> Path | None:
    """Return the file of the data folder, or None; a folder that was named must exist."""
    if not os.environ.get("DIRECTRIX_DATA") and not BESIDE.is_dir():
        return None
    ending = f"{content}.bz2" if content == "svm" else f"{content}.txt.bz2"
    stems = (name, f"{name}.train") if part == "train" else (f"{name}.test",)
    candidates = (folder() / f"{stem}.{ending}" for stem in stems)
    return next(filter(Path.exists, candidates), None)


def _lines(name: str, part: str, content: str) -> list[str]:
    if source := _in_folder(name, part, content):
        return bz2.decompress(source.read_bytes()).decode().splitlines()
    msg = (
        f"no {content} of the {part} part of {name!r}: there is no {name}.{content}.txt.bz2 and no "
        f"{name}.{part}.{content}.txt.bz2 in the folder that DIRECTRIX_DATA names"
    )
    raise FileNotFoundError(msg)


def _cache(*inside: str) -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = home.joinpath("directrix", *inside)
    path.mkdir(parents=True, exist_ok=True)
    return path


def _downloaded(key: str, known: Row) -> tuple[Any, AnyArray]:
    """Return the rows of a public set, downloaded into the user's cache if it is not there yet."""
    address, place = f"{SITE}/{known['file']}", _cache("downloads")
    try:
        path = fetch_file(address, place, sha256=known["checksum"] or None, delay=5)
    except URLError as error:
        msg = (
            f"{address} could not be downloaded: {error}. Run this again when there is a "
            f"connection, or download it elsewhere and put it at {place / known['file']}"
        )
        raise ConnectionError(msg) from error
    try:
        return _checked_rows(key, known, path)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        path.unlink()
        msg = (
            f"what stands at {address} is not {key!r}: {error}. If the set was published anew or "
            "has moved, correct benchmarks/harness/public_sets.csv"
        )
        raise ValueError(msg) from error


def _checked_rows(key: str, known: Row, path: Path) -> tuple[Any, AnyArray]:
    """Return the rows of a downloaded file, if they are as many as they should be."""
    label, about = known["positive"], path.stat()
    X, y = _parsed(path, f"{key}-{about.st_size}-{about.st_mtime_ns}", float(label))
    rows, features = X.shape
    positives, expected = int(y.sum()), (int(known["rows"]), int(known["features"]))
    # A test part may hold no value in the last columns.
    agree = features <= expected[1] if key.endswith(".test") else features == expected[1]
    if rows != expected[0] or not agree:
        msg = f"it has {rows} rows of {features} features and should have {expected}"
        raise ValueError(msg)
    if known["positives"] not in {"", str(positives)} or not 0 < positives < rows:
        should = known["positives"] or "some but not all"
        msg = f"{positives} rows have the label {label}, and {should} should"
        raise ValueError(msg)
    X.resize(expected)
    return X, y


def _parsed(source: Path, kept_as: str, positive: float | None) -> tuple[Any, AnyArray]:
    """Return the rows of a file, as kept or read now; positive rows are those above 0, or equal."""
    kept = _cache() / f"{kept_as}.npz"
    if not kept.exists():
        with _unpacked(source) as file:
            X, y = load_svmlight_file(file, zero_based=False)
        _keep(X, y > 0 if positive is None else y == positive, kept)
    with np.load(kept) as parts:
        X = sparse.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"])
        )
        return X, parts["y"]


def _unpacked(source: Path) -> IO[bytes]:
    if source.suffix == ".bz2":
        return bz2.open(source)
    return lzma.open(source) if source.suffix == ".xz" else source.open("rb")


def _keep(X: Any, y: AnyArray, path: Path) -> None:
    """Write the parsed set; under its name only when it is whole."""
    part = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(part, data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape), y=y)
    part.replace(path)


# ── tables: numbers, texts and missing values in columns with names ───────────────────────────────


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
#: Tables that came later, and nothing had been tuned on. The first were at hand while crosses,
#: small cards and segments were made; the others were measured once, after everything else.
LATER = ("hmeq", "bank_churn", "compas", "fraud_oracle")
UNSEEN = ("stroke", "flchain", "shoppers", "support2", "nyc_flights")


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
    """Return the columns of a table as a pandas frame, and which of its rows are positive."""
    import pandas as pd  # noqa: PLC0415 - sets of numbers need none

    table = TABLES.get(name, Table("target", "1"))
    folder_name = "tables" if name in TABLES else "tables_new"
    frame = pd.read_parquet(table_folder().with_name(folder_name) / f"{name}.parquet")
    y = (frame[table.target].astype(str) == table.positive).to_numpy(dtype=bool)
    if not 0 < y.sum() < len(y):
        msg = (
            f"{y.sum()} of {len(y)} rows of {name!r} have the label {table.positive!r} in the "
            f"column {table.target!r}; some but not all should"
        )
        raise ValueError(msg)
    return Rows(frame.drop(columns=[table.target, *table.unknown]), y)
