"""scikit-learn's callbacks, from the version that has them; before it, nothing happens."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Fits", "with_callbacks"]


class Fits:
    """Tells the callbacks of an estimator about its fit, a task with one subtask a candidate.

    Parameters
    ----------
    estimator : estimator
    X, y : as given to its ``fit``
    """

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._about = {"estimator": estimator, "X": X, "y": y}
        begin = getattr(estimator, "_init_callback_context", None)
        # How many there will be is not known: a ranking adds candidates to those of the sweep.
        self._context = None if begin is None else begin(max_subtasks=None)
        if self._context is not None:
            self._context.call_on_fit_task_begin(**self._about)

    def report_candidate(self, done: int, planned: int) -> bool:  # noqa: ARG002
        """Report that a candidate was fitted; return whether a callback asks to stop."""
        if self._context is None:
            return False
        part = self._context.subcontext(task_name="candidate")
        part.call_on_fit_task_begin(**self._about)
        return bool(part.call_on_fit_task_end(**self._about))

    def end(self) -> None:
        """Tell that the fit has ended."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._about)
