"""Functions in undrawn Python: what their statements do is drawn, while the head and all around stay as typed.

Code calls such a function as it likes, so nothing is known of what it is given, and what it reads from around it is
looked up where it stands: each is an input of its own. It is printed back into the code (`graph.text.drawn_bodies`).
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Protocol

import msgspec

from gradstudio.graph.groups.definitions import all_ids
from gradstudio.graph.model import Definition, Graph, ItemId
from gradstudio.graph.names import bound_names
from gradstudio.graph.recipes.grouping.definition_copies import with_ids
from gradstudio.graph.text.code_functions import Free, bound_by_alias
from gradstudio.graph.text.code_records import STANDARD, code_of, is_code, is_members, with_code
from gradstudio.graph.text.code_text import indented, outdented
from gradstudio.graph.text.drawn_bodies import body_line, body_name, body_places
from gradstudio.program.errors import NotReadable
from gradstudio.program.printing.definition_printer import one_definition
from gradstudio.program.reading.code.code_imports import imported
from gradstudio.program.reading.code.code_reader import whole_as_code
from gradstudio.program.reading.code.code_statement import first_line, last_line
from gradstudio.program.reading.code.fallback import keep_code
from gradstudio.program.reading.code.inspection import looks_at_lines, looks_into_functions
from gradstudio.program.reading.code.printed_alike import printed_otherwise
from gradstudio.program.reading.code.undrawn import Key, Undrawn, bodies_of, holds_while, key_of
from gradstudio.program.reading.imports import PACKAGES
from gradstudio.program.reading.parser import parse
from gradstudio.program.reading.read_text import Read
from gradstudio.program.reading.syntax_queries import walk


class ReadTree(Protocol):
    """Reads a text by its syntax tree, in which some statements may stand in for others."""

    def __call__(self, text: str, tree: ast.Module, *, of_code: bool = False) -> Read:
        """What was read; `of_code`: of a function that code calls."""


_DEVICE = "device"
_NAME = "body_of_the_function"
_INDENT = "    "
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOSE = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_WRITTEN_IN = frozenset({"bool", "range", "list", "tuple", "dict", "set", "len", "enumerate", "zip"})
"""Names of Python's own that a drawing is printed with where the text says it otherwise."""


def with_drawn_bodies(text: str, tree: ast.Module, found: Read | None, read_tree: ReadTree) -> Read:
    """What was `found` in a text, with the statements of functions in its code drawn; None: all of it is code.

    Args:
        text: what was read.
        tree: its syntax, as it was typed.
        found: what was found in it.
        read_tree: reads what stands in a function.
    """
    if found is None:
        whole = whole_as_code(text)
        found = Read(whole, dict.fromkeys(whole.nodes, 1))
    return _with_bodies(text, tree, found, read_tree)


def _with_bodies(text: str, tree: ast.Module, read: Read, read_tree: ReadTree) -> Read:
    codes = [(read.graph, node) for node in read.graph.nodes.values() if is_code(node)]
    inner = [definition.graph for definition in read.graph.definitions.values() if definition.is_module]
    codes += [(graph, node) for graph in inner for node in graph.nodes.values() if is_members(node)]
    texts = [code_of(node) for _, node in codes]
    if not any("def " in one for one in texts) or any(next(body_places(one), None) for one in texts):
        return read
    meant = imported(one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom))
    torch = {name for name, path in meant.items() if path.partition(".")[0] == "torch"}
    trees = [tree if one == text.removesuffix("\n") else ast.parse(one) for one in texts]
    functions = [function for one in trees for _, function in _functions(one.body)]
    parts = [part for one in trees for part in one.body]
    if not any(_names(one) & torch for one in functions) or looks_at_lines(parts):
        return read
    around = _Around(tree, meant, read.graph, has_global="global" in text)
    around.looks_into_functions = looks_into_functions(parts)
    lines = dict(read.lines)
    taken = all_ids(read.graph)
    for (graph, node), code in zip(codes, trees, strict=True):
        card = _Card(code_of(node), code, around, read_tree)
        for drawn in card.drawn():
            ids = _ids(drawn.definition.graph, taken)
            read.graph.definitions[drawn.definition.name] = with_ids(drawn.definition, ids)
            above = lines.get(node.id, 1) - 1
            lines.update((ids[item], above + line) for item, line in drawn.lines.items() if item in ids)
        if card.code != code_of(node):
            graph.nodes[node.id] = with_code(node, card.code)
    return msgspec.structs.replace(read, lines=lines)


def _ids(graph: Graph, taken: set[ItemId]) -> Mapping[ItemId, ItemId]:
    """Ids that nothing else in the document has."""
    found: dict[ItemId, ItemId] = {}
    for item in graph.order():
        number = len(taken) + 1
        while ItemId(f"n{number}") in taken:
            number += 1
        found[item] = ItemId(f"n{number}")
        taken.add(found[item])
    return found


