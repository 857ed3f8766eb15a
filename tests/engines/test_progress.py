import builtins
import io
import sys
from contextlib import redirect_stderr

import numpy as np
import pandas as pd
import pytest

from directrix import DirectClassifier, summarize
from directrix.engines.base import Progress, progress_bar

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(RNG.normal(size=(3000, 2)), columns=["a", "b"]).assign(y=np.arange(3000) % 2)


class Terminal(io.StringIO):
    """What passes for a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    pytest.importorskip("rich", reason="rich is not installed")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return Terminal()


def chunks():
    return (FRAME[start : start + 1000] for start in range(0, 3000, 1000))


def test_it_is_quiet_where_there_is_no_terminal(capfd):
    assert not sys.stderr.isatty()
    summarize(FRAME, target="y")
    summarize(chunks(), target="y")
    said = capfd.readouterr()
    assert said.out == said.err == ""


def test_on_a_terminal_it_shows_how_many_rows_have_passed(terminal, capfd):
    with redirect_stderr(terminal):
        assert summarize(chunks(), target="y").count == 3000
    shown = terminal.getvalue()
    assert "summarize" in shown
    assert "3,000 rows" in shown
    assert "rows/s" in shown
    assert capfd.readouterr().out == ""


def test_the_second_pass_shows_too(terminal):
    with redirect_stderr(terminal):
        DirectClassifier(warn_baseline=False).fit_source(FRAME, target="y")
    shown = terminal.getvalue()
    assert shown.index("summarize") < shown.index("score")
    assert "3,000 rows" in shown[shown.index("score") :]


def test_a_file_says_how_many_rows_there_will_be(terminal, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    FRAME.to_parquet(tmp_path / "rows.parquet")
    with redirect_stderr(terminal):
        assert summarize(tmp_path / "rows.parquet", target="y").count == 3000
    assert "3,000 rows" in terminal.getvalue()
    assert "━" * 40 in terminal.getvalue()  # a bar that is full, which needs an end


def test_rows_in_dask_are_counted(terminal):
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    rows = dd.from_pandas(FRAME, npartitions=3)
    with redirect_stderr(terminal):
        assert summarize(rows, target="y", features=["a"]).count == 3000
    assert "3,000 rows" in terminal.getvalue()


def test_it_can_be_switched_off(terminal):
    with redirect_stderr(terminal):
        summarize(chunks(), target="y", progress=False)
    assert terminal.getvalue() == ""


def test_without_rich_it_is_quiet(monkeypatch):
    terminal, really = Terminal(), builtins.__import__

    def without(name, *args, **options):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return really(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with redirect_stderr(terminal):
        assert summarize(chunks(), target="y").count == 3000
    assert terminal.getvalue() == ""


def test_a_bar_is_taken_away_when_something_fails(terminal):
    def broken():
        yield FRAME
        msg = "no more"
        raise OSError(msg)

    with redirect_stderr(terminal), pytest.raises(OSError, match="no more"):
        summarize(broken(), target="y")
    shown, cursor, erased = terminal.getvalue(), "\x1b[?25h", "\x1b[2K"
    assert shown.rindex(cursor) > shown.rindex("rows")
    assert shown.rindex(erased) > shown.rindex("rows")


def test_rows_are_not_counted_beforehand_for_nobody():
    def count():
        pytest.fail("nobody sees it")

    with progress_bar(wanted=True, label="rows") as progress:
        progress.expect(count)
        progress.expect(None)


def test_rows_are_counted_after_they_were_used():
    progress = Progress()
    tables = [np.ones((3, 2)), FRAME, np.ones((0, 2))]
    seen = [(len(table), progress.rows) for table in progress.counted(tables)]
    assert seen == [(3, 0), (3000, 3), (0, 3003)]
    assert progress.rows == 3003
