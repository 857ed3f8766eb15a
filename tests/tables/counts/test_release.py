"""A release of every version is read, as it was written."""

from pathlib import Path

import numpy as np

from directrix.tables import BinCounts, ReleasedCounts, TableSketch

GOLDEN = Path(__file__).parent / "golden" / "v1.release"


def test_the_golden_file_is_read(tmp_path):
    release = ReleasedCounts.load(GOLDEN)
    assert [(part.site, part.control["min_cell"]) for part in release.parts] == [
        ("north", 10),
        ("south", 5),
    ]
    assert release.sites == ("north", "south")
    assert [bins.name for bins in release.bins] == ["age", "town"]
    assert abs(release.estimate().weight - 1000) < 20
    release.save(tmp_path / "again")
    assert ReleasedCounts.load(tmp_path / "again") == release


def test_releases_with_and_without_control_are_joined():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 2)), rng.random(900) < 0.4
    binner = TableSketch.of(X[:700], site="agreed").binner(max_bins=4)
    exact, controlled = (
        BinCounts.of(binner, X[own], y[own]).release(min_cell=least, site=site)
        for own, least, site in ((slice(500), 1, "a"), (slice(500, 900), 10, "b"))
    )
    joined = exact + controlled
    assert joined == controlled + exact
    assert joined.bins == (controlled + exact).bins == controlled.bins
    assert joined.sites == ("a", "b")
    assert abs(joined.estimate().weight - 900) < 20
    assert (joined + exact) == joined