class _Around:
    """What a text says outside of its functions.

    Attributes:
        imports: the statements that import torch, numpy and math under names that mean nothing else, however often.
        names: those names, and `torch` those of torch's; `device` that a body may say `device` for the document's.
        drawn: the functions of the cards that were looked at.
        bound: all names that are bound there; `definitions` those that a drawing has of its own.
    """

    def __init__(self, tree: ast.Module, meant: Mapping[str, str], graph: Graph, *, has_global: bool) -> None:
        """Look at the text; its imports are `meant`, and somewhere in it may stand `global`."""
        counts = Counter(_bindings(tree, has_global=has_global))
        self.bound = frozenset(counts)
        self.definitions = frozenset(graph.definitions)
        self.drawn: set[str] = set()
        self.imports: list[str] = []
        self.names: set[str] = set()
        imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom) and _is_known(one)]
        again = Counter(each for one in imports for each in imported([one]).items())
        for one in imports:
            if all(counts[name] == again[name, path] for name, path in imported([one]).items()):
                self.imports.append(ast.unparse(one))
                self.names.update(map(bound_by_alias, one.names))
        self._standard = {name for name in self.names if meant.get(name) == STANDARD.get(name, "")}
        self.looks_into_functions = False
        self._is_whole = len(graph.nodes) == 1 and not graph.definitions
        self.torch = {name for name in self.names if meant.get(name, "").partition(".")[0] == "torch"}
        self.device = "torch" in self.torch

    def lets(self, name: str) -> bool:
        """Whether a word that a drawing is printed with means what the writer takes it for."""
        if name in self.bound:
            return name in self._standard
        return name in _WRITTEN_IN or (name in STANDARD and not self._is_whole)


def _bindings(tree: ast.Module, *, has_global: bool) -> Iterator[str]:
    """The names that a text binds outside of functions, rather too many, and those that functions bind around them."""
    waiting: list[ast.AST] = [tree]
    for part in waiting:  # which grows
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.alias():
                yield bound_by_alias(part)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield part.name
                if has_global:
                    yield from (name for one in walk(part) if isinstance(one, ast.Global) for name in one.names)
                continue
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
        waiting += ast.iter_child_nodes(part)


def _is_known(one: ast.Import | ast.ImportFrom) -> bool:
    """Whether it imports nothing but what a drawing knows."""
    if isinstance(one, ast.ImportFrom):
        is_star = any(alias.name == "*" for alias in one.names)
        return not one.level and not is_star and (one.module or "").partition(".")[0] in PACKAGES
    return all(alias.name.partition(".")[0] in PACKAGES for alias in one.names)


class _Drawn(msgspec.Struct, frozen=True):
    """One body that is drawn; `lines` are those of its items in the code."""

    definition: Definition
    lines: dict[ItemId, int]


