import pickle

import numpy as np
import pandas as pd
import pytest
from nearness import distance

from directrix import Moments, summarize
from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles, Grouped
from directrix.rows.keys import copy_keys, copy_numbers, hash_with_label, key_hash, row_hash
from directrix.rows.rows import as_rows

RNG = np.random.default_rng(5)
N = 90
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.normal(size=N),
        "y": RNG.integers(0, 2, N),
        "w": RNG.random(N),
        "id": RNG.integers(0, 20, N),
        "g": RNG.integers(0, 3, N),
        "part": RNG.integers(0, 4, N),
    }
)
FEATURES = ["a", "b"]

# ── folds by a hash ───────────────────────────────────────────────────────────────────────────────


def summary(plan, frame):
    return plan.summary_of(plan.block(frame))


def folds_of(fold, frame=FRAME):
    return ColumnRoles.of(target="y", features=FEATURES, fold=fold).block(frame).fold


@pytest.mark.parametrize("key", ["id", ["id"], ("id", "g")])
def test_the_fold_is_the_hash_of_the_key(key):
    fold = folds_of(HashFolds(4, key=key, seed=2))
    columns = [FRAME[name].to_numpy() for name in (key if isinstance(key, list | tuple) else [key])]
    np.testing.assert_array_equal(fold, key_hash(columns, 2) >> np.uint64(62))  # fourths of 2⁶⁴
    assert set(fold) == {0, 1, 2, 3}


def test_without_a_key_a_row_is_known_by_what_is_in_it_and_how_many_came_before():
    fold = folds_of(HashFolds(4))
    hashes = hash_with_label(row_hash(as_rows(FRAME[FEATURES])), FRAME["y"].to_numpy())
    first = copy_keys(hashes, copy_numbers(hashes))
    np.testing.assert_array_equal(fold, key_hash([first]) >> np.uint64(62))
    again = pd.concat([FRAME, FRAME])
    second = copy_keys(np.tile(hashes, 2), copy_numbers(np.tile(hashes, 2)))
    np.testing.assert_array_equal(
        folds_of(HashFolds(4), again), key_hash([second]) >> np.uint64(62)
    )
    assert (folds_of(HashFolds(4), again)[len(FRAME) :] != fold).any()


@pytest.mark.parametrize("n_folds", [2, 5, 10, 1000])
def test_folds_are_even(n_folds):
    # Each within five deviations of its share.
    rows = pd.DataFrame({"a": np.arange(20_000.0), "b": 0.0, "y": 0, "id": np.arange(20_000)})
    for fold in (HashFolds(n_folds), HashFolds(n_folds, key="id")):
        counts = np.bincount(folds_of(fold, rows), minlength=n_folds)
        assert len(counts) == n_folds
        share = 1.0 / n_folds
        deviation = np.sqrt(20_000 * share * (1.0 - share))
        assert np.abs(counts - 20_000 * share).max() < 5 * deviation


@pytest.mark.parametrize("key", [None, "id"])
def test_another_seed_makes_other_folds(key):
    folds, other_folds = (folds_of(HashFolds(5, key=key, seed=seed)) for seed in (0, 1))
    assert 0.5 < (folds != other_folds).mean() < 1.0


def test_a_key_is_no_feature_unless_it_is_asked_for():
    plan = ColumnRoles.of(target="y", weight="w", fold=HashFolds(2, key=["id", "g"]), by="part")
    assert plan.block(FRAME).X.names == ("a", "b")
    assert plan.feature_columns(FRAME.columns) == ("a", "b")
    asked = ColumnRoles.of(target="y", features=["id", "a"], fold=HashFolds(2, key="id"))
    assert asked.block(FRAME).X.names == ("id", "a")


@pytest.mark.parametrize("role", ["target", "weight", "fold", "by"])
def test_a_column_with_another_role_is_no_feature(role):
    roles = {"target": "y", role: "a"}
    with pytest.raises(ValueError, match=f"column 'a' is both {role}= and a feature"):
        summarize(FRAME, features=["a", "b"], **roles)
    with pytest.raises(ValueError, match=f"column -1 is both {role}= and a feature"):
        summarize(FRAME.to_numpy(), features=[0, 6], **{"target": 2, role: -1})


def test_one_fold_is_none():
    with pytest.raises(ValueError, match="there must be at least two folds, not 1"):
        HashFolds(1)


# ── the columns of a plan ─────────────────────────────────────────────────────────────────────────


def test_only_the_columns_with_a_role_are_needed():
    plan = ColumnRoles.of(
        target="y", features=["b"], weight="w", fold=HashFolds(3, key=["id", "b"])
    )
    assert sorted(plan.needed(FRAME.columns)) == ["b", "id", "w", "y"]
    everything = ColumnRoles.of(target="y")
    assert sorted(everything.needed(FRAME.columns)) == sorted(FRAME.columns)


def test_one_feature_may_stand_alone():
    assert ColumnRoles.of(target="y", features="a").block(FRAME).X.shape == (N, 1)


