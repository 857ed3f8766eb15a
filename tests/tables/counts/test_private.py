"""Private releases: sensitivities by brute force, noise and accounting, projection, fits."""

import json
from itertools import combinations_with_replacement, product
from math import sqrt
from types import SimpleNamespace

import documentation
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from directrix import Binner, ScorecardClassifier
from directrix.designs.counted import cards_of_counts
from directrix.exceptions import BinsOfTheseRowsError, MissingLibraryError, NotReleasableError
from directrix.metrics.table import resolve
from directrix.tables import BinCounts, ReleasedCounts
from directrix.tables.counts import private
from directrix.tables.counts.disclosure import PublicCodes, Queries, estimate_pairs
from directrix.tables.counts.private import (
    Budget,
    NoisyClass,
    centred_codes,
    centred_cross,
    is_statement,
    private_advice,
    private_vectors,
    squared_sensitivities,
)

needs_opendp = pytest.mark.skipif(
    not private.is_installed(), reason="OpenDP, the source of noise, is not installed"
)
SHARES = {"rows": 0.02, "cells": 0.68, "cross": 0.3}


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    town = rng.choice(["Graz", "Linz", "Wels", "Wien"], n)
    member = np.where(rng.random(n) < 0.1, None, rng.random(n) < age / 100)
    X = np.column_stack([age.astype(object), town.astype(object), member])
    y = (rng.logistic(size=n) < 0.05 * (age - 50) + 0.8 * (town == "Wels")).astype(int)
    return X, y


def counted(n=600, seed=0, max_bins=6):
    X, y = table(n, seed)
    binner = Binner(max_bins=max_bins, min_rows=1, min_level_rows=1).fit(X)
    counts = BinCounts.of(binner, X, y)
    codes = PublicCodes.of(counts.bins)
    return counts, codes, Queries.of(counts.parts[0], codes)


def all_rows(counts):
    return [list(row) for row in product(*(range(bins.n_cells) for bins in counts.bins))]


def vectors_of(cells, label, codes):
    """Return rows, cells and centred cross sums of rows that are given by their cells."""
    centred, starts = centred_codes(codes), codes.starts
    total, count = np.zeros(2, np.int64), np.zeros((2, len(centred)), np.int64)
    cross = np.zeros((2, centred.shape[1], centred.shape[1]), np.int64)
    for row, of_class in zip(cells, label, strict=True):
        places = starts[:-1] + row
        total[of_class] += 1
        count[of_class, places] += 1
        code = centred[places].sum(axis=0)
        cross[of_class] += np.outer(code, code) * codes.of_two_columns
    return {"rows": total, "cells": count, "cross": cross}


