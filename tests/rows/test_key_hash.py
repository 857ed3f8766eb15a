import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directrix.rows.keys import key_hash

WHOLE = np.array([0, 1, -3, 255, 2**40, -(2**52)])

#: The same whole numbers as each library and type gives them.
NUMBERS = {
    "int32": WHOLE[:4].astype(np.int32),
    "float64": WHOLE.astype(float),
    "float32": WHOLE[:4].astype(np.float32),
    "objects": WHOLE.astype(object),
    "NumPy's own objects": np.array(list(WHOLE), dtype=object),
    "floats and whole numbers": np.array([0.0, 1, -3.0, 255, 2.0**40, -(2**52)], dtype=object),
    "decimals": np.array([Decimal(int(k)) for k in WHOLE], dtype=object),
    "pandas": pd.Series(WHOLE).astype("Int64").to_numpy(),
    "pandas objects": pd.Series(WHOLE, dtype=object).to_numpy(),
    "polars": pl.Series(WHOLE).to_numpy(),
    "columns of a table": np.column_stack([WHOLE, WHOLE + 1])[:, 0],
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_hash_by_value(values):
    np.testing.assert_array_equal(key_hash([values]), key_hash([WHOLE])[: len(values)])


def test_true_is_one_and_minus_zero_is_zero():
    expected = key_hash([[1, 0, 1]])
    for values in ([True, False, True], [1.0, -0.0, 1.0], np.array([1, 0, 1], dtype=np.uint8)):
        np.testing.assert_array_equal(key_hash([values]), expected)
    objects = np.array([True, False, True], dtype=object)
    np.testing.assert_array_equal(key_hash([objects]), expected)


@given(st.integers(-(2**63), 2**64 - 1))
def test_a_whole_number_is_the_float_that_equals_it(number):
    exact = int(float(number))  # a float's value, still a whole number
    if not -(2**63) <= exact < 2**64:
        return
    integer_type = np.int64 if exact < 2**63 else np.uint64
    assert key_hash([np.array([exact], dtype=integer_type)]) == key_hash([np.array([float(exact)])])


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=20))
def test_floats_hash_alike_if_and_only_if_they_are_equal(values):
    hashes = key_hash([np.array(values)])
    same = np.equal.outer(hashes, hashes)
    np.testing.assert_array_equal(same, np.equal.outer(values, values))


TEXT = ["", "a", "A", "b", "ab", "größe", "日本", "a\x00b", "1"]
TEXTS = {
    "objects": np.array(TEXT, dtype=object),
    "pandas": pd.Series(TEXT).to_numpy(),
    "pandas categories": pd.Series(TEXT, dtype="category").to_numpy(),
    "polars": pl.Series(TEXT).to_numpy(),
    "polars categories": pl.Series(TEXT, dtype=pl.Categorical).to_numpy(),
    "NumPy's variable strings": np.array(TEXT, dtype=np.dtypes.StringDType()),
    "bytes": np.array([text.encode() for text in TEXT], dtype=object),
}


@pytest.mark.parametrize("values", TEXTS.values(), ids=TEXTS)
def test_text_hashes_by_its_letters(values):
    hashes = key_hash([values])
    np.testing.assert_array_equal(hashes, key_hash([np.array(TEXT)]))
    assert len(np.unique(hashes)) == len(TEXT)


def test_text_is_no_number():
    assert key_hash([["1"]]) != key_hash([[1]])


DAYS = ["1969-12-31", "1970-01-01", "2024-02-29"]
BERLIN = dt.timezone(dt.timedelta(hours=1))
TIMES = {
    "days": np.array(DAYS, dtype="datetime64[D]"),
    "nanoseconds": np.array(DAYS, dtype="datetime64[ns]"),
    "dates": np.array([dt.date.fromisoformat(day) for day in DAYS], dtype=object),
    "times": np.array([dt.datetime.fromisoformat(day) for day in DAYS], dtype=object),
    "times elsewhere": np.array(
        [dt.datetime.fromisoformat(f"{day}T01:00:00").replace(tzinfo=BERLIN) for day in DAYS],
        dtype=object,
    ),
    "pandas": pd.Series(pd.to_datetime(DAYS)).to_numpy(),
    "pandas in a zone": pd.Series(pd.to_datetime(DAYS).tz_localize("UTC")).to_numpy(),
    "polars": pl.Series(DAYS).str.to_date().to_numpy(),
}


