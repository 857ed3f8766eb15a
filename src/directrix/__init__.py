"""Linear classifiers and scorecards for the metric that you report, from one pass over the rows.

A linear classifier meets a metric only through its scores. `summarize` reads the rows once, and
`MomentClassifier` learns from the summary; `directrix.papers` has the methods of five papers.
`ScorecardClassifier` is the same on bins; `OperatingPointClassifier` keeps limits around any model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from directrix.engines import summarize
    from directrix.estimators import (
        DirectClassifier,
        MomentClassifier,
        OperatingPointClassifier,
        ScorecardClassifier,
        diagnose,
    )
    from directrix.linear import Frontier
    from directrix.moments import Moments
    from directrix.tables import Binner

__version__ = "0.3.0"

__all__ = [
    "Binner",
    "DirectClassifier",
    "Frontier",
    "MomentClassifier",
    "Moments",
    "OperatingPointClassifier",
    "ScorecardClassifier",
    "__version__",
    "diagnose",
    "summarize",
]

_MODULES = {
    **dict.fromkeys(("DirectClassifier", "MomentClassifier", "diagnose"), "estimators"),
    **dict.fromkeys(("OperatingPointClassifier", "ScorecardClassifier"), "estimators"),
    "Binner": "tables",
    "Frontier": "linear",
    "Moments": "moments",
    "summarize": "engines",
}
_ROOMS = (
    *("datasets", "displays", "documents", "editing", "engines", "estimators", "exceptions"),
    *("export", "linear", "metrics", "moments", "monitoring", "papers", "tables"),
)
#: Rooms without public names, which tab completion leaves out.
_INTERNAL_ROOMS = ("cards", "files", "fit", "rows")

if not TYPE_CHECKING:  # or every name would be there to a type checker

    def __getattr__(name: str) -> Any:
        """Import a public name or a room when it is first asked for.

        scikit-learn and SciPy take seconds to import. The command line is to be running by then:
        it could not answer Ctrl-C before.
        """
        if name in _MODULES:
            value = getattr(import_module(f"directrix.{_MODULES[name]}"), name)
        elif name in (*_ROOMS, *_INTERNAL_ROOMS):
            value = import_module(f"directrix.{name}")
        else:
            msg = f"module 'directrix' has no attribute {name!r}"
            raise AttributeError(msg, name=name, obj=None)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
