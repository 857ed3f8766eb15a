"""The data sets that tables are made of: LIBSVM text in a folder, read once and kept parsed.

The folder is that of the environment variable ``DIRECTRIX_DATA``, or ``../shared/data`` beside the
repository. Parsed sets are kept in ``$XDG_CACHE_HOME/directrix``, or ``~/.cache/directrix``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

if TYPE_CHECKING:
    from directrix._typing import AnyArray

_BESIDE = Path(__file__).parents[2] / "shared" / "data"
#: Wider sets stay sparse.
_MOST_DENSE = 2000
#: Sets whose train part does not hold a value in the last column.
_FEATURES = {"a9a": 123, "mnist": 784}


def folder() -> Path:
    """Return the folder of the data sets, or say how to name one."""
    path = Path(os.environ.get("DIRECTRIX_DATA") or _BESIDE)
    if not path.is_dir():
        msg = (
            f"there is no folder {path}: set the environment variable DIRECTRIX_DATA to the folder "
            "that holds the data sets as NAME.svm.bz2 or NAME.train.svm.bz2"
        )
        raise FileNotFoundError(msg)
    return path


def load(name: str) -> tuple[Any, AnyArray]:
    """Return the rows of a data set and which of them are positive.

    Parameters
    ----------
    name : str
        As in ``NAME.svm.bz2``. Of a set with a published split: the train part.

    Returns
    -------
    X : array of float64, or csr_array where there are more than 2000 features
    y : array of bool
    """
    source = _source(name)
    about = source.stat()
    kept = _cache() / f"{name.replace('/', '_')}-{about.st_size}-{about.st_mtime_ns}.npz"
    if not kept.exists():
        _keep(*load_svmlight_file(str(source), n_features=_FEATURES.get(name)), kept)
    with np.load(kept) as parts:
        X = sparse.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"])
        )
        y = parts["y"]
    return X.toarray() if X.shape[1] <= _MOST_DENSE else X, y


def _source(name: str) -> Path:
    path = folder()
    for ending in (".svm.bz2", ".train.svm.bz2"):
        if (source := path / (name + ending)).exists():
            return source
    msg = f"no data set {name!r} in {path}: there is no {name}.svm.bz2 and no {name}.train.svm.bz2"
    raise FileNotFoundError(msg)


def _cache() -> Path:
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "directrix"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _keep(X: Any, y: AnyArray, path: Path) -> None:
    """Write the parsed set; under its name only when it is whole."""
    part = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(
        part, data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape), y=y > 0
    )
    part.replace(path)
