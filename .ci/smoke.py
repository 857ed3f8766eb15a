"""Tries the installed package as a user has it: python .ci/smoke.py CHECKOUT, from anywhere.

The package must come from site-packages, not from the checkout. The lines of README.md run and
print something, and a model is saved and read.
"""

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import directrix
from directrix.export import load, save


def main() -> None:
    """Try, and fail where something is not as it should be."""
    checkout = Path(sys.argv[1]).resolve()
    os.chdir(tempfile.mkdtemp())
    where = Path(directrix.__file__).resolve()
    if "site-packages" not in where.parts or checkout in where.parents:
        sys.exit(f"directrix is not the installed one: {where}")
    if directrix.__version__ != version("directrix"):
        sys.exit(f"version {directrix.__version__}, and {version('directrix')} in the metadata")
    model = directrix.MomentClassifier().fit([[0.0], [1.0], [2.0], [3.0]] * 25, [0, 0, 1, 1] * 25)
    save(model, "some.model")
    if load("some.model").predict([[0.0], [3.0]]).tolist() != [0, 1]:
        sys.exit("a model that was saved is not the one that is read")
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    printed, names = io.StringIO(), {}  # a block may use the names of those above it
    with contextlib.redirect_stdout(printed):
        for block in blocks:
            examples = doctest.DocTestParser().get_examples(block)
            code = "".join(example.source for example in examples) or block
            exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own page
    if "Expected on new rows" not in printed.getvalue():
        sys.exit("the lines of README.md do not print the report of a card")
    print(f"{where.parent} {version('directrix')}: a model file, README.md")


if __name__ == "__main__":
    main()
