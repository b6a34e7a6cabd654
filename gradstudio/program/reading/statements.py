"""Simple statements of a text: assignments, writes in place, and calls for their effect."""

import ast

import msgspec

from gradstudio.graph.errors import Refused
from gradstudio.graph.names import check
from gradstudio.operators.binding import Given, Several, Written
from gradstudio.operators.catalogue import load
from gradstudio.operators.model import Face, Family, Operator
from gradstudio.operators.outs import OUT
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.draft import Draft, Port, Value, Wired
from gradstudio.program.reading.expressions import Expressions, attribute_row, refused
from gradstudio.program.reading.modules import Modules
from gradstudio.program.reading.scope import Scope

_AUGMENTED = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod", ast.Pow: "ipow", ast.MatMult: "imatmul", ast.BitAnd: "iand", ast.BitOr: "ior",
    ast.BitXor: "ixor", ast.LShift: "ilshift", ast.RShift: "irshift",
}  # fmt: skip
_REFUSED: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "a function is drawn as a group, which cannot be read yet",
    ast.AsyncFunctionDef: "an async function is nothing that a canvas draws",
    ast.ClassDef: "a class is drawn as a group, which cannot be read yet: construct its layers in the text",
    ast.While: "`while` runs for nobody knows how long: use `for i in range(n)`",
    ast.Try: "`try` chooses while it runs",
    ast.Raise: "`raise` ends a program, which a canvas does not draw",
    ast.Assert: "`assert` ends a program, which a canvas does not draw",
    ast.Delete: "`del` unbinds a name, which a canvas does not draw",
    ast.Global: "`global` belongs to functions",
    ast.Nonlocal: "`nonlocal` belongs to functions",
    ast.Return: "`return` belongs to functions",
    ast.Break: "`break` ends a loop early, which a canvas does not draw",
    ast.Continue: "`continue` skips a turn, which a canvas does not draw",
    ast.Match: "`match` chooses while it runs",
}


