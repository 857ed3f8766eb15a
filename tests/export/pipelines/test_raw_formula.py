import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from directrix import MomentClassifier
from directrix.export.expressions import Filled, RawColumn
from directrix.export.pipelines import raw_formula

X = np.random.default_rng(1).normal(size=(40, 2))


def test_a_classifier_reads_its_columns_as_they_are():
    raw = raw_formula(MomentClassifier(learn_from="moments").fit(X, X[:, 0] > 0), ["a", "b"])
    assert (raw.columns, raw.features) == (("a", "b"), (RawColumn(0), RawColumn(1)))
    assert not raw.is_computed
    assert raw.used_columns({1}) == {1}


def test_the_columns_of_a_pipeline_are_those_of_its_first_step():
    pipeline = make_pipeline(SimpleImputer(), MomentClassifier(learn_from="moments"))
    raw = raw_formula(pipeline.fit(X, X[:, 0] > 0), ["a", "b"])
    assert raw.columns == ("a", "b")
    assert [type(feature) for feature in raw.features] == [Filled, Filled]
    assert raw.is_computed


def test_steps_that_do_not_fit_the_classifier_are_refused():
    pipeline = make_pipeline(SimpleImputer(), MomentClassifier(learn_from="moments"))
    pipeline.fit(X, X[:, 0] > 0)
    pipeline[0].fit(np.column_stack([X, X]))
    with pytest.raises(ValueError, match="make 4 features, and its classifier has 2"):
        raw_formula(pipeline)
