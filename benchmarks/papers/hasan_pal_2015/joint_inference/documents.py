"""Generated biography pages: images, the faces in them, and who is the person of the page.

Modelled on §5.2 and figure 6 of Hasan and Pal 2015, whose pages are not public. All choices below
were made before any classifier was run on the pages, and have not been changed since:

* A page has 2 to 7 faces, as in the paper, in 2 to 4 images, each with a face at least.
* The first image is in the info-box on 80 % of the pages. An image there shows the person with
  probability 0.95, any other with 0.65, and then one of its faces, all equally probable, is the
  person. So about 45 % of the faces are.
* In a quarter of the images with other faces, one of these is the page's companion (a spouse, a
  team-mate), who may come back in other images. All others are strangers, seen once.
* Text says that the person is in the image, not which face it is: the name is in the file name
  with probability 0.6 if so and 0.1 if not, in the caption with 0.7 and 0.15.
* The face of the person is somewhat larger and nearer to the centre than others. Three features
  say nothing: length of the caption, position in the page, score of the face detector.
* The similarity of two faces of different images is N(1, 1) for one person and N(-1, 1) for two:
  16 % of the pairs are on the wrong side of zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.papers.hasan_pal_2015.noise import noisy
from directrix._typing import AnyArray, FloatArray, IntArray

FEATURES = (
    "info-box",
    "name in file name",
    "name in caption",
    "another name in caption",
    "named, and alone",
    "log relative size",
    "distance from centre",
    "log number of faces",
    "log length of caption",
    "position in page",
    "score of detector",
)
#: Name of a kind of noise, and its description.
CONDITIONS = {
    "clean": "clean",
    "flipped": "one training label in ten flipped",
    "outliers": "a tenth more training faces, far out, with random labels",
    "misread": "one feature of one face in ten misread, in training and test",
}
SIMILARITY_OF_ONE, SIMILARITY_OF_TWO = 1.0, -1.0
_PERSON, _COMPANION, _STRANGER = 0, 1, 2


class Page(NamedTuple):
    """The faces of a page; all arrays but the last two have an entry for each."""

    features: FloatArray
    person: AnyArray  # true where the face is the person of the page
    image: IntArray
    pairs: IntArray  # two columns: all pairs of faces of different images
    similarity: FloatArray  # of each pair


def page(rng: np.random.Generator) -> Page:
    """Draw a page."""
    n_faces = int(rng.integers(2, 8))
    n_images = int(rng.integers(2, min(n_faces, 4) + 1))
    rest = rng.integers(n_images, size=n_faces - n_images)
    image = np.sort(np.append(np.arange(n_images), rest))
    info_box = rng.random() < 0.8
    who, features = [], []
    for m in range(n_images):
        size = int((image == m).sum())
        in_box = info_box and m == 0
        of_image = _people(size, 0.95 if in_box else 0.65, rng)
        position = m / n_images
        features.append(_features(of_image == _PERSON, position, in_box=in_box, rng=rng))
        who.append(of_image)
    people = np.concatenate(who)
    people[people == _STRANGER] = _STRANGER + np.arange((people == _STRANGER).sum())
    first, second = np.nonzero(image[:, None] < image[None, :])
    centre = np.where(people[first] == people[second], SIMILARITY_OF_ONE, SIMILARITY_OF_TWO)
    return Page(
        np.vstack(features),
        people == _PERSON,
        image,
        np.column_stack([first, second]),
        rng.normal(centre),
    )


def _people(size: int, present: float, rng: np.random.Generator) -> IntArray:
    """Return who the faces of an image are."""
    people = np.full(size, _STRANGER)
    if rng.random() < present:
        people[rng.integers(size)] = _PERSON
    others = np.flatnonzero(people == _STRANGER)
    if len(others) and rng.random() < 0.25:
        people[rng.choice(others)] = _COMPANION
    return people


def _features(
    person: AnyArray, position: float, *, in_box: bool, rng: np.random.Generator
) -> FloatArray:
    """Return the features of the faces of an image, in the order of `FEATURES`."""
    size, shown = len(person), bool(person.any())
    in_file = rng.random() < (0.6 if shown else 0.1)
    in_caption = rng.random() < (0.7 if shown else 0.15)
    another = rng.random() < (0.1 if person.all() else 0.5)
    length = rng.normal(2.0, 0.7)
    log_size = rng.normal(0.4 * person, 0.5)
    of_image = (in_box, in_file, in_caption, another, (in_file or in_caption) and size == 1)
    return np.column_stack(
        [
            np.tile(np.array(of_image, dtype=float), (size, 1)),
            log_size - log_size.max(),
            np.abs(rng.normal(0.0, np.where(person, 0.3, 0.45))),
            np.full(size, np.log(size)),
            np.full(size, length),
            np.full(size, position),
            rng.normal(size=size),
        ]
    )


class Task(NamedTuple):
    """Faces to train local classifiers on, and pages to label."""

    X: FloatArray
    y: AnyArray
    pages: list[Page]


def task(seed: int, condition: str, *, n_train: int = 60, n_test: int = 100) -> Task:
    """Draw pages, the same for all conditions of a seed, and put in the noise of the condition."""
    rng = np.random.default_rng(seed)
    train, test = ([page(rng) for _ in range(n)] for n in (n_train, n_test))
    X, y = np.vstack([p.features for p in train]), np.concatenate([p.person for p in train])
    rng = np.random.default_rng((seed, 1))
    if condition == "misread":
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        X = misread(X, mean, deviation, rng)
        test = [p._replace(features=misread(p.features, mean, deviation, rng)) for p in test]
    else:
        X, y = noisy(X, y, condition, rng)
    return Task(X, y, test)


def misread(
    X: FloatArray, mean: FloatArray, deviation: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Replace one feature of each tenth row, uniform within ten deviations of its mean."""
    rows = np.flatnonzero(rng.random(len(X)) < 0.1)
    columns = rng.integers(X.shape[1], size=len(rows))
    X = X.copy()
    X[rows, columns] = mean[columns] + deviation[columns] * rng.uniform(-10.0, 10.0, len(rows))
    return X
