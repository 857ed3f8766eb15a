"""ReleasedMoments: what sites may show of the moments of columns with known ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import NotReleasableError
from directrix.files.layout import Array, Arrays, Entry, Layout, classes_of, is_text, require
from directrix.moments.class_moments import ClassMoments
from directrix.moments.moments import Moments
from directrix.moments.release import (
    MIN_CELL,
    PARTS,
    LedgerNumbers,
    Part,
    Release,
    checked_min_cell,
    joined_parts,
    note_release,
    require_names,
    rows_to_release,
)

#: Values may leave their range by so much, which is rounding.
_ROUNDING = 1e-9
#: Least eigenvalue of a correlation matrix.
_LEAST_EIGENVALUE = 1e-2


@dataclass(frozen=True, eq=False)
class MomentsPart(Part):
    """What one site releases of its moments for one period.

    Features are scaled to [0, 1] by their ranges. ``sums``, of shape (classes, d), and
    ``products``, of shape (classes, d (d + 1) / 2), are the sums of values and of products of two
    values over the rows of a class, rounded down to multiples of the least number of rows.
    """

    sums: IntArray
    products: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedMoments(Release):
    r"""Moments that sites have released, under disclosure control.

    Made by ``Moments.release``. Of each class there are the sums of the values of each feature,
    scaled to [0, 1] by ranges that all sites know, and of the products of two features, rounded
    down to multiples of `min_cell`: what fewer rows than that add up to is not told from nothing.
    A ``MomentClassifier`` takes a release in ``fit_summary`` as it takes moments.

    Parameters
    ----------
    parts : tuple of MomentsPart
        What each site released, sorted by site and period.
    names : tuple of str
        Names of the features.
    ranges : array of shape (d, 2)
        Lowest and highest value of each feature, agreed on by all sites.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Moments
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.3
    >>> X = np.clip(rng.normal(40 + 10 * y[:, None], 10, (1000, 2)), 0, 100)
    >>> moments = Moments.of(X, y, feature_names=["age", "weight"])
    >>> ranges = {"age": (0, 100), "weight": (0, 100)}
    >>> release = moments.release(min_cell=10, ranges=ranges, site="north", period="2026")
    >>> release
    <ReleasedMoments: 1 part of 1 site; about 999 rows, classes {False: 724, True: 274};
     2 features; no group below 10 rows>
    >>> release.estimate().positive.mean.round().tolist()
    [49.0, 49.0]
    """

    names: tuple[str, ...]
    ranges: FloatArray

    noun: ClassVar[str] = "features"

    @classmethod
    def of(
        cls,
        moments: Moments,
        *,
        min_cell: int,
        ranges: Mapping[str, tuple[float, float]],
        site: str,
        period: str = "",
        ledger: str | PathLike[str] | None = None,
    ) -> ReleasedMoments:
        """Release moments; see ``Moments.release``."""
        require_names(site, period)
        least = checked_min_cell(min_cell)
        if least < 2:
            problem = "moments without control are moments: share them as they are, and add them"
            raise NotReleasableError(problem)
        whole = rows_to_release(moments, least)
        names = whole.feature_names or tuple(f"x{k}" for k in range(whole.n_features))
        limits = _checked_ranges(names, ranges)
        present = [k for k, group in enumerate(whole.parts[0]) if group.count]
        exact, sums, products = [], [], []
        for k in present:
            made = _scaled_sums(whole.parts[0][k], limits, names)
            exact.append(made[0].tolist())
            sums.append(np.floor(made[0] / least).astype(np.int64) * least)
            products.append(np.floor(made[1] / least).astype(np.int64) * least)
        counts = [whole.parts[0][k].count for k in present]
        rows = np.array([count // least * least + (least - 1) / 2.0 for count in counts])
        control = {"kind": MIN_CELL, "min_cell": least}
        arrays = rows, np.array(sums), np.array(products)
        part = MomentsPart(site, period, control, whole.classes[present], *arrays)
        if ledger is not None:
            exact_sums = [[n, *each] for n, each in zip(counts, exact, strict=True)]
            what = [list(names), limits.tolist()]
            noted = LedgerNumbers.of(what, part.classes, exact_sums)
            note_release(part, ledger, noted, 2 * least)
        return cls((part,), names, limits)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ReleasedMoments:
        """Read a file written by `save`; raise `MomentsFileError` for any other file."""
        return cls(**_LAYOUT.read(path)[2])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to a safetensors file, replaced atomically."""
        classes = self.classes

        def stacked(name: str) -> AnyArray:
            return np.concatenate([getattr(part, name) for part in self.parts])

        arrays = {"ranges": self.ranges} | {
            name: stacked(name) for name in ("rows", "sums", "products")
        }
        parts = [
            {
                "site": part.site,
                "period": part.period,
                "control": dict(part.control),
                "classes": np.flatnonzero(np.isin(classes, part.classes)).tolist(),
            }
            for part in self.parts
        ]
        _LAYOUT.write(path, classes, {"parts": parts, "names": list(self.names)}, arrays)

    def estimate(self) -> Moments:
        """Return moments that a fit uses in place of those of all rows.

        What rounding took off is added in the mean, and correlations are shrunk by the error that
        it has left. Differences of estimates say nothing about rows.
        """
        classes = self.classes
        groups = tuple(self._group(label) for label in classes.tolist())
        return Moments(len(self.names), classes, (groups,), self.names)

    def _group(self, label: Any) -> ClassMoments:
        d, total, error = len(self.names), 0.0, 0.0
        sums, products = np.zeros(d), np.zeros((d, d))
        upper = np.triu_indices(d)
        for part in self.parts:
            for k in np.flatnonzero(part.classes == label).tolist():
                step = float(part.control["min_cell"])
                total += float(part.rows[k])
                sums += part.sums[k] + step / 2.0
                products[upper] += part.products[k] + step / 2.0
                error += step**2 / 12.0
        mean = np.clip(sums / total, 0.0, 1.0)
        products = np.triu(products) + np.triu(products, 1).T
        covariance = products / total - np.outer(mean, mean)
        least = np.sqrt(error) / total  # a variance within the error of rounding may be anything
        deviation = np.sqrt(np.maximum(covariance.diagonal(), least))
        correlation = covariance / np.outer(deviation, deviation)
        noise = error / total**2 / np.outer(deviation, deviation) ** 2
        square = np.where(correlation == 0, 1.0, correlation**2)
        correlation = correlation * np.maximum(0.0, 1.0 - noise / square)
        np.fill_diagonal(correlation, 1.0)
        values, vectors = np.linalg.eigh(correlation)
        correlation = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
        scale = deviation / np.sqrt(correlation.diagonal())
        low, width = self.ranges[:, 0], self.ranges[:, 1] - self.ranges[:, 0]
        scatter = total * correlation * np.outer(scale * width, scale * width)
        scatter = (scatter + scatter.T) / 2.0
        mean = low + width * mean
        return ClassMoments(round(total), total, total, mean, scatter, np.zeros(d))

    def _require_same_kind(self, other: ReleasedMoments) -> None:
        if self.names != other.names or not np.array_equal(self.ranges, other.ranges):
            msg = "the releases are of other features, or of other ranges of them"
            raise ValueError(msg)

    def _n_columns(self) -> int:
        return len(self.names)


