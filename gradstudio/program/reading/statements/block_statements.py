"""Blocks of a text: `with`, `for`, and `if` around prints."""

import ast
from collections.abc import Callable, Sequence
from typing import cast

from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Block, BlockKind, BodyId, ItemId
from gradstudio.graph.names import check
from gradstudio.graph.ports.arguments import BLOCK_PARAMETERS
from gradstudio.graph.ports.item_ports import written_wire
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.operators.model import Family
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.while_loops import EndlessLoop
from gradstudio.program.reading.expressions.expression_reader import Expressions, refusal_at
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.program_header import is_choice
from gradstudio.program.reading.refusals import NO_ELSE, ON_DEVICE, ONLY_PRINT
from gradstudio.program.reading.statements.loop_carried_names import loop_carried_names
from gradstudio.program.reading.statements.loop_leaks import leave_variable
from gradstudio.program.reading.syntax_queries import is_print

Body = Callable[[Sequence[ast.stmt], int, int], None]
_CONTEXTS = {
    "torch.no_grad": "no_grad",
    "torch.enable_grad": "enable_grad",
    "torch.inference_mode": "inference_mode",
    "torch.set_grad_enabled": "set_grad_enabled",
    "torch.autocast": "autocast",
    "torch.autograd.set_detect_anomaly": "set_detect_anomaly",
    "torch.autograd.detect_anomaly": "detect_anomaly",
}
MAX_RANGE = 3


