"""Discovery of the classes of a room: a new file is part of its room without being listed."""

from __future__ import annotations

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def concrete_classes(room: ModuleType, base: type) -> dict[str, Any]:
    """Return the public concrete subclasses of a base class that the files of a package define.

    ``room`` is the package; all its modules are imported.

    Returns
    -------
    dict of str to type
        In the order of the names.
    """
    classes = {}
    for file in iter_modules(room.__path__):
        module = import_module(f"{room.__name__}.{file.name}")
        for name, member in vars(module).items():
            defined_here = isinstance(member, type) and member.__module__ == module.__name__
            if defined_here and issubclass(member, base) and not isabstract(member):
                classes[name] = member
    return {name: classes[name] for name in sorted(classes) if not name.startswith("_")}
