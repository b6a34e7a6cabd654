"""Parts of undrawn Python, bodies of functions above all: what they do is drawn, all around stays as typed.

Code calls such a function as it likes, so nothing is known of what it is given, and what it reads from around it is
looked up where it stands: each is an input of its own. It is printed back into the code (`graph.text.drawn_bodies`).
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Protocol

import msgspec

from gradstudio.graph.groups.definitions import all_ids
from gradstudio.graph.model import Definition, Graph, ItemId
from gradstudio.graph.names import bound_names
from gradstudio.graph.recipes.grouping.definition_copies import with_ids
from gradstudio.graph.text.code_functions import Free, bound_by_alias
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import STANDARD, code_names, code_of, is_code, is_members, with_code
from gradstudio.graph.text.code_text import indented, outdented
from gradstudio.graph.text.drawn_bodies import body_line, body_name, body_places
from gradstudio.program.errors import NotReadable
from gradstudio.program.printing.definition_printer import body_lines
from gradstudio.program.reading.code.code_imports import imported
from gradstudio.program.reading.code.code_reader import whole_as_code
from gradstudio.program.reading.code.code_statement import first_line, last_line
from gradstudio.program.reading.code.drawable_parts import DrawablePart, function_bodies, halves, stretches
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
MAX_HALVINGS = 4
"""How often a stretch that is not drawn as a whole is cut in halves, each of which is read again."""
MAX_READINGS = 6
"""How often a part is read, each time with more of it as code."""
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
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
        return _with_parts(text, tree, Read(whole, dict.fromkeys(whole.nodes, 1)), read_tree, is_whole=True)
    return _with_parts(text, tree, found, read_tree, is_whole=False)


def _with_parts(text: str, tree: ast.Module, read: Read, read_tree: ReadTree, *, is_whole: bool) -> Read:
    codes = [(read.graph, node) for node in read.graph.nodes.values() if is_code(node)]
    inner = [definition.graph for definition in read.graph.definitions.values() if definition.is_module]
    codes += [(graph, node) for graph in inner for node in graph.nodes.values() if is_members(node)]
    texts = [code_of(node) for _, node in codes]
    if not (is_whole or any("def " in one for one in texts)) or any(next(body_places(one), None) for one in texts):
        return read
    meant = imported(one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom))
    torch = {name for name, path in meant.items() if path.partition(".")[0] == "torch"}
    trees = [tree if one == text.removesuffix("\n") else ast.parse(one) for one in texts]
    statements = [part for one in trees for part in one.body]
    if not (is_whole or any(part.names & torch for part in function_bodies(statements))) or looks_at_lines(statements):
        return read
    around = _Around(tree, meant, read.graph, has_global="global" in text)
    around.looks_into_functions = looks_into_functions(statements)
    lines = dict(read.lines)
    taken = all_ids(read.graph)
    for (graph, node), code in zip(codes, trees, strict=True):
        card = _Card(code_of(node), code, around, read_tree)
        for drawn in card.drawn(node.names if is_whole else None):
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
        self.is_open = self._is_whole and any(code_names(one).is_open for one in graph.nodes.values() if is_code(one))
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
    """One part that is drawn; `lines` are those of its items in the code."""

    part: DrawablePart
    definition: Definition
    lines: dict[ItemId, int]


class _Card:
    """The code on one card.

    Attributes:
        code: it, without the bodies that are drawn.
    """

    def __init__(self, code: str, tree: ast.Module, around: _Around, read: ReadTree) -> None:
        self.code = code
        self._lines = code.split("\n")
        self._tree, self._around, self._read = tree, around, read

    def drawn(self, names: Sequence[str] | None = None) -> list[_Drawn]:
        """The parts that are drawn; they are taken out of the code.

        Where it is all of a text, stretches between its functions are, too; `names` are those that it then binds.
        """
        bodies = list(function_bodies(self._tree.body))
        paths = Counter(part.path for part in bodies)
        found = [
            made
            for part in bodies
            if part.statements and paths[part.path] == 1 and part.path not in self._around.drawn
            if (made := self._drawing(part)) is not None
        ]
        if names is not None:
            more = [made for run in stretches(self._tree.body) for made in self._in_stretch(run)]
            every = _named(sorted([*found, *more], key=_place), set(paths))
            if names_of_code(self._without(every)).binds == tuple(names):
                found = every
        self.code = self._without(found)
        self._around.drawn.update(paths)
        return found

    def _without(self, found: Sequence[_Drawn]) -> str:
        """The code with a line for each part that is drawn."""
        lines = list(self._lines)
        for one in reversed(found):
            first, last = first_line(one.part.statements[0]), last_line(one.part.statements[-1])
            indent = " " * one.part.statements[0].col_offset
            lines[first - 1 : last] = [body_line(indent, one.definition.name, one.part.binds)]
        return "\n".join(lines)

    def _in_stretch(self, part: DrawablePart, depth: int = 0) -> list[_Drawn]:
        """The drawing of a stretch; where it has none, those of its halves, or of what stands in its one block."""
        if depth > MAX_HALVINGS or part.names.isdisjoint(self._around.torch):
            return []
        if (made := self._drawing(part)) is not None:
            return [made]
        return [one for inner in halves(part) for one in self._in_stretch(inner, depth + 1)]

    def _drawing(self, part: DrawablePart) -> _Drawn | None:
        """The drawing of a part; None where it has to stay code, or where all of it would be that."""
        if part.names.isdisjoint(self._around.torch) or part.reaches_out:
            return None
        knows_device = self._around.device and not part.is_stretch
        try:
            made = self._drawing_by(part, knows_device=knows_device)
            if made is None and knows_device and _DEVICE in part.reads:  # which code in it reads, too
                made = self._drawing_by(part, knows_device=False)
        except RecursionError:  # it is nested too deeply to be told from what is printed
            return None
        return made

    def _drawing_by(self, part: DrawablePart, *, knows_device: bool) -> _Drawn | None:
        first, last = first_line(part.statements[0]), last_line(part.statements[-1])
        lines, margin = self._lines[first - 1 : last], part.statements[0].col_offset
        if lines[0][:margin].strip(" "):
            return None
        outer = self._outer(part, knows_device=knows_device)
        taken = list(dict.fromkeys((*part.parameters, *outer)))
        head = [*self._around.imports, *(["device = torch.device('cpu')"] if knows_device else [])]
        head.append(f"def {_NAME}({', '.join(taken)}):")
        text = "\n".join([*head, *indented(outdented(lines, margin), _INDENT)])
        read = self._sound(text, part, taken)
        if read is None:
            return None
        definition = read.graph.definitions[body_name(part.path)]
        definition = definition.but(settings=(*outer, *definition.inputs[len(taken) :]))
        above = first - len(head) - 1
        return _Drawn(part, definition, {item: line + above for item, line in read.lines.items()})

    def _sound(self, text: str, part: DrawablePart, taken: Sequence[str]) -> Read | None:
        """What is read of a part, which is a function in `text` that takes `taken`; None where it has to stay code.

        Where code looks into functions or reaches for names, and in a stretch, what would be printed otherwise than it
        was typed is code.
        """
        try:
            function = parse(text).body[-1]
        except NotReadable:
            return None
        assert isinstance(function, ast.FunctionDef)
        kept = {key_of(one) for one in _holding(function)}
        for _ in range(MAX_READINGS):
            read = self._lenient(text, kept)
            if read is None or not self._is_drawn(read.graph, part):
                return None
            definition = read.graph.definitions.pop(_NAME)
            brought = definition.inputs[len(taken) :]  # what is imported, and code in it reads
            if not self._around.names.issuperset(brought):
                return None
            name = body_name(part.path)
            read.graph.definitions[name] = definition.but(name=name, inputs=(*taken, *brought))
            lines = [f"def {_NAME}({', '.join(taken)}):", *indented("\n".join(body_lines(read.graph, name)), _INDENT)]
            printed = ast.parse("\n".join(lines)).body[0]
            assert isinstance(printed, ast.FunctionDef)
            if not (part.is_stretch or self._around.is_open or self._around.looks_into_functions):
                return read if self._is_named_alike(printed, part) else None
            other = set(printed_otherwise(printed.body, part.statements, function.body))
            if not other:
                return read
            if other <= kept:
                return None
            kept |= other
        return None

    def _outer(self, part: DrawablePart, *, knows_device: bool) -> list[str]:
        """What a part reads from around it, but for what a drawing knows by itself."""
        known = self._around.names | ({_DEVICE} if knows_device else set())
        own = set(dir(builtins)) - self._around.bound
        return [name for name in part.reads if name not in known and name not in own]

    def _lenient(self, text: str, kept: Set[Key]) -> Read | None:
        try:
            if kept or holds_while(text, tree := parse(text)):  # which is changed where it is read
                undrawn = Undrawn(text, [[key] for key in sorted(kept)])
                return keep_code(undrawn, (), partial(self._read, text, of_code=True))
            try:
                return self._read(text, tree, of_code=True)
            except NotReadable as error:
                return keep_code(Undrawn(text), error.all, partial(self._read, text, of_code=True))
        except NotReadable:
            return None

    def _is_drawn(self, graph: Graph, part: DrawablePart) -> bool:
        """Whether the body is drawn as a whole, torch in it, and nothing beside it."""
        definition = graph.definitions.get(_NAME)
        beside = [code_of(node) if is_code(node) else "pass" for node in graph.nodes.values()]
        if definition is None or graph.blocks or len(graph.definitions) > 1 or not all(map(_imports_alone, beside)):
            return False
        inside = definition.graph
        codes = [one for node in inside.nodes.values() if is_code(node) for one in ast.parse(code_of(node)).body]
        if self._words_of_torch(part.statements) <= self._words_of_torch(codes):
            return False
        return self._around.definitions.isdisjoint(bound_names(inside))

    def _words_of_torch(self, statements: Iterable[ast.stmt]) -> int:
        """How often statements speak of torch."""
        parts = (part for one in statements for part in walk(one))
        return sum(isinstance(part, ast.Name) and part.id in self._around.torch for part in parts)

    def _is_named_alike(self, printed: ast.FunctionDef, part: DrawablePart) -> bool:
        """Whether words that a part is printed with mean the same in the code."""
        after = Free(frozenset())
        after.function(printed.args, printed.body)
        return all(name in part.reads or self._around.lets(name) for name in after.free)


def _imports_alone(code: str) -> bool:
    """Whether code only imports: what it imports stands in the text, too, where code in a body looks it up."""
    return all(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.parse(code).body)


def _place(one: _Drawn) -> int:
    return one.part.statements[0].lineno


def _named(found: Iterable[_Drawn], taken: set[str]) -> list[_Drawn]:
    """Parts with a name each: stretches have none before."""
    named: list[_Drawn] = []
    for one in found:
        if one.part.is_stretch:
            stem, path, number = one.part.path, one.part.path, 2
            while path in taken:
                path, number = f"{stem}_{number}", number + 1
            taken.add(path)
            definition = one.definition.but(name=body_name(path))
            named.append(msgspec.structs.replace(one, definition=definition))
        else:
            named.append(one)
    return named


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
