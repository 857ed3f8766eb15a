"""Progress of a fit, reported to scikit-learn's callbacks in versions that have them."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Empty stand-in for versions of scikit-learn without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "Fits", "with_callbacks"]


class Fits:
    """Reports a fit to the callbacks of its estimator: one task, with a subtask per candidate.

    Parameters
    ----------
    estimator : estimator
    X, y : as given to its ``fit``
    """

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._arguments = {"estimator": estimator, "X": X, "y": y}
        begin = getattr(estimator, "_init_callback_context", None)
        # The number of candidates is not known in advance: a ranking adds to those of the sweep.
        self._context = None if begin is None else begin(max_subtasks=None)
        if self._context is not None:
            self._context.call_on_fit_task_begin(**self._arguments)

    def report_candidate(self, done: int, planned: int) -> bool:  # noqa: ARG002
        """Report that a candidate was fitted; return whether a callback asks to stop."""
        if self._context is None:
            return False
        part = self._context.subcontext(task_name="candidate")
        part.call_on_fit_task_begin(**self._arguments)
        return bool(part.call_on_fit_task_end(**self._arguments))

    def end(self) -> None:
        """Report that the fit has ended."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._arguments)
