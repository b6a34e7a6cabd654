"""Where something stands in a JSON text: line and column of a path. Used only when a file is refused."""

import re

from gradstudio.late_pattern import late

Step = str | int
_TOKEN = late(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_SPACE = late(r"[ \t\r\n]*")
_STRING = late(r'"(?:[^"\\]|\\.)*"')
_PLAIN = late(r"[^,\]}\s]*")


def locate(text: str, path: tuple[Step, ...]) -> tuple[int, int]:
    """Line and column (1-based) of the value at `path`, or of the nearest value around it."""
    position = _skip_space(text, 0)
    for step in path:
        found = _member(text, position, step)
        if found is None:
            break
        position = found
    return line_column(text, position)


def line_column(text: str, position: int) -> tuple[int, int]:
    """Line and column (1-based) of a position in the text."""
    before = text[:position]
    return before.count("\n") + 1, position - before.rfind("\n")


def parse_path(words: str) -> tuple[Step, ...]:
    """The steps of msgspec's ``$.items[3].names``; ends where it says ``[...]``."""
    steps: list[Step] = []
    for name, number in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", words):
        if number == "...":
            break
        steps.append(int(number) if number else name)
    return tuple(steps)


def _member(text: str, start: int, step: Step) -> int | None:
    opening = text[start : start + 1]
    if opening != ("[" if isinstance(step, int) else "{"):
        return None
    position, count = _skip_space(text, start + 1), 0
    while text[position : position + 1] not in ("", "]", "}"):
        key: Step = count
        if opening == "{":
            key, position = _key(text, position)
        if key == step:
            return position
        position = _skip_space(text, _end(text, position))
        if text[position : position + 1] != ",":
            return None
        position, count = _skip_space(text, position + 1), count + 1
    return None


def _key(text: str, position: int) -> tuple[str, int]:
    import json

    match = _STRING.match(text, position)
    if match is None:
        return "", len(text)
    try:
        key = str(json.loads(match.group(), strict=False))
    except ValueError:
        key = ""
    return key, _skip_space(text, _skip_space(text, match.end()) + 1)


def _end(text: str, position: int) -> int:
    """Where the value that starts here ends."""
    if text[position : position + 1] not in ('"', "[", "{"):
        match = _PLAIN.match(text, position)
        return match.end() if match else len(text)
    depth = 0
    for token in _TOKEN.finditer(text, position):
        mark = token.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        if depth == 0:
            return token.end()
    return len(text)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
