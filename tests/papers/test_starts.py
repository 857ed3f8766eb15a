import numpy as np
import pytest

from directrix.papers.moment_risk import part_of_mean


def test_the_papers_start_is_orthogonal_to_the_negatives():
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(size=(2, 5))
    start = part_of_mean(positive, negative)
    assert np.linalg.norm(start) == pytest.approx(1.0)
    assert start @ negative == pytest.approx(0.0, abs=1e-12)
    assert start @ positive > 0


@pytest.mark.parametrize(
    ("positive", "negative"), [([1.0, 0.0], [0.0, 0.0]), ([2.0, 0.0], [1.0, 0.0])]
)
def test_the_papers_start_falls_back_where_it_is_nothing(positive, negative):
    start = part_of_mean(np.array(positive), np.array(negative))
    assert start == pytest.approx([1.0, 0.0])
