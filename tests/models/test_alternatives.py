"""Alternatives as a sequence, a table and a sentence."""

from dataclasses import replace

import numpy as np

from directrix.metrics import Parity, RecallAtFPR
from directrix.metrics.segments import Segments
from directrix.models.alternatives import Alternative, Alternatives, Carrier
from directrix.models.gap import Gap
from directrix.models.segment_rates import SegmentRates


def entry(direction, strength, metric, apart):
    number = np.repeat([0, 1], 100)
    flagged = np.concatenate([np.arange(100) < 10, np.arange(100) < 10 + apart])
    segments = Segments(number, ("f", "m"))
    rates = SegmentRates.of(np.zeros(200, dtype=bool), flagged, np.ones(200), segments)
    change = Gap(metric - 0.5, metric - 0.52, metric - 0.48)
    return Alternative(direction, strength, metric, change, 0.01, rates.gap("fpr"), rates)


def table(chosen=1):
    entries = entry("", 0.0, 0.5, 20), entry("all rows", 1.0, 0.49, 2)
    carriers = (Carrier("age", 0.4, 0.1),)
    return Alternatives(
        Parity("fpr"), RecallAtFPR(0.05), entries, chosen, 0.02, "it is small", carriers
    )


def test_it_is_a_sequence():
    alternatives = table()
    assert len(alternatives) == 2
    assert [each.metric for each in alternatives] == [0.5, 0.49]
    assert round(alternatives[-1].gap.value, 9) == 0.02
    assert alternatives.acts


def test_it_prints_as_a_table_with_what_is_chosen_and_why():
    text = str(table())
    assert "* " in text.splitlines()[2]
    assert "1.00  all rows" in text
    assert "-0.0100 (0.0100)" in text
    assert "0.020 instead of 0.200" in text
    assert "it is small" in text
    assert "age +0.400 (now +0.100)" in text
    assert "<table>" in table()._repr_html_()


def test_the_plain_fit_says_so():
    assert "the plain fit is delivered, it is small" in table(chosen=0).summary


def test_segments_of_few_rows_are_named_whatever_is_delivered():
    for chosen in (0, 1):
        made = table(chosen)
        assert "rows here" not in made.summary
        plain = made[0]._replace(gap=made[0].gap._replace(few=("x",)))
        few = replace(made, entries=(plain, made[1]))
        assert "'x' has fewer than 30 rows here" in few.summary


def test_it_becomes_a_data_frame():
    frame = table().to_frame()
    assert frame["gap"].round(3).tolist() == [0.2, 0.02]
    assert frame["is_chosen"].tolist() == [False, True]