class _Card:
    """The code on one card.

    Attributes:
        code: it, without the bodies that are drawn.
    """

    def __init__(self, code: str, tree: ast.Module, around: _Around, read: ReadTree) -> None:
        self.code = code
        self._tree, self._around, self._read = tree, around, read

    def drawn(self) -> list[_Drawn]:
        """The bodies that are drawn; they are taken out of the code."""
        functions = list(_functions(self._tree.body))
        paths = Counter(path for path, _ in functions)
        lines = self.code.split("\n")
        found: list[_Drawn] = []
        for path, function in reversed(functions):
            body = _statements(function)
            is_other = paths[path] > 1 or path in self._around.drawn  # a name that means more than one function
            if is_other or not body or first_line(body[0]) <= _head_end(function):
                continue
            first, last = first_line(body[0]), last_line(body[-1])
            made = self._body(path, function, body, lines[first - 1 : last])
            if made is not None:
                found.append(made)
                lines[first - 1 : last] = [body_line(" " * body[0].col_offset, made.definition.name)]
        self.code = "\n".join(lines)
        self._around.drawn.update(paths)
        return found[::-1]

    def _body(self, path: str, function: ast.FunctionDef, body: Sequence[ast.stmt], lines: list[str]) -> _Drawn | None:
        """The drawing of one body; None where it has to stay code, or where all of it would be that."""
        if _names(function).isdisjoint(self._around.torch):
            return None
        if any(isinstance(part, _LOOSE) for one in body for part in walk(one)):
            return None
        margin = body[0].col_offset
        if lines[0][:margin].strip(" "):
            return None
        parameters = [one.arg for one in _arguments(function.args)]
        outer = self._outer(function.args, body)
        taken = list(dict.fromkeys((*parameters, *outer)))
        head = [*self._around.imports, *(["device = torch.device('cpu')"] if self._around.device else [])]
        head.append(f"def {_NAME}({', '.join(taken)}):")
        text = "\n".join([*head, *indented(outdented(lines, margin), _INDENT)])
        read = self._sound(text, function.args, body, taken)
        if read is None:
            return None
        definition = read.graph.definitions[_NAME].but(name=body_name(path), inputs=tuple(taken), settings=tuple(outer))
        above = first_line(body[0]) - len(head) - 1
        return _Drawn(definition, {item: line + above for item, line in read.lines.items()})

    def _sound(
        self, text: str, arguments: ast.arguments, body: Sequence[ast.stmt], taken: Sequence[str]
    ) -> Read | None:
        """What is read of a body, which is a function in `text` that takes `taken`; None where it has to stay code.

        Where code looks into functions, what would be printed otherwise than it was typed is code.
        """
        try:
            tree = parse(text)
        except NotReadable:
            return None
        function = tree.body[-1]
        assert isinstance(function, ast.FunctionDef)
        kept = {key_of(one) for one in _holding(function)}
        while True:
            read = self._lenient(text, tree, kept)
            if read is None or not self._is_drawn(read.graph):
                return None
            printed = ast.parse("\n".join(one_definition(read.graph, _NAME, ""))).body[0]
            assert isinstance(printed, ast.FunctionDef)
            if not self._around.looks_into_functions:
                return read if self._is_named_alike(printed, arguments, body) else None
            names = dict(zip(read.graph.definitions[_NAME].inputs, taken, strict=False))
            other = printed_otherwise(printed.body, body, function.body, names)
            if not other:
                return read
            if other <= kept:
                return None
            kept |= other

    def _outer(self, arguments: ast.arguments, body: Sequence[ast.stmt]) -> list[str]:
        """What a function reads from around it, but for what a drawing knows by itself."""
        free = Free(frozenset())
        free.function(arguments, body)
        known = self._around.names | ({_DEVICE} if self._around.device else set())
        own = set(dir(builtins)) - self._around.bound
        return [name for name in free.free if name not in known and name not in own]

    def _lenient(self, text: str, tree: ast.Module, kept: Set[Key]) -> Read | None:
        try:
            if kept or holds_while(text, tree):
                undrawn = Undrawn(text, [[key] for key in sorted(kept)])
                return keep_code(undrawn, (), partial(self._read, text, of_code=True))
            try:
                return self._read(text, tree, of_code=True)
            except NotReadable as error:
                return keep_code(Undrawn(text), error.all, partial(self._read, text, of_code=True))
        except NotReadable:
            return None

    def _is_drawn(self, graph: Graph) -> bool:
        """Whether the body is drawn as a whole, and nothing beside it."""
        definition = graph.definitions.get(_NAME)
        if definition is None or graph.nodes or graph.blocks or len(graph.definitions) > 1:
            return False
        inside = definition.graph
        if not any(node.operator.startswith("torch.") for node in inside.nodes.values()):
            return False
        return self._around.definitions.isdisjoint(bound_names(inside))

    def _is_named_alike(self, printed: ast.FunctionDef, arguments: ast.arguments, body: Sequence[ast.stmt]) -> bool:
        """Whether words that the body is printed with mean the same in the code."""
        before = Free(frozenset())
        before.function(arguments, body)
        after = Free(frozenset())
        after.function(printed.args, printed.body)
        return all(name in before.free or self._around.lets(name) for name in after.free)


def _functions(statements: Sequence[ast.stmt], path: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a code that no function holds, with their names and those of the classes around them."""
    for one in statements:
        if isinstance(one, ast.FunctionDef):
            yield path + one.name, one
        elif isinstance(one, ast.ClassDef):
            yield from _functions(one.body, f"{path}{one.name}.")


def _names(function: ast.FunctionDef) -> set[str]:
    """The names that stand in what a function does."""
    return {part.id for one in function.body for part in walk(one) if isinstance(part, ast.Name)}


def _statements(function: ast.FunctionDef) -> list[ast.stmt]:
    """What a function does: all below its docstring."""
    return function.body[ast.get_docstring(function) is not None :]


def _head_end(function: ast.FunctionDef) -> int:
    """The last line of its head, or of its docstring."""
    ahead = [function.lineno, *(last_line(one) for one in function.body if one not in _statements(function))]
    parts = [part.end_lineno or 0 for part in ast.walk(function.args) if isinstance(part, ast.expr | ast.arg)]
    return max([*ahead, *parts, getattr(function.returns, "end_lineno", None) or 0])


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [one for one in every if one is not None]


def _holding(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The innermost statements in a function that hold functions: those would be lifted out of it."""
    bodies = bodies_of(statement)
    inner = [one for body in bodies for one in body]
    for one in inner:
        held = {id(part) for body in bodies_of(one, statement) for part in body}
        parts = [part for child in ast.iter_child_nodes(one) if id(child) not in held for part in ast.walk(child)]
        if isinstance(one, _NESTED) or any(isinstance(part, _NESTED) for part in parts):
            yield one
        else:
            yield from _holding(one)
