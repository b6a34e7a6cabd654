"""Statements made ready to run: code objects, the names they read, and what tells two programs apart."""

import ast
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType
from typing import Any

from msgspec.structs import replace as replaced

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME, MODULES
from gradstudio.engine.code.freedom import freedom
from gradstudio.graph.groups.call_ids import SEPARATOR, call_item_id
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE, FILES, FREE, PROCESSES
from gradstudio.program.model import BlockStatement, Program, Statement

SEEDS = {"torch.autograd.backward": (1, "grad_tensors"), "torch.autograd.grad": (2, "grad_outputs")}
BACKWARD_CALLS = {"torch.autograd.backward": ("tensors",), "torch.autograd.grad": ("outputs", "inputs")}
ENUMERATE = "builtins.enumerate"
LARGEST_EXPONENT = 64
_NAMED = re.compile(r"(?P<around>enumerate\()?(?P<name>\w+)(?(around)(, (start=)?\d+)?\))")
_ENDLESS = "None"
"""What stands for what an endless loop goes over."""
Fingerprint = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What is compiled of one text, at one line.

    Attributes:
        reads: names it reads, each once, in order of appearance; `operands` those that are no
            imported module.
        template, slots: the text with its names cut out, and the names it reads at every
            place: with bindings instead of names this is the same for two programs that
            differ only in names; `places`, for each slot, which of `reads` it is.
        roots, inputs: of a backward statement, the expressions of what it starts from and
            (`torch.autograd.grad`) of what it differentiates by; `seeds` of the gradients it begins with.
    """

    code: CodeType
    reads: tuple[str, ...]
    operands: tuple[str, ...]
    template: str
    slots: tuple[str, ...]
    places: tuple[int, ...]
    roots: CodeType | None = None
    inputs: CodeType | None = None
    seeds: CodeType | None = None


@dataclass(slots=True, eq=False)
class Step:
    """A statement ready to run.

    Attributes:
        pure: it can neither overwrite a value nor run a backward, so the summaries of earlier
            values may wait.
        id: the node's; `bindings` what its names are bound to, `key` its first result's.
        counts: the name whose elements an `enumerate` counts that this makes; "" where it makes none.
        wires: of each input that is read under a name: (port, name, the output its wire begins at, if that is known).
    """

    statement: Statement
    source: Source
    result: CodeType | None
    pure: bool
    fingerprint: Fingerprint
    wires: "tuple[tuple[str, str, tuple[ItemId, int] | None], ...]" = ()
    id: ItemId = field(init=False)
    bindings: tuple[tuple[ItemId, int], ...] = field(init=False)
    key: tuple[ItemId, int, str] = field(init=False)
    counts: str = field(init=False)

    def __post_init__(self) -> None:
        """Have at hand what each pass asks for."""
        node = self.id = self.statement.node
        self.bindings = tuple([(node, place) for place in range(len(self.statement.names))])
        self.key = node, 0, ""
        self.counts = _counted(self.statement)

    def inside(self, item: ItemId, names: tuple[str, ...]) -> "Step":
        """Something that is there at the beginning of the call that this is, as if a step had given it."""
        statement = Statement(
            node=call_item_id(self.id, item), operator="", text="",
            address=f"{self.statement.address}{SEPARATOR}{item}", line=self.statement.line, names=names, repeated=True,
        )  # fmt: skip
        return Step(statement, source_of("", 1), None, True, ())


@dataclass(slots=True, eq=False)
class Head:
    """A block ready to be entered; `expression` is its context, iterable or condition, `targets` its loop variables.

    Attributes:
        loader: the name that a loop goes over, itself or by `enumerate`: it may mean a `DataLoader`; else "".
        maker: the statement before it that makes the `enumerate` that `loader` names; None: there is none.
    """

    block: BlockStatement
    expression: CodeType | None
    body: "tuple[Step | Head, ...]"
    fingerprint: Fingerprint
    has_backward: bool = field(default=False)
    targets: tuple[str, ...] = ()
    loader: str = ""
    maker: Step | None = None

    def is_part(self, target: str) -> bool:
        """Whether only a traced run has this variable: what the text binds is made of it by the first statements."""
        return target in self.block.drops

    @property
    def id(self) -> ItemId:
        """The block's."""
        return self.block.block


class Unbound:
    """In place of a value that undrawn Python did not bind this time."""

    def __repr__(self) -> str:
        """As it is shown."""
        return "no value"


UNBOUND = Unbound()


def outputs_of(step: Step, namespace: dict[str, Any]) -> tuple[Any, ...]:
    """What the names of a statement that has run mean; only undrawn Python may leave some without a value."""
    if step.statement.operator == CODE:
        return tuple(namespace.get(name, UNBOUND) for name in step.statement.names)
    return tuple(namespace[name] for name in step.statement.names)


