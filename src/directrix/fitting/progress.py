"""How a fit runs: one BLAS thread, a clock, lines on stdout, and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from math import inf
from threading import Lock, local
from time import monotonic
from typing import Any

import scipy.linalg  # noqa: F401 - loads the BLAS of SciPy, often another one than NumPy's
from threadpoolctl import ThreadpoolController

# ── One BLAS thread while a fit runs: its many small products cost more with several threads ──────


#: Methods of a classifier that search or solve.
FITS = ("fit", "fit_each", "fit_summary", "fit_source", "partial_fit")


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


def limit_fits(cls: type) -> None:
    """Make the fits that a class defines run with a single BLAS thread.

    Methods that ``cls`` inherits are left to the class that defines them.
    """
    for name in FITS:
        method = vars(cls).get(name)
        if method is not None:
            setattr(cls, name, _limited(method))


def _limited(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def limited(*arguments: Any, **options: Any) -> Any:
        with single_blas_thread:
            return method(*arguments, **options)

    return limited


def _set_threads(numbers: Iterable[tuple[Any, int]]) -> None:
    """Set the numbers of threads of libraries."""
    for library, number in numbers:
        library.set_num_threads(number)
    # From version 3.8 on, threadpoolctl ignores all threads but the first that sets a number, until
    # that one leaves a context: the fit that restores the numbers may run in another thread.
    with _blas().limit():
        pass


def _is_set_by_thread(library: Any) -> bool:
    """Return whether a library may have a number of threads for each thread that calls it."""
    return getattr(library, "threading_layer", None) == "openmp"


@cache
def _blas() -> Any:
    """Return the BLAS libraries of the process; to look for them takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


# ── Clock of a fit with a time budget ─────────────────────────────────────────────────────────────

#: Share of the budget that is kept for the end of the fit: at least, and at most.
_LEAST_KEPT, _MOST_KEPT = 0.1, 0.4


class Clock:
    """Tells whether a search has time left within a budget of wall time.

    What comes after the search (the final fit, its threshold, what to expect on new rows) takes
    about as long as the first candidate, logistic regression on all folds. So does, on a busy
    machine, anything else that cannot be interrupted: that time is measured, and kept for the end.

    ``seconds`` is the time budget; without one the time is never up. ``progress`` is called with
    (n_done, n_planned) after each candidate; a true result stops the search. ``start`` is the time
    at which the budget began, by `time.monotonic`; now by default.
    """

    def __init__(
        self,
        seconds: float | None = None,
        progress: Callable[[int, int], bool | None] | None = None,
        start: float | None = None,
    ) -> None:
        self._seconds, self._progress = seconds, progress
        self._start = monotonic() if start is None else start
        self._begun = monotonic()
        self._unit: float | None = None
        self._done = 0

    @property
    def has_budget(self) -> bool:
        """Whether there is a time budget."""
        return self._seconds is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the time for the search is up; infinity without a budget."""
        if self._seconds is None:
            return inf
        return self._start + self._seconds - self._kept(self._seconds) - monotonic()

    def part(self, index: int, of: int) -> Clock:
        """Return the clock of one of several fits that share the budget."""
        if self._seconds is None:
            return Clock(None, self._progress)
        share = self._seconds / of
        return Clock(share, self._progress, self._start + index * share)

    def __call__(self, done: int, planned: int) -> bool:
        """Report progress; return whether to stop."""
        if self._unit is None:
            self._unit = monotonic() - self._begun
        more, self._done = done > self._done, done
        asked = more and self._progress is not None and bool(self._progress(done, planned))
        return asked or self.is_over()

    def is_over(self, ahead: float = 0.0) -> bool:
        """Whether the time for the search is up.

        ``ahead`` is the uninterruptible work ahead, in units of the time that the first candidate
        took; with -1, the whole budget must be used up.
        """
        if self._seconds is None:
            return False
        return ahead * self._kept(self._seconds) > self.seconds_left

    def _kept(self, seconds: float) -> float:
        """Return how much of the budget is kept for the end of the fit."""
        most = _MOST_KEPT * seconds
        return min(max(_LEAST_KEPT * seconds, most if self._unit is None else self._unit), most)


# ── Lines on stdout, and scikit-learn's callbacks ─────────────────────────────────────────────────

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Empty stand-in for versions of scikit-learn without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]

#: At ``verbose=1`` candidates are counted after this share of those planned, or so many seconds.
_SHARE, _SECONDS = 0.25, 10.0


class Progress:
    """Reports a fit: lines on stdout by ``verbose``, and tasks to the callbacks of the estimator.

    Lines begin with the name of the estimator and the seconds since the fit began. Callbacks see
    one task, with a subtask per candidate.

    ``verbose`` of the estimator selects the lines: none (0), stages (1), or candidates as well (2).
    ``rows`` are as given to ``fit``, for the callbacks; without them, no callback is called.
    """

    def __init__(self, estimator: Any, rows: tuple[Any, Any] | None = None) -> None:
        self._name, self._verbose = type(estimator).__name__, int(estimator.verbose)
        self._start = self._shown_at = monotonic()
        self._shown = 0
        self._arguments: dict[str, Any] = {}
        begin = None if rows is None else getattr(estimator, "_init_callback_context", None)
        # The number of candidates is not known in advance: a ranking adds to those of the sweep.
        self._context = None if begin is None else begin(max_subtasks=None)
        if rows is not None and self._context is not None:
            self._arguments = {"estimator": estimator, "X": rows[0], "y": rows[1]}
            self._context.call_on_fit_task_begin(**self._arguments)

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return monotonic() - self._start

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

    def report_candidate(self, done: int, planned: int) -> bool:
        """Report that a candidate was fitted; return whether a callback asks to stop."""
        if self._verbose > 0:
            self._count(done, planned)
        if self._context is None:
            return False
        part = self._context.subcontext(task_name="candidate")
        part.call_on_fit_task_begin(**self._arguments)
        return bool(part.call_on_fit_task_end(**self._arguments))

    def end(self) -> None:
        """Report to the callbacks that the fit has ended."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._arguments)

    def _count(self, done: int, planned: int) -> None:
        """Print the number of candidates, at intervals unless each is to be printed."""
        if done < self._shown:  # another class has begun
            self._shown = 0
        enough = max(1.0, _SHARE * planned) if self._verbose == 1 else 1.0
        waited = monotonic() - self._shown_at > _SECONDS
        if done - self._shown >= enough or (waited and done > self._shown):
            self._print(f"{done} of {planned} candidates fitted to rows")
            self._shown, self._shown_at = done, monotonic()

    def _print(self, text: str) -> None:
        line = f"[{self._name}] {self.elapsed:.1f} s: {text}"
        print(line, flush=True)  # noqa: T201 - to stdout, as scikit-learn does
