"""Cards with random bins, points and counts, and names that no format likes."""

import numpy as np

from directrix.cards.card import Card, Cross
from directrix.tables import LevelBins, NumberBins

AGE = NumberBins(
    "age", "number", (20.0, 30.0, 40.0, 65.0), (15.0, 25.0, 35.0, 50.0, 70.0), (-999.0,)
)
SINCE = NumberBins("since", "date", (18000.0, 18500.5), (17000.0, 18200.0, 19000.0))
MEMBER = NumberBins("member", "boolean", (0.5,), (0.0, 1.0))
HOSTILE = ("", "<i>a</i>", "a, b", "a|b", "missing", 'say "x"', "two\nlines", "x; y", "ünï&amp;")
TOWN = LevelBins("to|wn\n<script>", HOSTILE)
JOB = LevelBins("job", ("clerk", "cook", "nurse", "smith"), (), (0, 1, 0, 2))
BINS = (AGE, SINCE, MEMBER, TOWN, JOB)


def random_card(seed, *, whole=False, crosses=2, few=False, falling=False):
    """Return a card; ``few`` for points of few values, so that many bins tie."""
    rng = np.random.default_rng(seed)

    def points(*shape):
        if few:
            return rng.integers(-1, 2, shape).astype(float)
        return rng.integers(-40, 60, shape).astype(float) if whole else rng.normal(size=shape)

    pairs = [(0, 3), (1, 2), (4, 0)][:crosses]
    made = []
    for first, second in pairs:
        maps = [np.sort(rng.integers(0, 3, BINS[k].n_cells)) for k in (first, second)]
        made.append(Cross((first, second), (maps[0], maps[1]), points(3, 3)))
    return Card(
        float(points(1)[0]) if whole else 0.25,
        tuple(points(bins.n_cells) for bins in BINS),
        tuple(made),
        BINS,
        12.5 if falling else 0.0,
        not falling,
        random_counts(rng),
    )


def random_counts(rng, n_rows=(700, 300)):
    """Return counts of the same rows in every column; some cells have none."""
    counts = []
    for bins in BINS:
        share = rng.dirichlet(np.ones(bins.n_cells)) * (rng.random(bins.n_cells) < 0.8)
        share[1] += 0.01
        counts.append(
            np.stack([rng.multinomial(n, share / share.sum()) for n in n_rows]).astype(float)
        )
    return tuple(counts)


def random_cells(rng, n):
    """Return cells of random rows, unseen ones among them."""
    return np.column_stack([rng.integers(0, bins.n_cells, n) for bins in BINS])
