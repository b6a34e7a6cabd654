"""Text to syntax tree, within limits: a hostile text ends in words, at its line, before anything is made of it."""

import ast
import re
import warnings
from collections.abc import Iterator

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.expressions.operator_chains import MAX_LINKS, left_of, links

MAX_CHARACTERS = 5_000_000
MAX_LINES = 200_000
MAX_COMMAS = 200_000
MAX_STATEMENTS = 20_000
MAX_PARTS = 60_000
"""Syntax nodes of one statement: a literal of 10,000 elements with signs and brackets has fewer."""
MAX_NESTING = 100
MAX_BITS = 14_000
"""Of an integer: Python itself writes none of more than 4,300 digits."""
_HALF = re.compile("[\ud800-\udfff]")
_MAGIC = ("%", "!", "?")
MARK = "\ufeff"
"""What some editors put in front of a text."""


def plain_text(text: str) -> str:
    """A text as Python takes it: without a mark, with one kind of line end."""
    return text.removeprefix(MARK).replace("\r\n", "\n").replace("\r", "\n")


def parse(text: str) -> ast.Module:
    """The syntax tree of a text.

    Raises:
        NotReadable: it is no Python, or larger or deeper than a canvas can be.
    """
    if len(text) > MAX_CHARACTERS:
        raise NotReadable(f"The text has more than {MAX_CHARACTERS:,} characters.", 1)
    if text.count("\n") > MAX_LINES:
        raise NotReadable(f"The text has more than {MAX_LINES:,} lines.", MAX_LINES + 1)
    if text.count(",") + text.count(";") > MAX_COMMAS:
        raise NotReadable(f"The text has more than {MAX_COMMAS:,} commas. {_STORE}", _longest_line(text))
    tree = _parsed(text)
    _check(tree)
    return tree


def _parsed(text: str) -> ast.Module:
    if "\0" in text:
        before = text[: text.index("\0")]
        line = before.count("\n") + 1
        raise NotReadable("A text holds no NUL characters.", line, len(before) - (before.rfind("\n") + 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown escape in a text is not our reader's trouble
            return ast.parse(text)
    except SyntaxError as error:
        raise _refusal(text, error) from None
    except (RecursionError, MemoryError):
        raise NotReadable(_TOO_DEEP, _longest_line(text)) from None
    except ValueError as error:
        raise NotReadable(f"This is not Python: {error}.", _longest_line(text)) from None


_STORE = "Store larger data in the document."
_TOO_DEEP = f"An expression is nested more than {MAX_NESTING} deep: give names to its parts."

_TOO_LONG = f"An expression has more than {MAX_LINKS:,} operators and calls in a row: give names to its parts."


def _refusal(text: str, error: SyntaxError) -> NotReadable:
    lines = text.split("\n")
    number = min(max(error.lineno or 1, 1), len(lines))
    line = lines[number - 1].strip()
    if line.startswith(_MAGIC) or line.endswith("?"):
        return NotReadable("This is a command of Jupyter and no Python: take the line out.", number)
    words = error.msg.partition(";")[0]  # the advice behind it is for who sets Python up
    return NotReadable(f"This is not Python: {words}.", number, max((error.offset or 1) - 1, 0))


def _longest_line(text: str) -> int:
    """Where to look when Python gives up without saying where."""
    lines = text.split("\n")
    return max(range(len(lines)), key=lambda k: len(lines[k])) + 1


def _check(tree: ast.Module) -> None:
    """Refuse what is larger or deeper than the limits.

    Raises:
        NotReadable: with the place.
    """
    for count, statement in enumerate(_statements(tree)):
        if count >= MAX_STATEMENTS:
            raise NotReadable(f"The text has more than {MAX_STATEMENTS:,} statements.", statement.lineno)
        _check_statement(statement)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement in the order of the text, those in blocks included."""
    waiting = list(reversed(tree.body))
    while waiting:
        statement = waiting.pop()
        yield statement
        inner: list[ast.stmt] = [*getattr(statement, "body", ()), *getattr(statement, "orelse", ())]
        waiting.extend(reversed(inner))


def _check_statement(statement: ast.stmt) -> None:
    parts = 0
    waiting: list[tuple[ast.AST, int, int]] = [(one, 0, 0) for one in _children(statement)]
    while waiting:
        node, depth, count = waiting.pop()
        parts += 1
        if parts > MAX_PARTS:
            reason = f"This statement is too long: a literal has at most 10,000 elements. {_STORE}"
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        if depth > MAX_NESTING:
            raise NotReadable(_TOO_DEEP, statement.lineno, statement.col_offset)
        if count > MAX_LINKS:
            raise NotReadable(_TOO_LONG, statement.lineno, statement.col_offset)
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > MAX_BITS:
            raise NotReadable("An integer has at most 4,300 digits.", node.lineno, node.col_offset)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _HALF.search(node.value):
            raise NotReadable("A text holds no half of a character.", node.lineno, node.col_offset)
        if isinstance(node, ast.Call):
            _check_call(node)
        left = left_of(node)
        longer = count + links(node)
        waiting.extend((one, depth, longer) if one is left else (one, depth + 1, 0) for one in _children(node))


def _check_call(call: ast.Call) -> None:
    seen: set[str] = set()
    for keyword in call.keywords:
        if keyword.arg in seen:
            raise NotReadable(f"'{keyword.arg[:60]}' is given twice.", keyword.lineno, keyword.col_offset)
        seen |= {keyword.arg} if keyword.arg is not None else set()


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression or of a statement's head; not the statements of a block, nor loads and stores."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.expr_context | ast.operator | ast.unaryop | ast.cmpop):
            yield child
