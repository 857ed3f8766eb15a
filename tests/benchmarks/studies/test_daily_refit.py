from benchmarks.studies.daily_refit import METRICS, measured


def test_both_fits_are_the_same_model():
    records = measured(1000, 2, n_days=4)
    assert [(record[1], record[2]) for record in records] == [
        (day, metric) for day in (2, 3) for metric in METRICS
    ]
    for record in records:
        assert abs(float(record[4]) - float(record[5])) < 1e-4
        assert float(record[7]) < 1e-8
