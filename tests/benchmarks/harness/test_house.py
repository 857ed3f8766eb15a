from benchmarks.harness.house import circles, entered, imports
from directrix.metrics import AUC


def test_circles_are_found_and_chains_are_none():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert circles(graph) == [{"a", "b", "c"}]
    assert circles(graph | {"c": set()}) == []


def test_nothing_imports_in_circles_nor_do_annotations():
    assert circles(imports(types=True)) == []


def test_files_that_a_call_enters_are_counted():
    assert entered(lambda: None) == 0
    assert 1 <= entered(lambda: AUC().score([0, 1], [0.0, 1.0])) <= 5
