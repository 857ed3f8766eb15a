"""How a fit runs: on a copy, with one BLAS thread, and with lines on stdout if it is verbose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from copy import copy
from functools import cache, wraps
from threading import Lock, local
from time import monotonic
from typing import Any

import scipy.linalg  # noqa: F401 - loads the BLAS of SciPy, often another one than NumPy's
from threadpoolctl import ThreadpoolController

# ── One BLAS thread while a fit runs: its many small products cost more with several threads ──────


#: Methods of a classifier that search or solve.
FITS = ("fit", "fit_each", "fit_summary", "fit_summary_each", "fit_source", "partial_fit")


class SingleBlasThread:
    """Context in which every BLAS of the process has one thread.

    Most libraries have one number of threads for the whole process. So fits that overlap in several
    threads share the limit: the first one sets it, and the last one to end restores what was set
    before. Those on OpenMP may have a number for each thread, which each fit sets and restores.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_threads = 0
        self._before: list[int] = []
        self._here = local()

    def __enter__(self) -> None:
        self._here.depth = getattr(self._here, "depth", 0) + 1
        if self._here.depth > 1:
            return
        libraries = _blas().lib_controllers
        with self._lock:
            if not self._n_threads:
                self._before = [library.num_threads for library in libraries]
            self._n_threads += 1
            _set_threads((library, 1) for library in libraries)

    def __exit__(self, *_: object) -> None:
        self._here.depth -= 1
        if self._here.depth:
            return
        with self._lock:
            self._n_threads -= 1
            _set_threads(
                (library, number)
                for library, number in zip(_blas().lib_controllers, self._before, strict=True)
                if not self._n_threads or _is_set_by_thread(library)
            )


#: The one of this process.
single_blas_thread = SingleBlasThread()


def _set_threads(numbers: Iterable[tuple[Any, int]]) -> None:
    for library, number in numbers:
        library.set_num_threads(number)
    # From version 3.8 on, threadpoolctl ignores all threads but the first that sets a number, until
    # that one leaves a context: the fit that restores the numbers may run in another thread.
    with _blas().limit():
        pass


def _is_set_by_thread(library: Any) -> bool:
    return getattr(library, "threading_layer", None) == "openmp"


@cache
def _blas() -> Any:
    """Return the BLAS libraries of the process; to look for them takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


# ── A fit runs on a copy, whose state replaces that of the estimator once all has succeeded ───────


#: State of fits whose name begins with an underscore: scikit-learn sets others before a fit.
PRIVATE_STATE = {
    *("_copies", "_findings", "_kernel", "_result", "_scale", "_seen"),
    *("_shift", "_sizes", "_units"),
}


class _Running(local):
    """The copies that the fits of this thread run on."""

    copies: tuple[Any, ...] = ()


_running = _Running()


def run_fits_on_copies(cls: type, limit: AbstractContextManager[Any]) -> None:
    """Make the fits that a class defines run on copies, and within ``limit``.

    Methods that ``cls`` inherits are left to the class that defines them.
    """
    for name in FITS:
        method = vars(cls).get(name)
        if method is not None:
            setattr(cls, name, _on_copy(method, name, limit))


def _on_copy(
    method: Callable[..., Any], name: str, limit: AbstractContextManager[Any]
) -> Callable[..., Any]:
    @wraps(method)
    def fit(estimator: Any, *arguments: Any, **options: Any) -> Any:
        outer = _running.copies
        if any(each is estimator for each in outer):  # a subclass calls the fit of its base class
            return method(estimator, *arguments, **options)
        made = copy(estimator) if name == "partial_fit" else _unfitted(estimator)
        _running.copies = (*outer, made)
        try:
            with limit:
                result = method(made, *arguments, **options)
        finally:
            _running.copies = outer
        if not name.endswith("_each"):  # which return other estimators
            estimator.__dict__ = made.__dict__
        return estimator if result is made else result

    return fit


def _unfitted(estimator: Any) -> Any:
    """Return a copy with the same parameters, and no state of a fit."""
    made = copy(estimator)
    made.__dict__ = {
        name: value
        for name, value in vars(estimator).items()
        if not (name.endswith("_") or name in PRIVATE_STATE)
    }
    return made


# ── Lines on stdout ───────────────────────────────────────────────────────────────────────────────

#: At ``verbose=1`` candidates are counted after this share of those planned, or so many seconds.
_SHARE, _SECONDS = 0.25, 10.0


class Progress:
    """Prints how far a fit is: lines with the estimator's name and the seconds since the fit began.

    ``verbose`` of the estimator selects the lines: none (0), stages (1), or candidates as well (2).
    """

    def __init__(self, estimator: Any) -> None:
        self._name, self._verbose = type(estimator).__name__, int(estimator.verbose)
        self._start = self._shown_at = monotonic()
        self._shown = 0

    def stage(self, text: str) -> None:
        """Print a line about a stage of the fit, unless silent."""
        if self._verbose > 0:
            self._print(text)

    def detail(self, text: str) -> None:
        """Print a line about one candidate, if the candidates are to be printed."""
        if self._verbose > 1:
            self._print(text)

    def report_rows(self, X: Any, n_folds: int | None, purpose: str) -> None:
        """Print how many rows, features and folds there are, and what the fit is for."""
        n_rows, n_features = X.shape
        folds = "no folds" if n_folds is None else f"{n_folds} folds"
        self.stage(f"{n_rows:,} rows, {n_features:,} features, {folds}; {purpose}")

    def report_choice(self, report: Any) -> None:
        """Print what was chosen, and what to expect of it."""
        among = f"chosen from {len(report.tried)} candidates: " if report.gap is not None else ""
        self.stage(f"{among}{report.chosen}; {report.metric.label} {report.expected_text}")

    def report_candidate(self, done: int, planned: int) -> None:
        """Print the number of fitted candidates, at intervals unless each is to be printed."""
        if self._verbose <= 0:
            return
        enough = max(1.0, _SHARE * planned) if self._verbose == 1 else 1.0
        waited = monotonic() - self._shown_at > _SECONDS
        if done - self._shown >= enough or (waited and done > self._shown):
            self._print(f"{done} of {planned} candidates fitted to rows")
            self._shown, self._shown_at = done, monotonic()

    def _print(self, text: str) -> None:
        line = f"[{self._name}] {monotonic() - self._start:.1f} s: {text}"
        print(line, flush=True)  # noqa: T201 - to stdout, as scikit-learn does
