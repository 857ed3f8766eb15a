"""What a fit prints by ``verbose``, and that it changes nothing else."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from directrix import (
    DirectClassifier,
    MomentClassifier,
    Moments,
)
from directrix.export import load, save
from directrix.fit import progress as module
from directrix.fit.progress import Progress

pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")
CLASSIFIERS = {
    "direct": DirectClassifier(cv=3),
    "moment": MomentClassifier(),
}
LINE = re.compile(r"\[(\w+)\] \d+\.\d s: (.+)")


def rows(n=300):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] = np.where(y == 1, 2.0 + 0.3 * X[:, 0], 3.0 * X[:, 0])
    X[:, 1] += 1.5 * y
    return X, y


def printed(capsys):
    """Return the texts of the lines on stdout, without the seconds; stderr must be empty."""
    out, err = capsys.readouterr()
    assert err == ""
    return [LINE.fullmatch(line)[2] for line in out.splitlines()]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_is_silent_by_default(name, capsys):
    clone(CLASSIFIERS[name]).fit(*rows())
    assert printed(capsys) == []


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_prints_its_rows_first_and_its_choice_last(name, capsys):
    lines = {}
    for verbose in (1, 2):
        clone(CLASSIFIERS[name]).set_params(verbose=verbose).fit(*rows())
        lines[verbose] = printed(capsys)
        assert lines[verbose][0].startswith("300 rows, 3 features, ")
        assert lines[verbose][-1].startswith("chosen")
    assert len(lines[1]) < len(lines[2])
    assert {lines[1][0], lines[1][-1]} <= set(lines[2])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_model_does_not_depend_on_it(name, tmp_path):
    X, y = rows()
    silent = clone(CLASSIFIERS[name]).fit(X, y)
    verbose = clone(CLASSIFIERS[name]).set_params(verbose=2).fit(X, y)
    assert clone(verbose).verbose == verbose.get_params()["verbose"] == 2
    for classifier, file in ((silent, "silent"), (verbose, "verbose")):
        save(classifier, tmp_path / file)
    assert (tmp_path / "silent").read_bytes() == (tmp_path / "verbose").read_bytes()
    assert load(tmp_path / "verbose").verbose == 0


def test_every_metric_has_its_choice(capsys):
    DirectClassifier(cv=3, verbose=1).fit_each(["error", "auc"], *rows())
    lines = printed(capsys)
    assert lines[0].endswith("error rate, AUC")
    assert [line.rpartition("; ")[2].partition(" 0.")[0] for line in lines[-2:]] == [
        "error rate expected on new rows:",
        "AUC expected on new rows:",
    ]


@pytest.mark.filterwarnings("ignore::directrix.exceptions.TableWarning")  # of easy rows
def test_other_ways_to_fit_print_their_choice(capsys):
    X, y = rows(2000)
    moments = Moments.of(X, y)
    for fit in (
        lambda: DirectClassifier(verbose=1).fit_source(X, target=y, progress=False),
        lambda: MomentClassifier(verbose=1).fit_source(X, target=y, progress=False),
        lambda: MomentClassifier(verbose=1).fit_summary(moments),
        lambda: MomentClassifier(verbose=1).partial_fit(X, y),
    ):
        fit()
        lines = printed(capsys)
        assert "2,000 rows, 3 features" in lines[0]
        assert "chosen " in lines[-1]


def test_candidates_are_counted_at_intervals(capsys, monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: seconds[0])
    progress = Progress(SimpleNamespace(verbose=1))
    for done in range(1, 41):
        progress.report_candidate(done, 40)
    shown = [int(line.split()[0]) for line in printed(capsys)]
    assert shown == [10, 20, 30, 40]
    slow = Progress(SimpleNamespace(verbose=1))
    slow.report_candidate(1, 40)
    assert printed(capsys) == []
    seconds[0] = 11.0
    slow.report_candidate(2, 40)
    slow.report_candidate(3, 40)
    assert printed(capsys) == ["2 of 40 candidates fitted to rows"]
