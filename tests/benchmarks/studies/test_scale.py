"""The studies of many partitions add what they say they add."""

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="the Spark engine needs it")

from benchmarks.studies.scale import cards, cluster, partials, survey_job
from directrix.engines.column_roles import unpacked
from directrix.rows.sums import tree_sum


@pytest.mark.parametrize("task", partials.TASKS)
def test_the_study_adds_all_parts(task):
    part_of = partials.TASKS[task](70, 300)
    total = partials.added(part_of, 70)
    expected = tree_sum(unpacked(part_of(number)) for number in range(70))
    if task == "moments":
        assert total == expected
        assert total.by_group[None].count == 70 * 300
    elif task == "survey with sample":
        assert survey_job.digest(total) == survey_job.digest(expected)
        assert total.fingerprint.rows == 70 * 300
        # Sampled rows of different parts are different ones.
        assert len(np.unique(total.sample.hashes)) == len(total.sample.y) > 1000
    else:
        assert total.fingerprint == expected.fingerprint


def test_a_run_measures_memory_and_time():
    result = partials.one("survey with sample", 20, 100)
    assert set(result) == set(partials.MEASURED)
    assert 0 < result["MB before"] <= result["MB at most"] < 4000


def test_reports_say_what_holds():
    row = dict.fromkeys(cluster.MEASURED, "1")
    few, many = row | {"both MB": "100"}, row | {"both MB": "109"}
    disturbed = many | {"executor killed after": "3 of 32 groups"}
    said = cluster.claims({"few": few, "many": many, "disturbed": disturbed})
    assert [line.endswith(" holds.") for line in said] == [True, True]
    grown = many | {"both MB": "111"}
    said = cluster.claims({"few": few, "many": grown, "disturbed": disturbed | {"digest": "2"}})
    assert [line.endswith("does not hold.") for line in said] == [True, True]


def test_rows_of_cards_keep_texts_zeros_and_missing_values():
    import pyarrow as pa

    numbers = [0.0, 30.0, None, 50.0]
    table = pa.table(
        {"age": numbers, "job": ["a", None, "b", "a"], cards.TARGET: ["-", "+", "-", "+"]}
    )
    moved = cards._with_noise(table, np.random.default_rng(0))
    assert moved["job"].to_pylist() == table["job"].to_pylist()
    assert moved[cards.TARGET].to_pylist() == table[cards.TARGET].to_pylist()
    ages = moved["age"].to_pylist()
    assert ages[0] == 0.0
    assert ages[2] is None
    assert 25.0 < ages[1] < 35.0
