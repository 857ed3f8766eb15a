import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, wilcoxon

from benchmarks.papers.hasan_pal_2015.joint_inference.documents import (
    CONDITIONS,
    FEATURES,
    Page,
    misread,
    page,
    task,
)
from benchmarks.papers.hasan_pal_2015.joint_inference.methods import read, scores


@pytest.fixture(scope="module")
def networks():
    pytest.importorskip("pyagrum", reason="pyAgrum does the inference")
    from benchmarks.papers.hasan_pal_2015.joint_inference import network

    return network


def drawn(seed, n=1):
    rng = np.random.default_rng(seed)
    return [page(rng) for _ in range(n)]


def enumerated(one, local, companion_twice):
    """Sum eq. 40 of Hasan and Pal 2015 over all labels, D summed out."""
    same, two = norm.pdf(one.similarity, 1.0), norm.pdf(one.similarity, -1.0)
    total, person = 0.0, np.zeros(len(local))
    for labels in product((0, 1), repeat=len(local)):
        y = np.array(labels)
        if any(y[one.image == m].sum() > 1 for m in one.image):
            continue
        either = companion_twice * same + (1.0 - companion_twice) * two
        both = y[one.pairs].sum(axis=1)
        of_pairs = np.choose(both, [either, two, same])
        p = np.where(y, local, 1.0 - local).prod() * of_pairs.prod()
        total += p
        person += p * y
    return person / total


@pytest.mark.parametrize("seed", range(12))
def test_posterior_is_that_of_enumeration(networks, seed):
    (one,) = drawn(seed)
    net = networks.Network(one)
    rng = np.random.default_rng(seed)
    for _ in range(2):  # evidence of one classifier leaves nothing behind for the next
        local = rng.uniform(0.02, 0.98, len(one.image))
        expected = enumerated(one, local, networks.COMPANION_TWICE)
        np.testing.assert_allclose(net.posterior(local), expected, rtol=1e-9, atol=1e-12)


def test_pages_of_the_enumeration_have_images_of_several_faces():
    largest = [np.bincount(one.image).max() for seed in range(12) for one in drawn(seed)]
    assert max(largest) >= 3


def test_a_sure_local_classifier_is_not_overruled_and_a_plateau_is(networks):
    one = Page(
        features=np.zeros((4, len(FEATURES))),
        person=np.array([True, True, True, True]),
        image=np.arange(4),
        pairs=np.array([(i, j) for i in range(4) for j in range(i + 1, 4)]),
        similarity=np.full(6, 1.0),
    )
    net = networks.Network(one)
    assert net.posterior(np.array([0.8, 0.8, 0.8, 1e-6]))[3] < 0.1
    assert net.posterior(np.array([0.8, 0.8, 0.8, 0.15]))[3] > 0.9


def test_local_classifiers_that_are_certain_do_not_contradict_the_image(networks):
    one = next(p for p in drawn(0, 50) if np.bincount(p.image).max() > 1)
    posterior = networks.Network(one).posterior(np.ones(len(one.image)))
    np.testing.assert_allclose(np.bincount(one.image, weights=posterior), 1.0, rtol=1e-6)


def test_network_has_the_companions_of_the_generator(networks):
    pages = drawn(1, 4000)
    similarity = np.concatenate([p.similarity for p in pages])
    persons = np.concatenate([p.person[p.pairs].sum(axis=1) for p in pages])
    same = [(similarity[persons == n].mean() + 1.0) / 2.0 for n in range(3)]
    np.testing.assert_allclose(same, [networks.COMPANION_TWICE, 0.0, 1.0], atol=0.015)


def test_pages_are_as_described():
    pages = drawn(2, 3000)
    for one in pages:
        assert 2 <= len(one.image) <= 7
        assert 2 <= len(np.unique(one.image)) <= 4
        assert np.bincount(one.image, weights=one.person).max() <= 1
        assert one.features.shape == (len(one.image), len(FEATURES))
        assert (one.image[one.pairs[:, 0]] != one.image[one.pairs[:, 1]]).all()
    assert abs(np.concatenate([p.person for p in pages]).mean() - 0.45) < 0.02


