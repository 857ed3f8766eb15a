from benchmarks.studies.daily_refit import METRICS, measured


def test_both_fits_are_the_same_model():
    records = measured(n_days=4, warm_up=2)
    assert [(record[0], record[1]) for record in records] == [
        (day, metric) for day in (2, 3) for metric in METRICS
    ]
    for record in records:
        assert abs(float(record[3]) - float(record[4])) < 1e-4
        assert float(record[6]) < 1e-8
