"""Texts with half of a surrogate pair: models and their files take them, other formats say no."""

import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.exceptions import SqlNameError
from directrix.export import load, save, to_json, to_onnx, to_sql
from directrix.moments import BinCounts

HALF = "a\ud800"


def rows(where, n=200):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n) > 0
    name = HALF if where == "name" else "x"
    names = np.array([HALF if where == "level" else "a", "b", "c"])
    town = names[np.digitize(x + rng.normal(size=n), [-0.5, 0.5])]
    frame = pd.DataFrame({0: x, 1: pd.Series(town.astype(object), dtype=object)})
    frame.columns = pd.Index([name, "town"], dtype=object)
    return frame, np.where(y, HALF if where == "label" else "yes", "no").astype(object)


def fitted(where):
    card = ScorecardClassifier("auc", cv=2, max_crosses=0, max_lines=None, warn_baseline=False)
    return card.fit(*rows(where))


@pytest.mark.parametrize("where", ["name", "level", "label"])
def test_files_hold_any_text(where, tmp_path):
    X, y = rows(where)
    card = fitted(where)
    save(card, tmp_path / "card")
    loaded = load(tmp_path / "card")
    np.testing.assert_array_equal(loaded.predict(X), card.predict(X))
    assert to_json(card).encode()
    counts = BinCounts.of(card.binner_, X, y)
    counts.save(tmp_path / "counts")
    assert BinCounts.load(tmp_path / "counts").classes.tolist() == counts.classes.tolist()


def test_sql_refuses_them_by_name():
    with pytest.raises(SqlNameError, match=r"half of a surrogate pair in its name 'a.ud800'"):
        to_sql(fitted("name"))
    with pytest.raises(ValueError, match=r"SQL cannot hold the text 'a.ud800'"):
        to_sql(fitted("label")).select("rows")


def test_sql_leaves_out_levels_that_no_database_can_store():
    assert to_sql(fitted("level")).select("rows").encode()


def test_onnx_refuses_them_by_name():
    pytest.importorskip("onnx")
    for where in ("name", "label"):
        with pytest.raises(ValueError, match=r"ONNX cannot hold the text 'a.ud800'"):
            to_onnx(fitted(where))
