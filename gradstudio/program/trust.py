"""What a person trusts when they trust a program: all of its undrawn Python, by one digest."""

import hashlib
from collections.abc import Iterable
from typing import Any

from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE
from gradstudio.program.model import BlockStatement, CodeLines, Inside, Program, Statement, flatten_statements

NOT_TRUSTED = (
    "This program holds Python that is not drawn. It can do whatever you can: read and write your files, connect, "
    "start programs."
)


def code_lines(statements: Iterable[Statement | BlockStatement], insides: Iterable[Inside]) -> tuple[CodeLines, ...]:
    """The undrawn Python of a program, in the order of its statements, that of definitions behind it."""
    every = [*flatten_statements(statements)]
    for inside in insides:
        every += flatten_statements((*inside.setup, *inside.body))
    return tuple(CodeLines(one.node, one.address, one.line, one.text) for one in every if one.operator == CODE)


def code_digest(program: Program) -> str:
    """A number for all the code of a program: another one for any other code, or the same in another order."""
    return _digest([one.text for one in program.codes])


def untrusted_code(program: Program, found: dict[ItemId, int] | None) -> tuple[list[dict[str, Any]], str]:
    """The code of a program that nobody has said yes to, as data and in words; `found` are the lines in a file."""
    lines = {one.node: one.line if found is None else found.get(one.node, one.line) for one in program.codes}
    data = [{"node": one.address, "line": lines[one.node], "text": one.text} for one in program.codes]
    rows = [row for one in program.codes for row in (*numbered_lines(one.text, lines[one.node]), "")]
    return data, "\n".join([f"{NOT_TRUSTED} These lines need your yes, --trust:", "", *rows]).rstrip()


def numbered_lines(code: str, first: int | None) -> tuple[str, ...]:
    """The lines of a code with their numbers in the file where it begins on the line `first`."""
    if first is None:
        return tuple(code.split("\n"))
    return tuple(f"{number:>5}  {line}".rstrip() for number, line in enumerate(code.split("\n"), first))


def _digest(texts: Iterable[str]) -> str:
    total = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        total.update(f"{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()
