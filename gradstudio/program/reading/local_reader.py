"""Some statements of a text, read where they stand: by what the rest binds, which is not read again.

Only what is surely read the same among the whole text is read here; the rest is refused with `NotReadable`, and whoever
asks reads the whole.
"""

import ast
from collections.abc import Callable, Iterable, Sequence

import msgspec

from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import row_of
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.canvas_families import CanvasFamilies
from gradstudio.program.reading.comments import Comments, Notes
from gradstudio.program.reading.definitions.method_inlining import Inlined
from gradstudio.program.reading.expressions.catalogue_calls import CALLABLE
from gradstudio.program.reading.expressions.expression_reader import Expressions
from gradstudio.program.reading.expressions.literal_expressions import Literals
from gradstudio.program.reading.expressions.receiver_types import owners_of
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.parser import parse
from gradstudio.program.reading.statements.simple_statements import Statements

_READ = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert)
_REWRITTEN = (
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.IfExp, ast.Lambda),
    *(ast.Starred, ast.Await, ast.Yield, ast.YieldFrom),
)
"""What is written out before a text is read, by what all of the text says."""
_SETTINGS = ("manual_seed", "set_default_dtype", "is_available", "current_accelerator", "device_count", "load_file")
_SPACES = "\t\r\f\v\ufeff\x1c\x1d\x1e\x85\u2028\u2029"
_HEADER_NAMES = frozenset({"device", "HERE", "__file__", "__name__", "_"})
"""Names that a header binds or reads, and one that binds nothing."""
_WRAPPED = "if 1:\n"
"""What makes statements that stand deeper a text of its own; one line."""
Meaning = Callable[[str], tuple[ItemId, int] | None]
"""The result that a name means above the statements; None when nothing binds it. May raise `NotReadable`: nobody says.
"""


class ReadStatements(msgspec.Struct, frozen=True):
    """Statements that were read.

    Attributes:
        order: their items, as they stand in the body; `nodes` by id.
        wires: into them.
        bound: what every name means behind them that they bind or write into.
        kinds: of those, all that may decide how what reads them is read.
        words: the names and attributes in their text.
    """

    order: tuple[ItemId, ...]
    nodes: dict[ItemId, Node]
    wires: tuple[Wire, ...]
    bound: dict[str, WiredResult]
    kinds: dict[str, object]
    words: frozenset[str]


class Place(msgspec.Struct, frozen=True):
    """Where statements stand in a program.

    Attributes:
        canvas: the program; `families` what flows from its results.
        meaning: what names mean above the statements.
        indent: how deep they stand, in characters.
        device: the header of the text binds `device`.
        is_first: nothing stands above them in their body.
    """

    canvas: Graph
    families: CanvasFamilies
    meaning: Meaning
    indent: int
    device: bool
    is_first: bool


def read_statements(lines: Sequence[str], place: Place, modules: Modules) -> ReadStatements:
    """Read simple statements that stand in some body of a program; `lines` with the comments above each.

    Raises:
        NotReadable: they cannot be read, or not without the rest.
    """
    text = (_WRAPPED if place.indent else "") + "\n".join(lines) + "\n"
    parts = _simple_statements(text, place.indent)
    words = _words(parts)
    if any(_is_setting(part, place.device) for one in parts for part in ast.walk(one)):
        raise NotReadable("A setting stands in the header.", 1)
    draft = GraphBuilder(place.canvas)
    scope = _LocalScope(draft, place)
    expressions = Expressions(draft, scope, modules, Literals(text, modules))
    expressions.inlined = Inlined(draft, scope, expressions, _no_body, {})
    statements = Statements(draft, scope, modules, expressions)
    comments = Comments(text)
    notes = Notes(comments)
    for k, statement in enumerate(parts):
        following = parts[k + 1].lineno if k + 1 < len(parts) else text.count("\n") + 1
        above, beside = comments.of(statement, following)
        for comment in above:
            is_elsewhere = comment.alone and comment.line < statement.lineno and comment.column != place.indent
            if is_elsewhere or comment.opens is not None or comment.closes:
                raise NotReadable("A comment that may belong elsewhere.", comment.line)
            if comment.alone or comment.text:
                notes.add([comment.note], min(comment.line, statement.lineno))
        draft.line, count = statement.lineno, draft.count_in(draft.body)
        statements.read(statement)
        item = draft.last_of(draft.body)
        if item is None or draft.count_in(draft.body) == count:
            raise NotReadable("It draws nothing.", statement.lineno)
        note, blank = notes.take(statement.lineno)
        draft.comment(
            item, note, beside.beside if beside is not None else "", blank and (count > 0 or not place.is_first)
        )
    if comments.tail(text.count("\n") + 2, 0) or not lines[-1].strip():
        raise NotReadable("What stands below belongs to another statement.", 1)
    if not place.device:
        draft.follow_document_device()
    return _result(draft, scope, words)


