"""A pattern that is compiled late is the pattern."""

import re
import sys

from gradstudio.late_pattern import late


def test_it_finds_what_the_pattern_finds() -> None:
    text, flags = r"(?P<letter>[a-c])(\d*)", re.IGNORECASE
    pattern, same = late(text, flags), re.compile(text, flags)
    assert pattern.sub(r"<\1>", "xA12b") == same.sub(r"<\1>", "xA12b")
    assert pattern.groupindex == same.groupindex and pattern.pattern == same.pattern
    found = pattern.fullmatch("B7")
    assert found is not None and found["letter"] == "B" and pattern.fullmatch("B7x") is None


def test_it_is_compiled_when_it_is_used() -> None:
    asked: list[str] = []

    def count(frame: object, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.endswith("_compiler.py"):  # type: ignore[attr-defined]
            asked.append(event)

    sys.setprofile(count)
    try:
        pattern = late(r"never[ ]compiled[ ]before")
        assert not asked
        assert pattern.search("never compiled before")
    finally:
        sys.setprofile(None)
    assert asked
