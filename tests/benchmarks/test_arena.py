"""The arena's figures come out again, and the page says what was measured."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures and reports need the group 'benchmarks'")
pytest.importorskip("tqdm", reason="the runner needs the group 'benchmarks'")

from benchmarks import embedded, evidence
from benchmarks.arena.protocol import FOLDS, METRICS, QUICK, Task, split
from benchmarks.arena.record import Line, append, drift, read
from benchmarks.arena.report import Arena, Verdict
from benchmarks.arena.run import measured
from benchmarks.data import folder
from benchmarks.rivals import RIVALS, TUNED, Part
from directrix.metrics import AUC, Error

FAST = ["moment", "beta-bernoulli", "prior", "Fisher", "LDA, shrunk", "logistic", TUNED]


def has_data():
    try:
        folder()
    except FileNotFoundError:
        return False
    return True


needs_data = pytest.mark.skipif(not has_data(), reason="needs the data sets")


@needs_data
@pytest.mark.parametrize("name", QUICK)
def test_tracked_figures_come_out_again(name):
    assert drift(measured(Task(name, 0, 0), FAST)) == ""


@needs_data
def test_a_figure_that_drifts_is_noticed(capsys):
    (line,) = measured(Task("heart", 0, 0), ["LDA, shrunk"])
    moved = {name: value + 0.2 * METRICS[name].unit for name, value in line.values.items()}
    assert "do not come out again" in drift([line._replace(values=moved)])
    assert "heart" in capsys.readouterr().out


@needs_data
def test_folds_share_no_row_and_cover_all():
    tests = [split(Task("heart", 0, fold))[1] for fold in range(FOLDS)]
    assert sum(len(part.y) for part in tests) == 270
    first, second = (split(Task("heart", repeat, 0))[1] for repeat in (0, 1))
    assert not np.array_equal(first.X, second.X)


def test_lines_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "measured.csv"
    line = Line("a", 10, 2, 0, 1, TUNED, 0.5, {"error": 0.25, "AUC": 0.75})
    append(path, [line])
    append(path, [line._replace(fold=2)])
    assert read(path) == [line, line._replace(fold=2)]


class TestVerdict:
    def test_it_is_the_corrected_t_test(self):
        differences = np.array([0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.03, 0.01, 0.02, 0.03])
        # Mean 0.02, deviation 0.00816; times the root of 1/10 + 1/4: t = 4.14 with 9 degrees.
        verdict = Verdict.of(differences)
        assert verdict.mean == pytest.approx(0.02)
        assert verdict.p == pytest.approx(0.0025, abs=2e-4)
        assert verdict.word == "win"
        assert Verdict.of(-differences).word == "loss"

    def test_equal_is_a_tie(self):
        assert Verdict.of(np.zeros(5)).word == "tie"
        assert Verdict.of(np.array([0.1, -0.1, 0.1, -0.1, 0.0])).word == "tie"


class TestRivals:
    def rows(self, n=150, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.random(n) < 0.4
        X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1]
        X[:, 0] += 2.0 * y
        return Part(X, y)

    @pytest.mark.filterwarnings("ignore:nothing beat logistic:UserWarning")
    @pytest.mark.parametrize("name", list(RIVALS))
    def test_every_competitor_scores_new_rows_for_its_metrics(self, name):
        rival = RIVALS[name]
        if rival.missing:
            pytest.skip(f"{name} needs the group 'rivals': {rival.missing}")
        metrics = {"error": Error(), "AUC": AUC(), "cost 1:20": METRICS["cost 1:20"]}
        train, test = self.rows(), self.rows(seed=1)
        scores = rival.scores(train, test, metrics)
        assert set(scores) <= set(metrics)
        for metric, own in scores.items():
            assert own.shape == (150,)
            assert np.isfinite(own).all()
            value = metrics[metric].score(test.y, own)
            if name != "prior" and metric == "AUC":
                assert value > 0.8
            if name != "prior" and metric == "error":
                assert value < 0.25

    def test_doing_nothing_is_the_prior(self):
        train, test = self.rows(), self.rows(seed=1)
        scores = RIVALS["prior"].scores(train, test, {"error": Error(), "AUC": AUC()})
        assert Error().score(test.y, scores["error"]) == pytest.approx(test.y.mean())
        assert AUC().score(test.y, scores["AUC"]) == 0.5


def test_the_page_says_what_was_measured():
    assert evidence.PAGE.read_text(encoding="utf-8") == evidence.text(Arena())


@pytest.mark.parametrize("page", sorted({page for page, _ in embedded.BLOCKS}))
def test_tables_inside_other_pages_say_it_too(page):
    found = (embedded.ROOT / page).read_text(encoding="utf-8")
    assert found == embedded.embedded(page, Arena())
