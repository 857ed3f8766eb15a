"""Load the data sets of all benchmarks.

A set is read from the first of these sources that has it:

1. The folder of the environment variable ``DIRECTRIX_DATA``, or ``../shared/data`` beside the
   repository, as LIBSVM text where it stands: ``NAME.svm.bz2``, or ``NAME.train.svm.bz2`` and
   ``NAME.test.svm.bz2``.
2. The user's cache, ``$XDG_CACHE_HOME/directrix`` or ``~/.cache/directrix``.
3. Its public address in `PUBLIC_SETS`, from which it is downloaded into that cache.

For most downloads no checksum is known. The first one is therefore trusted if its rows, its
features and, where known, its positive rows are as many as they should be; its SHA-256 is then
written beside it as ``FILE.sha256``, and from then on nothing else is accepted.

Parsed sets are kept in the cache too. Downloads need the standard library only.
"""

from __future__ import annotations

import bz2
import lzma
import os
import shutil
import sys
import time
from dataclasses import dataclass
from hashlib import file_digest
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from directrix._typing import AnyArray, FloatArray

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"


@dataclass(frozen=True)
class PublicSet:
    """A data set at a public address, and the checks its download must pass.

    ``address``: of LIBSVM text, plain or packed as ``.bz2`` or ``.xz``. ``meaning``: what the
    positive rows are. ``positive``: their label in the file. ``positives``: how many they are,
    where that is known. ``checksum``: SHA-256 of the file, where it is published. None: that of the
    first download is kept.
    """

    address: str
    rows: int
    features: int
    meaning: str
    positive: float = 1.0
    positives: int | None = None
    checksum: str | None = None

    @property
    def file_name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]


def _libsvm(
    file_name: str,
    shape: tuple[int, int],
    meaning: str,
    *,
    positive: float = 1.0,
    positives: int | None = None,
    checksum: str | None = None,
) -> PublicSet:
    address = f"{_LIBSVM}/{file_name}"
    return PublicSet(address, *shape, meaning, positive, positives, checksum)


#: By name; ``NAME.test`` is the published test part of ``NAME``.
PUBLIC_SETS: dict[str, PublicSet] = {
    # Not in the folder.
    "gisette": _libsvm("gisette_scale.bz2", (6000, 5000), "label 1: one of the digits 4 and 9"),
    "gisette.test": _libsvm("gisette_scale.t.bz2", (1000, 5000), "as gisette"),
    "rcv1": _libsvm("rcv1_train.binary.bz2", (20242, 47236), "label 1: topic CCAT or ECAT"),
    "rcv1.test": _libsvm("rcv1_test.binary.bz2", (677399, 47236), "as rcv1"),
    "real-sim": _libsvm(
        "real-sim.bz2",
        (72309, 20958),
        "label 1, of articles on the real and on the simulated",
        # Not by the site, but by github.com/pratikrathore8/rlaopt-experiments, in
        # src/rlaopt_experiments/suites/real_erm/data.py.
        checksum="7cd52374f55ce62e803ef33ca1c44689427c23d481eff64026f8ba9f53b8cc27",
    ),
    "news20": _libsvm("news20.binary.bz2", (19996, 1355191), "label 1: a half of the groups"),
    "webspam": _libsvm(
        "webspam_wc_normalized_unigram.svm.xz", (350000, 254), "label 1: spam (unigrams)"
    ),
    "cod-rna": _libsvm("cod-rna", (59535, 8), "label 1"),
    "w8a.test": _libsvm("w8a.t", (14951, 300), "as w8a"),
    # In the folder too.
    "a9a": _libsvm("a9a", (32561, 123), "income above 50K", positives=7841),
    "a9a.test": _libsvm("a9a.t", (16281, 123), "as a9a", positives=3846),
    "covtype": _libsvm(
        "covtype.libsvm.binary.bz2", (581012, 54), "lodgepole pine", positive=2.0, positives=283301
    ),
    "ijcnn1": _libsvm("ijcnn1.bz2", (49990, 22), "label 1", positives=4853),
    "ijcnn1.test": _libsvm("ijcnn1.t.bz2", (91701, 22), "as ijcnn1", positives=8712),
    "mushrooms": _libsvm("mushrooms", (8124, 112), "poisonous", positives=3916),
    "phishing": _libsvm(
        "phishing", (11055, 68), "legitimate (the other label is 0)", positives=6157
    ),
    "splice": _libsvm("splice", (1000, 60), "label 1", positives=517),
    "splice.test": _libsvm("splice.t", (2175, 60), "as splice", positives=1131),
    "svmguide1": _libsvm("svmguide1", (3089, 4), "label 1 (the other is 0)", positives=2000),
    "svmguide1.test": _libsvm("svmguide1.t", (4000, 4), "as svmguide1", positives=2000),
    "w8a": _libsvm("w8a", (49749, 300), "web page of the category", positives=1479),
}