def _checked_ranges(names: Sequence[str], ranges: Mapping[str, tuple[float, float]]) -> FloatArray:
    missing = [name for name in names if name not in ranges]
    if missing:
        problem = (
            f"column {missing[0]!r} has no range, without which a single row could set its mean: "
            f"give ranges={{{missing[0]!r}: (lowest, highest)}} that all sites agree on, or select "
            "other columns"
        )
        raise NotReleasableError(problem)
    limits = np.array([ranges[name] for name in names], dtype=np.float64).reshape(len(names), 2)
    if not (np.isfinite(limits).all() and (limits[:, 0] < limits[:, 1]).all()):
        msg = f"ranges must be pairs of a lower and a higher number, not {dict(ranges)}"
        raise ValueError(msg)
    return limits


def _scaled_sums(
    group: ClassMoments, limits: FloatArray, names: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return sums of values in [0, 1] and of their products; refuse what shows others."""
    low, width = limits[:, 0], limits[:, 1] - limits[:, 0]
    group = group.with_matrix()
    sums = group.weight * (group.mean - low) / width
    products = np.asarray(group.scatter) / np.outer(width, width)
    products = products + np.outer(sums, sums) / group.weight
    # Squares of values in [0, 1] are at most the values.
    slack = _ROUNDING * group.weight
    wrong = (sums < -slack) | (sums > group.weight + slack) | (products.diagonal() > sums + slack)
    if wrong.any():
        name = names[int(wrong.argmax())]
        problem = (
            f"column {name!r} has values outside its range: clip them, or agree on a wider one"
        )
        raise NotReleasableError(problem)
    return np.maximum(sums, 0.0), np.maximum(products, 0.0)[np.triu_indices(len(sums))]


# ── The file of a release ─────────────────────────────────────────────────────────────────────────


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the constructor arguments of `ReleasedMoments`, after checking all of them."""
    names, classes = header["names"], classes_of(header)
    d, parts, start = len(names), [], 0
    fits = arrays["ranges"].shape == (d, 2) and arrays["sums"].shape[1] == d
    require(fits and arrays["products"].shape[1] == d * (d + 1) // 2, "its arrays are of others")
    require((arrays["ranges"][:, 0] < arrays["ranges"][:, 1]).all(), "a range is empty")
    for named in header["parts"]:
        index, control = named["classes"], named["control"]
        valid = sorted(set(index)) == index and max(index, default=0) < max(len(classes), 1)
        require(valid, "a part names a class that there is not")
        own, least = slice(start, start + len(index)), control.get("min_cell")
        require(control["kind"] == MIN_CELL, "its control has no least number of rows")
        numbers = [arrays[name][own].copy() for name in ("rows", "sums", "products")]
        require(len(numbers[0]) == len(index), "a part has too few arrays")
        kept = all((each >= 0).all() for each in numbers)
        kept = kept and not any((each % least).any() for each in numbers[1:])
        require(kept, "its numbers are not rounded as its control says")
        parts.append(
            MomentsPart(*(named["site"], named["period"], control, classes[index]), *numbers)
        )
        start = own.stop
    require(start == len(arrays["rows"]), "it has arrays of no part")
    joined = joined_parts(parts)
    require(len(joined) == len(parts), "a part occurs twice")
    return {"parts": joined, "names": tuple(names), "ranges": arrays["ranges"].copy()}


_LAYOUT = Layout(
    format="directrix.released_moments",
    noun="release of moments",
    entries={
        "parts": PARTS,
        "names": Entry(
            lambda names: isinstance(names, list) and all(map(is_text, names)),
            "its features have no names",
        ),
    },
    arrays={
        "ranges": Array("float64", ("features", "two")),
        "rows": Array("float64", ("groups",)),
        "sums": Array("int64", ("groups", "features")),
        "products": Array("int64", ("groups", "triangle")),
    },
    laws=_fields,
)
