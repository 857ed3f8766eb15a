"""The numbers of a fitted classifier by the names of the fields that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from directrix._typing import FloatArray
from directrix.metrics import Metric

#: What a classifier says of its one fit.
RECORDS = ("operating_point_", "report_", "calibration_", "card_")


def numbers_of(value: Any, name: str = "") -> dict[str, FloatArray]:
    """Return the numbers of a classifier's records, or of one record, by path.

    A path joins names of fields by dots. Numbers at the same path, such as those of each tried
    candidate, are one array. Metrics and texts are left out; ``report_.chosen`` is an index.
    """
    if name:
        found = list(_walk(value, name))
    else:
        records = {record: getattr(value, record, None) for record in RECORDS}
        found = [pair for record, part in records.items() for pair in _walk(part, record)]
        report = records["report_"]
        if report is not None:
            names = [candidate.name for candidate in report.tried]
            place = names.index(report.chosen) if report.chosen in names else -1
            found.append(("report_.chosen", np.array([float(place)])))
    arrays: dict[str, list[FloatArray]] = {}
    for path, part in found:
        arrays.setdefault(path, []).append(part)
    return {path: np.concatenate(parts) for path, parts in arrays.items()}


def _walk(value: Any, path: str) -> Iterator[tuple[str, FloatArray]]:
    """Yield the numbers inside a value, each with its path."""
    if isinstance(value, Metric | str | bytes) or value is None:
        return
    if is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: getattr(value, field.name, None) for field in fields(value)}
    elif hasattr(value, "_fields"):
        inner = value._asdict()
    elif isinstance(value, Mapping):
        inner = {str(key): part for key, part in value.items()}
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _walk(part, path)
        return
    else:
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            yield path, array.astype(float).ravel()
        return
    for name, part in inner.items():
        yield from _walk(part, f"{path}.{name}")