class Blocks:
    """Reads the blocks of one text into a draft."""

    def __init__(
        self, draft: GraphBuilder, scope: Scope, modules: Modules, expressions: Expressions, read_body: Body
    ) -> None:
        """Bodies are read by `read_body`: statements, their column, the line behind the block."""
        self._draft, self._scope, self._modules, self._expressions = draft, scope, modules, expressions
        self._read_body = read_body
        self._left: set[ast.For] = set()

    def look_ahead(self, statements: Sequence[ast.stmt]) -> None:
        """See, before any statement is read, which loops leave a variable behind that is read after them."""
        self._left = self._left | leave_variable(statements)

    def read(self, statement: ast.With | ast.For | ast.If, following: int) -> ItemId:
        """Add the block and what it holds; the item that comments above it belong to.

        Raises:
            NotReadable: a canvas cannot express it.
        """
        match statement:
            case ast.With():
                return self._with(statement, following)
            case ast.For():
                return self._for(statement, following)
            case ast.If():
                return self._if(statement, following)

    def _inside(self, item: ItemId, body: Sequence[ast.stmt], following: int) -> None:
        outer = self._draft.body
        self._draft.body = BodyId(item)
        self._read_body(body, body[-1].col_offset, following)
        self._draft.body = outer

    # -------------------------------------------------------------- with

    def _with(self, statement: ast.With, following: int) -> ItemId:
        outer, found = self._draft.body, []
        for item in statement.items:
            if item.optional_vars is not None:
                raise refusal_at(item.optional_vars, "`with … as name` binds a name that a canvas does not have.")
            found.append(self._context(item.context_expr))
            self._draft.body = BodyId(found[-1])
        self._draft.body = BodyId(found[-1])
        self._read_body(statement.body, statement.body[0].col_offset, following)
        self._draft.body = outer
        return found[0]

    def _context(self, node: ast.expr) -> ItemId:
        path = self._modules.path(node.func) if isinstance(node, ast.Call) else None
        kind = _CONTEXTS.get(path or "")
        if kind is None or not isinstance(node, ast.Call):
            known = ", ".join(_CONTEXTS)
            raise refusal_at(node, f"`with {ast.unparse(node)[:60]}` is none of the blocks a canvas has: {known}.")
        ports = self._context_arguments(node, kind)
        item = self._draft.block_id()
        literals = {name: port.text for name, port in ports.items() if isinstance(port, Written)}
        self._draft.block(Block(id=item, kind=cast(BlockKind, kind), literals=literals), ports)
        return item

    def _context_arguments(self, node: ast.Call, kind: str) -> dict[str, Port]:
        names = tuple(parameter.name for parameter in BLOCK_PARAMETERS.get(kind, ()))
        ports: dict[str, Port] = {}
        given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
        if len(node.args) > len(names):
            raise refusal_at(node, f"{kind} takes fewer arguments.")
        for name, value in given:
            if name not in names:
                raise refusal_at(
                    value, f"A canvas has no argument '{name}' of {kind}; it has {', '.join(names) or 'none'}."
                )
            ports[str(name)] = self._expressions.port(value)
        return ports

    # -------------------------------------------------------------- for

    def _for(self, statement: ast.For, following: int) -> ItemId:
        if statement.orelse:
            raise refusal_at(statement.orelse[0], "`else` of a loop chooses while it runs: write it behind the loop.")
        target = statement.target
        inner = target if isinstance(target, ast.Tuple | ast.List) or statement in self._left else None
        at_head = inner is not None and _binds_names(inner)
        is_endless = isinstance(statement, EndlessLoop)
        if is_endless:
            inner, at_head = None, False
        if inner is None:
            variable = "" if is_endless else self._variable(target)
        elif at_head:
            variable = ""
        else:
            variable = self._scope.fresh("element")
        ports, lengths = ({}, {}) if is_endless else self._over(statement.iter)
        names = self._carried(statement)
        for name in names:
            ports[f"first.{name}"] = cast(WiredResult, self._scope.find(name))
        item = self._draft.block_id()
        literals = {path: port.text for path, port in ports.items() if isinstance(port, Written)}
        block = Block(
            id=item, kind="for", variable=variable, carried=names, literals=literals, lengths=lengths,
            endless=is_endless,
        )  # fmt: skip
        self._draft.block(block, ports)
        before = self._scope.bindings()
        self._enter(block, ports)
        if at_head:
            self._take_apart(item, target)
        self._inside(item, statement.body if at_head else [*_unpacking(inner, variable), *statement.body], following)
        for name in names:
            last = self._scope.find(name)
            if not isinstance(last, WiredResult):
                raise refusal_at(statement, f"'{name}' may have no value at the end of a turn.")
            self._draft.wire(last, item, f"next.{name}")
        self._leave(block, before)
        return item

    def _enter(self, block: Block, ports: dict[str, Port]) -> None:
        """Names as they are in the body; what a turn of something foreign has is as foreign."""
        if "over" in ports and self._draft.is_foreign(ports["over"]):
            self._draft.set_foreign(block.id, 0)
        if block.variable not in ("", "_"):
            self._scope.bind(block.variable, self._draft.result(block.id, 0))
        for k, name in enumerate(block.carried):
            self._draft.set_family(block.id, k + 1, self._draft.family(ports[f"first.{name}"]))
            if self._draft.is_foreign(ports[f"first.{name}"]):
                self._draft.set_foreign(block.id, k + 1)
            self._scope.bind(name, self._draft.result(block.id, k + 1))

    def _take_apart(self, item: ItemId, target: ast.expr) -> None:
        """The first statements of a loop's body, which its head is printed with: what each turn binds."""
        outer, self._draft.body = self._draft.body, BodyId(item)
        self._bind(target, self._draft.result(item, 0))
        self._draft.body = outer

    def _bind(self, target: ast.expr, value: WiredResult) -> None:
        if not isinstance(target, ast.Tuple | ast.List):
            name = self._variable(target)
            self._scope.bind(name, self._draft.node("python.alias", {"value": value}, names=(name,)))
            return
        names = tuple("_" if isinstance(one, ast.Tuple | ast.List) else self._variable(one) for one in target.elts)
        made = self._draft.node("python.tuple", {"items": value}, names=names)
        for k, (one, name) in enumerate(zip(target.elts, names, strict=True)):
            if name != "_":
                self._scope.bind(name, self._draft.result(made.source, k))
            elif not isinstance(one, ast.Name):
                self._bind(one, self._draft.result(made.source, k))

    def _leave(self, block: Block, before: dict[str, Port]) -> None:
        """Names as they are after the loop: what was only written into is as it was named before."""
        self._scope.forget(block.variable, f"'{block.variable}' is the variable of a loop: read it inside.")
        if block.variable in before:
            self._scope.bind(block.variable, before[block.variable])
        for name, old in before.items():
            new = self._scope.find(name)
            if isinstance(new, WiredResult) and new != old and not self._draft.binds(new, name):
                self._scope.bind(name, self._written(new, name, block) or old)

    def _written(self, value: WiredResult, name: str, left: Block) -> WiredResult | None:
        """What statements in a block write into, where the block binds that to the name; None: it was bound before."""
        graph = self._draft.graph
        while not self._draft.binds(value, name):
            wire = written_wire(graph, value.source)
            if wire is None:
                return None
            value = self._draft.result(wire.source, wire.output)
        is_inside = value.source in graph.nodes and BodyId(left.id) in graph.ancestors(value.source)
        return value if is_inside else None

    def _variable(self, target: ast.expr) -> str:
        if not isinstance(target, ast.Name):
            raise refusal_at(target, "a loop has one variable here: `for i in range(n)`.")
        if self._modules.binds(target.id):
            raise refusal_at(target, f"'{target.id}' was imported: choose another name.")
        try:
            return target.id if target.id == "_" else check(target.id)
        except Refused as error:
            raise NotReadable(str(error), target.lineno, target.col_offset) from None

    def _over(self, over: ast.expr) -> tuple[dict[str, Port], dict[str, int]]:
        match over:
            case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 0 < len(arguments) <= MAX_RANGE:
                ports = {f"range.{k}": self._expressions.port(argument) for k, argument in enumerate(arguments)}
                return ports, {"range": len(arguments)}
            case _:
                return {"over": self._expressions.port(over)}, {}

    def _carried(self, statement: ast.For) -> tuple[str, ...]:
        found = []
        for name, is_read in loop_carried_names(statement.target, statement.body, self._rebinds).items():
            if self._scope.find(name) is not None:
                found.append(name)
            elif is_read:
                raise refusal_at(statement, f"'{name}' is read in the loop before anything binds it.")
        return tuple(found)

    def _rebinds(self, name: str) -> bool:
        known = self._scope.find(name)
        return known is not None and self._draft.family(known) in (Family.NUMBER, Family.TEXT)

    # -------------------------------------------------------------- if

    def _if(self, statement: ast.If, following: int) -> ItemId:
        other = next((inner for inner in statement.body if not is_print(inner)), None)
        if other is not None:
            is_move = is_choice(statement.test, self._modules, lambda name: False)
            raise refusal_at(statement, ON_DEVICE if is_move else ONLY_PRINT)
        if statement.orelse:
            raise refusal_at(statement.orelse[0], NO_ELSE)
        condition = self._expressions.port(statement.test)
        item = self._draft.block_id()
        literals = {"condition": condition.text} if isinstance(condition, Written) else {}
        self._draft.block(Block(id=item, kind="if", literals=literals), {"condition": condition})
        self._inside(item, statement.body, following)
        return item


def _binds_names(target: ast.expr) -> bool:
    """Whether a target binds different names and nothing else: ``i, (a, b)``."""
    parts = list(ast.walk(target))
    names = [part.id for part in parts if isinstance(part, ast.Name) and part.id != "_"]
    sequences = [part for part in parts if isinstance(part, ast.Tuple | ast.List)]
    others = [part for part in parts if not isinstance(part, ast.Name | ast.Tuple | ast.List | ast.expr_context)]
    return not others and len(names) == len(set(names)) and all(len(part.elts) > 1 for part in sequences)


def _unpacking(target: ast.expr | None, variable: str) -> list[ast.stmt]:
    """The statement that takes an element apart, or keeps it for what follows the loop: ``name, p = element``."""
    if target is None:
        return []
    value = ast.copy_location(ast.Name(variable), target)
    return [ast.copy_location(ast.Assign([target], value), target)]