BESIDE = Path(__file__).parents[3] / "shared" / "data"
#: Wider sets stay sparse.
_MOST_DENSE = 2000
#: Sets of the folder whose last columns hold no value in some part.
_FEATURES = {"mnist": 784, "rcv1_vw_small": 47117}
#: Seconds before a broken transfer is tried again.
_WAITS: tuple[float, ...] = (1.0, 5.0, 20.0)
#: Seconds without a byte after which a transfer counts as broken.
_SILENCE = 60.0
#: Of a set that is not what it should be.
_CURE = (
    "Look at the address in a browser: if the set was published anew or has moved, correct "
    "benchmarks/harness/data.py; if you put the file into the cache by hand, delete it"
)


class Rows(NamedTuple):
    """Rows, and which of them are positive."""

    X: Any
    y: AnyArray


class Split(NamedTuple):
    """Rows to train on and rows to test on."""

    X: FloatArray
    y: AnyArray
    X_test: FloatArray
    y_test: AnyArray


def folder() -> Path:
    """Return the folder of the data sets, or say how to name one."""
    path = Path(os.environ.get("DIRECTRIX_DATA") or BESIDE)
    if not path.is_dir():
        msg = (
            f"there is no folder {path}: set the environment variable DIRECTRIX_DATA to the folder "
            "that holds the data sets as NAME.svm.bz2 or NAME.train.svm.bz2"
        )
        raise FileNotFoundError(msg)
    return path


def load(name: str, part: str = "train") -> tuple[Any, AnyArray]:
    """Return the rows of a data set and which of them are positive.

    ``name``: as in ``NAME.svm.bz2``, ``keel/NAME`` for those of KEEL, or a name in
    `PUBLIC_SETS`. ``NAME.test`` is short for the test part. ``part``: of a set with a
    published split; one without is all train part. FileNotFoundError where: no source has the set.
    ConnectionError where: its address does not answer, or breaks off. ValueError where: the file is
    not the set, or not what it was at first.
    """
    name, part = _name_and_part(name, part)
    key = name if part == "train" else f"{name}.{part}"
    if source := _in_folder(name, part, "svm"):
        about = source.stat()
        kept = f"{key.replace('/', '_')}-{about.st_size}-{about.st_mtime_ns}"
        X, y = _parsed(source, kept, positive=None)
        X.resize((X.shape[0], max(X.shape[1], _FEATURES.get(name, 0))))
    elif key in PUBLIC_SETS:
        X, y = _downloaded(key, PUBLIC_SETS[key])
    else:
        msg = (
            f"no data set {key!r}: the folder that DIRECTRIX_DATA names has no such file, and "
            f"benchmarks/harness/data.py has an address only for {', '.join(sorted(PUBLIC_SETS))}"
        )
        raise FileNotFoundError(msg)
    return X.toarray() if X.shape[1] <= _MOST_DENSE else X, y


def classes(name: str, part: str = "train") -> AnyArray:
    """Return the class of each row before classes were made two: an array of str."""
    return np.array(_lines(*_name_and_part(name, part), "classes"))


def _name_and_part(name: str, part: str) -> tuple[str, str]:
    stem, _, last = name.rpartition(".")
    if stem and last in {"train", "test"}:
        return stem, last
    if part not in {"train", "test"}:
        msg = f"part must be 'train' or 'test', not {part!r}"
        raise ValueError(msg)
    return name, part


def _in_folder(name: str, part: str, content: str) -> Path | None:
    """Return the file of the data folder, or None; a folder that was named must exist."""
    if not os.environ.get("DIRECTRIX_DATA") and not BESIDE.is_dir():
        return None
    ending = f"{content}.bz2" if content == "svm" else f"{content}.txt.bz2"
    stems = (name, f"{name}.train") if part == "train" else (f"{name}.test",)
    candidates = (folder() / f"{stem}.{ending}" for stem in stems)
    return next(filter(Path.exists, candidates), None)


