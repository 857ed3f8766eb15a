import numpy as np
import pandas as pd

from benchmarks.studies.monitoring import census_years


def test_rows_of_a_year_have_no_year_and_no_column_that_was_asked_once(monkeypatch):
    table = pd.DataFrame(
        {"age": range(6), "year": ["94", "95"] * 3, "migration_msa": ["x"] * 6, "sex": ["a"] * 6}
    )
    labels = np.arange(6) % 2
    monkeypatch.setattr(census_years, "load_table", lambda _: (table, labels))
    census_years.rows_of.cache_clear()
    every, comparable = (census_years.rows_of(choice) for choice in census_years.CHOICES)
    census_years.rows_of.cache_clear()
    assert list(every["94"][0]) == ["age", "migration_msa", "sex"]
    assert list(comparable["95"][0]) == ["age", "sex"]
    for rows in (every, comparable):
        assert sorted(rows["94"][0]["age"]) == [0, 2, 4]
        assert rows["95"][1].tolist() == (rows["95"][0]["age"] % 2).tolist()
