import shutil

import postgres_server
import pytest
import spark_cluster

pytest.importorskip("psycopg")

from benchmarks.studies.card_exports import compare
from benchmarks.studies.card_exports.compare import INTEGER, ROUTES, by_classifier, raw_rows

ROWS = 300
LIBRARIES = {"PMML": "jpmml_evaluator", "ONNX": "onnxruntime"}


@pytest.mark.parametrize("card", ["rescaled", "integer"])
@pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")  # odd levels
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of pyspark about pandas
@pytest.mark.parametrize("route", list(ROUTES))
def test_every_route_scores_as_the_classifier(route, card):
    if route == "SQL in PostgreSQL":
        postgres_server.require_programs()
    if route in LIBRARIES:
        pytest.importorskip(LIBRARIES[route], reason=f"the route {route} needs it")
    if route == "PMML" and shutil.which("java") is None:
        pytest.skip("there is no java to run JPMML with")
    if route == "SQL in Spark":
        if spark_cluster.why_not() is not None:
            pytest.skip(spark_cluster.why_not())
        spark_cluster.session()  # which the route then uses, and the tests stop
    found = compare.difference(card, route, raw_rows(ROWS, 3, new=True))
    assert found.is_close, found
    assert found.points == 0.0 or card not in INTEGER


def test_a_route_that_differs_is_told(monkeypatch, capsys):
    def one_point_off(classifier, rows):
        answer = by_classifier(classifier, rows)
        return answer._replace(points=answer.points + 1e-12)

    monkeypatch.setitem(ROUTES, "JSON", one_point_off)
    options = ["--rows", "20", "--routes", "JSON", "--cards"]
    assert compare.main([*options, "additive"]) == 0
    assert compare.main([*options, "integer"]) == 1
    assert "TOO FAR" in capsys.readouterr().out


def test_a_report_has_the_greatest_difference_of_each_route():
    found = [
        compare.Difference("integer", "ONNX", 0.0, 1e-12, 2e-12, 0),
        compare.Difference("crossed", "ONNX", 3e-13, 4e-12, 1e-12, 2),
    ]
    *_, last = compare.report(found, "abc1234")
    assert last == "| ONNX | 2 | 0.0e+00 | 3.0e-13 | 4.0e-12 | 2.0e-12 | 2 |"
