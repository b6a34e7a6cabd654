"""The text of undrawn Python: taken out of a block and put into one, and with other names, each by its syntax.

A line that continues a text over several lines is part of that text: it is never moved.
"""

import ast
import io
import keyword
import tokenize
from collections.abc import Iterator, Mapping

from gradstudio.graph.errors import Refused
from gradstudio.graph.text.code_functions import Comprehension, Free, Function, bound_by_alias
from gradstudio.graph.text.code_names import names_of_code

Part = tuple[int, int, int]
"""Line (from 1), first column, and the column behind it, in bytes of UTF-8 as syntax trees count them."""


def syntax_of(text: str) -> ast.Module:
    """The syntax of a text; that of an empty one where it is no Python, or nested too deeply."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def outdented(lines: list[str], width: int) -> str:
    """Lines of a block without its indentation, which is so many characters wide."""
    kept = lines_within_texts("\n".join(line[min(width, _margin(line)) :] for line in lines))
    moved = [line if k in kept else line[min(width, _margin(line)) :] for k, line in enumerate(lines, 1)]
    return "\n".join(moved)


def indented(code: str, indent: str) -> list[str]:
    """The lines of a code in a block that is indented so; empty lines stay empty."""
    kept = lines_within_texts(code) if indent else frozenset()
    return [line if k in kept or not line else indent + line for k, line in enumerate(code.split("\n"), 1)]


def lines_within_texts(code: str) -> frozenset[int]:
    """The lines (from 1) that begin inside of a text of several lines."""
    found: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.STRING and token.end[0] > token.start[0]:
                found.update(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, IndentationError):
        return frozenset(found)
    return frozenset(found)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" \t\f"))


def renamed_code(code: str, names: Mapping[str, str]) -> str:
    """The code with other names for what it has in common with the program; () means nothing changes.

    Raises:
        Refused: a name cannot be changed in it, or a new one means something in it already.
    """
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return code
    known = names_of_code(code)
    for new in changed.values():
        if new in known.taken and new not in changed:
            raise Refused(f"the code has a name '{new}' of its own: choose another name")
        if not new.isidentifier() or keyword.iskeyword(new):
            raise Refused(f"'{new[:60]}' is no name")
    places: dict[Part, str] = {}
    finder = _Finder(code, frozenset(changed))
    for place, old, prefix in finder.places(ast.parse(code)):
        places[place] = prefix + changed[old]
    return with_parts(code, places)


def with_parts(code: str, places: Mapping[Part, str]) -> str:
    """The code with other texts at some places, which do not overlap."""
    lines = [line.encode() for line in code.split("\n")]
    for (line, start, end), text in sorted(places.items(), reverse=True):
        whole = lines[line - 1]
        lines[line - 1] = whole[:start] + text.encode() + whole[end:]
    return b"\n".join(lines).decode()


class _Finder:
    """Finds where a code names what it shares with the program."""

    def __init__(self, code: str, names: frozenset[str]) -> None:
        self._lines = [line.encode() for line in code.split("\n")]
        self._names = names

    def places(self, node: ast.AST, own: frozenset[str] = frozenset()) -> Iterator[tuple[Part, str, str]]:
        """(place, name there, what is put before the new one) for each, in what is not a function's own."""
        match node:
            case ast.Name(id=name):
                if name in self._names - own:
                    yield self._at(node, name), name, ""
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                yield from self._definition(node, own)
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from self._comprehension(node, own)
                return
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield from self._import(alias, own)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    if name in self._names - own:
                        yield self._word(node, name), name, ""
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self._refuse(name, own)
            case ast.MatchMapping(rest=str(name)):
                self._refuse(name, own)
        for one in ast.iter_child_nodes(node):
            yield from self.places(one, own)

    def _definition(
        self, node: Function | ast.ClassDef | ast.Lambda, own: frozenset[str]
    ) -> Iterator[tuple[Part, str, str]]:
        if not isinstance(node, ast.Lambda) and node.name in self._names - own:
            yield self._word(node, node.name), node.name, ""
        inner = own
        if isinstance(node, ast.ClassDef):
            for name in names_of_class(node):
                self._refuse(name, own)
        else:
            inner = own | _own_names(node)
        inside = [node.body] if isinstance(node, ast.Lambda) else node.body
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.arguments):
                for part in ast.iter_child_nodes(one):
                    yield from self.places(part, own)
            else:
                yield from self.places(one, inner if one in inside else own)

    def _comprehension(self, node: Comprehension, own: frozenset[str]) -> Iterator[tuple[Part, str, str]]:
        """Its first iterable is read around it, the rest among its own names."""
        first, inner = node.generators[0], own | _targets(node)
        yield from self.places(first.iter, own)
        for one in ast.iter_child_nodes(node):
            parts = ast.iter_child_nodes(one) if one is first else [one]
            for part in parts:
                if part is not first.iter:
                    yield from self.places(part, inner)

    def _import(self, alias: ast.alias, own: frozenset[str]) -> Iterator[tuple[Part, str, str]]:
        name = bound_by_alias(alias)
        if name not in self._names - own:
            return
        assert alias.end_lineno is not None
        assert alias.end_col_offset is not None
        end = alias.end_col_offset
        if alias.asname is not None:
            yield (alias.end_lineno, end - len(name.encode()), end), name, ""
        elif "." in alias.name:
            raise Refused(f"'{name}' is the first word of an import: it cannot have another name")
        else:
            yield (alias.end_lineno, end, end), name, " as "

    def _refuse(self, name: str, own: frozenset[str]) -> None:
        if name in self._names - own:
            raise Refused(f"'{name}' cannot have another name in this code: change it in the text")

    def _at(self, node: ast.Name, name: str) -> Part:
        """Where a name stands; within a formatted text Python may be wrong about it."""
        end = node.col_offset + len(name.encode())
        if self._lines[node.lineno - 1][node.col_offset : end] != name.encode():
            self._refuse(name, frozenset())
        return node.lineno, node.col_offset, end

    def _word(self, node: ast.stmt | ast.Global | ast.Nonlocal, name: str) -> Part:
        """Where the name of a definition stands, or one behind `global`: the first such word behind the keyword."""
        for line in range(node.lineno, len(self._lines) + 1):
            text = self._lines[line - 1].decode()
            for token in _names_on(text):
                is_behind = line > node.lineno or len(text[: token[0]].encode()) >= node.col_offset
                if token[1] == name and is_behind:
                    start = len(text[: token[0]].encode())
                    return line, start, start + len(name.encode())
        raise Refused(f"'{name}' cannot have another name in this code: change it in the text")


def _names_on(text: str) -> Iterator[tuple[int, str]]:
    """The words of one line, with their columns; what is no whole line of Python is cut off."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.lstrip()).readline):
            if token.type == tokenize.NAME:
                yield token.start[1] + len(text) - len(text.lstrip()), token.string
    except (tokenize.TokenError, IndentationError):
        return


def names_of_class(definition: ast.ClassDef) -> Iterator[str]:
    """The names that the body of a class binds."""
    for one in definition.body:
        if isinstance(one, Function | ast.ClassDef):
            yield one.name
        else:
            yield from (p.id for p in ast.walk(one) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store))


def _own_names(function: Function | ast.Lambda) -> frozenset[str]:
    """The names that belong to a function."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    before = Free(frozenset())
    before.function(function.args, body)
    parts = [part for one in (function.args, *body) for part in ast.walk(one)]
    every = {part.id for part in parts if isinstance(part, ast.Name)} | {p.arg for p in parts if isinstance(p, ast.arg)}
    return frozenset(every - before.free.keys() - before.rebound)


def _targets(node: Comprehension) -> frozenset[str]:
    parts = [part for one in node.generators for part in ast.walk(one.target)]
    return frozenset(part.id for part in parts if isinstance(part, ast.Name))