@pytest.mark.parametrize("role", ["target", "weight", "fold", "by"])
@pytest.mark.parametrize("values", [np.zeros(N), [0] * N], ids=["array", "list"])
def test_values_cannot_be_given_where_rows_come_from_elsewhere(role, values):
    plan = ColumnRoles.of(**{"target": "y", role: values})
    with pytest.raises(ValueError, match=f"so {role}= must name a column"):
        plan.needed(FRAME.columns)


def test_a_plan_travels():
    plan = ColumnRoles.of(
        target="y", features=FEATURES, weight="w", fold=HashFolds(3, key="id"), by="g"
    )
    arrived = pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own
    assert arrived == plan
    assert summary(arrived, FRAME).by_group == summary(plan, FRAME).by_group


def test_fold_numbers_of_an_array_are_whole_though_it_holds_floats():
    table = FRAME.to_numpy()
    moments = summarize(table, target=2, features=[0, 1], fold=6)
    expected = Moments.of(table[:, :2], table[:, 2], fold=FRAME["part"])
    assert distance(moments, expected) < 1e-14
    table[3, 6] = 0.5
    with pytest.raises(ValueError, match="fold must hold one whole number"):
        summarize(table, target=2, features=[0, 1], fold=6)


# ── groups ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("fold", [None, "part"])
def test_each_group_is_the_summary_of_its_rows(fold):
    groups = summarize(FRAME, target="y", features=FEATURES, weight="w", by="g", fold=fold)
    assert list(groups) == [0, 1, 2]
    for group, moments in groups.items():
        rows = FRAME[FRAME["g"] == group]
        expected = summarize(rows, target="y", features=FEATURES, weight="w", fold=fold)
        assert distance(moments, expected) < 1e-14


def test_groups_may_be_given_beside_the_rows():
    given = summarize(FRAME[FEATURES], target=FRAME["y"], by=FRAME["g"].to_numpy())
    named = summarize(FRAME, target="y", features=FEATURES, by="g")
    assert given == named


def test_groups_are_sorted_and_may_be_text():
    frame = FRAME.assign(g=np.array(["z", "ä", "m"])[FRAME["g"]])
    groups = summarize(frame[::-1], target="y", features=FEATURES, by="g")
    assert list(groups) == ["m", "z", "ä"]


def test_groups_may_be_days():
    days = np.array(["2024-01-01", "2024-01-02", "2023-05-05"], dtype="datetime64[us]")
    groups = summarize(FRAME.assign(g=days[FRAME["g"]]), target="y", features=FEATURES, by="g")
    assert [str(group.date()) for group in groups] == ["2023-05-05", "2024-01-01", "2024-01-02"]


def test_all_groups_have_the_classes_and_folds_of_any():
    frame = FRAME.assign(g=5)
    frame.loc[7, "g"], frame.loc[7, "part"] = 2, 1
    groups = summarize([frame[7:8], frame[:7], frame[8:]], target="y", by="g", fold="part")
    assert groups[2].count == 1
    assert groups[2].classes.tolist() == groups[5].classes.tolist() == [0, 1]
    assert len(groups[2].parts) == len(groups[5].parts) == 4


def test_no_rows_have_no_groups():
    assert summarize(FRAME[:0], target="y", by="g") == {}


@pytest.mark.parametrize("fold", [[-1] * N, ["x"] * N, [0.5] * N])
def test_what_is_no_fold_is_refused_for_groups_too(fold):
    with pytest.raises(ValueError, match="fold must hold one whole number from zero for each"):
        summarize(FRAME, target="y", features=FEATURES, fold=fold, by="g")


@pytest.mark.parametrize(
    "group",
    [[1.0, np.nan] * 45, [None, "x"] * 45, pd.array([1, None] * 45, dtype="Int64")],
    ids=["NaN", "None", "NA"],
)
def test_a_missing_group_is_refused(group):
    with pytest.raises(ValueError, match="the column of by= is missing in some rows"):
        summarize(FRAME.assign(g=group), target="y", features=FEATURES, by="g")


def test_summaries_of_groups_add_up():
    plan = ColumnRoles.of(target="y", features=FEATURES, by="g")
    some, rest = (summary(plan, FRAME[FRAME["g"].isin(groups)]) for groups in ([0, 1], [1, 2]))
    total = (some + rest).by_group
    assert sorted(total) == [0, 1, 2]
    assert total[0] == some.by_group[0]
    assert total[1].count == 2 * some.by_group[1].count
    assert (Grouped({}) + some).by_group == some.by_group


# ── which engine ──────────────────────────────────────────────────────────────────────────────────


def test_an_engine_may_be_named():
    assert summarize(FRAME, target="y", engine="memory") == summarize(FRAME, target="y")


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="no engine named 'ray': give 'auto' or one of 'spark'"):
        summarize(FRAME, target="y", engine="ray")


@pytest.mark.parametrize("engine", ["arrow", "spark", "dask"])
def test_an_engine_that_cannot_read_the_rows_says_so(engine):
    with pytest.raises(TypeError, match=f"the engine '{engine}' cannot read DataFrame"):
        summarize(FRAME, target="y", engine=engine)
