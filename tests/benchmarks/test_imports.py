"""The files of benchmarks import each other without circles, and the harness none of the others."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in (ROOT / "benchmarks").rglob("*.py")}


def imported(path):
    """Return the modules of benchmarks that a file imports, at its top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inside & MODULES.keys() or {node.module}
    return names & MODULES.keys()


def test_no_two_files_import_each_other():
    graph = {name: imported(path) - {name} for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_harness_stands_alone():
    for name, path in MODULES.items():
        if name.startswith("benchmarks.harness"):
            others = {n for n in imported(path) if not n.startswith("benchmarks.harness")}
            assert not others - {"benchmarks"}, name
