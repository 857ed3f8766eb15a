"""When training for the metric pays: means of the same sets, and the words of the page."""

import pytest

pytest.importorskip("pyarrow", reason="populations are read from Parquet files")

from benchmarks.studies import when_it_pays as study


def row(name, level, ours, rival):
    values = "bent boundaries", name, level, 0, ours, rival, "0000000"
    return dict(zip(study.RECORD.columns, map(str, values), strict=True))


def test_means_are_of_the_same_sets_at_every_level():
    rows = [
        row("magic04", 250, 0.3, 0.2),
        row("spambase", 250, 0.9, 0.1),
        row("magic04", 6000, 0.5, 0.2),  # the other set has too few rows
    ]
    means = study.gains(rows)["bent boundaries"]
    assert study.sets_of_mean(rows, "bent boundaries") == ["magic04"]
    assert {level: gain.gain for level, gain in means.items()} == pytest.approx(
        {250: 0.1, 6000: 0.3}
    )
    report = study.lines(rows)
    assert "## Bent boundaries, mean of magic04" in report
    (alone,) = [line for line in report if line.startswith("| spambase")]
    assert alone == "| spambase | **+0.800 (0.000)** |  |"


def test_the_words_of_the_claim_are_true_of_the_record():
    of_case = study.gains(study.RECORD.rows())
    (said,) = study.claim()
    assert "with wrong labels nothing clear" in said
    assert not any(gain.is_clear for gain in of_case["wrong labels"].values())
    *few, most = of_case["bent boundaries"].values()
    assert most.is_clear
    assert max(gain.gain for gain in few) < most.gain, "gains grow with the rows"


def test_only_bent_boundaries_gain_much_as_the_picture_is_described():
    gains = study.gains(study.RECORD.rows())
    much = {case for case, by in gains.items() if max(gain.gain for gain in by.values()) > 0.03}
    assert much == {"bent boundaries", "limits, bent"}
    assert set(gains) == {*study.PAYS, *study.DOES_NOT}
    assert study.PICTURE.is_file()
