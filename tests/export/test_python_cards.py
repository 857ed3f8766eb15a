"""The Python source of a card scores raw values as `predict_points` does."""

import warnings
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from scoring_modules import assert_needs_no_library, module

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pytest.importorskip("duckdb")

from benchmarks.studies.card_exports.compare import (  # noqa: E402
    CARDS,
    difference,
    raw_rows,
)
from directrix import Binner, ScorecardClassifier  # noqa: E402
from directrix.export import to_python  # noqa: E402

ZONE = timezone(timedelta(hours=5, minutes=45))
NAMES = ["number", "text", "flag", "day"]


@pytest.mark.parametrize("card", list(CARDS))
def test_raw_rows_are_scored_as_by_the_classifier(card):
    assert difference(card, "Python source", raw_rows(500, 4, new=True)).is_close


@pytest.fixture(scope="module")
def card():
    """Return a card of one column of each kind."""
    rng = np.random.default_rng(0)
    start = datetime(2020, 1, 1)  # noqa: DTZ001
    rows = pd.DataFrame(
        {
            "number": np.round(rng.normal(size=400), 1),
            "text": rng.choice(["1", "2.5", "True", "b"], 400),
            "flag": rng.random(400) < 0.5,
            "day": [start + timedelta(hours=int(k)) for k in rng.integers(0, 5_000, 400)],
        }
    )
    y = rows["number"] + rows["flag"] + (rows["text"] == "1") + rng.normal(size=400) > 1
    binner = Binner(max_bins=40, special_values={"number": [-1]}, min_rows=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ScorecardClassifier("auc", binner=binner, cv=2, max_lines=None).fit(rows, y)


NUMBERS = [
    *(None, float("nan"), 0, 1, True, -1, -1.0, 0.3, 2**70, Decimal("0.5"), np.float32(0.3)),
    *(np.int8(2), np.nan, pd.NA, float("inf"), timedelta(hours=7), time(6, 30), np.True_),
    *(pd.Timedelta(hours=3, nanoseconds=7), Decimal("NaN")),
]
TEXTS = [None, "1", 1, 1.0, 2.5, "2.5", True, np.True_, "True", b"b", "?", "", np.int64(1)]
FLAGS = [None, True, False, "true", "FALSE", 1, 0.0, np.False_, pd.NA]
DAYS = [
    *(None, pd.NaT, date(2020, 3, 1), datetime(2020, 3, 1, 7, 30)),  # noqa: DTZ001
    *(datetime(2020, 5, 1, tzinfo=UTC), datetime(2020, 5, 1, 3, tzinfo=ZONE)),
    *(pd.Timestamp("2020-02-02 01:02:03.000000004"), pd.Timestamp("2020-02-02", tz="Asia/Tokyo")),
    *("2020-03-01", "2020-03-01T07:30", "2020-05-01 03:00:00+05:45", "2020-04-01T00:00:00.5Z"),
    *(date(1, 1, 1), date(9999, 12, 31)),
]


@pytest.mark.parametrize(
    ("column", "value"),
    [(k, v) for k, values in enumerate([NUMBERS, TEXTS, FLAGS, DAYS]) for v in values],
    ids=repr,
)
def test_values_are_read_as_the_classifier_reads_them(card, column, value):
    row = [0.7, "b", True, date(2020, 2, 1)]
    row[column] = value
    named = dict(zip(NAMES, row, strict=True))
    frame = pd.DataFrame({name: pd.Series([v], dtype=object) for name, v in named.items()})
    (expected,) = card.predict_points(frame)
    scope = module(card)
    assert scope["points"](row) == expected
    assert scope["points"](named | {"more": 1}) == expected


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *[(0, "1"), (0, date(2020, 1, 1)), (0, np.timedelta64(3, "h")), (2, "yes")],
        *[(3, 18_300.0), (3, "soon"), (3, np.datetime64("2020-01-01"))],
    ],
    ids=repr,
)
def test_values_of_another_kind_are_refused(card, column, value):
    row = [0.7, "b", True, date(2020, 2, 1)]
    row[column] = value
    with pytest.raises((TypeError, ValueError)):
        module(card)["points"](row)


def test_a_row_of_another_length_or_without_a_column_is_refused(card):
    scope = module(card)
    with pytest.raises(ValueError, match="a row has 4 values, those of COLUMNS, not 1"):
        scope["score"]([1.0])
    with pytest.raises(KeyError):
        scope["score"]({"number": 1.0})


def test_the_module_needs_no_library(card, tmp_path):
    assert_needs_no_library(card, "[None] * 4", tmp_path)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a bad card
def test_without_dates_only_math_is_imported():
    rows = np.random.default_rng(0).normal(size=(80, 2))
    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(rows, rows[:, 0] > 0)
    source = to_python(card)
    assert source.count("import") == 1
    assert "from math import exp\n" in source
    np.testing.assert_array_equal(
        [module(card)["points"](row) for row in rows[:9]], card.predict_points(rows[:9])
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_and_levels_that_look_like_code_stay_texts():
    names = ["x'); import os; ('", '"""', "{classes}", "\\"]
    rows = {name: [*names, None] * 20 for name in names}
    y = np.arange(100) % 5 < 2
    card = ScorecardClassifier("auc", cv=2, max_lines=None).fit(pa.table(rows), y)
    scope = module(card)
    assert [column["name"] for column in scope["COLUMNS"]] == names
    found = [scope["points"](dict.fromkeys(names, level)) for level in (*names, None, "new")]
    table = pa.table({name: [*names, None, "new"] for name in names})
    assert found == card.predict_points(table).tolist()
