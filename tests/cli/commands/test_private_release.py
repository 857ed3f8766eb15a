"""The command ``release`` with a budget of differential privacy."""

import pytest

from directrix import Binner
from directrix.tables import ReleasedCounts
from directrix.tables.counts.private import is_installed

pytestmark = pytest.mark.skipif(
    not is_installed(), reason="OpenDP, the source of noise, is not installed"
)


def test_a_private_release_is_written_shown_and_fitted(call, files, tmp_path):
    from pyarrow import parquet

    rows, bins, output = files / "monday.parquet", tmp_path / "bins.json", tmp_path / "north"
    older = parquet.read_table(files / "tuesday.parquet").select(["amount", "age", "clock"])
    Binner(max_bins=6).fit(older).save(bins)
    where = ["--bins", bins, "--target", "fraud", "--site", "north", "--ledger", tmp_path / "l"]
    budget = ["--epsilon", 4, "--delta", 1e-6, "--content", "cells"]
    unnamed = call("release", rows, *where, *budget, "-o", output)
    assert unnamed.code != 0
    assert "Name them all" in unnamed.err
    wrong = call("release", rows, *where, *budget, "--classes", "no,yes", "-o", output)
    assert wrong.code != 0
    assert "--classes no,yes has other labels than rows" in wrong.err
    budget += ["--classes", "false,true"]
    made = call("release", rows, *where, *budget, "-o", output, "--json")
    assert made.code == 0, made.err
    assert made.json["parts"][0]["control"]["epsilon"] == 4.0
    assert ReleasedCounts.load(output).budgets == {"north": (4.0, 1e-6)}
    assert "ε = 4, δ = 1e-06 to add or remove one row" in call("show", output).out
    card = call("fit", output, "-m", "auc", "-o", tmp_path / "card.model")
    assert card.code == 0, card.err


def test_a_budget_needs_both_numbers(call, files, tmp_path):
    bins = tmp_path / "bins.json"
    Binner(max_bins=6).fit([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).save(bins)
    where = ["--bins", bins, "--target", "fraud", "--site", "north", "--ledger", tmp_path / "l"]
    made = call("release", files / "monday.parquet", *where, "--epsilon", 1, "-o", tmp_path / "x")
    assert made.code != 0
    assert not (tmp_path / "x").exists()