@pytest.mark.parametrize("values", TIMES.values(), ids=TIMES)
def test_times_hash_by_the_moment(values):
    np.testing.assert_array_equal(
        key_hash([values]), key_hash([np.array(DAYS, dtype="datetime64[us]")])
    )


def test_durations_hash_by_their_length():
    seconds = np.array([1, 90], dtype="timedelta64[s]")
    np.testing.assert_array_equal(
        key_hash([seconds]), key_hash([seconds.astype("timedelta64[ms]")])
    )
    assert len(np.unique(key_hash([seconds]))) == 2


MISSING = {
    "NaN": np.array([1.0, np.nan]),
    "None in text": np.array(["a", None], dtype=object),
    "NaN in text": np.array(["a", np.nan], dtype=object),
    "NA": pd.array([1, None], dtype="Int64").to_numpy(),
    "NaT": np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
    "NaT of pandas": np.array([pd.Timestamp("2024-01-01"), pd.NaT], dtype=object),
    "NaN in decimals": np.array([Decimal(1), Decimal("NaN")], dtype=object),
}


@pytest.mark.parametrize("values", MISSING.values(), ids=MISSING)
def test_a_missing_key_is_refused(values):
    with pytest.raises(ValueError, match=r"the key is missing in some rows.*: fill it, or drop"):
        key_hash([np.arange(2), values])


def test_a_key_needs_a_column():
    with pytest.raises(ValueError, match="a key needs at least one column"):
        key_hash([])


def test_no_rows_have_no_hashes():
    for dtype in (int, float, object, str, "datetime64[s]"):
        assert key_hash([np.empty(0, dtype=dtype)]).tolist() == []


def test_the_order_of_columns_and_the_seed_matter():
    a, b = np.arange(50), np.arange(50)[::-1]
    both = key_hash([a, b])
    for other in (key_hash([b, a]), key_hash([a, b], seed=1), key_hash([a]), key_hash([a, b, b])):
        assert (other != both).sum() >= 49
    assert (key_hash([a], seed=-1) != key_hash([a], seed=1)).all()


def test_the_hash_of_a_row_does_not_depend_on_the_rows_around_it():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 9, 60), np.array(TEXT, dtype=object)[rng.integers(0, 8, 60)]]
    whole = key_hash(columns)
    order = rng.permutation(60)
    np.testing.assert_array_equal(key_hash([column[order] for column in columns]), whole[order])
    alone = [key_hash([column[k : k + 1] for column in columns])[0] for k in range(60)]
    np.testing.assert_array_equal(alone, whole)


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_folds_of_consecutive_keys_are_even(n_folds):
    # 10,000 keys: each fold's share is within five deviations.
    deviation = np.sqrt(10_000 / n_folds * (1 - 1 / n_folds))
    for columns in ([np.arange(10_000)], [np.arange(10_000) // 100, np.arange(10_000) % 100]):
        hashes = key_hash(columns)
        for folds in (hashes % np.uint64(n_folds), hashes / 2.0**64 * n_folds):
            counts = np.bincount(folds.astype(int), minlength=n_folds)
            assert np.abs(counts - 10_000 / n_folds).max() < 5 * deviation


def test_every_bit_is_set_half_the_time_and_no_two_keys_meet():
    hashes = key_hash([np.arange(20_000)])
    assert len(np.unique(hashes)) == 20_000
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.018  # five deviations


def test_folds_stay_as_they_are_from_release_to_release():
    # A summary kept by folds can be added to only if a key is in the same fold tomorrow.
    assert key_hash([[0, 1, 2]]).tolist() == GOLDEN["numbers"]
    assert key_hash([["", "größe"]], seed=7).tolist() == GOLDEN["text"]
    assert key_hash([[0.5, -1.25], ["x", "y"]]).tolist() == GOLDEN["fractions and text"]


GOLDEN = {
    "numbers": [13013912499580732898, 5913767852626418605, 9238304397255945393],
    "text": [12451167137697246997, 9604735998922156616],
    "fractions and text": [13010026684994199591, 6259537485010343435],
}
