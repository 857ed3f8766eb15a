"""Data sets with a public address, from which `benchmarks.harness.data` can download them.

Rows and features are those that the LIBSVM site states. Positive rows are counted in files of the
data folder that were made from the same set; where there is none, nothing is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

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
