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
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.speed.ratio import Figure, run

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


def seconds(code: str, arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Return the CPU time of a program that runs in a process of its own."""
    command = [sys.executable, "-c", code, *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio_of(start: Start, environment: dict[str, str], rounds: int) -> Figure:
    """Return the ratio of the least CPU times of a start and its baseline, which take turns.

    A process cannot start faster than that, while whatever else the machine does makes it slower:
    two starts of the same program differ by a tenth.
    """
    ours, theirs = [], []
    for number in range(rounds + 1):
        measured = seconds(start.code, start.arguments, environment)
        base = seconds(start.baseline, (), environment)
        if number:  # the first round writes the bytecode
            ours.append(measured)
            theirs.append(base)
    print(f"{start.name}: {min(ours):.2f} s of CPU time")
    return Figure(f"{start.name} / {start.baseline}", min(ours) / min(theirs), start.limit)


def measure(quick: bool) -> Iterator[Figure]:  # noqa: FBT001 - as `run` calls it
    """Yield the figures of all starts."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        yield from (ratio_of(start, environment, 3 if quick else 20) for start in STARTS)


if __name__ == "__main__":
    run(__file__, __doc__, measure, "three rounds")
