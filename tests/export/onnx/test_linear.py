import numpy as np
import pytest

from directrix.export import to_onnx
from directrix.export.onnx_writer import OnnxWriter

pytest.importorskip("onnx")


def test_scores_are_one_product(fitted):
    nodes = to_onnx(fitted("direct")).graph.node
    assert [node.op_type for node in nodes[:2]] == ["MatMul", "Add"]
    assert [name for node in nodes[:2] for name in node.input if name == "X"] == ["X"]


def test_names_are_free():
    graph = OnnxWriter(["constant_0", "add_0"])
    assert graph.constant(np.zeros(1)) == "constant_0_"
    assert graph.node("Add", ["a", "b"]) == "add_0_"
    assert graph.free_name("add_0") == "add_0__"