def results_of(step: Step, namespace: dict[str, Any]) -> tuple[Any, ...]:
    """What a statement that has run gave: what its names mean, else its result, if it has one."""
    if step.statement.names:
        return outputs_of(step, namespace)
    return () if step.result is None else (access.evaluate(step.result, namespace),)


Item = Step | Head


def prepare(program: Program, lines: bool = True) -> tuple[Item, ...]:
    """The program's statements, ready to run; without `lines` they all stand on the first one.

    Raises:
        SyntaxError: a text is no Python; our own bug.
    """
    return _prepare(program.statements, {}, lines)


def prepare_inside(statements: tuple[Statement | BlockStatement, ...], call: ItemId, address: str) -> tuple[Item, ...]:
    """The statements of a definition, ready to run as what is inside a call."""
    return _prepare(tuple(_inside(one, call, f"{address}{SEPARATOR}") for one in statements), {}, True)


def prepare_definition(statements: tuple[Statement | BlockStatement, ...]) -> tuple[Item, ...]:
    """The statements of a definition by their own ids, for going through them without a call."""
    return _prepare(statements, {}, False)


def _inside(one: Statement | BlockStatement, call: ItemId, above: str) -> Statement | BlockStatement:
    if isinstance(one, BlockStatement):
        body = tuple(_inside(each, call, above) for each in one.body)
        return replaced(one, block=call_item_id(call, one.block), body=body, address=above + one.address)
    sources = tuple((call_item_id(call, source), output) for source, output in one.sources)
    return replaced(one, node=call_item_id(call, one.node), sources=sources, address=above + one.address)


def flat_steps(items: tuple[Item, ...]) -> list[Step]:
    """Every step in program order, those in blocks included."""
    steps: list[Step] = []
    for item in items:
        steps.extend([item] if isinstance(item, Step) else flat_steps(item.body))
    return steps


def heads(items: tuple[Item, ...]) -> list[Head]:
    """Every block in program order, those in blocks included."""
    return [head for item in items if isinstance(item, Head) for head in (item, *heads(item.body))]


def has_backward(items: tuple[Item, ...]) -> bool:
    """Whether any of them is a backward statement."""
    return any(item.statement.backward if isinstance(item, Step) else item.has_backward for item in items)


def source_of(text: str, line: int, backward: bool = False) -> Source:
    """Compile a statement that stands at `line` of the script."""
    return _source_at(text, line, backward, freedom.now)


@lru_cache(maxsize=65536)
def _source_at(text: str, line: int, backward: bool, is_free: bool) -> Source:
    source = _source(text, backward, is_free)
    return source if line == 1 else replace(source, code=_moved_to(source.code, line))


def source_of_code(statement: Statement, line: int) -> Source:
    """Python that is not drawn, which reads what wires bring and more that no wire shows."""
    reads = tuple(dict.fromkeys(text for _, text in statement.inputs))
    code = _undrawn(statement.text, freedom.now, freedom.flags)
    return Source(_moved_to(code, line), reads, reads, statement.text, reads, tuple(range(len(reads))))


@lru_cache(maxsize=1024)
def _undrawn(text: str, is_free: bool, flags: int) -> CodeType:
    try:
        return access.undrawn(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        words = error.msg if isinstance(error, SyntaxError) else str(error)
        line = (error.lineno or 1) if isinstance(error, SyntaxError) else 1
        return compile("\n" * (line - 1) + f"raise SyntaxError({words!r})", FILENAME, "exec")


@lru_cache(maxsize=65536)
def _source(text: str, backward: bool, is_free: bool) -> Source:
    """A statement that stands on the first line: its place in the script is not compiled in."""
    tree = ast.parse(text, FILENAME)
    names = sorted(_names(tree), key=lambda name: (name.lineno, name.col_offset))
    targets = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AugAssign)}
    slots = tuple(name.id for name in names if id(name) in targets or not isinstance(name.ctx, ast.Store))
    template = _template(text, names)
    roots = _backward_arguments(tree) if backward else ()
    seeds = _seeds(tree) if backward else None
    starts = iter([expression(ast.unparse(root)) for root in roots])  # before the tree is guarded
    begins = expression(ast.unparse(seeds)) if seeds is not None else None
    code = access.compiled(access.guarded(access.single(tree)))
    reads = tuple(dict.fromkeys(slots))
    operands = tuple(name for name in reads if name not in MODULES)
    places = tuple(reads.index(name) for name in slots)
    return Source(code, reads, operands, template, slots, places, next(starts, None), next(starts, None), begins)


def expression(text: str, line: int = 1) -> CodeType:
    """Compile an expression."""
    return _moved_to(_expression(text, freedom.now), line)


@lru_cache(maxsize=65536)
def _expression(text: str, is_free: bool) -> CodeType:
    return access.expression(text)


def _moved_to(code: CodeType, line: int) -> CodeType:
    """The code of the first line as it is on another: a line that is put in above moves all that follows."""
    if line == 1:
        return code
    inner = tuple(_moved_to(c, line) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_firstlineno=code.co_firstlineno + line - 1, co_consts=inner)


