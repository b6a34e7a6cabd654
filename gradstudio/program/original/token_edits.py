"""What changed in a statement, word by word, done to the same statement as somebody typed it."""

from collections.abc import Iterator, Sequence

import msgspec

from gradstudio.program.original.alike import Opcode, opcodes_of
from gradstudio.program.original.statement_lines import StatementLines, Token


class WordEdit(msgspec.Struct, frozen=True, order=True):
    """Text in place of what stands between two columns of a line (from 1)."""

    line: int
    start: int
    end: int
    text: str


def word_edits(
    typed: tuple[StatementLines, int], printed: tuple[StatementLines, int], wanted: tuple[StatementLines, int]
) -> list[WordEdit] | None:
    """What makes of a typed statement what `wanted` is to `printed`; None where that cannot be told word by word.

    Args:
        typed: a text, and the number of the statement in it.
        printed: the same statement as it is printed.
        wanted: as it is to be printed.
    """
    before, after, own = _head(*printed), _head(*wanted), _head(*typed)
    places = _places(before, own)
    found: list[WordEdit] = []
    for tag, a, b, c, d in _opcodes(before, after):
        if tag == "equal":
            continue
        edit = _edit(wanted[0].lines, after, own, places, (a, b), (c, d))
        if edit is None:
            return None
        found.append(edit)
    return found


def _head(text: StatementLines, number: int) -> list[Token]:
    one = text.statements[number]
    return text.tokens(one.first, one.head_last)


def _places(before: Sequence[Token], own: Sequence[Token]) -> dict[int, int]:
    """Which word of the typed statement each of the printed one is."""
    found: dict[int, int] = {}
    for tag, a, b, c, d in _opcodes(before, own):
        if tag == "equal" or b - a == d - c:  # of as many words, each is another name, or spelled otherwise
            found.update(zip(range(a, b), range(c, d), strict=True))
    return found


def _opcodes(one: Sequence[Token], other: Sequence[Token]) -> list[Opcode]:
    return opcodes_of([token.value for token in one], [token.value for token in other])


def _edit(
    lines: Sequence[str],
    after: Sequence[Token],
    own: Sequence[Token],
    places: dict[int, int],
    old: tuple[int, int],
    new: tuple[int, int],
) -> WordEdit | None:
    """One edit; what is put in or taken out goes with the spaces beside it."""
    (a, b), (c, d) = old, new
    is_replaced = a < b and c < d
    if not is_replaced:
        a, b, c, d = a - 1, b + 1, c - 1, d + 1
    at = [places.get(k) for k in range(a, b)]
    known = [k for k in at if k is not None]
    if not known or len(known) < len(at) or known != list(range(known[0], known[0] + len(known))):
        return None
    if c < 0 or d > len(after):
        return None
    first, last = own[known[0]], own[known[-1]]
    begin, end = after[c], after[d - 1]
    if is_replaced:
        return _between(
            (first.line, first.start), (last.end_line, last.end), _text(lines, begin.line, begin.start, end)
        )
    edge = _text(lines, begin.end_line, begin.end, end, is_before=True)
    return _between((first.end_line, first.end), (last.line, last.start), edge)


def _between(start: tuple[int, int], end: tuple[int, int], text: str | None) -> WordEdit | None:
    if text is None or start[0] != end[0]:
        return None
    return WordEdit(start[0], start[1], end[1], text)


def _text(lines: Sequence[str], line: int, start: int, end: Token, *, is_before: bool = False) -> str | None:
    """What stands on one line from a column to behind a word, or to before it."""
    if end.line != line or end.end_line != line:
        return None
    return lines[line - 1][start : end.start if is_before else end.end]


def applied(lines: list[str], edits: Iterator[WordEdit] | Sequence[WordEdit]) -> None:
    """Change lines in place; no two edits overlap."""
    for one in sorted(set(edits), reverse=True):
        line = lines[one.line - 1]
        lines[one.line - 1] = f"{line[: one.start]}{one.text}{line[one.end :]}"
