"""Attacks on releases: what they must not find, and that they find what is there."""

import socket
import threading

import numpy as np
import pytest

pytest.importorskip("pandas", reason="sites are split by pandas")

import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.studies import exchange_attacks, exchange_federated, exchange_sites
from directrix import Binner
from directrix.exceptions import ReleasedBeforeError
from directrix.tables import BinCounts

N_ROWS = 300


def generated(n=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.lognormal(8, 0.6, n).round(-2),
            "town": rng.choice(["Graz", "Linz", "Wels", "Wien"], n, p=[0.5, 0.3, 0.02, 0.18]),
        }
    )
    return Rows(X, rng.random(n) < 0.3)


@pytest.fixture
def binner():
    return Binner(max_bins=5).fit(generated(3000, seed=1).X)


def test_every_row_is_at_one_of_twelve_sites():
    rows = generated(2400)
    sites = exchange_sites.sites_of(rows)
    assert len(sites) == 12
    assert all(len(site.y) for site in sites)
    pooled = pd.concat([site.X for site in sites])
    columns = list(pooled)
    expected = rows.X.sort_values(columns).reset_index(drop=True)
    pd.testing.assert_frame_equal(pooled.sort_values(columns).reset_index(drop=True), expected)
    column = exchange_sites.skewing_column(rows.X)
    means = [site.X[column].mean() for site in sites]
    assert means[1] > means[3]  # sites that prefer high and low values


def test_integer_programs_on_one_release_find_no_small_cell(binner):
    rows = generated()
    for k in range(2):
        found = exchange_attacks.from_cross_sums(binner, rows, (0, 2), k)
        assert found.small
        assert found.pinned == found.occupied == 0
        assert found.width >= exchange_attacks.MIN_CELL - 1


def test_a_sketch_of_the_same_rows_bounds_what_a_release_hides(binner):
    found = exchange_attacks.sketch_and_release(binner, generated())
    alone = exchange_attacks.other_names(binner, generated(), 1)
    assert found.small
    assert found.width < alone.width / 2


def test_integer_programs_on_one_release_find_no_small_pair_of_cells():
    rng = np.random.default_rng(4)

    def rows_of(n):
        levels = [f"level {k}" for k in range(9)]
        job = rng.choice(levels, n, p=np.array([9, 7, 6, 5, 4, 3, 3, 2, 1]) / 40.0)
        home = np.where(rng.random(n) < 0.5, job, rng.choice(levels, n))
        return Rows(pd.DataFrame({"job": job, "home": home}), rng.random(n) < 0.3)

    binner, rows = Binner(max_bins=9).fit(rows_of(3000).X), rows_of(700)
    for k in range(2):
        found = exchange_attacks.pairs_of_cells(binner, rows, (0, 1), k)
        assert found.small > 20
        assert found.pinned == found.occupied == 0
        assert found.least >= exchange_attacks.MIN_CELL - 1


def test_integer_programs_find_cells_that_are_shown():
    program = exchange_attacks.Program(3, [], [], [])
    program.add([1, 1, 1], 10, 10)
    program.add([1, 1, 0], 7, 7)
    assert program.range([0, 0, 1]) == (3, 3)
    assert program.range([1, 0, 0]) == (0, 7)


def test_a_ledger_refuses_second_releases_which_would_tell_rows(binner, tmp_path):
    rows = generated()
    found = [exchange_attacks.difference(binner, rows, np.array([row])) for row in range(20)]
    assert any(each.told for each in found)  # so a second release must not leave the site
    ledger = tmp_path / "ledger.json"
    BinCounts.of(binner, *rows).release(site="A", period="1", ledger=ledger)
    fewer = BinCounts.of(binner, rows.X[1:], rows.y[1:])
    other_bins = BinCounts.of(Binner(max_bins=4).fit(generated(3000, seed=1).X), *rows)
    for second in (fewer, other_bins):
        with pytest.raises(ReleasedBeforeError):
            second.release(site="B", period="2", ledger=ledger)


def test_membership_stays_within_its_budget(binner):
    pytest.importorskip("opendp", reason="makes the noise")
    scores = exchange_attacks.membership_scores(binner, generated(), epsilon=1.0, trials=200)
    figures = exchange_attacks.membership_figures(scores, epsilon=1.0)
    assert figures["low"] <= figures["allowed"]
    assert figures["epsilon"] <= 1.0
    assert 0.0 < figures["noise allows"] < figures["allowed"]


def test_membership_finds_noise_that_is_too_small():
    rng = np.random.default_rng(0)
    scores = [rng.normal(mean, 3.0, 1000) for mean in (-4.5, 4.5)]  # noise for about ε = 13
    figures = exchange_attacks.membership_figures(scores, epsilon=1.0)
    assert figures["low"] > figures["allowed"]
    assert figures["epsilon"] > 1.0


def test_relay_counts_bytes_of_both_directions():
    server = socket.create_server(("127.0.0.1", 0))

    def answer():
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(100):
                connection.sendall(data + data)

    answering = threading.Thread(target=answer, daemon=True)
    answering.start()
    relay = exchange_federated.Relay(server.getsockname())
    host, port = relay.address.split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"12345")
        received = b""
        while len(received) < 10:
            received += client.recv(100)
    assert received == b"1234512345"
    assert relay.n_bytes == 15
    relay.close()
    answering.join(10.0)
    server.close()
