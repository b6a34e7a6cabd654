"""Which statements of a function are printed otherwise than they were typed, though they mean the same."""

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from gradstudio.program.reading.code.undrawn import Key, key_of

_BLOCKS = (ast.For, ast.While, ast.With, ast.If)
_BODIES = frozenset({"body", "orelse"})


def printed_otherwise(
    printed: Sequence[ast.stmt], typed: Sequence[ast.stmt], read: Sequence[ast.stmt]
) -> Iterator[Key]:
    """Where the innermost statements stand that whoever looks at a frame of theirs would not find as typed.

    Args:
        printed: what a drawing is printed as.
        typed: what was typed.
        read: the same as it was read, which says where.
    """
    if len(printed) == len(typed) == len(read):  # mostly, and then each has its own beside it
        for beside, one, place in zip(printed, typed, read, strict=True):
            yield from _other_in(beside, one, place)
        return
    here, there = list(map(ast.dump, printed)), list(map(ast.dump, typed))
    for tag, first, last, begin, end in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        is_even = last - first == end - begin
        for k in range(begin, max(end, min(begin + 1, len(read)))):
            if is_even:
                yield from _other_in(printed[first + k - begin], typed[k], read[k])
            else:
                yield key_of(read[k])


def _other_in(printed: ast.stmt, typed: ast.stmt, read: ast.stmt) -> Iterator[Key]:
    if ast.dump(printed) == ast.dump(typed):
        return
    if isinstance(typed, _BLOCKS) and isinstance(read, _BLOCKS) and _head(printed) == _head(typed):
        inner = list(printed_otherwise(_body(printed), typed.body, read.body))
        inner += printed_otherwise(_rest(printed), _rest(typed), _rest(read))
        if inner:
            yield from inner
            return
    yield key_of(read)


def _head(statement: ast.stmt) -> list[str]:
    """The kind of a statement, and all of it but for the statements in it."""
    fields = ((name, value) for name, value in ast.iter_fields(statement) if name not in _BODIES)
    parts = [(name, value if isinstance(value, list) else [value]) for name, value in fields]
    return [type(statement).__name__, *(_text(one) for _, values in parts for one in values)]


def _text(value: object) -> str:
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


def _body(statement: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = getattr(statement, "body", [])
    return found


def _rest(statement: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = getattr(statement, "orelse", [])
    return found
