"""Steps: streams of summaries, and files that are the ones that a record names."""

import pytest

from directrix.exceptions.files import StoreFileError
from directrix.monitoring.records import Change, Step, by_stream, load_summary, stream_of


def saved(path, step):
    [(change, content)] = step.parts
    path.write_bytes(content)
    return change


def test_streams_follow_from_type_and_labels(of):
    assert stream_of(of(slice(9))) == of.stream
    assert stream_of(of(slice(9), None)) == f"unlabelled-{of.stream}"


def test_summaries_are_in_the_order_of_their_streams(all_kinds):
    moments, counts, scores = all_kinds(slice(9))
    expected = [("counts", counts), ("moments", moments), ("scores", scores)]
    assert list(by_stream([scores, moments, counts]).items()) == expected
    named = {"z": counts, "a": scores}
    assert list(by_stream(named).items()) == [("a", scores), ("z", counts)]


def test_a_single_summary_is_a_list_of_one(of):
    assert by_stream(of(slice(9))) == {of.stream: of(slice(9))}
    assert by_stream(iter([of(slice(9))])) == {of.stream: of(slice(9))}
    assert by_stream(()) == {}


@pytest.mark.parametrize("summaries", [[3], ["text"], {"a": None}, {"a": []}])
def test_what_is_no_summary_is_refused(summaries):
    with pytest.raises(TypeError, match="a store keeps Moments, BinCounts and ScoreHistogram"):
        by_stream(summaries)


def test_the_hash_is_that_of_the_summary_and_of_nothing_else(of, monkeypatch):
    first, again, other = (Step({"a": of(slice(n))}) for n in (9, 9, 10))
    assert first.changes == again.changes
    assert first.changes != other.changes
    monkeypatch.setattr("directrix.files.layout.version", lambda _: "99.0")
    later = Step({"a": of(slice(9))})
    assert later.parts[0][1] != first.parts[0][1]
    assert later.changes == first.changes


def test_changes_have_signs(of):
    step = Step({"a": of(slice(9))}, {"a": of(slice(9)), "b": of(slice(5))})
    assert [(change.stream, change.sign) for change in step.changes] == [
        ("a", 1),
        ("a", -1),
        ("b", -1),
    ]
    assert step.changes[0].digest == step.changes[1].digest != step.changes[2].digest


def test_a_file_gives_the_summary_back(tmp_path, of):
    path = tmp_path / "summary"
    for labelled in (True, False):
        summary = of(slice(50)) if labelled else of(slice(50), None)
        change = saved(path, Step({"a": 0.37 * summary}))
        assert load_summary(path, change) == 0.37 * summary


def test_other_summaries_are_refused(tmp_path, of):
    path = tmp_path / "summary"
    saved(path, Step({"a": of(slice(50))}))
    with pytest.raises(StoreFileError, match=r"summary cannot be read.*another summary"):
        load_summary(path, Change("a", 1, "0" * 16))


def test_damage_is_refused(tmp_path, of):
    path = tmp_path / "summary"
    change = saved(path, Step({"a": of(slice(50))}))
    content = path.read_bytes()
    for position in range(0, len(content), max(len(content) // 50, 1)):
        damaged = bytearray(content)
        damaged[position] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(StoreFileError) as caught:
            load_summary(path, change)
        assert caught.value.path == "summary"


def test_files_of_something_else_are_refused(tmp_path):
    from summary_files import put_together

    path = tmp_path / "summary"
    for content in (b"", b"{}", put_together("[]", {}), put_together('{"format": 1}', {})):
        path.write_bytes(content)
        with pytest.raises(StoreFileError):
            load_summary(path, Change("a", 1, "0" * 16))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        load_summary(path, Change("a", 1, "0" * 16))
