"""Parameters with which BetaBernoulliClassifier is one of the paper's configurations."""

from __future__ import annotations

from typing import Any

#: Hasan and Pal 2015, section 5: plateaus, what is learned, and the search.
PAPER_SETTINGS: dict[str, dict[str, Any]] = {
    "BBLR1": {"plateaus": "weak", "learn": (), "solver": "sla"},
    "BBLR2": {"plateaus": "empirical", "learn": (), "solver": "sla"},
    "BBLR3": {"plateaus": "empirical", "learn": (), "solver": "slam"},
    "BBLR4": {"plateaus": "learned", "learn": ("gamma",), "solver": "slam"},
}


def paper_params(name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a configuration with further ones added.

    Raises ValueError for an unknown name, and for a parameter that the configuration fixes.
    """
    if name not in PAPER_SETTINGS:
        msg = f"the paper has the configurations {', '.join(PAPER_SETTINGS)}, not {name!r}"
        raise ValueError(msg)
    settings = PAPER_SETTINGS[name]
    for fixed in settings.keys() & params.keys():
        msg = (
            f"{name} has {fixed}={settings[fixed]!r}, not {params[fixed]!r}: for a variant of it, "
            "give all parameters to BetaBernoulliClassifier itself"
        )
        raise ValueError(msg)
    return settings | params
