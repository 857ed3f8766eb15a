"""Two commits against each other, to see whether anything has become slower.

``python -m benchmarks.speed.compare BASE [HEAD]`` checks both out into temporary worktrees (HEAD is
the working tree, if it is not given), runs each task in a process of its own, base and head taking
turns, and compares medians of CPU time. It fails only where head is slower by more than a third
**and** by more than 20 ms: short tasks double by chance, long ones creep by little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.harness.data import BESIDE

ROOT = Path(__file__).parents[2]
MOST_RATIO, MOST_SECONDS = 4 / 3, 0.02
_ROUNDS = 5
#: What is timed, after this: one statement each, which both commits must know.
_BEFORE = """
import json, warnings
import numpy as np
from time import process_time
from directrix import DirectClassifier, MomentClassifier, Moments
from directrix.linear import Frontier
from directrix.metrics import RecallAtFPR
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
y = rng.random(20_000) < 0.2
X = rng.standard_normal((20_000, 20))
X[:, :5] += 0.5 * y[:, None]
few = slice(0, 2000)
moments = Moments.of(X, y, sample=0)
"""
TASKS = {
    "moments": "Moments.of(X, y, sample=0)",
    "frontier": "Frontier(moments).best(RecallAtFPR(0.01))",
    "moment fit, auc": "MomentClassifier('auc').fit(X, y)",
    "moment fit, error": "MomentClassifier('error').fit(X, y)",
    "direct fit": "DirectClassifier('error').fit(X[few], y[few])",
}
_TIMED = """
taken = {{}}
for name, statement in {tasks!r}.items():
    code = compile(statement, name, "eval")
    eval(code)
    start = process_time()
    eval(code)
    taken[name] = process_time() - start
print(json.dumps(taken))
"""


def seconds(
    tree: Path, before: str = _BEFORE, tasks: Mapping[str, str] = TASKS
) -> dict[str, float]:
    """Return the CPU time of each task with the code of a source tree."""
    script = before + _TIMED.format(tasks=dict(tasks))
    path = f"{tree / 'src'}{os.pathsep}{tree}"
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    data = Path(os.environ.get("DIRECTRIX_DATA") or BESIDE)
    if data.is_dir():  # a worktree has none beside it
        environment["DIRECTRIX_DATA"] = str(data.resolve())
    # Python imports from the folder that it runs in first: the benchmarks of the tree, not ours.
    command = [sys.executable, "-c", script]
    done = subprocess.run(  # noqa: S603 - our own script
        command, env=environment, cwd=tree, check=True, stdout=subprocess.PIPE, text=True
    )
    taken: dict[str, float] = json.loads(done.stdout)
    return taken


def slower(base: list[float], head: list[float]) -> bool:
    """Tell whether head is slower beyond both limits."""
    before, after = median(base), median(head)
    return after > MOST_RATIO * before and after - before > MOST_SECONDS


def _worktree(commit: str, stack: ExitStack) -> Path:
    path = Path(stack.enter_context(TemporaryDirectory())) / "tree"
    git = ["git", "-C", str(ROOT), "worktree"]
    add = [*git, "add", "--detach", str(path), commit]
    subprocess.run(add, check=True, capture_output=True)  # noqa: S603 - a commit that the user names
    stack.callback(subprocess.run, [*git, "remove", "--force", str(path)], check=True)
    return path


def compare_tasks(base: Path, head: Path) -> list[str]:
    """Compare the tasks and print; return those that are slower."""
    rounds = [(seconds(base), seconds(head)) for _ in range(_ROUNDS)]
    worse = []
    for task in TASKS:
        before, after = ([pair[side][task] for pair in rounds] for side in (0, 1))
        verdict = "slower" if slower(before, after) else "ok"
        worse += [task] * (verdict == "slower")
        print(f"{task:<22} head / base {median(after) / median(before):6.2f}  {verdict}")
    return worse


def main() -> None:
    """Compare, print, and fail where something is slower."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="a commit")
    parser.add_argument("head", nargs="?", help="a commit; the working tree, if not given")
    args = parser.parse_args()
    with ExitStack() as stack:
        base = _worktree(args.base, stack)
        head = ROOT if args.head is None else _worktree(args.head, stack)
        worse = compare_tasks(base, head)
    if worse:
        msg = f"slower than {args.base}: {', '.join(worse)}"
        raise SystemExit(msg)


if __name__ == "__main__":
    main()
