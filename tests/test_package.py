import ast
import importlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from functools import cache
from inspect import isabstract
from pathlib import Path
from pkgutil import iter_modules

import pytest

import directrix

pytestmark = pytest.mark.every_case  # each case sees its own name or folder

SOURCE = Path(directrix.__file__).parent
ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
CORE = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "safetensors"}
OPTIONAL = {
    "dask",
    "deltalake",
    "distributed",
    "duckdb",
    "matplotlib",
    "mlflow",
    "onnx",
    "onnxruntime",
    "pandas",
    "polars",
    "pyarrow",
    "pyiceberg",
    "pyspark",
    "rich",
    "sqlglot",
    "typer",
}


def test_import_loads_no_optional_library():
    # scikit-learn itself looks at pandas and rich where these are installed.
    theirs = loaded("sklearn.metrics, sklearn.utils.validation")
    assert OPTIONAL & loaded("directrix") <= theirs


def test_names_are_imported_when_they_are_asked_for():
    assert not {"numpy", "sklearn"} & loaded("directrix, directrix.cli")


def test_losses_do_not_load_scipy_signal():
    # It would take longer to import than all losses.
    assert "scipy.signal" not in loaded("directrix.linear")


def test_a_classifier_loads_only_what_a_fit_needs():
    modules = loaded("directrix.estimators")
    above = {"cli", "displays", "export", "integrations"}
    # Only fit_source reads rows with an engine.
    assert not {f"directrix.{room}" for room in above | {"engines"}} & modules
    # They would take longer to import than all classifiers.
    assert not {"scipy.signal", "sklearn.ensemble", "statsmodels"} & modules
    theirs = loaded("sklearn.frozen, sklearn.linear_model, sklearn.model_selection")
    others = {name.partition(".")[0] for name in modules - theirs} - sys.stdlib_module_names
    assert others <= {"directrix", "safetensors"}


def test_every_public_name_can_be_asked_for_first():
    assert set(directrix.__all__) <= set(dir(directrix))
    code = "import directrix; [getattr(directrix, name) for name in directrix.__all__]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_completion_offers_public_names_only():
    code = "import directrix; print(*dir(directrix))"
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    offered = set(printed.stdout.split())
    assert offered == {*directrix.__all__, *directrix._ROOMS}
    for room in set(directrix._ROOMS) - {"exceptions"}:
        module = getattr(directrix, room)
        assert dir(module) == sorted(module.__all__)
    hidden = {"export_state", "from_state", "scoring_formula", "takes_costs_or_days"}
    assert hidden.isdisjoint(dir(directrix.ScorecardClassifier()))
    assert {"fit", "predict", "reasons"} <= {*dir(directrix.ScorecardClassifier())}


def test_every_room_is_an_attribute_of_the_package():
    rooms = {path.stem for path in SOURCE.iterdir() if not path.stem.startswith("_")}
    needs_a_library = {"cli", "integrations", "py"}  # py.typed is no room
    code = f"import directrix; [getattr(directrix, name) for name in {rooms - needs_a_library}]"
    subprocess.run([sys.executable, "-c", code], check=True)
    # Whatever order they are asked for in: one may import another.
    assert rooms - needs_a_library == {*directrix._ROOMS, *directrix._INTERNAL_ROOMS}
    with pytest.raises(AttributeError, match="module 'directrix' has no attribute 'nothing'"):
        directrix.nothing  # noqa: B018


@pytest.mark.parametrize(("room", "base"), [("metrics", "Metric"), ("moments.risks", "Risk")])
def test_a_room_lists_all_its_classes(room, base):
    package = importlib.import_module(f"directrix.{room}")
    files = (
        importlib.import_module(f"{package.__name__}.{p.name}")
        for p in iter_modules(package.__path__)
    )
    found = {
        name
        for module in files
        for name, member in vars(module).items()
        if isinstance(member, type) and issubclass(member, getattr(package, base))
        if member.__module__ == module.__name__
        if not (isabstract(member) or "Base class" in (member.__doc__ or ""))
    }
    assert {name for name in found if not name.startswith("_")} <= set(package.__all__)


def loaded(modules):
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(done.stdout.split())


def test_core_dependencies_are_exactly_these():
    required = importlib.metadata.requires("directrix") or []
    core = {re.split(r"[^\w-]", line)[0] for line in required if "extra ==" not in line}
    assert core == CORE


def test_version_matches_the_metadata():
    assert importlib.metadata.version("directrix") == directrix.__version__


def test_types_ship_with_the_package():
    assert (SOURCE / "py.typed").is_file()


def test_at_most_twelve_public_names():
    assert len(directrix.__all__) == len(set(directrix.__all__)) <= 12


@pytest.mark.parametrize("name", sorted(set(directrix.__all__) - {"__version__"}))
def test_public_name_is_documented(name):
    assert getattr(directrix, name).__doc__


@pytest.mark.parametrize("noun", ["common", "core", "helpers", "misc", "utils"])
def test_every_module_is_named_after_a_noun_of_the_design(noun):
    assert not [path for path in SOURCE.rglob("*") if path.stem.strip("_") == noun]


