import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import directrix

SOURCE = Path(directrix.__file__).parent
CORE = {"numpy", "scipy", "scikit-learn", "safetensors"}
OPTIONAL = {
    "dask",
    "distributed",
    "duckdb",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "pandas",
    "polars",
    "pyarrow",
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
    assert "scipy.signal" not in loaded("directrix.losses")


def test_every_public_name_can_be_asked_for_first():
    assert set(directrix.__all__) <= set(dir(directrix))
    code = "import directrix; [getattr(directrix, name) for name in directrix.__all__]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_room_is_an_attribute_of_the_package():
    rooms = {path.stem for path in SOURCE.iterdir() if not path.stem.startswith("_")}
    needs_a_library = {"cli", "integrations", "py"}  # py.typed is no room
    code = f"import directrix; [getattr(directrix, name) for name in {rooms - needs_a_library}]"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="module 'directrix' has no attribute 'nothing'"):
        directrix.nothing  # noqa: B018


def loaded(modules):
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(done.stdout.split())


def test_core_dependencies_are_exactly_four():
    required = importlib.metadata.requires("directrix") or []
    core = {re.split(r"[^\w-]", line)[0] for line in required if "extra ==" not in line}
    assert core == CORE


def test_version_matches_the_metadata():
    assert importlib.metadata.version("directrix") == directrix.__version__


def test_types_ship_with_the_package():
    assert (SOURCE / "py.typed").is_file()


def test_at_most_ten_public_names():
    assert len(directrix.__all__) == len(set(directrix.__all__)) <= 10


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
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}
