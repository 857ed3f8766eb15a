"""A release of every version is read, as it was written."""

from pathlib import Path

from directrix.tables import ReleasedCounts

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
