"""The file of Moments: safetensors with a JSON header (``docs/moments.md``)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.files.layout import Array, Layout, classes_of, fold_sizes, require
from directrix.moments.class_moments import DENSE_FEATURES, ClassMoments
from directrix.moments.feature_map import FeatureMap
from directrix.rows.labels import numbered_names
from directrix.rows.sample import LARGEST_HASH, RowSample, named_segments

#: Largest count: above it, not every whole number is a float.
_MOST_ROWS = 1 << 53


def _sizes(header: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    d, names = header["n_features"], header["feature_names"]
    named = names is None or len(names) == len(set(names)) == d
    require(named, f"its feature names are not {d} different names")
    values = arrays["sample_X"].dtype.name
    single = values if values in ("float32", "float64") else "float32"
    sizes = {"features": d, "triangle": d * (d + 1) // 2, "single": single}
    return {**fold_sizes(header, arrays), **sizes}


def _check(_header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    require((arrays["count"] <= _MOST_ROWS).all(), f"a class has more than {_MOST_ROWS} rows")


_BY_CLASS = ("folds", "classes")
_LAYOUT = Layout(
    format="directrix.moments",
    noun="summary",
    entries=("n_features", "feature_names", "folded", "prior", "map", "sample", "segments"),
    arrays={
        "count": Array("int64", _BY_CLASS),
        "weight": Array("float64", _BY_CLASS),
        "weight_sq": Array("float64", _BY_CLASS),
        "mean": Array("float64", (*_BY_CLASS, "features")),
        "mean_tail": Array("float64", (*_BY_CLASS, "features")),
        "scatter": Array("float64", (*_BY_CLASS, "triangle")),  # rows of the upper triangle
        "sample_X": Array("single", ("sampled", "features")),
        "sample_class": Array("int32", ("sampled",)),  # index of the label among the classes
        "sample_weight": Array("float64", ("sampled",)),
        "sample_fold": Array("int32", ("sampled",)),
        "sample_hash": Array("uint64", ("sampled",)),
        "sample_identity": Array("uint64", ("sampled",)),
        "sample_segment": Array("int32", ("sampled",)),  # index of the name among the segments
        "sample_threshold": Array("uint64", ("classes",)),
    },
    sizes=_sizes,
    laws=_check,
)


def write(moments: Any, path: str | PathLike[str]) -> None:
    """Write a `Moments` to a file, replaced atomically; the classes are sorted."""
    if moments.n_features > DENSE_FEATURES:
        msg = (
            f"a summary of {moments.n_features} features keeps its rows and cannot be saved; "
            "`select` fewer columns first"
        )
        raise TypeError(msg)
    groups = [group.with_matrix() for part in moments.parts for group in part]
    d = moments.n_features
    columns = {
        # A count too large for the format is refused by the laws of the layout.
        "count": [min(group.count, _MOST_ROWS + 1) for group in groups],
        "weight": [group.weight for group in groups],
        "weight_sq": [group.weight_sq for group in groups],
        "mean": [group.mean for group in groups],
        "mean_tail": [group.mean_tail for group in groups],
        "scatter": [_packed(np.asarray(group.scatter)) for group in groups],
    }
    sizes = {"folds": len(moments.parts), "classes": len(moments.classes)}
    sizes |= {"features": d, "triangle": d * (d + 1) // 2}
    arrays = {
        name: np.array(columns[name], dtype=array.dtype).reshape([sizes[k] for k in array.shape])
        for name, array in (_LAYOUT.arrays or {}).items()
        if not name.startswith("sample_")
    }
    entries = {
        "n_features": d,
        "feature_names": moments.feature_names,
        "folded": moments.folded,
        "prior": moments.stated_prior,
        "map": None if moments.map is None else moments.map.state(),
        "sample": None if moments.sample is None else moments.sample.most,
    }
    sampled, entries["segments"] = _sample_arrays(moments)
    arrays |= sampled
    _LAYOUT.write(path, moments.classes, entries, arrays)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the constructor arguments of the `Moments` stored in a file."""
    header, arrays, _ = _LAYOUT.read(path)
    d, names = header["n_features"], header["feature_names"]

    def group(index: tuple[int, ...]) -> ClassMoments:
        count, weight, square = (arrays[k][index].item() for k in ("count", "weight", "weight_sq"))
        mean, tail = arrays["mean"][index].copy(), arrays["mean_tail"][index].copy()
        scatter = _unpacked(arrays["scatter"][index], d)
        return ClassMoments(count, weight, square, mean, scatter, tail)

    folds, n_classes = arrays["count"].shape
    return {
        "n_features": d,
        "classes": classes_of(header),
        "parts": tuple(tuple(group((k, c)) for c in range(n_classes)) for k in range(folds)),
        "feature_names": None if names is None else tuple(names),
        "stated_prior": header["prior"],
        "folded": header["folded"],
        "sample": _read_sample(header, arrays),
        "map": None if header["map"] is None else FeatureMap.from_state(header["map"]),
    }


def _sample_arrays(moments: Any) -> tuple[dict[str, AnyArray], tuple[Any, ...] | None]:
    """Return the arrays of the sample, which have no rows if there is none, and its segments."""
    rows, known = moments.sample, moments.classes.tolist()
    if rows is None:
        nobody, hashes = np.zeros(0), np.zeros(0, dtype=np.uint64)
        X = np.zeros((0, moments.n_features), dtype=np.float32)
        rows = RowSample.of(X, nobody, nobody, nobody.astype(int), hashes, 1)
    thresholds = [rows.thresholds.get(label, LARGEST_HASH) for label in known]
    names = None
    segment: AnyArray = np.zeros(len(rows), dtype=np.int32)
    if rows.segment is not None:
        names, segment = numbered_names(rows.segment)
    arrays = {
        "sample_X": np.ascontiguousarray(rows.X),
        "sample_class": np.array([known.index(label) for label in rows.y.tolist()], np.int32),
        "sample_weight": rows.weight.astype(np.float64),
        "sample_fold": rows.fold.astype(np.int32),
        "sample_hash": rows.hashes,
        "sample_identity": rows.identity,
        "sample_segment": segment.astype(np.int32),
        "sample_threshold": np.array(thresholds, dtype=np.uint64),
    }
    return arrays, names


def _read_sample(header: dict[str, Any], arrays: dict[str, AnyArray]) -> RowSample | None:
    if header["sample"] is None:
        return None
    classes, names = classes_of(header), header["segments"]
    return RowSample(
        X=arrays["sample_X"],
        y=classes[arrays["sample_class"]],
        weight=arrays["sample_weight"],
        fold=arrays["sample_fold"],
        hashes=arrays["sample_hash"],
        identity=arrays["sample_identity"],
        thresholds=dict(zip(classes.tolist(), arrays["sample_threshold"].tolist(), strict=True)),
        most=header["sample"],
        segment=None if names is None else named_segments(names, arrays["sample_segment"]),
    )


def _packed(scatter: FloatArray) -> FloatArray:
    return np.concatenate([scatter[i, i:] for i in range(len(scatter))] or [np.empty(0)])


def _unpacked(packed: FloatArray, d: int) -> FloatArray:
    scatter = np.empty((d, d))
    for i, start in enumerate(_row_starts(d)):
        scatter[i, i:] = scatter[i:, i] = packed[start : start + d - i]
    return scatter


def _row_starts(d: int) -> AnyArray:
    """Return the offset of each row in a packed upper triangle of a d × d matrix."""
    i = np.arange(d)
    return i * d - i * (i - 1) // 2
