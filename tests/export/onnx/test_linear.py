import numpy as np
import pytest

from directrix.export.onnx.graph import Graph
from directrix.export.onnx.linear import add_linear_scores
from directrix.export.scoring_formula import linear_formula

pytest.importorskip("onnx")


def test_scores_are_one_product(fitted):
    graph = Graph(["X"])
    name = add_linear_scores(graph, linear_formula(fitted("direct")), "X")
    assert [node.op_type for node in graph.nodes] == ["MatMul", "Add"]
    assert graph.nodes[-1].output[0] == name


def test_names_are_free():
    graph = Graph(["constant_0", "add_0"])
    assert graph.constant(np.zeros(1)) == "constant_0_"
    assert graph.add_node("Add", ["a", "b"]) == "add_0_"
    assert graph.free_name("add_0") == "add_0__"