class Statements:
    """Reads the simple statements of one text into a draft."""

    def __init__(self, draft: Draft, scope: Scope, modules: Modules, expressions: Expressions) -> None:
        """Read into this draft, names by this scope."""
        self._draft, self._scope, self._modules, self._expressions = draft, scope, modules, expressions

    def read(self, statement: ast.stmt) -> None:
        """Add what a statement does.

        Raises:
            NotReadable: a canvas cannot express it.
        """
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assign([target], value)
            case ast.AugAssign(target=target, op=operator, value=value):
                self._augment(target, operator, value)
            case ast.Expr(value=value):
                self._expression(value)
            case ast.Pass() | ast.AnnAssign():
                pass
            case _:
                words = _REFUSED.get(type(statement), "this statement is nothing that a canvas draws")
                raise refused(statement, f"{words}.")

    # -------------------------------------------------------------- assignments

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        first, *others = targets
        if isinstance(first, ast.Tuple | ast.List) and len(first.elts) == 1:
            names = self._names(first.elts[0])
            ports = {"a": self._expressions.port(value), "index.0": Written("0")}
            self._bind(self._draft.node("operator.getitem", ports, names=names, lengths={"index": 1}), names)
        elif isinstance(first, ast.Name | ast.Tuple | ast.List):
            self._unpack(first, value)
        else:
            if others:
                raise refused(others[0], "one value written into several places: write a line for each.")
            self._write(first, value)
        for target in others:
            if not isinstance(first, ast.Name) or not isinstance(target, ast.Name):
                raise refused(target, "`a = b = …` binds plain names: write a line for each.")
            source = self._scope.find(first.id)
            assert source is not None
            names = self._names(target)
            self._bind(self._draft.node("python.alias", {"value": source}, names=names), names)

    def _unpack(self, target: ast.Name | ast.Tuple | ast.List, value: ast.expr) -> None:
        """Bind names; a tuple among them is unpacked on a line of its own: ``out, (h, c) = lstm(x)``."""
        targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        inner: list[tuple[str, ast.Tuple | ast.List]] = []
        plain: list[ast.expr] = []
        for one in targets:
            if isinstance(one, ast.Tuple | ast.List) and len(one.elts) > 1:
                inner.append((self._scope.fresh("state"), one))
                plain.append(ast.copy_location(ast.Name(inner[-1][0]), one))
            else:
                plain.append(one)
        names = self._names(ast.copy_location(ast.Tuple(plain), target) if len(plain) > 1 else plain[0])
        self._bind(self._binding(value, names), names)
        for name, several in inner:
            self._unpack(several, ast.copy_location(ast.Name(name), several))

    def _names(self, target: ast.expr) -> tuple[str, ...]:
        targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        names = []
        for one in targets:
            if not isinstance(one, ast.Name):
                raise refused(one, "only plain names can be unpacked into.")
            names.append(self._checked(one))
        return tuple(names)

    def _checked(self, node: ast.Name) -> str:
        if self._modules.binds(node.id):
            raise refused(node, f"'{node.id}' is a module that was imported: choose another name.")
        try:
            return check(node.id) if node.id != "_" else "_"
        except Refused as error:
            raise NotReadable(str(error), node.lineno, node.col_offset) from None

    def _binding(self, value: ast.expr, names: tuple[str, ...]) -> Wired:
        """The node that binds the names to what an expression gives."""
        if len(names) > 1:
            return self._unpacked(value, names)
        if isinstance(value, ast.List):
            return self._sequence("python.list", value, names)
        if isinstance(value, ast.Name | ast.Constant | ast.Tuple):
            return self._plain(self._expressions.value(value), names)
        literal = self._expressions.literal(value)
        return self._plain(literal, names) if literal is not None else self._expressions.made(value, names)

    def _plain(self, value: Value, names: tuple[str, ...]) -> Wired:
        match value:
            case Written():
                return self._draft.node("python.literal", {"value": value}, names=names)
            case Wired():
                return self._draft.node("python.alias", {"value": value}, names=names)
            case Several(items=items):
                return self._elements("python.tuple", items, names)
            case _:
                raise AssertionError("a slice is no value of a name")

    def _sequence(self, key: str, node: ast.Tuple | ast.List, names: tuple[str, ...]) -> Wired:
        return self._elements(key, tuple(self._expressions.value(element) for element in node.elts), names)

    def _elements(self, key: str, items: tuple[Given, ...], names: tuple[str, ...]) -> Wired:
        ports: dict[str, Port] = {f"items.{k}": self._expressions.one(item) for k, item in enumerate(items)}
        return self._draft.node(key, ports, names=names, lengths={"items": len(items)})

    def _unpacked(self, value: ast.expr, names: tuple[str, ...]) -> Wired:
        if isinstance(value, ast.Tuple | ast.List):
            if len(value.elts) != len(names):
                raise refused(value, f"{len(value.elts)} values for {len(names)} names.")
            return self._sequence("python.tuple", value, names)
        if isinstance(value, ast.Call):
            return self._expressions.made(value, names)
        return self._draft.node("python.tuple", {"items": self._expressions.port(value)}, names=names)

    def _bind(self, made: Wired, names: tuple[str, ...]) -> None:
        for k, name in enumerate(names):
            if name != "_":
                self._scope.bind(name, self._draft.result(made.source, k))

    # -------------------------------------------------------------- writes

    def _write(self, target: ast.expr, value: ast.expr) -> None:
        brought = self._expressions.port(value)  # Python takes the value first
        match target:
            case ast.Subscript(value=owner, slice=index):
                ports: dict[str, Port] = {"a": self._expressions.port(owner)}
                count = self._expressions.index(index, ports)
                ports["value"] = brought
                self._draft.node("operator.setitem", ports, lengths={"index": count})
            case ast.Attribute(value=owner, attr=name):
                whose = self._expressions.port(owner)
                row = attribute_row(self._draft.family(whose), name, Face.SET_ATTRIBUTE)
                if row is not None:
                    receiver, taken = row.parameters
                    self._draft.node(row.key, {receiver.name: whose, taken.name: brought})
                else:
                    ports = {"object": whose, "name": Written(name), "value": brought}
                    self._draft.node("python.set_attribute", ports)
            case _:
                raise refused(target, "this cannot be assigned to.")

    def _augment(self, target: ast.expr, operator: ast.operator, value: ast.expr) -> None:
        if not isinstance(target, ast.Name | ast.Subscript | ast.Attribute):
            raise refused(target, "this cannot be changed in place.")
        a = self._expressions.port(target)
        ports: dict[str, Port] = {"a": a, "b": self._expressions.port(value)}
        rebinds = isinstance(target, ast.Name) and self._draft.family(a) in (Family.NUMBER, Family.TEXT)
        names = (target.id,) if rebinds and isinstance(target, ast.Name) else ()
        made = self._draft.node(f"operator.{_AUGMENTED[type(operator)]}", ports, names=names)
        self._bind(made, names)
        if isinstance(target, ast.Name) and not names:
            self._scope.bind(target.id, made)

    def _expression(self, value: ast.expr) -> None:
        if isinstance(value, ast.Constant):
            return  # a bare string is a note, a bare number nothing
        if isinstance(value, ast.Name | ast.Tuple | ast.List):
            self._binding(value, ())
            return
        made = self._expressions.made(value)
        node = self._draft.graph.nodes[made.source]
        self._draft.graph.nodes[made.source] = msgspec.structs.replace(node, nested=False)
        self._written_by_call(value, made)

    def _written_by_call(self, value: ast.expr, made: Wired) -> None:
        """After `x.add_(1)` and `torch.add(x, 1, out=y)` the name means the tensor as it was left by that."""
        operator = load().get(self._draft.graph.nodes[made.source].operator)
        if not isinstance(value, ast.Call) or operator is None or not operator.results:
            return
        for k, owner in enumerate(_written_into(value, operator)):
            if isinstance(owner, ast.Name) and self._scope.find(owner.id) is not None:
                self._scope.bind(owner.id, self._draft.result(made.source, k))


def _written_into(call: ast.Call, operator: Operator) -> list[ast.expr]:
    """What a call writes its results into, as far as it is what stands in front of a dot or behind `out=`."""
    if operator.writes[:1] == ("self",) and isinstance(call.func, ast.Attribute):
        return [call.func.value]
    if not operator.writes or operator.parameter(OUT) is None:
        return []
    given = next((keyword.value for keyword in call.keywords if keyword.arg == OUT), None)
    if isinstance(given, ast.Tuple | ast.List):
        return list(given.elts)
    return [given] if given is not None else []
