import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

import pandas as pd

from benchmarks.harness import data
from benchmarks.harness.data import TABLES, load_table, table_folder


def folder_exists():
    try:
        table_folder()
    except FileNotFoundError:
        return False
    return True


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes a frame as the table "bank_marketing"."""
    (tmp_path / "data").mkdir()
    (tmp_path / "tables").mkdir()
    monkeypatch.setenv("DIRECTRIX_DATA", str(tmp_path / "data"))
    return lambda frame: frame.to_parquet(tmp_path / "tables" / "bank_marketing.parquet")


def test_target_and_what_is_known_too_late_are_no_columns(written):
    written(
        pd.DataFrame({"age": [1, 2], "job": ["a", None], "duration": [3, 4], "y": ["no", "yes"]})
    )
    X, y = load_table("bank_marketing")
    assert list(X) == ["age", "job"]
    assert X["job"].isna().tolist() == [False, True]
    assert y.tolist() == [False, True]


def test_a_label_that_no_row_has_is_an_error(written):
    written(pd.DataFrame({"duration": [1, 2], "y": ["no", "maybe"]}))
    with pytest.raises(ValueError, match=r"0 of 2 rows of 'bank_marketing' have the label 'yes'"):
        load_table("bank_marketing")


def test_without_the_folder_the_error_says_where_it_should_be(tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTRIX_DATA", str(tmp_path))
    monkeypatch.setattr(data, "folder", lambda: tmp_path / "absent" / "data")
    with pytest.raises(FileNotFoundError, match=r"NAME\.parquet beside the folder"):
        load_table("bank_marketing")


# Rows and shares as the manifest beside the tables states them.
PUBLISHED = {
    "credit_data": (4454, 13, 0.2815),
    "hmda_boston": (2380, 13, 0.1197),
    "german_credit": (1000, 20, 0.3),
    "caravan": (5822, 85, 0.0598),
    "bank_marketing": (45211, 15, 0.117),
}


@pytest.mark.skipif(not folder_exists(), reason="needs the tables")
@pytest.mark.parametrize("name", PUBLISHED)
def test_tables_are_as_published(name):
    X, y = load_table(name)
    assert (*X.shape, round(float(np.mean(y)), 4)) == PUBLISHED[name]


@pytest.mark.skipif(not folder_exists(), reason="needs the tables")
def test_every_table_has_a_file():
    assert all((table_folder() / f"{name}.parquet").is_file() for name in TABLES)
