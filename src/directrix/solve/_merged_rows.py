"""Rows turned by their label, made ready for a search over hyperplanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


class MergedRows(NamedTuple):
    r"""Rows that occur once, in coordinates in which they are independent and of length one.

    Which side of a hyperplane a row is on depends neither on its length nor on the coordinates. So
    the rows :math:`z_i` are taken to :math:`z_i V S^{-1} = u_i` of their singular value
    decomposition, which drops dependent columns and is blind to units, and then to length one.

    Parameters
    ----------
    raw : array of shape (n, q)
        The rows as given, each once, none of them zero.
    weight : array of shape (n,)
        The weights of all equal rows, added.
    rows : array of shape (n, rank)
    back : array of shape (q, rank)
        Takes coefficients of ``rows`` to those of ``raw``.
    forth : array of shape (rank, q)
        Takes coefficients of ``raw`` to those of ``rows``.
    scale : array of shape (q,)
        Root mean square of each column of ``raw``.
    always_wrong : float
        Weight of rows of zeros: no hyperplane has them on its right side.
    """

    raw: FloatArray
    weight: FloatArray
    rows: FloatArray
    back: FloatArray
    forth: FloatArray
    scale: FloatArray
    always_wrong: float


def merge_rows(rows: AnyArray, weight: AnyArray | None) -> MergedRows:
    """Return the rows that count, each once."""
    raw = np.asarray(rows, dtype=np.float64)
    if raw.ndim != 2 or not np.isfinite(raw).all():
        msg = "rows must be a matrix of finite numbers, one row for each example"
        raise ValueError(msg)
    given = np.ones(len(raw)) if weight is None else np.asarray(weight, dtype=np.float64)
    if given.shape != (len(raw),) or not (np.isfinite(given) & (given >= 0)).all():
        msg = f"weight must be {len(raw)} finite numbers from zero up, one for each row"
        raise ValueError(msg)
    empty = ~raw.any(axis=1)
    always_wrong = float(given[empty].sum())
    kept = (given > 0) & ~empty
    raw, group = np.unique(raw[kept], axis=0, return_inverse=True)
    total: FloatArray = np.zeros(len(raw))
    np.add.at(total, group.ravel(), given[kept])
    scale = np.sqrt(np.square(raw).sum(axis=0) / max(len(raw), 1))
    scale[scale == 0] = 1.0
    # The columns go first to comparable units, or the rank would be one of units.
    left, singular, right = np.linalg.svd(raw / scale, full_matrices=False)
    rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
    left, singular, right = left[:, :rank], singular[:rank], right[:rank]
    length = np.linalg.norm(left, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return MergedRows(
        raw=raw,
        weight=total,
        # By columns: the search multiplies by the transpose.
        rows=np.asfortranarray(left / length),
        back=right.T / singular / scale[:, np.newaxis],
        forth=right * singular[:, np.newaxis] * scale,
        scale=scale,
        always_wrong=always_wrong,
    )
