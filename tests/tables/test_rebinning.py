"""Coarser bins: what can be merged, how it is asked for, and what is refused."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from directrix import Binner
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.moments import BinCounts
from directrix.tables import LevelBins, NumberBins

RNG = np.random.default_rng(0)
N = 400
X = pd.DataFrame(
    {
        "age": RNG.normal(45, 15, N),
        "income": RNG.choice([-999.0, 1.0, 2.0, 3.0, 4.0], N),
        "town": RNG.choice(["Graz", "Linz", "Wels", "Wien"], N),
        "since": np.datetime64("2020-01-01") + RNG.integers(0, 5, N).astype("m8[D]"),
        "member": RNG.random(N) < 0.5,
    }
)
Y = RNG.integers(0, 2, N)
BINNER = Binner(max_bins=8, special_values={"income": [-999]}).fit(X)
COUNTS = BinCounts.of(BINNER, X, Y)


def bins_of(counts, name):
    return next(bins for bins in counts.bins if bins.name == name)


def test_cuts_to_keep():
    cuts = BINNER.bins_[0].cuts
    coarse = bins_of(COUNTS.rebin(cuts={"age": [cuts[4], cuts[1]]}), "age")
    assert coarse.cuts == (cuts[1], cuts[4])
    assert coarse.n_cells == 4
    assert sum(coarse.weights) == N
    below, between, above = (
        X["age"][m]
        for m in (X["age"] <= cuts[1], X["age"].between(cuts[1], cuts[4]), X["age"] > cuts[4])
    )
    assert coarse.weights == (0, len(below), len(between), len(above))
    # A mean of merged bins is that of their rows, up to the values that were drawn in at the ends.
    assert coarse.means[1] == pytest.approx(between.mean(), rel=1e-12)


def test_cuts_as_they_are_printed():
    label = BINNER.bins_[0].cut_labels[2]
    exact = BINNER.bins_[0].cuts[2]
    expected = COUNTS.rebin(cuts={"age": [exact]})
    for given in (label, float(label), np.float32(exact)):
        assert COUNTS.rebin(cuts={"age": [given]}) == expected
    day = bins_of(COUNTS, "since").cut_labels[1]
    by_label = COUNTS.rebin(cuts={"since": [day]})
    assert bins_of(by_label, "since").cut_labels == (day,)
    assert COUNTS.rebin(cuts={"since": [date.fromisoformat(day)]}) == by_label
    assert COUNTS.rebin(cuts={"since": [pd.Timestamp(day)]}) == by_label
    assert COUNTS.rebin(cuts={"since": np.array([day], "M8[D]")}) == by_label


def test_ranges_of_cells():
    cuts = BINNER.bins_[0].cuts
    coarse = COUNTS.rebin(merge={"age": [(1, 3), (5, 6)]})
    assert bins_of(coarse, "age").cuts == (cuts[2], cuts[3], cuts[5], cuts[6])
    assert COUNTS.rebin(merge={"age": [(1, 2), (2, 3), (6, 5 + 1), (5, 6)]}) == coarse
    assert COUNTS.rebin(merge={"age": []}) == COUNTS
    everything = COUNTS.rebin(merge={"income": [(1, 4)]})
    assert bins_of(everything, "income").labels == ("missing", "any value", "-999")


def test_groups_of_levels():
    coarse = COUNTS.rebin(merge={"town": [("Wien", "Graz")]})
    assert bins_of(coarse, "town") == LevelBins(
        "town",
        ("Graz", "Linz", "Wels", "Wien"),
        (0, 0, *((X["town"].isin(c)).sum() for c in (["Graz", "Wien"], ["Linz"], ["Wels"]))),
        (0, 1, 2, 0),
    )
    # Later groups take along the levels that share a cell already.
    more = coarse.rebin(merge={"town": [("Linz", "Wien")]})
    assert more == COUNTS.rebin(merge={"town": [("Graz", "Wien", "Linz")]})
    assert bins_of(more, "town").labels == ("missing", "other", "Graz, Linz, Wien", "Wels")


def test_levels_to_other():
    coarse = COUNTS.rebin(other={"town": ["Wels", "Linz"]})
    bins = bins_of(coarse, "town")
    assert isinstance(bins, LevelBins)
    assert bins.levels == ("Graz", "Wien")
    assert bins.weights[1] == X["town"].isin(["Wels", "Linz"]).sum()
    both = COUNTS.rebin(merge={"town": [("Graz", "Wien")]}, other={"town": ["Wels"]})
    assert bins_of(both, "town").labels == ("missing", "other", "Graz, Wien", "Linz")
    # Without a group that holds several levels there is no need of groups.
    single = COUNTS.rebin(merge={"town": [("Graz", "Wien")]}).rebin(other={"town": ["Wien"]})
    assert bins_of(single, "town") == LevelBins(
        "town", ("Linz", "Wels"), bins_of(single, "town").weights
    )


def test_columns_without_names_are_numbered_again():
    values = X[["age", "income", "member"]].astype(float).to_numpy()
    binner = Binner().fit(values)
    coarse = BinCounts.of(binner, values, Y).rebin(drop=["x1"])
    assert coarse.column_names == ("x0", "x1")
    assert coarse == BinCounts.of(coarse.binner, values[:, [0, 2]], Y)


def test_means_stay_in_order_and_in_their_bins():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        means = np.sort(rng.choice([0.1, 0.1 + 2**-53, 0.2, 0.3, 1e300, -1e-300], n))
        cuts = tuple(range(n - 1))
        weights = (0, *rng.choice([0.0, 1 / 3, 7.0, 1e-9], n))
        bins = NumberBins("a", "number", cuts, tuple(means.tolist()), (), weights)
        binner = COUNTS.rebin(drop=list(COUNTS.column_names[1:])).binner
        binner.bins_, binner.feature_names_in_ = (bins,), np.array(["a"], dtype=object)
        kept = [cut for cut in cuts if rng.random() < 0.5]
        coarse = BinCounts.empty(binner).rebin(cuts={"a": kept}).bins[0]
        assert list(coarse.means) == sorted(coarse.means)
        groups = np.searchsorted(kept, [*cuts, np.inf])
        for k, mean in enumerate(coarse.means):
            assert means[groups == k].min() <= mean <= means[groups == k].max()


REFUSED = {
    "no such column": ({"drop": ["height"]}, ColumnNotFoundError, "no column named 'height'"),
    "nothing left": ({"drop": X.columns}, ValueError, "keep at least one"),
    "dropped and merged": (
        {"drop": "age", "cuts": {"age": []}},
        ValueError,
        "column 'age' is both dropped and merged",
    ),
    "cuts and cells": ({"cuts": {"age": []}, "merge": {"age": []}}, ValueError, "give one of them"),
    "no such cut": ({"cuts": {"income": [7.0]}}, ValueError, "its cuts are 1, 2, 3"),
    "no cuts": ({"cuts": {"town": []}}, TypeError, "group its levels with `merge`"),
    "a number for a list": ({"cuts": {"age": 3}}, TypeError, "must be a list, not 3"),
    "a text for a list": ({"merge": {"town": "Graz"}}, TypeError, "must be a list, not 'Graz'"),
    "a text for a group": ({"merge": {"town": ["Graz"]}}, TypeError, "must be a list"),
    "no such cell": ({"merge": {"income": [(0, 2)]}}, ValueError, "from 1 to 4, not \\(0, 2\\)"),
    "half a cell": ({"merge": {"income": [(1, 2.5)]}}, ValueError, "a first and a last cell"),
    "three cells": ({"merge": {"income": [(1, 2, 3)]}}, ValueError, "give cuts to keep as"),
    "a cut for a range": ({"merge": {"income": [2.5]}}, ValueError, "a first and a last cell"),
    "no such level": ({"merge": {"town": [("Rom", "Graz")]}}, ValueError, "no level 'Rom'; its"),
    "a level twice": (
        {"merge": {"town": [("Graz", "Wien"), ("Wien", "Linz")]}},
        ValueError,
        "is in two groups",
    ),
    "levels of numbers": ({"other": {"age": ["x"]}}, TypeError, "has no levels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_merged_is_refused(name):
    arguments, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        COUNTS.rebin(**arguments)


def test_levels_that_share_a_cell_cannot_be_parted():
    coarse = COUNTS.rebin(merge={"town": [("Graz", "Wien")]})
    with pytest.raises(ValueError, match="that share a cell are in two groups"):
        coarse.rebin(merge={"town": [("Graz", "Linz"), ("Wien", "Wels")]})
