"""Every warning and error class of the library, and where a warning points.

Classes carry what they are about as attributes, so that code can act on them; nothing parses their
messages.
"""

from __future__ import annotations

import sys

#: Packages whose frames a warning skips: ours, and those that call ours on the user's behalf.
_SKIPPED = frozenset({"directrix", "sklearn", "joblib"})


class FewRowsWarning(UserWarning):
    """There are too few rows for what is asked of them."""


class OneClassPredictedWarning(UserWarning):
    """The best threshold predicts the same class for every row."""


class NotBetterThanBaselineWarning(UserWarning):
    """No candidate was better than logistic regression on held-out rows."""


def find_stacklevel() -> int:
    """Return the ``stacklevel`` with which a warning points at the user's line.

    That is the innermost frame outside this library and the libraries that call it, however deep
    the call that warns is. Call it in the call of `warnings.warn` itself.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.currentframe is this, and may return None
    level = 1
    while frame.f_back is not None and _package_of(frame.f_globals) in _SKIPPED:
        frame = frame.f_back
        level += 1
    return level


def _package_of(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
