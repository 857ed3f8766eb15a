import numpy as np
import pandas as pd
import pytest

from directrix.engines.column_roles import ColumnRoles, HashFolds, Partition
from directrix.engines.tasks import Fingerprint, Survey
from directrix.rows.rows import FrameRows

FEATURES = ["a", "b", "c"]
N = 3000


def frame(seed=0):
    """Return rows with labels, weights and folds."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.integers(0, 9, (N, 3)).astype(float), columns=FEATURES)
    return rows.assign(
        y=rng.random(N) < 0.1, w=rng.choice([0.5, 1.0, 2.0], N), fold=rng.integers(0, 4, N)
    )


PLAN = ColumnRoles(target="y", features=tuple(FEATURES), weight="w", fold="fold", identified=True)


def fingerprint(*tables, plan=PLAN):
    blocks = plan.blocks(Partition(0, tables))
    return sum((Fingerprint.of(block) for block in blocks), start=Fingerprint())


# ── the fingerprint of rows ───────────────────────────────────────────────────────────────────────


def test_the_fingerprint_is_that_of_the_rows_however_they_come():
    rows = frame()
    whole = fingerprint(rows)
    assert whole.rows == N
    assert fingerprint(rows.sample(frac=1.0, random_state=1)) == whole
    assert fingerprint(rows[:100], rows[100:101], rows[:0], rows[101:]) == whole
    narrow = rows.astype(dict.fromkeys(FEATURES, np.float32))
    assert fingerprint(narrow) == whole


def swapped(rows, column):
    """Return the rows with one column of the first two rows that differ in it exchanged."""
    values = rows[column].to_numpy().copy()
    other = int(np.argmax(values != values[0]))
    values[[0, other]] = values[[other, 0]]
    return rows.assign(**{column: values})


CHANGES = {
    "a value": lambda rows: rows.assign(a=rows["a"].where(rows.index != 7, 99.0)),
    "a label": lambda rows: rows.assign(y=rows["y"] ^ (rows.index == 7)),
    "a weight": lambda rows: rows.assign(w=rows["w"].where(rows.index != 7, 3.0)),
    "a fold": lambda rows: rows.assign(fold=rows["fold"].where(rows.index != 7, 4)),
    "all folds": lambda rows: rows.assign(fold=(rows["fold"] + 1) % 4),
    "a row is missing": lambda rows: rows[1:],
    "a row twice, another not": lambda rows: pd.concat([rows[1:], rows[-1:]]),
    "columns": lambda rows: rows.rename(columns={"a": "b", "b": "a"}),
    "weights of two rows": lambda rows: swapped(rows, "w"),
    "folds of two rows": lambda rows: swapped(rows, "fold"),
    "labels of two rows": lambda rows: swapped(rows, "y"),
    "values of two rows": lambda rows: swapped(rows, "a"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_rows_that_changed_have_another_fingerprint(change):
    rows = frame()
    assert fingerprint(change(rows)) != fingerprint(rows)


@pytest.mark.parametrize("absent", [{"weight": None}, {"fold": None}, {"fold": HashFolds(3)}])
def test_weights_and_folds_are_part_of_it_where_there_are_any(absent):
    rows = frame()
    plan = ColumnRoles(
        **(
            {"target": "y", "features": PLAN.features, "weight": "w", "fold": "fold"}
            | absent
            | {"identified": True}
        )
    )
    assert fingerprint(rows, plan=plan) != fingerprint(rows)
    assert fingerprint(CHANGES["a value"](rows), plan=plan) != fingerprint(rows, plan=plan)


# ── the sample of the first pass ──────────────────────────────────────────────────────────────────


def sampled(tables, most, apart=None):
    sample = Survey(most, apart)(PLAN, Partition(0, tables)).sample
    return pd.DataFrame(sample.X).assign(y=sample.y, w=sample.weight, fold=sample.fold)


@pytest.mark.parametrize("rows_at_a_time", [37, 1000])
@pytest.mark.parametrize("most", [20, 150, 5000])
def test_the_sample_does_not_depend_on_how_many_rows_come_at_a_time(most, rows_at_a_time):
    rows = frame()
    whole = sampled([rows], most)
    assert (whole["y"].value_counts() <= most).all()
    assert whole["y"].sum() == min(most, rows["y"].sum())
    tables = [rows[k : k + rows_at_a_time] for k in range(0, len(rows), rows_at_a_time)]
    pd.testing.assert_frame_equal(sampled(tables, most), whole)


def test_no_row_of_the_fold_that_is_set_apart_is_sampled():
    assert set(sampled([frame()], 100, apart=2)["fold"]) == {0, 1, 3}
    assert set(sampled([frame()], 5000, apart=2)["fold"]) == {0, 1, 3}


def test_rows_of_an_arrow_table_are_taken_by_their_index():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = frame()[FEATURES]
    parts = [pa.Table.from_pandas(rows[k : k + 7], preserve_index=False) for k in range(0, 70, 7)]
    arrow = FrameRows(pa.concat_tables(parts), FEATURES)
    for index in ([], [0], [6, 7], [3, 20, 21, 69], list(range(70))):
        taken = arrow.take(np.array(index, dtype=np.int64))
        np.testing.assert_array_equal(taken, rows.to_numpy()[index])
