"""What the page says of the guarantee is what was measured, and it keeps its word."""

import numpy as np

from benchmarks.studies.new_rows.guarantee import CONFIDENCE, LIMITS, RECORD, SETS


def test_the_limit_is_broken_in_no_more_than_it_may():
    rows = RECORD.rows()
    assert [(row["set"], float(row["limit"])) for row in rows] == [
        (name, limit) for name in SETS for limit in LIMITS
    ]
    for row in rows:
        may = 1 - CONFIDENCE
        error = 2 * np.sqrt(may * (1 - may) / int(row["resamples"]))
        assert float(row["broken"]) <= may + error
