"""The study of many partitions says what holds."""

import pytest

pytest.importorskip("pyarrow", reason="the Spark engine needs it")

from benchmarks.studies.scale import cluster


def test_reports_say_what_holds():
    row = dict.fromkeys(cluster.MEASURED, "1")
    few, many = row | {"both MB": "100"}, row | {"both MB": "109"}
    disturbed = many | {"executor killed after": "3 of 32 groups"}
    said = cluster.claims({"few": few, "many": many, "disturbed": disturbed})
    assert [line.endswith(" holds.") for line in said] == [True, True]
    grown = many | {"both MB": "111"}
    said = cluster.claims({"few": few, "many": grown, "disturbed": disturbed | {"digest": "2"}})
    assert [line.endswith("does not hold.") for line in said] == [True, True]
