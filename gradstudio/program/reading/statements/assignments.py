"""Assignments of a text: names are bound to what an expression gives, items and attributes are written."""

import ast

from gradstudio.graph.analysis.program_analysis import TARGETS
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT
from gradstudio.graph.names import check
from gradstudio.graph.text.record_checks import attribute_of
from gradstudio.graph.text.statements import SELF
from gradstudio.operators.calls.argument_binding import Several, Written
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.expressions.conditional_reader import chooses
from gradstudio.program.reading.expressions.expression_reader import Expressions, attribute_row, refusal_at
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, Value, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.statements.assignment_targets import simple_assignments

_CALLED = frozenset({Face.FUNCTION, Face.CONSTRUCTOR})


class Assignments:
    """Reads the assignments of one text into a draft."""

    def __init__(self, draft: GraphBuilder, scope: Scope, modules: Modules, expressions: Expressions) -> None:
        """Read into this draft, names by this scope."""
        self._draft, self._scope, self._modules, self._expressions = draft, scope, modules, expressions

    def read(self, targets: list[ast.expr], value: ast.expr) -> None:
        """Add what `targets[0] = targets[1] = … = value` does.

        Raises:
            NotReadable: a canvas cannot express it.
        """
        for target, given in simple_assignments(targets, value, self._scope.fresh):
            if self._is_second_name(target, given):
                continue
            if isinstance(target, ast.Name | ast.Tuple):
                names = self._names(target)
                self.name(self.bind(given, names), names)
            else:
                self._write(target, given)

    def bind(self, value: ast.expr, names: tuple[str, ...]) -> WiredResult:
        """The node that binds the names, or none, to what an expression gives."""
        if (method := self._expressions.inlined.find(value)) is not None:
            with self._expressions.inlined.entered(value, method) as result:
                return self.bind(result if result is not None else ast.Constant(None), names)
        if len(names) > 1:
            return self._unpacked(value, names)
        if chooses(value):
            return self._expressions.made(value, names)
        if isinstance(value, ast.List):
            return self._sequence("python.list", value, names)
        if isinstance(value, ast.Name | ast.Constant | ast.Tuple):
            return self._plain(self._expressions.value(value), names)
        literal = self._expressions.literal(value)
        return self._plain(literal, names) if literal is not None else self._expressions.made(value, names)

    def _is_second_name(self, target: ast.expr, given: ast.expr) -> bool:
        """``loss_func = F.cross_entropy``: a function, or a class, under a second name, which calls go by."""
        path = self._modules.path(given)
        is_free = isinstance(target, ast.Name) and self._scope.find(target.id) is None and self._draft.body == ROOT
        if path is None or not is_free or self._expressions.literal(given) is not None:
            return False
        if not any(row.face in _CALLED for row in load().overloads(path)):
            return False
        self._modules.call(self._checked(target), path)  # type: ignore[arg-type]  # a name: `is_free`
        return True

    def name(self, made: WiredResult, names: tuple[str, ...]) -> None:
        """From here on the names mean the results of a node."""
        for k, name in enumerate(names):
            if name != "_":
                self._scope.bind(name, self._draft.result(made.source, k))

    def _names(self, target: ast.Name | ast.Tuple) -> tuple[str, ...]:
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        return tuple(self._checked(one) for one in targets if isinstance(one, ast.Name))

    def _checked(self, node: ast.Name) -> str:
        if self._modules.binds(node.id):
            if self._modules.is_package(node.id) or self._draft.body != ROOT:
                raise refusal_at(node, f"'{node.id}' was imported: choose another name.")
            self._modules.forget(node.id)
        if node.id in self._draft.graph.definitions:
            raise refusal_at(node, f"'{node.id[:60]}' is the name of a definition: choose another name.")
        try:
            if node.id.startswith(SELF):
                return SELF + check(node.id.removeprefix(SELF))
            return check(node.id) if node.id != "_" else "_"
        except Refused as error:
            raise NotReadable(str(error), node.lineno, node.col_offset) from None

    def _plain(self, value: Value, names: tuple[str, ...]) -> WiredResult:
        match value:
            case Written():
                return self._draft.node("python.literal", {"value": value}, names=names)
            case WiredResult():
                return self._draft.node("python.alias", {"value": value}, names=names)
            case Several(items=items):
                ports = {f"items.{k}": self._expressions.one(item) for k, item in enumerate(items)}
                return self._draft.node("python.tuple", ports, names=names, lengths={"items": len(items)})
            case _:
                raise AssertionError("a slice is no value of a name")

    def _sequence(self, key: str, node: ast.Tuple | ast.List, names: tuple[str, ...]) -> WiredResult:
        ports: dict[str, Port] = {f"items.{k}": self._expressions.port(one) for k, one in enumerate(node.elts)}
        return self._draft.node(key, ports, names=names, lengths={"items": len(node.elts)})

    def _unpacked(self, value: ast.expr, names: tuple[str, ...]) -> WiredResult:
        if isinstance(value, ast.Tuple | ast.List):
            if len(value.elts) != len(names):
                raise refusal_at(value, f"{len(value.elts)} values for {len(names)} names.")
            return self._sequence("python.tuple", value, names)
        if isinstance(value, ast.Call):
            return self._expressions.made(value, names)
        return self._draft.node("python.tuple", {"items": self._expressions.port(value)}, names=names)

    def _write(self, target: ast.expr, value: ast.expr) -> None:
        brought = self._expressions.port(value)  # Python takes the value first
        match target:
            case ast.Subscript(value=owner, slice=index):
                ports: dict[str, Port] = {"a": self._expressions.port(owner)}
                count = self._expressions.index(index, ports)
                ports["value"] = brought
                self._draft.node("operator.setitem", ports, lengths={"index": count})
            case ast.Attribute() if (path := self._modules.path(target)) is not None:
                row = load().get(f"{path}=")
                if row is None:
                    raise refusal_at(target, f"'{path[:60]}' is nothing that a program may set here.")
                self._draft.node(row.key, {row.parameters[0].name: brought})
            case ast.Attribute(value=owner, attr=name):
                self._set_attribute(self._expressions.port(owner), name, brought)
            case _:
                raise refusal_at(target, "this cannot be assigned to.")

    def _set_attribute(self, whose: Port, name: str, brought: Port) -> None:
        row = attribute_row(self._draft.family(whose), name, Face.SET_ATTRIBUTE)
        if row is not None:
            receiver, taken = row.parameters
            self._draft.node(row.key, {receiver.name: whose, taken.name: brought})
        else:
            self._draft.node("python.set_attribute", {"object": whose, "name": Written(name), "value": brought})

    def put_back(self, place: WiredResult, value: WiredResult) -> None:
        """What was taken from an item or an attribute, and changed, is written there again.

        Python does so for `x[mask] += y`, and while the statement is one line it is Python that does. Where `y`
        needs lines of its own, `x[mask]` gets one too, and then it is a value with nothing behind it.
        """
        node = self._draft.graph.nodes[place.source]
        operator = load().get(node.operator)
        if operator is None or operator.face not in TARGETS:
            return
        ports = self._draft.ports_of(node)
        if operator.face is Face.ITEM:
            self._draft.node("operator.setitem", {**ports, "value": value}, lengths=node.lengths)
        else:
            self._set_attribute(ports[operator.parameters[0].name], operator.symbol or attribute_of(node), value)
