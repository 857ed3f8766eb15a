"""The graphical model of a page, with exact inference by pyAgrum.

pyAgrum, because it is a network with soft evidence that can be changed in place, which serves
similarities and classifiers alike, and because it asks for fewer libraries than pgmpy.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import norm

from benchmarks.harness.runner import quiet
from benchmarks.papers.hasan_pal_2015.joint_inference.documents import (
    SIMILARITY_OF_ONE,
    SIMILARITY_OF_TWO,
    Page,
)
from directrix._typing import FloatArray

with quiet():
    import pyagrum

#: Probability that two faces of different images, neither of them the person, are one companion.
COMPANION_TWICE = 0.03
_LEAST = 1e-12  # two faces of an image that are the person for sure would contradict S


class Network:
    r"""All labels of a page at once.

    .. math:: p(Y, D, S \mid X) = \prod_{m,n} p(Y_{mn} \mid X_{mn})
              \prod_m p(S_m \mid Y_{m1}, Y_{m2}, \dots) \prod_l p(D_l \mid Y_{l'}, Y_{l''})

    Hasan and Pal 2015, eq. 40. Y says that a face is the person of the page; S is known to be true
    and says that at most one face of the image is; D says that two faces of different images are
    one person, and its evidence is the density of their similarity. The local probabilities
    p(Y | X) are evidence as well, so that one network serves many classifiers.
    """

    def __init__(self, page: Page) -> None:
        self._labels = [f"Y{face}" for face in range(len(page.image))]
        net = pyagrum.BayesNet()
        for label in self._labels:
            net.add(_binary(label))
            net.cpt(label).fillWith([0.5, 0.5])
        hard, soft = {}, {}
        for m in np.unique(page.image):
            faces = [self._labels[n] for n in np.flatnonzero(page.image == m)]
            _child(net, f"S{m}", faces, [float(n <= 1) for n in _how_many(len(faces))])
            hard[f"S{m}"] = 1
        for (one, other), value in zip(page.pairs, page.similarity, strict=True):
            name = f"D{one}-{other}"
            same = (COMPANION_TWICE, 0.0, 1.0)
            parents = [self._labels[one], self._labels[other]]
            _child(net, name, parents, [same[n] for n in _how_many(2)])
            soft[name] = norm.pdf(value, [SIMILARITY_OF_TWO, SIMILARITY_OF_ONE]).tolist()
        self._inference = pyagrum.LazyPropagation(net)
        self._inference.setEvidence(hard | soft | {label: [0.5, 0.5] for label in self._labels})
        self._inference.setTargets(set(self._labels))

    def posterior(self, local: FloatArray) -> FloatArray:
        """Return the probability of each face to be the person, given the whole page.

        ``local``: the same, given its own features only: p(Y = 1 | X).
        """
        local = np.clip(local, _LEAST, 1.0 - _LEAST)
        for label, p in zip(self._labels, local.tolist(), strict=True):
            self._inference.chgEvidence(label, [1.0 - p, p])
        self._inference.makeInference()
        return np.array([self._inference.posterior(label)[1] for label in self._labels])


def _how_many(parents: int) -> list[int]:
    """Return how many parents are true in each column of a table, the first changing fastest."""
    return [sum(values) for values in product((0, 1), repeat=parents)]


def _binary(name: str) -> pyagrum.LabelizedVariable:
    return pyagrum.LabelizedVariable(name, name, 2)


def _child(net: pyagrum.BayesNet, name: str, parents: list[str], true: list[float]) -> None:
    """Add a binary variable that is true with these probabilities."""
    net.add(_binary(name))
    for parent in parents:
        net.addArc(parent, name)
    net.cpt(name).fillWith([p for q in true for p in (1.0 - q, q)])
