"""Cards that are edited by hand, with the price of every edit on held-out rows.

Public names
------------
`CardEditor`
    A card that is edited in Python, or on a page in the browser.
`EditLog`
    The edits, as Python and as JSON.
`EditError`
    Raised for an edit that cannot be made.
"""

from directrix.editing.editor import CardEditor
from directrix.editing.log import EditLog
from directrix.exceptions import EditError

__all__ = ["CardEditor", "EditError", "EditLog"]


def __dir__() -> list[str]:
    return __all__
