"""Bars of progress draw over themselves; all else is told line by line, as it was written."""

from gradstudio.engine.code.terminal_rows import TerminalRows


def told(rows: TerminalRows, *texts: str) -> list[str]:
    return [line for text in texts for line in rows.write(text)]


def test_lines_are_told_when_they_end_empty_ones_too() -> None:
    rows = TerminalRows()
    assert told(rows, "a", "b\n\nc") == ["ab", ""]
    assert rows.bar == ""
    assert list(rows.finish()) == ["c"]
    assert list(rows.finish()) == []


def test_a_bar_is_one_row_that_is_told_as_it_was_in_the_end() -> None:
    rows = TerminalRows()
    assert told(rows, "\r 0%", "\r50%") == []
    assert rows.bar == "50%"
    assert told(rows, "\r100%", "\n") == []
    assert told(rows, "done\n") == ["100%", "done"]


def test_what_another_stream_writes_stands_below_a_bar_that_was_ended() -> None:
    rows = TerminalRows()
    assert told(rows, "\r100%\n", "\r 20%") == []
    assert list(rows.settle()) == ["100%"]
    assert rows.bar == " 20%"


def test_a_bar_in_a_bar_is_drawn_below_it_and_wiped_away() -> None:
    rows = TerminalRows()
    up = "\x1b[A"
    assert told(rows, "\router 0%", "\n", "\rinner 0%", up, "\n", "\rinner 50%", up) == []
    assert rows.bar == "outer 0%\ninner 50%"
    assert told(rows, "\n", "\r         ", up, "\router 100%", "\n") == []
    assert list(rows.finish()) == ["outer 100%"]


def test_a_shorter_text_covers_only_what_it_is_written_over() -> None:
    rows = TerminalRows()
    assert told(rows, "loading...", "\rdone") == []
    assert list(rows.finish()) == ["doneing..."]


def test_colours_are_no_letters() -> None:
    rows = TerminalRows()
    assert told(rows, "\x1b[31mred\x1b[0m\n") == ["red"]


def test_a_bar_of_many_rows_is_told_all_the_same() -> None:
    rows = TerminalRows()
    lines = told(rows, *(f"\r{number}\n" for number in range(1000)))
    assert [*lines, *rows.finish()] == [str(number) for number in range(1000)]
