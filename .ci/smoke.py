"""Tries the installed package as a user has it: python .ci/smoke.py CHECKOUT, from anywhere.

The package must come from site-packages, not from the checkout. The lines of README.md give what
they show, and the model files of all earlier versions are read.
"""

import doctest
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import directrix
from directrix.export import load


def main() -> None:
    """Try, and fail where something is not as it should be."""
    checkout = Path(sys.argv[1]).resolve()
    os.chdir(tempfile.mkdtemp())  # README.md writes files
    where = Path(directrix.__file__).resolve()
    if "site-packages" not in where.parts or checkout in where.parents:
        sys.exit(f"directrix is not the installed one: {where}")
    if directrix.__version__ != version("directrix"):
        sys.exit(f"version {directrix.__version__}, and {version('directrix')} in the metadata")
    files = sorted((checkout / "tests" / "export" / "golden").glob("*.model"))
    for file in files:
        load(file)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    readme = str(checkout / "README.md")
    result = doctest.testfile(readme, module_relative=False, optionflags=options, encoding="utf-8")
    if result.failed or not result.attempted or not files:
        sys.exit("the lines of README.md do not give what they show")
    print(f"{where.parent} {version('directrix')}: {len(files)} model files, {result}")


if __name__ == "__main__":
    main()
