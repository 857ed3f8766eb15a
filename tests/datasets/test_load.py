import builtins
import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import directrix.datasets
from directrix.datasets import load_bank, load_credit, load_heart
from directrix.exceptions import MissingLibraryError

pytestmark = pytest.mark.every_case
FOLDER = Path(directrix.datasets.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
LOADERS = {"bank": load_bank, "credit": load_credit, "heart": load_heart}


def without(monkeypatch, *libraries):
    """Let these libraries be missing."""
    real = builtins.__import__

    def imported(name, *arguments, **options):
        if name in libraries:
            raise ModuleNotFoundError(name=name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", imported)


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_rows_are_those_that_the_readme_describes(name):
    X, y = LOADERS[name]()
    cells = next(line for line in README.splitlines() if f"`{name}.csv.gz`" in line).split(" | ")
    rows, (label, share) = cells[1], re.search(r"= (\w+), ([\d.]+) %", cells[2]).groups()
    assert len(X) == len(y) == int(rows.replace(",", ""))
    decimals = len(share.partition(".")[2])
    assert round(100 * np.mean(y == label), decimals) == float(share)
    assert "https://" in cells[3]


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_columns_are_numbers_or_texts_as_the_docstring_counts(name):
    pandas = pytest.importorskip("pandas")
    X, _ = LOADERS[name]()
    numbers = sum(pandas.api.types.is_numeric_dtype(kind) for kind in X.dtypes)
    about = " ".join(LOADERS[name].__doc__.split())
    assert f"{X.shape[1]} columns" in about
    assert f"{numbers} numbers and {X.shape[1] - numbers} texts" in about
    assert ("without missing values" in about) == (not X.isna().any().any())
    assert "licence CC BY 4.0" in about


def test_every_file_has_a_loader_and_all_are_small():
    files = list(FOLDER.glob("*.csv.gz"))
    assert {path.name.partition(".")[0] for path in files} == set(LOADERS)
    assert sum(path.stat().st_size for path in files) <= 300_000


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_files_are_the_same_wherever_they_are_packed(name):
    # Neither a time nor a name in the header: the wheel is reproducible.
    packed = (FOLDER / f"{name}.csv.gz").read_bytes()
    assert packed[3:8] == bytes(5)
    assert gzip.decompress(packed).decode().endswith("\n")


def test_polars_is_used_where_pandas_is_missing(monkeypatch):
    polars = pytest.importorskip("polars")
    without(monkeypatch, "pandas")
    X, _ = load_bank()
    assert isinstance(X, polars.DataFrame)
    assert X["contact"].null_count() > 0
    assert X["days_since_contact"].is_nan().any()


def test_without_a_library_of_frames_the_error_says_what_to_install(monkeypatch):
    # An array would have no names of columns, so that its card would be of x0, x1, ...
    without(monkeypatch, "pandas", "polars")
    with pytest.raises(MissingLibraryError, match="polars: pip install pandas") as caught:
        load_heart()
    assert (caught.value.library, caught.value.extra) == ("pandas", None)
