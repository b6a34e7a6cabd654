"""Lines of two texts side by side, and what two hands changed."""

from hypothesis import given
from hypothesis import strategies as st

from gradstudio.ui.docks.code.line_diff import Hunk, LineMap, apply_hunks, combine_changes, hunks

LINES = ("a = 1", "a  =  1", "b = 2", "", "c = f(a)", "c = f( a )", "d")
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=12)


@given(texts, texts)
def test_hunks_make_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    assert apply_hunks(old, hunks(old, new)) == new


@given(texts, texts)
def test_what_only_the_canvas_changed_comes_whole(base: list[str], theirs: list[str]) -> None:
    found = combine_changes(base, base, theirs)
    assert found is not None
    assert apply_hunks(base, found) == theirs


@given(texts, texts)
def test_what_only_a_person_changed_stays_whole(base: list[str], typed: list[str]) -> None:
    assert combine_changes(base, typed, base) == []


def test_both_hands_on_different_lines_are_both_kept() -> None:
    base = ["a = 1", "b = 2", "c = 3"]
    found = combine_changes(base, ["a = (", "b = 2", "c = 3", "d = 4"], ["zero = 0", "a = 1", "b = 2", "c = 33"])
    assert found is not None
    assert apply_hunks(["a = (", "b = 2", "c = 3", "d = 4"], found) == ["zero = 0", "a = (", "b = 2", "c = 33", "d = 4"]


def test_both_at_the_end_stand_behind_one_another() -> None:
    found = combine_changes(["a = 1"], ["a = 1", "mine = ("], ["a = 1", "theirs = 2"])
    assert found is not None
    assert apply_hunks(["a = 1", "mine = ("], found) == ["a = 1", "theirs = 2", "mine = ("]


def test_one_line_changed_by_both_is_for_a_person_to_decide() -> None:
    assert combine_changes(["a = 1", "b = 2"], ["a = (", "b = 2"], ["a = 3", "b = 2"]) is None


def test_the_same_change_by_both_is_none() -> None:
    assert combine_changes(["a = 1"], ["a = 2"], ["a = 2"]) == []


def test_lines_that_differ_in_blanks_only_are_a_hunk_each() -> None:
    assert hunks(["a=1", "b=2", ""], ["a = 1", "b = 2"]) == [
        Hunk(0, 1, ("a = 1",)),
        Hunk(1, 2, ("b = 2",)),
        Hunk(2, 3, ()),
    ]


def test_a_line_that_is_typed_stands_for_its_statement_and_a_new_one_for_none() -> None:
    lines = LineMap(["a = 1", "b = 2", "c = 3"], ["a = 1", "b = (", "c = 3", "new"])
    assert [lines.program(line) for line in (1, 2, 3, 4)] == [1, 2, 3, 0]
    assert [lines.shown(line) for line in (1, 2, 3)] == [1, 2, 3]
    assert [lines.is_touched(line) for line in (1, 2, 3, 4)] == [False, True, False, True]
    lines = LineMap(["a = 1", "c = 3"], ["", "a = 1", "c = 3"])
    assert (lines.program(1), lines.program(3), lines.shown(2)) == (0, 2, 3)
    assert LineMap(["a", "gone", "b"], ["a", "b"]).shown(2) == 0


@given(texts, texts)
def test_lines_that_are_not_touched_lead_there_and_back(program: list[str], shown: list[str]) -> None:
    lines = LineMap(program, shown)
    for line in range(1, len(shown) + 1):
        if not lines.is_touched(line):
            assert program[lines.program(line) - 1] == shown[line - 1]
            assert lines.shown(lines.program(line)) == line
