"""Cost of starting: the command line and imports, relative to what they cannot do without.

Every start is a process of its own, and its CPU time is that of the whole process. Bytecode is
cached first, as it is after an installation. Run ``python -m benchmarks.speed.start``; ``--quick``
measures less and tracks nothing.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from typing import NamedTuple

from benchmarks.speed.ratio import Figure, conclude, is_quick, ratios

CALL = "import sys; from directrix.cli import main; sys.argv[0] = 'directrix'; main()"


class Start(NamedTuple):
    """A way to start, what it is compared with, and how many times as much it may cost."""

    name: str
    code: str
    arguments: tuple[str, ...]
    baseline: str
    limit: float


STARTS = (
    Start("import directrix", "import directrix", (), "pass", 3.0),
    Start("directrix --help", CALL, ("--help",), "import typer", 2.0),
    Start("directrix fit --help", CALL, ("fit", "--help"), "import typer", 3.5),
    Start(
        "from directrix import DirectClassifier",
        "from directrix import DirectClassifier",
        (),
        "import sklearn.linear_model",
        1.1,
    ),
)


def run(code: str, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    """Run a program in a process of its own until it ends."""
    command = [sys.executable, "-c", code, *arguments]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603


def ended_seconds() -> float:
    """Return the CPU time of all processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure, print, and track unless quick."""
    quick = is_quick(__doc__, "three rounds")
    rounds = 3 if quick else 15
    figures = []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for start in STARTS:
            program = partial(run, start.code, start.arguments, environment)
            measured = ratios(
                partial(run, start.baseline, (), environment),
                {start.name: program},
                rounds=rounds,
                clock=ended_seconds,
            )
            figures.append(
                Figure(f"{start.name} / {start.baseline}", measured[start.name], start.limit)
            )
            before = ended_seconds()
            program()
            print(f"{start.name}: {ended_seconds() - before:.2f} s of CPU time")
    conclude(figures, __file__, quick=quick)


if __name__ == "__main__":
    main()
