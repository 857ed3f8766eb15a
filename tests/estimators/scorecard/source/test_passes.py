"""Passes over a source: how many there are, and that all of them find the same rows."""

import numpy as np
import pytest
from card_sources import FEATURES, N_FOLDS, fit, frame, parts, points
from sklearn.frozen import FrozenEstimator

from directrix import Binner
from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles
from directrix.fit.fit_source import SourcePasses

KEY = HashFolds(N_FOLDS, key="id")


class Parts:
    """A source that knows how often it was read; it may change between two times."""

    def __init__(self, *tables, later=None):
        self.tables, self.later, self.times = tables, later, 0

    def __iter__(self):
        self.times += 1
        yield from self.tables if self.times == 1 or self.later is None else self.later


def folds_of(rows):
    return ColumnRoles.of(raw=True, target="y", features=FEATURES, fold=KEY).block(rows).fold


@pytest.mark.parametrize("known", [False, True], ids=["bins of the sample", "known bins"])
@pytest.mark.parametrize("max_lines", [None, 30])
def test_there_are_two_passes(known, max_lines):
    options = {"max_lines": max_lines, "max_crosses": 0}
    if known:
        options["binner"] = FrozenEstimator(Binner().fit(frame()[FEATURES]))
    source = Parts(*parts(frame(900, 5)))
    card = fit(source, card=options)
    assert source.times == 2
    assert np.ptp(points(card)) > 1.0


def test_numbers_in_one_part_and_texts_in_another_need_one_more_pass():
    first, second, third = parts(frame())
    source = Parts(first, second.assign(age=[f"{age:g}" for age in second["age"]]), third)
    card = fit(source, card={"max_lines": None})
    assert source.times == 3
    assert card.binner_.bins_[0].kind == "text"


def test_classes_that_are_sorted_by_part_are_sampled_again():
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    rows = frame(4000, 2)
    rows = rows[(rows["y"] == "no") | (rows["id"] % 4 == 0)]  # few positives, in one partition
    rows = rows.sort_values(["y", "id"], kind="stable").reset_index(drop=True)
    plan = ColumnRoles.of(raw=True, target="y", features=FEATURES, fold=KEY, identified=True)
    passes = SourcePasses(dd.from_pandas(rows, npartitions=8), plan, progress=False)
    surveyed = passes.survey(300)
    assert passes.n_passes == 2
    assert surveyed.totals.counts() == rows["y"].value_counts().to_dict()
    assert [surveyed.sample.count(label) for label in ("yes", "no")] == [300, 300]
    shuffled = SourcePasses(rows.sample(frac=1.0, random_state=0), plan, progress=False)
    assert shuffled.survey(300).sample.count("yes") == 300
    assert shuffled.n_passes == 1


@pytest.mark.parametrize(
    "later",
    [
        [frame().iloc[1:]],
        [frame().assign(age=frame()["age"] + (frame()["id"] == 7))],
        [frame().assign(id=frame()["id"] + 1)],
        [frame().assign(y=np.where(frame()["id"] == 7, "yes", "no"))],
    ],
    ids=["a row less", "another value", "other folds", "other labels"],
)
def test_rows_that_change_between_passes_are_refused(later):
    with pytest.raises(ValueError, match="a later pass did not find the rows of the first"):
        fit(Parts(frame(), later=later))


def test_a_stream_is_refused():
    with pytest.raises(ValueError, match="an iterator can be read only once"):
        fit(iter(parts(frame())))