def test_sensitivities_are_the_largest_changes_by_any_row_of_any_table():
    counts, codes, _ = counted(40, max_bins=3)
    rows = all_rows(counts)
    largest = dict.fromkeys(("rows", "cells", "cross"), 0)
    # Vectors are sums over rows: the change does not depend on the others, as a few tables show.
    tables = list(combinations_with_replacement(rows[:: len(rows) // 3], 2))
    for base in tables:
        before = vectors_of(base, [0, 1], codes)
        for row, label in product(rows, (0, 1)):
            after = vectors_of([*base, row], [0, 1, label], codes)
            for name in largest:
                change = int(((after[name] - before[name]) ** 2).sum())
                largest[name] = max(largest[name], change)
    assert largest == squared_sensitivities(codes)


def test_centred_cross_sums_are_those_of_rows():
    counts, codes, queries = counted(50)
    X, y = table(50)
    expected = vectors_of(counts.binner.cells(X), y, codes)["cross"]
    np.testing.assert_array_equal(centred_cross(queries, codes), expected)


def test_without_opendp_a_release_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    _, codes, queries = counted(50)
    with pytest.raises(MissingLibraryError, match=r"directrix\[private\]"):
        private_vectors(queries, codes, 1.0, 1e-6)


@needs_opendp
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (20, 1e-6), (4.0, 1e-5), (0.1, 1e-8)])
def test_noise_costs_the_budget_and_no_more(epsilon, delta):
    _, codes, _ = counted(50)
    budget = Budget.of(codes, epsilon, delta, SHARES)
    assert epsilon * (1 - 1e-6) < budget.spent() <= epsilon
    # ρ of the three vectors adds up to that of the smallest noise of one vector.
    rho = sum((budget.sensitivity[k] / budget.scale[k]) ** 2 / 2 for k in SHARES)
    shares = {k: (budget.sensitivity[k] / budget.scale[k]) ** 2 / 2 / rho for k in SHARES}
    assert shares == pytest.approx(SHARES)


@needs_opendp
def test_noise_has_the_stated_variance_and_no_bias():
    _, codes, queries = counted()
    made = [private_vectors(queries, codes, 2.0, 1e-6, "cross") for _ in range(12)]
    pairs = private.released_pairs(codes)
    noise = {
        "cells": np.array([each.cells - queries.cells for each in made]).ravel(),
        "cross": np.array([each.cross - centred_cross(queries, codes) for each in made])[
            ..., pairs
        ],
    }
    for name, values in noise.items():
        scale = made[0].control[f"scale_{name}"]
        n = values.size
        assert abs(values.mean()) < 5 * scale / sqrt(n)
        assert abs(values.var() / scale**2 - 1) < 5 * sqrt(2 / n)


@needs_opendp
def test_two_releases_differ_and_no_seed_is_accepted():
    _, codes, queries = counted()
    first, second = (private_vectors(queries, codes, 1.0, 1e-6) for _ in range(2))
    assert not np.array_equal(first.cells, second.cells)
    with pytest.raises(TypeError):
        private_vectors(queries, codes, 1.0, 1e-6, seed=0)


@needs_opendp
def test_the_statement_is_json_and_says_what_was_done():
    _, codes, queries = counted()
    control = private_vectors(queries, codes, 1.0, 1e-6, "cells").control
    assert json.loads(json.dumps(control)) == control
    assert (control["epsilon"], control["delta"], control["content"]) == (1.0, 1e-6, "cells")
    assert control["neighbours"] == "add or remove one row"
    assert "OpenDP" in control["mechanism"]
    assert control["sensitivity_cells"] == pytest.approx(sqrt(3))
    assert is_statement(control)
    assert "scale_cross" not in control


@needs_opendp
def test_cross_sums_are_released_from_the_advised_number_of_rows_on():
    counts, codes, queries = counted()
    advice = private_advice(counts.binner, epsilon=1.0, delta=1e-6)
    few = Queries(queries.cells, queries.cross)
    factor = 2 * advice.rows_for_cross // 600 + 1
    many = Queries(factor * queries.cells, factor * queries.cross)
    assert private_vectors(few, codes, 0.01, 1e-6).control["content"] == "cells"
    assert private_vectors(many, codes, 1.0, 1e-6).control["content"] == "cross"


@needs_opendp
def test_advice_says_how_noise_grows_with_sites_and_budgets():
    counts, _, _ = counted()
    one = private_advice(counts.binner, epsilon=1.0, delta=1e-6)
    twelve = private_advice(counts.binner, epsilon=1.0, delta=1e-6, n_sites=12)
    assert twelve.cell_noise == pytest.approx(sqrt(12) * one.cell_noise)
    assert twelve.rows_for_cross > 3 * one.rows_for_cross
    loose = private_advice(counts.binner, epsilon=4.0, delta=1e-6)
    assert loose.cell_noise < one.cell_noise / 3
    assert "noise of a cell" in str(one)
    single = private_advice(Binner().fit(np.arange(100.0)[:, None]), epsilon=1.0, delta=1e-6)
    assert single.rows_for_cross is None


@needs_opendp
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 1e-6), (-1, 1e-6), (101, 1e-6), (1.0, 0.0), (1.0, 1.0)]
)
def test_budgets_that_are_none_are_refused(epsilon, delta):
    _, codes, queries = counted(50)
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        private_vectors(queries, codes, epsilon, delta)


def noiseless(queries, codes):
    """Return what the limit of large ε releases: all numbers without noise."""
    cross = centred_cross(queries, codes)
    control = {"scale_rows": 1e-9, "scale_cells": 1e-9, "scale_cross": 1e-9}
    return [
        NoisyClass.of(
            [(queries.cells[k, : codes.starts[1]].sum(), queries.cells[k], cross[k], control)]
        )
        for k in range(len(cross))
    ]


def test_expected_numbers_of_numbers_without_noise_are_the_same():
    _, codes, queries = counted()
    for k, noisy in enumerate(noiseless(queries, codes)):
        expected = noisy.expected(codes)
        np.testing.assert_allclose(expected.cells, queries.cells[k], atol=1e-6)
        known = private.released_pairs(codes)
        np.testing.assert_allclose(expected.cross[known], queries.cross[k][known], atol=1e-4)