def _prepare(
    statements: tuple[Statement | BlockStatement, ...], scope: dict[str, tuple[ItemId, int]], lines: bool
) -> tuple[Item, ...]:
    items = tuple(_step(s, scope, lines) if isinstance(s, Statement) else _head(s, scope, lines) for s in statements)
    makers: dict[str, Step] = {}
    for item in items:
        if isinstance(item, Head):
            item.maker = makers.get(item.loader)
        elif item.counts:
            makers[item.statement.names[0]] = item
    return items


def _step(statement: Statement, scope: dict[str, tuple[ItemId, int]], lines: bool) -> Step:
    line = statement.line if lines else 1
    is_code = statement.operator == CODE
    source = source_of_code(statement, line) if is_code else source_of(statement.text, line, statement.backward)
    read = tuple(scope.get(name, name) for name in source.slots)
    fingerprint = (statement.node, statement.operator, _template_of(source, statement), len(statement.names), read)
    for index, name in enumerate(statement.names):
        scope[name] = (statement.node, index)
    result = expression(statement.result, line) if statement.result else None
    return Step(statement, source, result, _is_pure(statement), fingerprint, _wires(statement))


def _wires(statement: Statement) -> tuple[tuple[str, str, tuple[ItemId, int] | None], ...]:
    sources = statement.sources or (None,) * len(statement.inputs)
    wires = zip(statement.inputs, sources, strict=True)
    return tuple((port, text, source) for (port, text), source in wires if text.isidentifier() and text not in MODULES)


def _head(block: BlockStatement, scope: dict[str, tuple[ItemId, int]], lines: bool) -> Head:
    text = block.context or block.iterable or block.condition or (_ENDLESS if block.kind == "for" else "")
    line = block.line if lines else 1
    source = source_of(text, 1) if text else None
    bound = () if source is None else (source.template, *(scope.get(name, name) for name in source.slots))
    targets = _targets(block.variable)
    for index, name in enumerate(targets):
        scope[name] = (block.block, index)
    body = _prepare(block.body, scope, lines)
    code = expression(text, line) if text else None
    keeps = tuple(name not in block.drops for name in targets)
    named = _NAMED.fullmatch(block.iterable)
    loader = named["name"] if named is not None else ""
    return Head(block, code, body, (block.block, block.kind, bound, keeps), has_backward(body), targets, loader)


def _counted(statement: Statement) -> str:
    if statement.operator != ENUMERATE or len(statement.names) != 1:
        return ""
    return next((text for port, text in statement.inputs if port == "iterable" and text.isidentifier()), "")


def _targets(variable: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in variable.split(",") if name.strip())


def _names(tree: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _template(text: str, names: list[ast.Name]) -> str:
    """The text with a NUL for each name; columns count UTF-8 bytes."""
    if not names or "\n" in text:
        return text
    data, pieces, start = text.encode(), [], 0
    for name in names:
        pieces.append(data[start : name.col_offset])
        start = name.end_col_offset or name.col_offset
    return b"\0".join([*pieces, data[start:]]).decode()


def _template_of(source: Source, statement: Statement) -> str:
    """Without the targets too, so that pulling a part out by naming it changes nothing."""
    return source.template.split("=", 1)[-1].strip() if statement.names else source.template


def _is_pure(statement: Statement) -> bool:
    overwrites = (
        statement.operator in FREE | FILES | PROCESSES
        or bool(statement.writes)
        or not statement.names
        or statement.backward
    )
    calls_a_module = statement.operator == "python.call" or statement.operator.startswith("group:")
    return not (overwrites or calls_a_module or "inplace=True" in statement.text or "out=" in statement.text)


def _backward_arguments(tree: ast.Module) -> tuple[ast.expr, ...]:
    """What a backward starts from, and for `autograd.grad` what it differentiates by."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        parameters = BACKWARD_CALLS.get(ast.unparse(call.func))
        if parameters is not None:
            return tuple(a for i, p in enumerate(parameters) if (a := _argument(call, i, p)) is not None)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            return (call.func.value,)
    return ()


def _seeds(tree: ast.Module) -> ast.expr | None:
    """The gradients that a backward is given to begin with."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if (place := SEEDS.get(ast.unparse(call.func))) is not None:
            return _argument(call, *place)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            return _argument(call, 0, "gradient")
    return None


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if position < len(call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


@lru_cache(maxsize=65536)
def has_open_power(text: str) -> bool:
    """Whether something is raised to a power, or shifted by a number, that is not a small literal."""
    powers = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.BinOp | ast.AugAssign))
    return any(isinstance(node.op, ast.Pow | ast.LShift) and not _is_small_power(node) for node in powers)


def _is_small_power(node: ast.BinOp | ast.AugAssign) -> bool:
    right = node.right if isinstance(node, ast.BinOp) else node.value
    return (
        isinstance(right, ast.Constant)
        and isinstance(right.value, int | float)
        and abs(right.value) <= LARGEST_EXPONENT
    )
