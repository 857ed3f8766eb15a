"""Samples of raw tables add up in any order, and every row is as likely in them as any other."""

import numpy as np
import pytest
from card_sources import FEATURES, frame, parts
from scipy import stats

from directrix.rows.keys import mix_bits
from directrix.rows.sample import RowSample
from directrix.tables import Column, Table


def sample_of(rows, most=10_000):
    """Return a sample of a data frame, with its ids as row keys."""
    table, n = Table.of(rows[FEATURES]), len(rows)
    keys = mix_bits(rows["id"].to_numpy(dtype=np.uint64))
    fold = np.zeros(n, dtype=np.int32)
    y = rows["y"].to_numpy(dtype=str)
    return RowSample.of(table, y, np.ones(n), fold, keys, most)


def raw(sample):
    """Return the rows of a sample with their texts."""
    table = sample.sorted().X
    columns = []
    for column, values in zip(table.columns, table.values.T, strict=True):
        texts = np.array([*column.levels, None], dtype=object)
        codes = np.nan_to_num(values, nan=-1).astype(int)
        columns.append(texts[codes].tolist() if column.kind == "text" else values.tolist())
    return repr(columns)


def test_sums_do_not_depend_on_the_order():
    first, second, third = (sample_of(part) for part in parts(frame()))
    whole = sample_of(frame())
    assert raw(whole) == raw(first + second + third) == raw(third + (second + first))


def test_a_sum_has_the_levels_of_its_rows_and_no_others():
    rows = frame().assign(**{FEATURES[1]: [f"level {k % 500}" for k in range(1500)]})
    total = sample_of(rows.iloc[:300], 100) + sample_of(rows.iloc[300:], 100)
    assert total.count("yes") == total.count("no") == 100
    levels = total.X.columns[1].levels
    assert list(levels) == sorted(set(levels))
    assert set(total.X.values[:, 1]) == set(range(len(levels)))
    # The same rows, whichever texts the levels of their parts were.
    by_content = set(Table.of(rows[FEATURES]).row_hashes().tolist())
    assert set(total.X.row_hashes().tolist()) <= by_content


def test_every_row_is_as_likely_to_be_sampled():
    rows, sizes = frame(6000, 3), [400, 2600, 100, 2900]
    split = np.split(np.arange(6000), np.cumsum(sizes)[:-1])
    samples = [sample_of(rows.iloc[index], 600) for index in split]
    total = samples[0] + samples[1] + (samples[2] + samples[3])
    hashes = [set(sample_of(rows.iloc[index]).hashes.tolist()) for index in split]
    for label in ("yes", "no"):
        sampled = total.hashes[total.y == label].tolist()
        assert len(sampled) == 600
        counts = [sum(each in of_part for each in sampled) for of_part in hashes]
        shares = np.array([np.sum(rows["y"].iloc[index] == label) for index in split])
        expected = 600 * shares / shares.sum()
        assert stats.chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("column", FEATURES)
@pytest.mark.parametrize("number", [0, 1])
def test_a_column_may_be_missing_in_a_part(column, number):
    rows = frame().copy()
    rows[column] = rows[column].astype(object)
    rows.loc[rows.index[number * 750 : (number + 1) * 750], column] = None
    first, second = (sample_of(part) for part in parts(rows, 2))
    whole = sample_of(rows)
    for total in (first + second, second + first):
        assert [each.kind for each in total.X.columns] == [each.kind for each in whole.X.columns]
        assert raw(total) == raw(whole)


def test_numbers_and_texts_become_texts():
    first, second = parts(frame().iloc[::5], 2)
    texts = second.assign(age=[f"{value:g} years" for value in second["age"]])
    total = sample_of(texts) + sample_of(first)
    assert total.X.columns[0].kind == "text"
    assert len(total.y) == 300
    assert raw(total) == raw(sample_of(first) + sample_of(texts))


def test_a_sample_without_rows_changes_nothing():
    some, none = sample_of(frame()), sample_of(frame().iloc[:0])
    assert raw(some) == raw(some + none) == raw(none + some)


def test_a_sample_is_cut_to_the_rows_of_lowest_hash():
    whole = sample_of(frame())
    cut = whole.at_most(50)
    for label in ("yes", "no"):
        hashes = np.sort(whole.hashes[whole.y == label])
        assert sorted(cut.hashes[cut.y == label]) == hashes[:50].tolist()


def test_it_can_be_read_as_other_kinds():
    whole = sample_of(frame())
    columns = list(whole.X.columns)
    assert columns[2].name == "member"
    columns[2] = Column("member", "number")
    other = Table.of(whole.X, columns)
    assert other.columns[2].kind == "number"
    np.testing.assert_array_equal(other.values, whole.X.values)
