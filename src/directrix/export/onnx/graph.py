"""Nodes and constants of an ONNX graph, added one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from directrix._typing import AnyArray


class Graph:
    """Nodes and constants of a graph; as an `Arithmetic`, its values are names of nodes.

    Parameters
    ----------
    taken : iterable of str
        Names of the inputs, which no node may have.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = set(taken)

    def free_name(self, name: str) -> str:
        """Return a name that nothing has yet, by underscores at its end, and note it as taken."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def constant(self, value: AnyArray) -> str:
        """Add an array; return its name."""
        from onnx import numpy_helper

        name = self.free_name(f"constant_{len(self.constants)}")
        value = value.astype(object) if value.dtype.kind == "U" else value
        with _texts_of_unicode():
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add_node(
        self, operator: str, inputs: list[str], name: str | None = None, **options: Any
    ) -> str:
        """Add an operator; return the name of its output.

        Parameters
        ----------
        operator : str
        inputs : list of str
        name : str, optional
            Name of the output, which must be free; by default one is made.
        options
            Attributes of the operator, and its domain if it is not that of ONNX.
        """
        from onnx import helper

        name = name or self.free_name(f"{operator}_{len(self.nodes)}".lower())
        with _texts_of_unicode():
            self.nodes.append(helper.make_node(operator, inputs, [name], **options))
        return name

    def add(self, value: str, number: float) -> str:
        """Return the value plus a number."""
        return self.add_node("Add", [value, self.constant(np.array(number))])

    def multiply(self, value: str, number: float) -> str:
        """Return the value times a number."""
        return self.add_node("Mul", [value, self.constant(np.array(number))])

    def slopes(self, value: str, below: float, above: float) -> str:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        zero = self.constant(np.array(0.0))
        negative, positive = (self.add_node(name, [value, zero]) for name in ("Min", "Max"))
        return self.add_node(
            "Add", [self.multiply(negative, below), self.multiply(positive, above)]
        )

    def at_most(self, value: str, number: float) -> str:
        """Return the lesser of the value and a number."""
        return self.add_node("Min", [value, self.constant(np.array(number))])

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value))."""
        return self.add_node("Sigmoid", [value])


@contextmanager
def _texts_of_unicode() -> Iterator[None]:
    """Refuse texts with half of a surrogate pair, which ONNX cannot hold, by name."""
    try:
        yield
    except UnicodeEncodeError as error:
        msg = (
            f"ONNX cannot hold the text {error.object!r}, which has half of a surrogate pair: "
            "replace it in the table before the fit"
        )
        raise ValueError(msg) from None