def _lines(name: str, part: str, content: str) -> list[str]:
    if source := _in_folder(name, part, content):
        return bz2.decompress(source.read_bytes()).decode().splitlines()
    msg = (
        f"no {content} of the {part} part of {name!r}: there is no {name}.{content}.txt.bz2 and no "
        f"{name}.{part}.{content}.txt.bz2 in the folder that DIRECTRIX_DATA names"
    )
    raise FileNotFoundError(msg)


def _cache(*inside: str) -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = home.joinpath("directrix", *inside)
    path.mkdir(parents=True, exist_ok=True)
    return path


def _downloaded(key: str, known: PublicSet) -> tuple[Any, AnyArray]:
    """Return the rows of a public set, downloaded into the user's cache if it is not there yet."""
    path = _cache("downloads") / known.file_name
    lock = path.with_name(f"{path.name}.sha256")
    # The ending says how it is packed, so what is under way differs in the beginning.
    under_way = path.with_name(f"{os.getpid()}.part.{path.name}")
    try:
        fresh = not path.exists()
        if fresh:
            _download(known.address, under_way, path)
        source = under_way if fresh else path
        with source.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        _check_sum(digest, known, path, lock, fresh=fresh)
        X, y = _checked_rows(key, known, source, digest)
        if not lock.exists():
            being_written = lock.with_name(f"{os.getpid()}.part.{lock.name}")
            being_written.write_text(f"{digest}  {path.name}\n", encoding="utf-8")
            being_written.replace(lock)
        if fresh:
            under_way.replace(path)
    finally:
        under_way.unlink(missing_ok=True)
    return X, y


def _download(address: str, part: Path, path: Path) -> None:
    """Bring the file, in several attempts; `path` is where it will stand, for the messages."""
    by_hand = f"download it elsewhere and put it at {path}"
    why: Exception | None = None
    for wait in (0.0, *_WAITS):
        time.sleep(wait)
        try:
            return _transfer(address, part)
        except HTTPError as error:
            error.close()
            if error.code < 500:  # asking again will not help
                msg = (
                    f"{address} answered {error.code} {error.reason}: the file may have moved. "
                    f"Find it, {by_hand}, and correct its address in benchmarks/harness/data.py"
                )
                raise FileNotFoundError(msg) from error
            why = error
        except (OSError, HTTPException) as error:
            why = error
    msg = (
        f"{address} could not be downloaded in {1 + len(_WAITS)} attempts, the last time because: "
        f"{why}. Run this again when there is a connection, or {by_hand}"
    )
    raise ConnectionError(msg) from why


def _transfer(address: str, part: Path) -> None:
    with urlopen(address, timeout=_SILENCE) as answer, part.open("wb") as file:  # noqa: S310 - ours
        promised = answer.headers["Content-Length"]
        size = f"{int(promised) / 1e6:.1f} MB" if promised else "size unknown"
        print(f"downloading {address} ({size})", file=sys.stderr)
        shutil.copyfileobj(answer, file, 1 << 20)
        came = file.tell()
    # A connection that closes early is no error to shutil.
    if promised and came != int(promised):
        msg = f"it broke off after {came} of {promised} bytes"
        raise ConnectionError(msg)


def _check_sum(digest: str, known: PublicSet, path: Path, lock: Path, *, fresh: bool) -> None:
    if known.checksum is not None:
        expected, source = known.checksum, "benchmarks/harness/data.py"
    elif lock.exists():
        expected, source = lock.read_text(encoding="utf-8").partition(" ")[0], str(lock)
    else:
        return
    if digest == expected:
        return
    where = f"what came from {known.address}" if fresh else str(path)
    cure = "delete it, and it is downloaded again"
    if fresh:
        repair = "correct" if known.checksum else "delete"
        cure = f"it was published anew or changed on its way; if you trust it, {repair} {source}"
    msg = f"{where} has the SHA-256 {digest}, but {source} says {expected}: {cure}"
    raise ValueError(msg)


