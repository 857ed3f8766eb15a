import ast
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(GALLERY.rglob("*.py"))

#: Runs a script, and fails if it draws no figure, or one without a title.
RUN = """
import runpy, sys
import matplotlib
matplotlib.use("Agg")
runpy.run_path(sys.argv[1], run_name="__main__")
from matplotlib import pyplot as plt
figures = [plt.figure(number) for number in plt.get_fignums()]
untitled = [figure.number for figure in figures if not figure.get_suptitle()]
assert figures, "no figure"
assert not untitled, f"figures without a title: {untitled}"
"""


def name_of(path):
    return str(path.relative_to(GALLERY).with_suffix(""))


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_example_prints_and_draws_figures_with_titles(path):
    pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.every_case
@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_example_is_in_a_section_and_says_what_it_is_about(path):
    # sphinx-gallery needs a header in each folder, and does not look into folders of these.
    assert path.parents[1] == GALLERY
    assert (path.parent / "README.rst").is_file()
    tree = ast.parse(path.read_text("utf-8"))
    title, underline, blank, *text = ast.get_docstring(tree).split("\n")
    assert (underline, blank) == ("=" * len(title), "")
    assert text
    # The site, which runs the examples too, does not ask whether they print.
    assert "print" in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
