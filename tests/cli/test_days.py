from datetime import date

import pandas as pd
import pytest
from monitored_days import NAMES, Days

from directrix import MomentClassifier
from directrix.monitoring import summarize_day

pytest.importorskip("pyarrow")
typer = pytest.importorskip("typer")

from directrix.cli.reply import UsageError  # noqa: E402
from directrix.cli.rows import (  # noqa: E402 - they need the libraries
    RowFiles,
    parse_day,
    read_day,
)


def test_days_are_dates():
    assert parse_day("2026-01-31") == date(2026, 1, 31)
    assert parse_day(None) is None
    with pytest.raises(typer.BadParameter, match="not a date"):
        parse_day("31.1.2026")


# Rows are read by name and given as arrays.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("labelled", [True, False])
def test_files_give_the_summaries_of_their_rows(tmp_path, labelled):
    day = Days(0)
    model = MomentClassifier("f1", positive="bad")
    X, y = day(900, 0.2)
    frame = pd.DataFrame(X, columns=NAMES)
    model.fit(frame, y)
    for k in range(3):
        frame[k::3].assign(label=y[k::3]).to_parquet(tmp_path / f"{k}.parquet")
    target = "label" if labelled else None
    files = RowFiles.of([str(tmp_path)], target, labelled=False)
    found = read_day(model, files).whole
    expected = summarize_day(model, frame, y if labelled else None)
    assert found.scores == expected.scores
    assert found.columns.count == expected.columns.count
    assert found.columns.feature_names == expected.columns.feature_names


def test_columns_must_have_names(tmp_path):
    day = Days(0)
    X, y = day(200, 0.3)
    model = MomentClassifier("f1").fit(X, y)
    pd.DataFrame(X, columns=NAMES).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(UsageError, match="--features"):
        read_day(model, RowFiles.of([str(tmp_path)], None, labelled=False))