def _simple_statements(text: str, indent: int) -> list[ast.stmt]:
    """The statements of a text, all as deep as they should be.

    Raises:
        NotReadable: one is a block, or would be read by what the rest of its text says.
    """
    if any(word in text for word in _SETTINGS) or any(
        sign in text for sign in "\r\f\v\ufeff\x1c\x1d\x1e\x85\u2028\u2029"
    ):
        raise NotReadable("It may set something for the whole text.", 1)
    tree = parse(text)
    parts: list[ast.stmt] = tree.body
    if indent:
        head = tree.body[0]
        assert isinstance(head, ast.If)
        if len(tree.body) > 1 or head.orelse:
            raise NotReadable("It stands in other bodies.", 1)
        parts = head.body
    lines = text.split("\n")
    for one in parts:
        line = lines[one.lineno - 1]
        if not isinstance(one, _READ) or len(line) - len(line.lstrip()) != indent:
            raise NotReadable("It is no simple statement.", one.lineno)
        if any(isinstance(part, _REWRITTEN) for part in ast.walk(one)) or _is_text(one):
            raise NotReadable("It is written out before it is read.", one.lineno)
    if not parts:
        raise NotReadable("Nothing is left.", 1)
    return parts


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text alone, which is a note."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _words(parts: Iterable[ast.stmt]) -> frozenset[str]:
    found = set()
    for one in parts:
        for part in ast.walk(one):
            if isinstance(part, ast.Name):
                found.add(part.id)
            elif isinstance(part, ast.Attribute):
                found.add(part.attr)
    return frozenset(found)


def _is_setting(part: ast.AST, device: bool) -> bool:
    """Whether it is a name that a header binds; `device`, which one has bound, may be read."""
    if not isinstance(part, ast.Name) or part.id not in _HEADER_NAMES:
        return False
    return not (device and part.id == "device" and isinstance(part.ctx, ast.Load))


def _no_body(statements: Sequence[ast.stmt], end: int, comments: Comments) -> None:
    raise NotReadable("A method is read with its class.", end)


def _result(draft: GraphBuilder, scope: "_LocalScope", words: frozenset[str]) -> ReadStatements:
    graph, order = draft.graph, draft.order(draft.body)
    wires = tuple(wire for item in order for wire in graph.wires_to(item))
    nodes = {item: graph.nodes[item] for item in order}
    kinds = {name: _kind(draft, value) for name, value in scope.bound.items()}
    return ReadStatements(order, nodes, wires, scope.bound, kinds, words)


def _kind(draft: GraphBuilder, value: WiredResult) -> object:
    """What reading asks of a value: what flows from it, and which operator has made it where that decides."""
    family, maker = draft.family(value), draft.maker(value)
    row = row_of(draft.graph, maker) if maker is not None else None
    decides = family in CALLABLE or row is None or bool(owners_of(row))
    return family, maker.operator if maker is not None and decides else ""


class _LocalScope(Scope):
    """What the statements bind, and above them what the canvas does."""

    def __init__(self, draft: GraphBuilder, place: Place) -> None:
        super().__init__(set())
        self.has_device = place.device
        self._draft, self._meaning, self._families = draft, place.meaning, place.families
        self.bound: dict[str, WiredResult] = {}

    def find(self, name: str) -> Port | None:
        """What the name means here, or None."""
        found = super().find(name)
        if found is not None:
            return found
        above = self._meaning(name)
        if above is None:
            return None
        self._draft.set_family(*above, self._families.of(*above))
        return self._draft.result(*above)

    def bind(self, name: str, value: Port) -> None:
        """From here on the name means this."""
        super().bind(name, value)
        if isinstance(value, Written):
            raise NotReadable("A name for a text.", self._draft.line)
        self.bound[name] = value

    def fresh(self, base: str) -> str:
        """No name: which are free, the whole text says.

        Raises:
            NotReadable: always.
        """
        raise NotReadable(f"'{base}' may be taken.", self._draft.line)
