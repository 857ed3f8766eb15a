"""Rows times their label, merged and normalised for a search over hyperplanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


class MergedRows(NamedTuple):
    r"""Distinct rows of length one, in coordinates with linearly independent columns.

    The side of a hyperplane that a row is on depends neither on its length nor on the coordinates.
    So the rows :math:`z_i` are mapped to :math:`z_i V S^{-1} = u_i` by their singular value
    decomposition, which drops dependent columns and does not depend on units, and then scaled to
    length one.

    Parameters
    ----------
    raw : array of shape (n, q)
        The distinct rows as given, without rows of zeros.
    weight : array of shape (n,)
        Total weight of all copies of each row.
    rows : array of shape (n, rank)
        The normalised rows.
    to_raw : array of shape (q, rank)
        Maps coefficients of ``rows`` to those of ``raw``.
    from_raw : array of shape (rank, q)
        Maps coefficients of ``raw`` to those of ``rows``.
    scale : array of shape (q,)
        Root mean square of each column of ``raw``.
    always_wrong : float
        Total weight of rows of zeros, which every hyperplane misclassifies.
    """

    raw: FloatArray
    weight: FloatArray
    rows: FloatArray
    to_raw: FloatArray
    from_raw: FloatArray
    scale: FloatArray
    always_wrong: float


def merge_rows(rows: AnyArray, weight: AnyArray | None) -> MergedRows:
    """Merge equal rows, drop those of weight zero, and normalise the rest.

    Parameters
    ----------
    rows : array of shape (n, q)
        Each row with its constant, times its label of −1 or 1.
    weight : array of shape (n,) or None
        Sample weights.
    """
    raw = np.asarray(rows, dtype=np.float64)
    if raw.ndim != 2 or not np.isfinite(raw).all():
        msg = "rows must be a matrix of finite numbers, one row for each example"
        raise ValueError(msg)
    sample_weight = np.ones(len(raw)) if weight is None else np.asarray(weight, dtype=np.float64)
    if (
        sample_weight.shape != (len(raw),)
        or not (np.isfinite(sample_weight) & (sample_weight >= 0)).all()
    ):
        msg = f"weight must be {len(raw)} finite numbers from zero up, one for each row"
        raise ValueError(msg)
    empty = ~raw.any(axis=1)
    always_wrong = float(sample_weight[empty].sum())
    kept = (sample_weight > 0) & ~empty
    raw, group = np.unique(raw[kept], axis=0, return_inverse=True)
    total: FloatArray = np.zeros(len(raw))
    np.add.at(total, group.ravel(), sample_weight[kept])
    scale = np.sqrt(np.square(raw).sum(axis=0) / max(len(raw), 1))
    scale[scale == 0] = 1.0
    # Columns are scaled to comparable units first, or the rank would depend on the units.
    left, singular, right = np.linalg.svd(raw / scale, full_matrices=False)
    rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
    left, singular, right = left[:, :rank], singular[:rank], right[:rank]
    length = np.linalg.norm(left, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return MergedRows(
        raw=raw,
        weight=total,
        # Column-major, because the search multiplies by the transpose.
        rows=np.asfortranarray(left / length),
        to_raw=right.T / singular / scale[:, np.newaxis],
        from_raw=right * singular[:, np.newaxis] * scale,
        scale=scale,
        always_wrong=always_wrong,
    )