def test_conditions_share_pages_and_differ_as_they_say():
    tasks = {condition: task(3, condition) for condition in CONDITIONS}
    clean = tasks["clean"]
    n = len(clean.y)
    for noisy_task in tasks.values():
        for one, other in zip(noisy_task.pages, clean.pages, strict=True):
            assert (one.person == other.person).all()
            assert (one.similarity == other.similarity).all()
    assert (tasks["flipped"].X == clean.X).all()
    assert (tasks["flipped"].y != clean.y).sum() == n // 10
    assert (tasks["outliers"].y[:n] == clean.y).all()
    assert len(tasks["outliers"].y) == n + n // 10
    assert (tasks["misread"].y == clean.y).all()
    changed = (tasks["misread"].X != clean.X).sum(axis=1)
    assert changed.max() == 1
    assert 0.04 < changed.mean() < 0.18
    test = [np.vstack([p.features for p in tasks[c].pages]) for c in ("misread", "clean")]
    assert (test[0] != test[1]).any()


def test_misread_stays_within_ten_deviations_and_leaves_its_rows_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    before, deviation = X.copy(), np.array([1.0, 2.0, 0.5])
    Z = misread(X, np.zeros(3), deviation, rng)
    assert (before == X).all()
    far = np.abs(Z[before != Z].reshape(-1)).max()
    assert 5.0 < far <= 20.0
    assert (np.abs(Z) <= 10.0 * deviation).all()


def test_scores_of_known_probabilities():
    error, log_loss, surely_wrong = scores(
        np.array([True, True, False, False]), np.array([0.9, 0.2, 0.005, 0.995])
    )
    assert error == 0.5
    assert log_loss == pytest.approx(-np.log([0.9, 0.2, 0.995, 0.005]).mean())
    assert surely_wrong == 0.25


def test_differences_are_paired_and_signed():
    pytest.importorskip("statsmodels", reason="statsmodels corrects for many tests")
    from benchmarks.papers.hasan_pal_2015.joint_inference.run import Difference

    theirs = np.random.default_rng(0).normal(10.0, 3.0, 30)
    ours = theirs - np.linspace(0.1, 0.3, 30)  # far less than the seeds differ
    difference = Difference.of(ours, theirs)
    assert difference.mean == pytest.approx(-0.2)
    assert difference.p < 1e-6
    assert Difference.of(theirs, theirs).p == 1.0


def rows_of_docs(mark):
    docs = Path(__file__).parents[4] / "docs" / "theory" / "beta-bernoulli.md"
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in docs.read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and mark in line
    ]


def errors_of(outcomes, condition, method, stage):
    by_seed = sorted(o for o in outcomes if o[1:4] == (condition, method, stage))
    assert [o.seed for o in by_seed] == list(range(30))
    return 100.0 * np.array([o.error for o in by_seed])


def test_docs_say_what_was_measured():
    outcomes, rows = read(), rows_of_docs(" → ")
    assert len(rows) == 6
    for method, *cells in rows:
        for condition, cell in zip(CONDITIONS, cells, strict=True):
            for stage, printed in zip(("local", "joint"), cell.split(" → "), strict=True):
                assert printed == f"{errors_of(outcomes, condition, method, stage).mean():.1f}"


def test_docs_tell_the_differences_that_were_measured():
    outcomes, rows = read(), rows_of_docs(" minus ")
    assert len(rows) == 4
    for names, *cells in rows:
        ours, theirs = names.replace("`", "").replace('"', "").split(" minus ")
        for condition, cell in zip(CONDITIONS, cells, strict=True):
            gap = np.subtract(*(errors_of(outcomes, condition, m, "joint") for m in (ours, theirs)))
            mean, p = re.fullmatch(r"\**(.[\d.]+)\** \((.+)\)", cell).groups()
            assert mean.replace("\N{MINUS SIGN}", "-") == f"{gap.mean():+.2f}"
            assert float(p) == pytest.approx(wilcoxon(gap, zero_method="zsplit").pvalue, rel=0.25)