def test_expected_numbers_are_not_negative_and_columns_agree():
    _, codes, queries = counted()
    rng = np.random.default_rng(0)  # any numbers must become possible ones, whoever made them
    for _ in range(20):
        cells = queries.cells[1] + rng.integers(-300, 300, queries.cells.shape[1])
        control = {"scale_rows": 10.0, "scale_cells": 170.0}
        noisy = NoisyClass.of([(300.0, cells, np.zeros(queries.cross.shape[1:]), control)])
        expected = noisy.expected(codes)
        sums = np.add.reduceat(expected.cells, codes.starts[:-1])
        assert expected.cells.min() >= 0
        np.testing.assert_allclose(sums, expected.total)


def test_projection_is_the_nearest_of_all():
    rng = np.random.default_rng(1)
    for _ in range(50):
        values, total = rng.normal(size=5) * 3, 2.0
        nearest = private._projected(values, total)
        others = rng.dirichlet(np.ones(5), 200) * total
        distance = ((others - values) ** 2).sum(axis=1).min()
        assert ((nearest - values) ** 2).sum() <= distance + 1e-12
        assert nearest.sum() == pytest.approx(total)


def test_variances_of_sites_add_up():
    _, codes, queries = counted()
    cross = centred_cross(queries, codes)
    control = {"scale_rows": 3.0, "scale_cells": 4.0, "scale_cross": 5.0}
    part = queries.cells[0, : codes.starts[1]].sum(), queries.cells[0], cross[0], control
    pooled = NoisyClass.of([part] * 12)
    assert pooled.variance == {"rows": 108.0, "cells": 192.0, "cross": 300.0}
    np.testing.assert_array_equal(pooled.cells, 12 * queries.cells[0])


def card_of(counts, noisy, codes, noise):
    groups = tuple(estimate_pairs([[each.expected(codes)] for each in noisy], codes))
    estimate = BinCounts(counts.bins, counts.classes, (groups,), named=counts.named)
    release = SimpleNamespace(cell_noise=noise, estimate=lambda **_: estimate)
    return cards_of_counts(resolve("auc"), estimate, [1], release=release)[0]


def test_noise_that_vanishes_has_no_part_in_the_fit():
    counts, codes, queries = counted(3000)
    noisy = noiseless(queries, codes)
    limit = card_of(counts, noisy, codes, {0: 1e-12, 1: 1e-12})
    lines = [card_of(counts, noisy, codes, {0: v, 1: v}) for v in (1e-6, 1e2)]
    points = [np.concatenate(each.card.columns) for each in (limit, *lines)]
    np.testing.assert_allclose(points[1], points[0], atol=1e-5)
    assert not np.allclose(points[2], points[0], atol=1e-3)


def test_noise_shrinks_points_and_what_is_predicted():
    counts, codes, queries = counted(3000)
    noisy = noiseless(queries, codes)
    little, much = (card_of(counts, noisy, codes, {0: v, 1: v}) for v in (1.0, 1e4))
    rates = [each.fitted.operating_point.predicted.metric for each in (little, much)]
    assert rates[1] < rates[0]


@needs_opendp
def test_a_large_budget_gives_the_fit_without_noise():
    counts, codes, queries = counted(3000)
    queries = Queries(10_000 * queries.cells, 10_000 * queries.cross)
    vectors = private_vectors(queries, codes, 100.0, 1e-6, "cross")
    noisy = [
        NoisyClass.of([(vectors.rows[k], vectors.cells[k], vectors.cross[k], vectors.control)])
        for k in range(2)
    ]
    variance = vectors.control["scale_cells"] ** 2
    made = card_of(counts, noisy, codes, {0: variance, 1: variance})
    exact = card_of(counts, noiseless(queries, codes), codes, {0: 1e-12, 1: 1e-12})
    points = [np.concatenate(each.card.columns) for each in (made, exact)]
    np.testing.assert_allclose(points[0], points[1], atol=1e-3)


# ── Releases of counts ────────────────────────────────────────────────────────────────────────────


def agreed(n=2000, seed=0, **how):
    """Return counts by bins that were not fitted to the counted rows."""
    binner = Binner(max_bins=6).fit(table(1000, seed=99)[0])
    X, y = table(n, seed)
    return BinCounts.of(binner, X, y, **how)