def _checked_rows(key: str, known: PublicSet, source: Path, digest: str) -> tuple[Any, AnyArray]:
    """Return the rows, if they are as many as they should be."""
    try:
        X, y = _parsed(source, f"{key}-{digest}-{known.positive:g}", known.positive)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        msg = f"what stands at {known.address} as {key!r} is no LIBSVM text: {error}. {_CURE}"
        raise ValueError(msg) from error
    rows, features = X.shape
    # A test part may hold no value in the last columns.
    agree = features <= known.features if key.endswith(".test") else features == known.features
    positives = int(y.sum())
    if rows != known.rows or not agree:
        msg = (
            f"{key!r} should have {known.rows} rows of {known.features} features, but what stands "
            f"at {known.address} has {rows} of {features}. {_CURE}"
        )
        raise ValueError(msg)
    if known.positives not in {None, positives} or not 0 < positives < rows:
        expected = "some but not all" if known.positives is None else known.positives
        msg = (
            f"{expected} rows of {key!r} should have the label {known.positive:g}, but of what "
            f"stands at {known.address} {positives} have. {_CURE}"
        )
        raise ValueError(msg)
    X.resize((rows, known.features))
    return X, y


def _parsed(source: Path, kept_as: str, positive: float | None) -> tuple[Any, AnyArray]:
    """Return the rows of a file, as kept or read now; positive rows are those above 0, or equal."""
    kept = _cache() / f"{kept_as}.npz"
    if not kept.exists():
        with _unpacked(source) as file:
            X, y = load_svmlight_file(file, zero_based=False)
        _keep(X, y > 0 if positive is None else y == positive, kept)
    with np.load(kept) as parts:
        X = sparse.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"])
        )
        return X, parts["y"]


def _unpacked(source: Path) -> IO[bytes]:
    if source.suffix == ".bz2":
        return bz2.open(source)
    return lzma.open(source) if source.suffix == ".xz" else source.open("rb")


def _keep(X: Any, y: AnyArray, path: Path) -> None:
    """Write the parsed set; under its name only when it is whole."""
    part = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(part, data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape), y=y)
    part.replace(path)


# ── tables: numbers, texts and missing values in columns with names ───────────────────────────────


class Table(NamedTuple):
    """What is to be predicted in a table.

    ``target``: column of the labels. ``positive``: label to catch, as text. ``unknown``: columns
    that are known only after the fact, and are left out.
    """

    target: str
    positive: str
    unknown: tuple[str, ...] = ()


#: By file name without its ending, from few cells to many.
TABLES: dict[str, Table] = {
    "german_credit": Table("creditability", "bad"),
    "hmda_boston": Table("deny", "yes"),
    "attrition": Table("Attrition", "Yes"),
    "credit_data": Table("Status", "bad"),
    "mlc_churn": Table("churn", "yes"),
    "telco_churn": Table("churn", "Yes"),
    "give_me_some_credit": Table("SeriousDlqin2yrs", "1"),
    # How long a call lasted is known when its outcome is.
    "bank_marketing": Table("y", "yes", unknown=("duration",)),
    "lending_club": Table("Class", "bad"),
    "pakdd_2009": Table("TARGET_LABEL_BAD", "1"),
    "census_income": Table("income", "50000+."),
    "caravan": Table("Purchase", "Yes"),
}


def table_folder() -> Path:
    """Return the folder of the tables, or say how to name one."""
    path = folder().parent / "tables"
    if not path.is_dir():
        msg = (
            f"there is no folder {path}: put the tables as NAME.parquet beside the folder that the "
            "environment variable DIRECTRIX_DATA names"
        )
        raise FileNotFoundError(msg)
    return path


def load_table(name: str) -> Rows:
    """Return the columns of a table as a pandas frame, and which of its rows are positive.

    FileNotFoundError where: there is no folder of tables, or no such file in it. ValueError where:
    the label to catch is none of those in the file, or the only one.
    """
    import pandas as pd  # noqa: PLC0415 - sets of numbers need none

    table = TABLES[name]
    frame = pd.read_parquet(table_folder() / f"{name}.parquet")
    y = (frame[table.target].astype(str) == table.positive).to_numpy(dtype=bool)
    if not 0 < y.sum() < len(y):
        msg = (
            f"{y.sum()} of {len(y)} rows of {name!r} have the label {table.positive!r} in the "
            f"column {table.target!r}; some but not all should"
        )
        raise ValueError(msg)
    return Rows(frame.drop(columns=[table.target, *table.unknown]), y)
