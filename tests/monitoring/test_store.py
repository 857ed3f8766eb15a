"""Daily summaries: steps that count once, corrections, compaction, removal and killed processes."""

import json
import os
import shutil
import threading
import time
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest

from directrix.exceptions import CancellationError
from directrix.exceptions.files import StoreConflictError, StoreFileError
from directrix.monitoring import SummaryStore
from directrix.monitoring.folder import LocalFolder

DAY = date(2026, 3, 1)
PATIENCE = 60.0  # seconds; a busy machine gives a thread its turn in one


def reopened(store):
    return SummaryStore(store.address)


def files(store):
    return LocalFolder.names(store._folder)


def summaries_in(store):
    return [name for name in files(store) if not name.endswith(".json")]


# ── adding ────────────────────────────────────────────────────────────────────────────────────────


def test_a_step_that_is_repeated_counts_once(store, of):
    assert store.add(DAY, of(slice(50)))
    assert not store.add(DAY, of(slice(50)))
    assert not reopened(store).add(DAY, of(slice(50)))
    assert store.get(DAY, of.stream) == of(slice(50))
    assert len(files(store)) == 3  # manifest, record and summary


def test_parts_of_a_day_have_keys(store, of):
    for new in (True, False):
        for key, start in (("a", 0), ("b", 100)):
            assert store.add(DAY, of(slice(start, start + 40)), key=key) is new
    assert of.same(store.get(DAY, of.stream), of(np.r_[0:40, 100:140]))


def test_other_summaries_with_the_same_key_are_refused(store, of):
    store.add(DAY, of(slice(50)), key="night")
    with pytest.raises(StoreConflictError, match=r"2026-03-01.*'night'.*remove_day") as caught:
        store.add(DAY, of(slice(51)), key="night")
    assert (caught.value.day, caught.value.key) == ("2026-03-01", "night")
    assert store.get(DAY, of.stream) == of(slice(50))
    assert store.add(DAY + timedelta(days=1), of(slice(51)), key="night")


def test_a_stream_is_not_added_as_a_whole_again_beside_another(store, all_kinds):
    moments, counts, scores = all_kinds(slice(50))
    store.add(DAY, moments)
    assert store.add(DAY, counts)
    with pytest.raises(StoreConflictError, match="'moments'"):
        store.add(DAY, [moments, scores])
    store.compact(DAY)
    with pytest.raises(StoreConflictError) as caught:
        store.add(DAY, [counts, scores])
    assert caught.value.key == "counts"
    assert store.add(DAY, scores)


def test_all_kinds_are_added_in_one_step(store, all_kinds):
    store.add(DAY, all_kinds(slice(50)))
    assert store.streams() == ["counts", "moments", "scores"]
    assert len(store.history(DAY)) == 1
    assert [store.get(DAY, name) for name in ("moments", "counts", "scores")] == all_kinds(
        slice(50)
    )


def test_streams_are_named_by_a_dict(store, of):
    store.add(DAY, {"challenger": of(slice(50)), of.stream: of(slice(60))})
    assert store.streams() == sorted(["challenger", of.stream])
    assert store.get(DAY, "challenger") == of(slice(50))
    assert store.get(DAY, of.stream) == of(slice(60))


@pytest.mark.parametrize(
    "name", ["", "../up", "a/b", "Großes", "A", ".hidden", "a\n", "a b", "x" * 64, "-a", "\0"]
)
def test_hostile_names_of_streams_are_refused(store, moments, name):
    with pytest.raises(ValueError, match="is not a name for a stream"):
        store.add(DAY, {name: moments(slice(9))})
    assert files(store) == ["manifest.json"]