def released(counts, period="2026", site="north", epsilon=1.0, content="cross", classes=(0, 1)):
    budget = {"epsilon": epsilon, "delta": 1e-6, "content": content}
    return counts.release(**budget, classes=classes, site=site, period=period)


@needs_opendp
def test_a_file_of_a_private_release_is_read_as_it_was_written(tmp_path):
    release = released(agreed()) + released(agreed(seed=1), site="south", content="cells")
    release.save(tmp_path / "pooled")
    assert ReleasedCounts.load(tmp_path / "pooled") == release
    assert "ε = 1, δ = 1e-06 to add or remove one row" in repr(release)


@needs_opendp
def test_two_releases_of_the_same_rows_cost_their_sum():
    counts = agreed()
    twice = released(counts) + released(counts, "2026, again") + released(agreed(), site="south")
    assert twice.budgets == {"north": (2.0, 2e-6), "south": (1.0, 1e-6)}
    one = released(counts)
    assert one + one == one
    assert (one + one).budgets == {"north": (1.0, 1e-6)}


@needs_opendp
def test_every_site_adds_its_noise_and_the_fit_knows_it():
    one = released(agreed())
    both = one + released(agreed(seed=1), site="south")
    assert both.cell_noise == pytest.approx({k: 2 * v for k, v in one.cell_noise.items()})
    X, y = table(4000, seed=5)
    card = ScorecardClassifier("auc", max_lines=None).fit_summary(both)
    exact = ScorecardClassifier("auc", max_lines=None).fit_summary(agreed() + agreed(seed=1))
    assert roc_auc_score(y, card.decision_function(X)) > 0.9 * roc_auc_score(
        y, exact.decision_function(X)
    )


@needs_opendp
def test_a_class_without_rows_is_released_like_others():
    release = released(agreed(300), content="cells", classes=[0, 1, 2])
    assert release.classes.tolist() == [0, 1, 2]
    assert release.parts[0].cells[2].any()


@needs_opendp
def test_a_class_of_one_row_is_not_seen_by_its_presence():
    binner, (X, y) = agreed(300).binner, table(300)
    y = np.zeros_like(y)
    names = []
    for positives in (0, 1):
        y[:positives] = 1
        counts = BinCounts.of(binner, X, y)
        assert len(counts.classes) == 1 + positives
        names.append(released(counts, content="cells", classes=[0, 1]).classes.tolist())
    assert names[0] == names[1]


def test_classes_of_a_private_release_are_named():
    with pytest.raises(NotReleasableError, match=r"Name them all, such as classes=\[0, 1\]"):
        released(agreed(300), classes=None)
    with pytest.raises(NotReleasableError, match="rows have the classes 1, which classes= does"):
        released(agreed(300), classes=[0])
    with pytest.raises(ValueError, match="classes= is for private releases"):
        agreed(300).release(min_cell=10, classes=[0, 1], site="north")


@needs_opendp
def test_folds_are_merged():
    X, _ = table(300)
    release = released(agreed(300, fold=np.arange(len(X)) % 3), content="cells")
    assert len(release.parts) == 1


def test_rows_with_weights_are_refused():
    counts = agreed(300, sample_weight=np.full(300, 2))
    with pytest.raises(NotReleasableError, match="rows with weights have no bound"):
        released(counts)


def test_bins_of_the_counted_rows_are_refused():
    X, y = table(500)
    counts = BinCounts.of(Binner(max_bins=6).fit(X), X, y)
    with pytest.raises(BinsOfTheseRowsError):
        released(counts)


@pytest.mark.parametrize(
    "control", [{"epsilon": 1.0}, {"delta": 1e-6}, {"epsilon": 1.0, "delta": 1e-6, "min_cell": 5}]
)
def test_a_release_has_one_control(control):
    with pytest.raises(ValueError, match="either min_cell=, or both epsilon= and delta="):
        agreed(300).release(site="north", **control)


@needs_opendp
def test_a_statement_that_lacks_something_is_none():
    control = released(agreed(300), content="cells").parts[0].control
    assert is_statement(control)
    for name in control:
        assert not is_statement({k: v for k, v in control.items() if k != name})
    for change in ({"scale_cells": 0.0}, {"content": "cross"}, {"epsilon": "1"}, {"more": 1}):
        assert not is_statement({**control, **change})


@needs_opendp
def test_the_page_shows_what_is_printed(monkeypatch):
    names = {}
    for code, output in documentation.blocks("private-releases.md"):
        documentation.run(code, output, names, monkeypatch)
