"""Measure the source tree: files, lines, import circles, names, and the files that a fit enters.

``python -m benchmarks.harness.house`` prints the figures of the checkout that it runs in.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

import directrix
from directrix import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    ScorecardClassifier,
    SmoothClassifier,
)

ROOT = Path(directrix.__file__).parents[2]
SOURCE = ROOT / "src"
ESTIMATORS = (
    *(MomentClassifier, SmoothClassifier, BetaBernoulliClassifier),
    *(DirectClassifier, ScorecardClassifier),
)


def sizes() -> dict[str, tuple[int, int]]:
    """Return files and lines of Python by folder."""
    texts = {name: sorted((ROOT / name).rglob("*.py")) for name in ("src", "tests", "benchmarks")}
    return {
        name: (len(paths), sum(len(path.read_text("utf-8").splitlines()) for path in paths))
        for name, paths in texts.items()
    }


def imports(*, types: bool) -> dict[str, set[str]]:
    """Return the modules that each module imports at its top level.

    types: whether imports that only a type checker sees count.
    """
    paths = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        body = list(ast.parse(path.read_text("utf-8")).body)
        for node in [node for node in body if isinstance(node, ast.If)]:
            if types or ast.unparse(node.test) != "TYPE_CHECKING":
                body += node.body
        graph[module] = set()
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.module in paths:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    graph[module].add(inner if inner in paths else str(node.module))
        graph[module].discard(module)
    return graph


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules that reach each other."""
    modules = list(graph)
    edges = np.array([[other in graph[module] for other in modules] for module in modules])
    _, group = connected_components(edges, connection="strong")
    groups = [{m for m, k in zip(modules, group, strict=True) if k == n} for n in set(group)]
    return [of for of in groups if len(of) > 1]


def entered(fit: Callable[[], Any]) -> int:
    """Return how many files of the package a call enters."""
    files = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and "directrix" in frame.f_code.co_filename:
            files.add(frame.f_code.co_filename)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit()  # first, so that imports do not count
        sys.setprofile(watch)
        try:
            fit()
        finally:
            sys.setprofile(None)
    return len({file for file in files if str(SOURCE) in file})


def fits() -> dict[str, int]:
    """Return the files that each of six fits enters."""
    pandas = importlib.import_module("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=600) > 1
    numbers = pandas.DataFrame(X, columns=list("abcd"))
    table = numbers.assign(text=rng.choice(["x", "y", "z"], 600))
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in (("numbers", numbers), ("table", table)):
            frame.assign(label=y).to_parquet(f"{folder}/{name}.parquet", row_group_size=200)
        source = {"target": "label", "progress": False}
        calls: dict[str, Callable[[], Any]] = {
            "MomentClassifier.fit": lambda: MomentClassifier("auc").fit(numbers, y),
            "SmoothClassifier.fit": lambda: SmoothClassifier("auc").fit(numbers, y),
            "DirectClassifier.fit": lambda: DirectClassifier("auc").fit(numbers, y),
            "ScorecardClassifier.fit": lambda: ScorecardClassifier("auc").fit(table, y),
            "DirectClassifier.fit_source": lambda: DirectClassifier("auc").fit_source(
                f"{folder}/numbers.parquet", **source
            ),
            "ScorecardClassifier.fit_source": lambda: ScorecardClassifier("auc").fit_source(
                f"{folder}/table.parquet", **source
            ),
        }
        return {name: entered(call) for name, call in calls.items()}


def main() -> None:
    """Print everything."""
    for name, (files, lines) in sizes().items():
        print(f"{name}: {files} files, {lines:,} lines")
    for types, text in ((False, "at run time"), (True, "with those of type checkers")):
        print(f"import circles, {text}: {len(circles(imports(types=types)))}")
    rooms = (importlib.import_module(f"directrix.{room}") for room in directrix._ROOMS)  # noqa: SLF001
    print("public names:", sum(len(getattr(room, "__all__", ())) for room in rooms))
    for estimator in ESTIMATORS:
        parameters = len(inspect.signature(estimator).parameters)
        print(f"{estimator.__name__}: {parameters} parameters")
    calls = chains = 0
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                asked = sum(
                    isinstance(each, ast.Call) and ast.unparse(each.func) == "isinstance"
                    for each in ast.walk(node)
                )
                calls, chains = calls + asked, chains + (asked >= 3)
    print(f"isinstance: {calls} calls, {chains} functions with three or more")
    for name, count in fits().items():
        print(f"{name}: enters {count} files")


if __name__ == "__main__":
    main()
