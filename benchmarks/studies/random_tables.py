"""Random tables with columns of every kind, missing values, and values that are hard to bin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

#: Names that a careless query, file or label would take for something else.
NAMES = (
    *("income", 'a "quoted" name', "it's", "x; DROP TABLE t", "select", "a\nb", "  ", "日本語"),
    *("a: b", "a > 1", "a > 1 (2)", "%s", "{}", "é", "e\u0301", "-- x", "/* x", "`b`", "\\"),
)
TEXTS = (
    *("", " ", "yes", "Yes", "yes ", "no", "it's", '"', "\\", "\\'", "a\nb", "\t", "é", "e\u0301"),
    *(
        "日本",
        "😀",
        "NULL",
        "null",
        "nan",
        "missing",
        "other",
        "0",
        "1.0",
        "x" * 300,
        "%",
        "--",
        "\0",
    ),
)
_EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e300, 2.0**53),
    *(1.7976931348623157e308, -1.7976931348623157e308, float("inf"), -float("inf"), 0.1, 1e12),
)
_DAY = 86_400 * 10**6


def random_table(
    rng: np.random.Generator, n_rows: int, makers: dict[str, str] | None = None
) -> tuple[pa.Table, dict[str, str]]:
    """Return an Arrow table, and how each of its columns was made.

    Parameters
    ----------
    rng : Generator
    n_rows : int
    makers : dict of str, optional
        How columns are to be made, as returned by an earlier call: the same columns with other
        rows. By default one to eight columns with hostile names.
    """
    if makers is None:
        names = rng.choice(NAMES, size=rng.integers(1, 9), replace=False).tolist()
        makers = {name: str(rng.choice(list(_MAKERS))) for name in names}
    return pa.table({name: _column(rng, n_rows, maker) for name, maker in makers.items()}), makers


def _column(rng: np.random.Generator, n: int, maker: str) -> pa.Array:
    """Return a column with a random share of missing values."""
    column = _MAKERS[maker](rng, n)
    share = rng.choice([0.0, 0.0, 0.1, 0.6, 1.0], p=[0.3, 0.2, 0.3, 0.15, 0.05])
    missing = pa.array(rng.random(n) < share)
    return pa.compute.if_else(missing, pa.scalar(None, column.type), column)


def _normal(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.normal(size=n))


def _far(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(1e12 + rng.normal(size=n))


def _mostly_zero(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)))


def _edges(rng: np.random.Generator, n: int) -> pa.Array:
    values = rng.choice([*_EDGES, *rng.normal(size=5)], size=n)
    return pa.array(np.where(rng.random(n) < 0.1, np.nan, values))


def _single(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.normal(size=n).astype(np.float32))


def _small_integers(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.integers(-3, 4, size=n).astype(np.int8))


def _large_integers(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.integers(-(2**63), 2**63 - 1, size=n))


def _close_integers(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(2**53 + rng.integers(0, 5, size=n))


def _booleans(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.random(n) < rng.choice([0.02, 0.5]))


def _texts(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.choice(np.array(TEXTS, dtype=object), size=n).tolist(), pa.string())


def _many_texts(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array([f"town {k}" for k in rng.integers(0, 50, size=n)], pa.large_string())


def _categories(rng: np.random.Generator, n: int) -> pa.Array:
    return _texts(rng, n).dictionary_encode()


def _dates(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.integers(-40_000, 60_000, size=n).astype("M8[D]"))


def _seconds(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.integers(-(10**9), 2 * 10**9, size=n).astype("M8[s]"))


def _moments(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array(rng.integers(-10_000 * _DAY, 30_000 * _DAY, size=n).astype("M8[us]"))


def _close_moments(rng: np.random.Generator, n: int) -> pa.Array:
    return pa.array((19_000 * _DAY + rng.integers(0, 10, size=n)).astype("M8[us]"))


def _zoned(rng: np.random.Generator, n: int) -> pa.Array:
    zone = str(rng.choice(["UTC", "Asia/Kolkata", "America/New_York"]))
    return _moments(rng, n).cast(pa.timestamp("us", zone))


_MAKERS: dict[str, Callable[[np.random.Generator, int], pa.Array]] = {
    make.__name__.lstrip("_"): make
    for make in (
        *(_normal, _far, _mostly_zero, _edges, _single, _small_integers, _large_integers),
        *(_close_integers, _booleans, _texts, _many_texts, _categories, _dates, _seconds),
        *(_moments, _close_moments, _zoned),
    )
}