def test_files_stay_short():
    lengths = {
        str(path.relative_to(SOURCE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in SOURCE.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > 700} == {}


# ── the tree and the layers that CONTRIBUTING.md draws ────────────────────────────────────────────


def block(heading):
    """Return the lines of the first code block below a heading of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split(f"## {heading}\n")[1].split("```\n")[1].splitlines()


def drawn():
    """Return the paths of the tree, folders with a slash at the end."""
    paths, parents = [], []
    for line in block("Folders"):
        depth = (len(line) - len(line.lstrip())) // 2
        parents[depth:] = [line.split()[0]]
        paths.append("".join(parents))
    return paths


def test_every_path_of_the_tree_exists():
    missing = [path for path in drawn() if not (ROOT / path).exists()]
    assert missing == []
    assert [path for path in drawn() if (ROOT / path).is_dir() != path.endswith("/")] == []


def test_every_package_and_top_level_module_is_in_the_tree():
    packages = {path.parent for path in SOURCE.rglob("__init__.py")} - {SOURCE}
    expected = {f"src/directrix/{path.relative_to(SOURCE).as_posix()}/" for path in packages}
    expected |= {f"src/directrix/{path.name}" for path in SOURCE.glob("*.py")}
    assert {path for path in drawn() if path.startswith("src/directrix/")} - {
        "src/directrix/"
    } == expected


@pytest.mark.parametrize("folder", ["benchmarks", "docs"])
def test_every_folder_is_in_the_tree(folder):
    written = {"api", "gallery", "repository"}  # while the site is built
    folders = {
        f"{folder}/{path.name}/"
        for path in (ROOT / folder).iterdir()
        if path.name not in written
        and any(file.is_file() and file.suffix != ".pyc" for file in path.rglob("*"))
    }
    assert {path for path in drawn() if re.fullmatch(f"{folder}/[^/]+/", path)} == folders


def test_layers_are_those_of_import_linter():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    assert block("Direction of imports") == contract["layers"]


# ── where tests are ───────────────────────────────────────────────────────────────────────────────

#: Internal modules that are tested only through the modules that use them. This list may only
#: become shorter: give a module a test file of its own, and remove it here.
TESTED_THROUGH_OTHERS = {
    "_typing.py",
    "displays/style.py",
    "moments/from_sql.py",
}


@cache
def modules():
    """Return the modules of the package by name."""
    paths = (path for path in SOURCE.rglob("*.py") if not path.stem.startswith("__"))
    return {
        ".".join(("directrix", *path.relative_to(SOURCE).with_suffix("").parts)): path
        for path in paths
    }


def test_file_of(path):
    """Return the test file of the same name as a module."""
    folder = TESTS / path.parent.relative_to(SOURCE)
    return folder / f"test_{path.stem.lstrip('_')}.py"


test_file_of.__test__ = False


@cache
def imported_names(path):
    """Return what a file imports from the package: pairs of module and name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "directrix"
        for alias in node.names
    }


def defining_module(module, name):
    """Return the module that a name is imported from, behind the packages that pass it on."""
    known = modules()
    if f"{module}.{name}" in known:
        return f"{module}.{name}"
    if module in known:
        return module
    package = SOURCE.joinpath(*module.split(".")[1:], "__init__.py")
    passed_on = imported_names(package) if package.is_file() else set()
    sources = {inner for inner, passed in passed_on if passed == name}
    return defining_module(sources.pop(), name) if sources else module


@cache
def untested():
    """Return the modules without a test file of their own that no test imports."""
    reached = {
        defining_module(*names) for path in TESTS.rglob("*.py") for names in imported_names(path)
    }
    return {
        path.relative_to(SOURCE).as_posix()
        for name, path in modules().items()
        if not test_file_of(path).is_file() and name not in reached
    }


def test_every_module_is_tested_by_name_or_imported_by_a_test():
    assert untested() - TESTED_THROUGH_OTHERS == set()


def test_the_list_of_modules_tested_through_others_only_shrinks():
    assert TESTED_THROUGH_OTHERS - untested() == set()


@cache
def names_in(path):
    """Return every name that a file defines or imports, at any depth."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return names


def test_tests_import_names_that_exist():
    # pytest skips a test file that it cannot import, as examples of an optional library may be:
    # after a module is renamed its tests would no longer run, and nothing would fail.
    known = modules()
    packages = {
        ".".join(("directrix", *path.parent.relative_to(SOURCE).parts)): path
        for path in SOURCE.rglob("__init__.py")
    }
    broken = [
        (str(path.relative_to(TESTS)), module, name)
        for path in sorted(TESTS.rglob("*.py"))
        for module, name in sorted(imported_names(path))
        if f"{module}.{name}" not in {*known, *packages}
        and (
            module not in {*known, *packages} or name not in names_in({**known, **packages}[module])
        )
    ]
    assert broken == []


def test_every_command_is_run_by_a_test():
    app = pytest.importorskip("directrix.cli.app", reason="commands need the extra 'cli'").app
    text = "".join(path.read_text(encoding="utf-8") for path in (TESTS / "cli").rglob("*.py"))
    names = [command.name for command in app.registered_commands]
    assert names
    assert [name for name in names if f'"{name}"' not in text] == []
