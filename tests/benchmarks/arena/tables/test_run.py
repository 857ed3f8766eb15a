import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("tqdm", reason="the runner needs the group 'benchmarks'")

import pandas as pd

from benchmarks.arena.tables import protocol, run
from benchmarks.arena.tables.protocol import METRICS, Task, split
from benchmarks.harness.data import Rows
from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import measure_missing
from benchmarks.rivals.tables import LINE, TABLE_RIVALS


@pytest.fixture
def table(monkeypatch):
    """Let every set be a small table."""
    rng = np.random.default_rng(0)
    y = rng.random(150) < 0.4
    X = pd.DataFrame({"number": rng.normal(size=150) + 2 * y, "text": np.where(y, "a", "b")})
    X.loc[::7, "number"] = np.nan
    monkeypatch.setattr(protocol, "frame_of", lambda *_, **__: Rows(X, y))
    protocol._fitted.cache_clear()
    yield
    protocol._fitted.cache_clear()


@pytest.mark.usefixtures("table")
def test_a_score_has_every_metric_of_the_test_rows():
    score = protocol.measured(Task("any", 0, 2), LINE)
    train, test = split(Task("any", 0, 2))
    expected = TABLE_RIVALS[LINE].scores(train, test, METRICS)
    assert score.values == pytest.approx(
        {name: METRICS[name].score(test.y, expected[name]) for name in METRICS}
    )
    assert (score.rows, score.features, score.fold, score.commit) == (150, 2, 2, commit())


@pytest.mark.usefixtures("table")
def test_the_unit_of_cpu_time_is_that_of_the_line_on_the_same_fold():
    score = protocol.measured(Task("any", 0, 0), LINE)
    assert score.cpu == 1.0
    assert score.cpu_seconds > 0


@pytest.mark.usefixtures("table")
def test_a_run_measures_only_what_its_record_lacks(tmp_path):
    record = Record(tmp_path / "measured.csv", run.MEASURED.columns, run.MEASURED.key)
    plan = [("any", 0, fold, LINE) for fold in range(2)]
    measure_missing(record, plan[:1], run._rows)
    before = record.path.read_text(encoding="utf-8")
    measure_missing(record, plan, run._rows)
    after = record.path.read_text(encoding="utf-8")
    assert after.startswith(before)
    assert record.done() == {("any", "0", "0", LINE), ("any", "0", "1", LINE)}
