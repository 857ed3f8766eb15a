"""Rows of two days in files, summaries and a model of them, and a fixture that runs commands."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")

from pyarrow import csv, parquet  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from directrix import MomentClassifier, Moments, ScorecardClassifier  # noqa: E402
from directrix.cli.app import app  # noqa: E402
from directrix.export import save  # noqa: E402
from directrix.metrics import RecallAtFPR  # noqa: E402

NAMES = ("amount", "age", "clock")


def day(seed, n=600):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 3)) + np.outer(y, [1.5, -1.0, 0.0])
    return X, y


def table(X, y, **more):
    columns = dict(zip(NAMES, X.T, strict=True))
    return pa.table({**columns, "fraud": y, **more})


class CommandResult(SimpleNamespace):
    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def call():
    """Return a function that runs a command and gives its exit code and output."""
    runner = CliRunner()

    def run(*words):
        result = runner.invoke(app, [str(word) for word in words], prog_name="directrix")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return CommandResult(code=result.exit_code, out=result.stdout, err=result.stderr)

    return run


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a folder with rows, summaries and a model."""
    folder = tmp_path_factory.mktemp("cli")
    for name, seed in (("monday", 1), ("tuesday", 2)):
        X, y = day(seed)
        parquet.write_table(table(X, y), folder / f"{name}.parquet")
        Moments.of(X, y, feature_names=NAMES).save(folder / f"{name}.moments")
    csv.write_csv(table(X, y), folder / "tuesday.csv")
    X, y = day(1)
    model = MomentClassifier(RecallAtFPR(0.1)).fit_summary(Moments.load(folder / "monday.moments"))
    save(model, folder / "model.dx")
    settings = {"max_lines": None, "max_crosses": 0, "warn_baseline": False}
    card = ScorecardClassifier("recall@fpr=0.1", **settings)
    frame = parquet.read_table(folder / "monday.parquet").to_pandas()
    save(card.fit(frame.drop(columns="fraud"), frame["fraud"]), folder / "card.dx")
    text = np.where(y, "bad", "good")
    more = {
        "country": text,
        "kind": text,
        "three": np.arange(len(y)) % 3,
        "weight": np.where(y, 2.0, 1.0),
        "id": np.arange(len(y)),
    }
    parquet.write_table(table(X, y, **more), folder / "rich.parquet")
    X[5, 1] = np.nan
    parquet.write_table(table(X, y), folder / "holes.parquet")
    X, y = day(3)
    parquet.write_table(table(X, np.zeros(len(y), dtype=bool)), folder / "one_class.parquet")
    return folder