HOSTILE = [
    "",
    "\n",
    "a\nb",
    "../../etc/passwd",
    "/",
    "😀" * 3,
    "x" * 10_000,
    "\0",
    "removed 0",
    '"',
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_keys_and_notes_are_kept_as_they_are(tmp_path, store, of, text):
    assert store.add(DAY, of(slice(50)), key=text, note=text)
    assert not reopened(store).add(DAY, of(slice(50)), key=text)
    [record] = reopened(store).history(DAY)
    assert (record.key, record.note) == (text, text)
    store.add(DAY, of(slice(60, 90)), key="other")
    store.compact(DAY)
    assert not reopened(store).add(DAY, of(slice(50)), key=text)
    assert of.same(reopened(store).get(DAY, of.stream), of(np.r_[0:50, 60:90]))
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize("given", [{"key": 5}, {"key": b"a"}, {"note": None}, {"note": 1.5}])
def test_keys_and_notes_that_are_no_text_are_refused(store, moments, given):
    with pytest.raises(TypeError, match=f"the {next(iter(given))} of a step is text"):
        store.add(DAY, moments(slice(9)), **given)
    assert files(store) == ["manifest.json"]


def test_a_key_that_no_file_can_hold_leaves_nothing(store, moments):
    with pytest.raises(ValueError, match="surrogates"):
        store.add(DAY, moments(slice(9)), key="\ud800")
    assert files(store) == ["manifest.json"]


def test_summaries_that_do_not_fit_are_refused(store, of):
    store.add(DAY, of(slice(50)))
    for other in of.foreign():
        for day in (DAY, DAY + timedelta(days=9), DAY - timedelta(days=9)):
            with pytest.raises((ValueError, TypeError)):
                store.add(day, {of.stream: other}, key="other")
    with pytest.raises((ValueError, TypeError)):
        store.add(DAY, {of.stream: of(slice(9), None)}, key="no labels")
    assert len(files(store)) == 3


def test_streams_hold_one_kind(store, all_kinds):
    moments, counts, scores = all_kinds(slice(50))
    store.add(DAY, {"mine": moments})
    for other in (counts, scores):
        with pytest.raises(TypeError):
            store.add(DAY, {"mine": other}, key="other")


def test_what_is_no_summary_is_refused(store, moments):
    with pytest.raises(TypeError, match="not int"):
        store.add(DAY, [3])
    with pytest.raises(TypeError, match="not dict"):
        store.add(DAY, {"a": {}})
    with pytest.raises(ValueError, match="no summary to add"):
        store.add(DAY, [])
    with pytest.raises(ValueError, match="two summaries are of one stream"):
        store.add(DAY, [moments(slice(9)), moments(slice(9, 20))])


def test_days_have_many_forms(store, moments):
    pd = pytest.importorskip("pandas")
    late = datetime(2026, 3, 1, 23, 59, tzinfo=timezone(timedelta(hours=-11)))
    forms = ["2026-03-01", DAY, late, np.datetime64("2026-03-01T23:59"), pd.Timestamp(late)]
    for number, form in enumerate(forms):
        assert store.add(form, moments(slice(9)), key=f"part {number}")
        assert moments.n_rows(store.get(form)) == 9 * (number + 1)
    assert store.days() == [DAY]
    assert len(store.history(pd.Timestamp(late))) == 5


@pytest.mark.parametrize("day", [None, 20260301, "1 March 2026", np.datetime64("NaT"), b"2026"])
def test_what_is_no_day_is_refused(store, moments, day):
    with pytest.raises((TypeError, ValueError)):
        store.add(day, moments(slice(9)))
    assert files(store) == ["manifest.json"]


def test_days_are_in_order_whatever_order_they_came_in(store, of):
    order = [5, 1, 400, 3]
    for k in order:
        store.add(DAY + timedelta(days=k), of(slice(k % 100, k % 100 + 30)))
    days = [DAY + timedelta(days=k) for k in sorted(order)]
    assert store.days() == list(store.read(of.stream)) == days
    inside = store.read(of.stream, since=days[1], until="2026-03-06")
    assert list(inside) == days[1:3]
    assert of.same(store.total(of.stream, since=days[1], until=days[2]), of(np.r_[3:33, 5:35]))


def test_an_empty_store_says_what_it_lacks(store, moments):
    assert store.days() == store.streams() == store.history() == []
    assert "no days" in repr(store)
    for call in (store.total, store.read, store.decayed, lambda: store.get(DAY)):
        with pytest.raises(LookupError, match=r"no summaries 'moments'.*streams are none"):
            call()
    store.compact(DAY)
    store.remove_day(DAY)
    store.prune()
    store.add(DAY, {"mine": moments(slice(9))})
    with pytest.raises(LookupError, match="streams are mine"):
        store.total()
    with pytest.raises(LookupError, match="no summaries 'mine'"):
        store.get(DAY + timedelta(days=1), "mine")
    assert "1 days from 2026-03-01 to 2026-03-01; streams mine" in repr(store)


def test_a_later_version_repeats_a_step_of_an_earlier_one(store, of, monkeypatch):
    store.add(DAY, of(slice(50)))
    monkeypatch.setattr("directrix.files.layout.version", lambda _: "99.0")
    of.binner = getattr(of, "binner", None)
    assert not store.add(DAY, of(slice(50)))
    with pytest.raises(StoreConflictError):
        store.add(DAY, of(slice(51)))


# ── corrections ───────────────────────────────────────────────────────────────────────────────────


def test_late_labels_move_rows_from_one_stream_to_the_other(store, of):
    waiting = f"unlabelled-{of.stream}"
    store.add(DAY, [of(slice(40)), of(slice(40, 240), None)])
    for late in (slice(40, 100), slice(100, 180)):
        step = {"subtract": of(late, None), "add": of(late), "key": f"labels {late}"}
        assert store.correct(DAY, **step, note="labels of the bureau")
        assert not store.correct(DAY, **step)
    assert of.same(store.get(DAY, of.stream), of(slice(180)))
    assert of.same(store.get(DAY, waiting), of(slice(180, 240), None))
    store.correct(DAY, subtract=of(slice(180, 240), None), add=of(slice(180, 240)), key="last")
    assert of.same(store.get(DAY, of.stream), of(slice(240)))
    assert of.n_rows(store.get(DAY, waiting)) == 0
    assert {record.note for record in store.history(DAY)} == {"", "labels of the bureau"}


def test_wrong_labels_are_replaced(store, of, labels):
    wrong = labels.copy()
    wrong[:30] = 1 - wrong[:30]
    store.add(DAY, of(slice(100), wrong))
    store.correct(DAY, subtract=of(slice(30), wrong), add=of(slice(30)), key="appeal")
    assert of.same(store.get(DAY, of.stream), of(slice(100)))


def test_a_correction_with_other_content_is_refused(store, of):
    store.add(DAY, of(slice(100)))
    store.correct(DAY, subtract=of(slice(30)), key="forget")
    with pytest.raises(StoreConflictError) as caught:
        store.correct(DAY, subtract=of(slice(31)), key="forget")
    assert caught.value.key == "forget"


def test_rows_that_are_not_there_are_not_subtracted(store, of):
    with pytest.raises(LookupError, match="no summaries"):
        store.correct(DAY, subtract=of(slice(10)), key="early")
    store.add(DAY, of(slice(10)))
    with pytest.raises(ValueError, match=r"not a part|not part|not among"):
        store.correct(DAY, subtract=of(slice(100)), key="too many")
    with pytest.raises(LookupError, match="no summaries"):
        store.correct(DAY + timedelta(days=1), subtract=of(slice(10)), key="other day")
    with pytest.raises(ValueError, match="nothing to subtract or to add"):
        store.correct(DAY, key="nothing")
    assert store.get(DAY, of.stream) == of(slice(10))


def test_a_correction_that_no_reader_could_compute_is_refused(store):
    # What is left of the day has no scatter, so the digits of its sum with the day are lost.
    from directrix import Moments

    rng = np.random.default_rng(0)
    day = Moments.of(rng.normal(size=(50, 1)), np.repeat([0, 1], 25))
    same = Moments.of(np.full((4, 1), 7.0), [0, 0, 1, 1])
    store.add(DAY, day)
    with pytest.raises(CancellationError):
        store.correct(DAY, subtract=day, add=same, key="all others")
    assert store.get(DAY) == day


# ── compaction and removal ────────────────────────────────────────────────────────────────────────


def many_steps(store, of):
    """Make a day of three steps and of two streams, and return what they should give."""
    store.add(DAY, [of(slice(40)), of(slice(40, 200), None)], note="morning")
    late = slice(40, 100)
    store.correct(DAY, subtract=of(late, None), add=of(late), key="late", note="late labels")
    store.add(DAY, of(slice(200, 240)), key="evening")
    return {
        of.stream: of(np.r_[0:100, 200:240]),
        f"unlabelled-{of.stream}": of(slice(100, 200), None),
    }


def repeats(store, of):
    """Repeat the steps; return whether any of them was new."""
    late = slice(40, 100)
    return (
        store.add(DAY, [of(slice(40)), of(slice(40, 200), None)])
        or store.correct(DAY, subtract=of(late, None), add=of(late), key="late")
        or store.add(DAY, of(slice(200, 240)), key="evening")
    )


def require(store, of, expected):
    """Check a day, as this store and a new one read it."""
    for reader in (store, reopened(store)):
        for stream, summary in expected.items():
            assert of.same(reader.get(DAY, stream), summary)
            assert reader.days(stream) == [DAY]


def test_compaction_changes_no_summary_and_forgets_no_key(store, of):
    expected = many_steps(store, of)
    before = {stream: store.get(DAY, stream) for stream in expected}
    subtracted = [
        file
        for record in store.history(DAY)
        for file, change in zip(record.files, record.changes, strict=True)
        if change.sign == -1
    ]
    assert subtracted
    assert set(subtracted) <= set(files(store))
    store.compact(DAY)
    assert {stream: store.get(DAY, stream) for stream in expected} == before
    require(store, of, expected)
    assert not set(subtracted) & set(files(store))
    assert len(summaries_in(store)) == 2
    [record] = store.history(DAY)
    assert {"late", "evening"} < set(record.keys)
    assert "late labels" in record.note
    assert not repeats(store, of)
    with pytest.raises(StoreConflictError):
        store.add(DAY, of(slice(9)), key="evening")
    require(store, of, expected)


def test_days_are_compacted_again_and_again(store, of):
    store.add(DAY, of(slice(10)), key="0")
    for part in range(1, 6):
        store.add(DAY, of(slice(10 * part, 10 * part + 10)), key=str(part))
        store.compact(DAY)
        store.compact(DAY)
    assert of.same(store.get(DAY, of.stream), of(slice(60)))
    assert len(files(store)) == 3
    assert not any(
        store.add(DAY, of(slice(10 * part, 10 * part + 10)), key=str(part)) for part in range(6)
    )


def test_a_removed_day_can_be_added_again(store, of):
    many_steps(store, of)
    store.add(DAY + timedelta(days=1), of(slice(9)))
    store.remove_day(DAY)
    assert reopened(store).days() == [DAY + timedelta(days=1)]
    assert len(files(store)) == 3
    expected = many_steps(store, of)
    require_first = {stream: store.get(DAY, stream) for stream in expected}
    for stream, summary in expected.items():
        assert of.same(require_first[stream], summary)


# ── processes that die ────────────────────────────────────────────────────────────────────────────


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the store may catch it."""


def dies_after(monkeypatch, method, calls):
    """Let a method of the folder end the process at a call after some that succeed."""
    real, left = getattr(LocalFolder, method), [calls]

    def counted(self, *args):
        if not left[0]:
            raise Killed
        left[0] -= 1
        return real(self, *args)

    monkeypatch.setattr(LocalFolder, method, counted)
    return lambda: monkeypatch.setattr(LocalFolder, method, real)


def killed_at_every_call(monkeypatch, tmp_path, action, prepare, methods=("write", "remove")):
    """Yield a store for each call of the folder at which a process can die in an action."""
    prepared = prepare(SummaryStore(tmp_path / "before"))
    for method in methods:
        for calls in range(1000):
            copied = shutil.copytree(tmp_path / "before", tmp_path / f"{method} {calls}")
            store = SummaryStore(copied)
            restore = dies_after(monkeypatch, method, calls)
            try:
                action(store)
            except Killed:
                restore()
                yield reopened(store), prepared, (method, calls)
                continue
            restore()
            break
        assert 0 < calls < 999


def test_a_process_that_dies_in_compaction_changes_nothing(monkeypatch, tmp_path, of):
    cases = killed_at_every_call(
        monkeypatch,
        tmp_path,
        lambda store: store.compact(DAY),
        lambda store: many_steps(store, of),
    )
    for store, expected, _ in cases:
        require(store, of, expected)
        assert not repeats(store, of)
        require(store, of, expected)
        store.compact(DAY)
        require(store, of, expected)
        # Nothing is left behind, least of all what was subtracted.
        assert len(store.history(DAY)) == 1
        assert len(files(store)) == 4


def test_a_process_that_dies_in_removal_leaves_a_day_or_none(monkeypatch, tmp_path, of):
    cases = killed_at_every_call(
        monkeypatch,
        tmp_path,
        lambda store: store.remove_day(DAY),
        lambda store: many_steps(store, of),
    )
    for store, expected, (method, _) in cases:
        if method == "write":  # before the only write of a removal
            require(store, of, expected)
            continue
        assert store.days() == []
        with pytest.raises(LookupError):
            store.get(DAY, of.stream)
        many_steps(store, of)
        require(store, of, expected)
        store.remove_day(DAY)
        assert files(store) == ["manifest.json"]


def test_a_removal_after_a_compaction_that_died_removes_all(monkeypatch, tmp_path, of):
    """Every record that a dead compaction replaced must go before the one that replaces it."""

    def prepare(store):
        many_steps(store, of)
        restore = dies_after(monkeypatch, "remove", 0)
        with pytest.raises(Killed):
            store.compact(DAY)
        restore()

    cases = killed_at_every_call(
        monkeypatch, tmp_path, lambda store: store.remove_day(DAY), prepare
    )
    for store, _, (method, calls) in cases:
        days = store.days()
        assert days in ([], [DAY])
        if days:
            require(store, of, {of.stream: of(np.r_[0:100, 200:240])})
        store.remove_day(DAY)
        assert files(store) == ["manifest.json"], (method, calls)


def test_a_removal_that_died_twice_removes_all(monkeypatch, tmp_path, of):
    def prepare(store):
        many_steps(store, of)
        restore = dies_after(monkeypatch, "remove", 1)
        with pytest.raises(Killed):
            store.remove_day(DAY)
        restore()

    cases = killed_at_every_call(
        monkeypatch,
        tmp_path,
        lambda store: store.remove_day(DAY) or store.add(DAY, of(slice(9))),
        prepare,
    )
    for store, _, _ in cases:
        assert store.days() == []
        store.remove_day(DAY)
        assert not summaries_in(store) or store.history(DAY) == []


def test_a_process_that_dies_in_a_step_leaves_the_day_as_it_was(monkeypatch, tmp_path, of):
    late = slice(100, 150)

    def step(store):
        return store.correct(
            DAY, subtract=of(late, None), add=of(late), key="more", note="late labels"
        )

    cases = killed_at_every_call(
        monkeypatch,
        tmp_path,
        step,
        lambda store: many_steps(store, of),
        ["write"],
    )
    for store, before, _ in cases:
        after = {
            of.stream: of(np.r_[0:150, 200:240]),
            f"unlabelled-{of.stream}": of(slice(150, 200), None),
        }
        require(store, of, before)
        assert step(store)
        require(store, of, after)


# ── days to keep ──────────────────────────────────────────────────────────────────────────────────


def test_old_days_are_removed(tmp_path, of):
    store = SummaryStore(tmp_path, keep_days=3)
    for k in range(5):
        store.add(DAY + timedelta(days=k), of(slice(20 * k, 20 * k + 20)))
    assert store.days() == [DAY + timedelta(days=k) for k in (2, 3, 4)]
    assert of.same(store.total(of.stream), of(slice(40, 100)))
    assert len(files(store)) == 7


def test_the_days_to_keep_are_those_of_the_folder(tmp_path, moments):
    SummaryStore(tmp_path, keep_days=1).add(DAY, moments(slice(9)))
    store = SummaryStore(tmp_path)
    assert store.keep_days == 1
    store.add(DAY + timedelta(days=1), moments(slice(9)))
    assert store.days() == [DAY + timedelta(days=1)]
    assert SummaryStore(tmp_path, keep_days=7).keep_days == 7
    assert SummaryStore(tmp_path).keep_days == 1


def test_more_days_than_there_are_dates_are_kept(tmp_path, moments):
    store = SummaryStore(tmp_path, keep_days=10**7)
    store.add(DAY, moments(slice(9)))
    store.add(date.min, moments(slice(9)))
    assert store.days() == [date.min, DAY]


@pytest.mark.parametrize("keep_days", [0, -1, 1.5, "7", True])
def test_days_to_keep_are_a_number_of_days(tmp_path, keep_days):
    with pytest.raises(ValueError, match="keep_days must be a number of days"):
        SummaryStore(tmp_path / "store", keep_days=keep_days)


def test_what_killed_writers_left_is_removed_by_its_age_only(store, monkeypatch, of):
    store.add(DAY, of(slice(50)))
    restore = dies_after(monkeypatch, "write", 1)
    with pytest.raises(Killed):
        store.add(DAY, of(slice(50, 90)), key="killed")
    restore()
    folder = store._folder.path
    (folder / ".2026-03-01.0123.partial").write_bytes(b"half")
    before = sorted(folder.iterdir())
    store.prune()
    assert sorted(folder.iterdir()) == before  # its writer may still write the record
    strangers = [folder / "notes.txt", folder / ".profile", folder / "a.partial"]
    for stranger in strangers:
        stranger.write_text("mine")
    two_hours_ago = time.time() - 7200
    for path in folder.iterdir():
        os.utime(path, (two_hours_ago, two_hours_ago))
    store.prune()
    assert len(files(store)) == 3 + 2  # manifest, record and summary; strangers
    assert [path.exists() for path in strangers] == [True] * 3
    assert store._folder.partial_names() == []
    assert store.get(DAY, of.stream) == of(slice(50))


def test_decay_is_that_of_the_days(store, of):
    from directrix.monitoring import decayed

    for k in (0, 3, 9):
        store.add(DAY + timedelta(days=k), of(slice(20 * k, 20 * k + 40)))
    until = DAY + timedelta(days=4)
    expected = decayed(store.read(of.stream), half_life=2, until=until)
    assert store.decayed(of.stream, half_life=2, until=until) == expected


# ── damage ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "directrix.moments", "version": 1, "keep_days": null}',
        b'{"format": "directrix.store", "version": 2, "keep_days": null}',
        b'{"format": "directrix.store", "version": 1}',
        b'{"format": "directrix.store", "version": 1, "keep_days": "7"}',
        b'{"format": "directrix.store", "version": 1, "keep_days": 0}',
        b'{"format": "directrix.store", "version": 1, "keep_days": -5}',
    ],
)
def test_a_manifest_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(StoreFileError, match="manifest") as caught:
        SummaryStore(tmp_path)
    assert caught.value.path == "manifest.json"
    assert (tmp_path / "manifest.json").read_bytes() == content


def refused(store, moments):
    """Require that a new store reads, writes and removes nothing."""
    before = files(store)
    for call in (
        lambda store: store.days(),
        lambda store: store.total(),
        lambda store: store.add(DAY, moments(slice(5)), key="more"),
        lambda store: store.compact(DAY),
        lambda store: store.remove_day(DAY),
    ):
        with pytest.raises(StoreFileError):
            call(reopened(store))
    assert files(store) == before


def record_path(store):
    [record] = store.history(DAY)
    return store._folder.path / record.name


def test_a_renamed_record_is_refused(store, moments):
    store.add(DAY, moments(slice(50)))
    path = record_path(store)
    path.rename(path.with_name(path.name.replace("2026-03-01", "2026-03-02")))
    refused(store, moments)


def test_a_record_of_a_day_that_does_not_exist_is_refused(store, moments):
    store.add(DAY, moments(slice(50)))
    path = record_path(store)
    path.rename(path.with_name(path.name.replace("2026-03-01", "2026-02-31")))
    refused(store, moments)


@pytest.mark.parametrize(
    "edit",
    [
        {"note": "innocent"},
        {"keys": {"morning": "0" * 16}},
        {"replaces": ["2026-03-01." + "0" * 16 + "." + "0" * 16 + ".json"]},
        {"changes": []},
        {"day": "2026-03-02"},
        {"key": "other"},
        {"version": 2},
        {"extra": 1},
    ],
)
def test_a_changed_record_is_refused(store, moments, edit):
    store.add(DAY, moments(slice(50)), note="as it was")
    path = record_path(store)
    path.write_text(json.dumps(json.loads(path.read_text()) | edit))
    refused(store, moments)


def test_a_file_that_is_no_record_is_ignored(store, moments):
    store.add(DAY, moments(slice(50)))
    for name in ("notes.txt", "2026-03-01.json", "2026-03-01", "manifest.json.old"):
        (store._folder.path / name).write_text("{}")
    assert reopened(store).get(DAY) == moments(slice(50))


def test_a_missing_summary_is_named(store, of):
    store.add(DAY, of(slice(50)))
    [name] = summaries_in(store)
    (store._folder.path / name).unlink()
    with pytest.raises(StoreFileError, match="no such file") as caught:
        store.get(DAY, of.stream)
    assert caught.value.path == name
    store.remove_day(DAY)
    assert store.add(DAY, of(slice(50)))


def test_a_summary_in_the_place_of_another_is_refused(store, of):
    store.add(DAY, of(slice(50)))
    [name] = summaries_in(store)
    of(slice(51)).save(store._folder.path / name)
    with pytest.raises(StoreFileError, match="another summary") as caught:
        store.get(DAY, of.stream)
    assert caught.value.path == name


def test_a_damaged_summary_is_refused(store, of):
    store.add(DAY, of(slice(50)))
    [name] = summaries_in(store)
    path = store._folder.path / name
    content = path.read_bytes()
    for damaged in (b"", content[:-8], content[:-1] + bytes([content[-1] ^ 1]), b"\0" * 500):
        path.write_bytes(damaged)
        with pytest.raises(StoreFileError, match=name):
            store.get(DAY, of.stream)


# ── readers beside writers ────────────────────────────────────────────────────────────────────────


def test_readers_see_whole_days_while_others_compact(store, of):
    """Each part has a number of rows of its own, so that a total tells its parts."""
    sizes = [1, 2, 4, 8, 16, 32, 64]
    starts = np.cumsum([0, *sizes])
    stop, seen, errors = threading.Event(), set(), []

    def read():
        reader, last = reopened(store), 1
        while not stop.is_set():
            try:
                rows = of.n_rows(reader.get(DAY, of.stream))
            except Exception as error:  # noqa: BLE001 - told by the main thread
                errors.append(error)
                return
            # Parts are added in order, and none is ever lost.
            if rows + 1 not in (2 << k for k in range(7)) or rows < last:
                errors.append(AssertionError((rows, last)))
                return
            last = rows
            seen.add(rows)

    store.add(DAY, of(slice(starts[0], starts[1])), key="0")
    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    until = time.monotonic() + PATIENCE
    for part in range(1, 7):
        store.add(DAY, of(slice(starts[part], starts[part + 1])), key=str(part))
        for _ in range(3):
            reopened(store).compact(DAY)
        while starts[part + 1] not in seen and not errors and time.monotonic() < until:
            time.sleep(0.001)
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []
    assert len(seen) >= 6
    assert of.n_rows(store.get(DAY, of.stream)) == 127


def test_a_reader_survives_the_removal_of_many_replaced_records(store, moments, monkeypatch):
    """Records that vanish at each listing are no fault if another record replaces them."""
    for part in range(20):
        store.add(DAY, moments(slice(part * 5, part * 5 + 5)), key=str(part))
    restore = dies_after(monkeypatch, "remove", 0)
    with pytest.raises(Killed):
        store.compact(DAY)
    restore()
    hidden = [name for name in files(store) if name.endswith(".json") and name != "manifest.json"]
    compacted = next(
        name for name in hidden if json.loads((store._folder.path / name).read_text())["replaces"]
    )
    hidden.remove(compacted)
    real = LocalFolder.names

    def names(self):
        listed = real(self)
        if hidden:
            self.remove(hidden.pop())
        return listed

    reader = reopened(store)
    monkeypatch.setattr(LocalFolder, "names", names)
    assert moments.n_rows(reader.get(DAY)) == 100


def test_a_listing_that_misses_a_record_and_its_replacement_is_read_again(
    store, moments, monkeypatch
):
    store.add(DAY, moments(slice(50)), key="a")
    store.add(DAY, moments(slice(50, 90)), key="b")
    reader, real, listings = reopened(store), LocalFolder.names, []

    def names(self):
        listed = real(self)
        listings.append(listed)
        if len(listings) == 2:  # misses what vanishes and what replaces it
            return [name for name in listed if not name.endswith(".json")]
        return listed

    monkeypatch.setattr(LocalFolder, "names", names)
    assert moments.n_rows(reader.get(DAY)) == 90
    assert len(listings) > 2


def test_writers_take_turns(tmp_path, of):
    errors = []

    def write(seed):
        rng = np.random.default_rng(seed)
        writer = SummaryStore(tmp_path / "store")
        try:
            for part in rng.permutation(12):
                rows = slice(20 * int(part), 20 * int(part) + 20)
                writer.add(DAY + timedelta(days=int(part) % 3), of(rows), key=str(part))
        except Exception as error:  # noqa: BLE001 - told by the main thread
            errors.append(error)

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    store = SummaryStore(tmp_path / "store")
    assert len(store.days()) == 3
    assert of.same(store.total(of.stream), of(slice(240)))
