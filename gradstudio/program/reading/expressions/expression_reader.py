"""Expressions of a text become literals, wires and nodes; parts are nodes printed where they are used."""

import ast
import re
from collections.abc import Callable

from gradstudio.graph.model import DOCUMENT_DEVICE, StoredTensor
from gradstudio.graph.text.code_records import CODE
from gradstudio.graph.text.format_templates import TOO_WIDE, Piece, is_wide, template_of
from gradstudio.graph.text.literal_text import quote
from gradstudio.operators.calls.argument_binding import Given, Several, Written
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Family, Operator
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.definitions.method_inlining import Inlined
from gradstudio.program.reading.desugar.synthetic_nodes import at_position
from gradstudio.program.reading.expressions.catalogue_calls import Calls
from gradstudio.program.reading.expressions.conditional_reader import chooses, read_choice
from gradstudio.program.reading.expressions.literal_expressions import Literals
from gradstudio.program.reading.expressions.operator_chains import beginnings
from gradstudio.program.reading.expressions.receiver_types import attribute_of_made
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, Value, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.refusals import expression_words

INFIX = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le",
    ast.Gt: "gt", ast.GtE: "ge", ast.Is: "is_", ast.IsNot: "is_not", ast.In: "contains", ast.NotIn: "lacks",
}  # fmt: skip
_PREFIX = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not_"}


StoredOf = Callable[[str], StoredTensor]
"""Gives the stored tensor in a file that is named from the text's folder."""
_STORED = re.compile(r"[^/\\\\]+\.tensors/[0-9a-f]{64}\.safetensors")


class Expressions:
    """Reads the expressions of one text into a draft.

    Attributes:
        inlined: reads calls of methods.
    """

    def __init__(
        self, draft: GraphBuilder, scope: Scope, modules: Modules, literals: Literals, stored: StoredOf | None = None
    ) -> None:
        """Read into this draft, names by this scope; stored tensors come from `stored`."""
        self._stored_of = stored
        self._draft, self._scope, self._modules, self._literals = draft, scope, modules, literals
        self._calls = Calls(self, draft, modules)
        self._ahead: dict[ast.expr, Value] = {}
        self.inlined: Inlined

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for; parts of it are added to the draft.

        Raises:
            NotReadable: a canvas cannot express it.
        """
        if node in self._ahead:
            return self._ahead.pop(node)
        literal = self._literals.of(node)
        if literal is not None:
            return literal
        node = self._displayed(node)
        match node:
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if not chooses(node):
                return Several(tuple(self.port(element) for element in elements), isinstance(node, ast.List))
            case ast.Call() if (method := self.inlined.find(node)) is not None:
                with self.inlined.entered(node, method) as result:
                    if isinstance(result, ast.JoinedStr):  # a text within a text stands on a line of its own
                        return self.made(result, (self._scope.fresh("text"),))
                    return self.value(result) if result is not None else Written("None")
            case _:
                return self.made(node)

    def made(self, node: ast.expr, names: tuple[str, ...] = ()) -> WiredResult:
        """The node that an expression adds: a part, or a statement that binds the names.

        Raises:
            NotReadable: a canvas cannot express it, or it makes nothing.
        """
        node = self._displayed(node)
        if chooses(node):
            return self._choice(node, names)
        self._begin(node)
        match node:
            case ast.BinOp(left=left, op=operator, right=right):
                return self._infix(INFIX[type(operator)], left, right, names)
            case ast.UnaryOp(op=operator, operand=operand) if type(operator) in _PREFIX:
                port = self.port(operand)
                return self._add(f"operator.{_PREFIX[type(operator)]}", {"a": port}, names)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._infix(INFIX[type(operator)], left, right, names)
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value="data")) if self._loads(call):
                return self._stored(call, names)
            case ast.Subscript(value=value, slice=index):
                return self._item(value, index, names)
            case ast.Attribute():
                return self._attribute(node, names)
            case ast.JoinedStr():
                return self._formatted(node, names)
            case ast.Call():
                return self._calls.read(node, names)
            case _:
                raise refusal_at(node, expression_words(node))

    def _displayed(self, node: ast.expr) -> ast.expr:
        """`dict(a=1, b=2)` is `{"a": 1, "b": 2}`."""
        match node:
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=[_, *_] as given) if not self.knows("dict"):
                if all(one.arg is not None for one in given):
                    keys = [at_position(ast.Constant(one.arg), node) for one in given]
                    return at_position(ast.Dict([*keys], [one.value for one in given]), node)
        return node

    def _begin(self, node: ast.expr) -> None:
        """Read the beginning of a long chain before what goes on from it, as Python computes it."""
        for part in beginnings(node, self._ahead):
            if not (isinstance(part, ast.Call) and self._loads(part)):
                self._ahead[part] = self.value(part)

    def literal(self, node: ast.expr) -> Written | None:
        """The literal that an expression is, or None."""
        return self._literals.of(node)

    def port(self, node: ast.expr) -> Port:
        """An expression as one port takes it: a tuple of wires becomes a node."""
        return self.one(self.value(node))

    def one(self, value: Given) -> Port:
        """A value as one port takes it."""
        if isinstance(value, Several):
            ports = {f"items.{k}": self.one(item) for k, item in enumerate(value.items)}
            key = "python.list" if value.is_list else "python.tuple"
            return self._draft.node(key, ports, lengths={"items": len(value.items)}, nested=True)
        assert isinstance(value, WiredResult | Written), "a slice stands only between [ and ]"
        return value

    def index(self, node: ast.expr, ports: dict[str, Port]) -> int:
        """Read what stands between [ and ] into the ports of an index; the number of its elements."""
        elements = node.elts if isinstance(node, ast.Tuple) else [node]
        for k, element in enumerate(elements):
            if isinstance(element, ast.Slice):
                bounds = {"start": element.lower, "stop": element.upper, "step": element.step}
                self._slice(f"index.{k}", element, bounds, ports)
            else:
                ports[f"index.{k}"] = self.port(element)
        return len(elements)

    def _slice(self, path: str, node: ast.Slice, bounds: dict[str, ast.expr | None], ports: dict[str, Port]) -> None:
        read = {part: self.port(bound) for part, bound in bounds.items() if bound is not None}
        if any(isinstance(value, WiredResult) for value in read.values()):
            ports.update({f"{path}.{part}": value for part, value in read.items()})
            return
        texts = [_text(read.get(part)) for part in ("start", "stop", "step")]
        ports[path] = Written(":".join(texts) if node.step is not None else ":".join(texts[:2]))

    def knows(self, name: str) -> bool:
        """Whether some statement above binds the name."""
        return self._scope.find(name) is not None

    def _formatted(self, node: ast.JoinedStr, names: tuple[str, ...]) -> WiredResult:
        found, text = [], ""
        ports: dict[str, Port] = {}
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
            elif isinstance(part, ast.FormattedValue):
                ports[f"values.{len(ports)}"] = self.port(part.value)
                found.append(Piece(text, _hole(part)))
                text = ""
        if text:
            found.append(Piece(text, None))
        count = len(ports)
        ports = {"template": Written(quote(template_of(tuple(found)))), **ports}
        return self._add("python.format", ports, names, {"values": count})

    def _choice(self, node: ast.expr, names: tuple[str, ...]) -> WiredResult:
        ports = read_choice(node, self._literals.segment, self._modules, self.port, self.knows)
        return self._add("python.choice", ports, names, {"values": len(ports) - 1})

    def _loads(self, call: ast.Call) -> bool:
        return self._modules.path(call.func) == "safetensors.torch.load_file"

    def _stored(self, call: ast.Call, names: tuple[str, ...]) -> WiredResult:
        """`load_file(HERE / "name.tensors/<digest>.safetensors")["data"]`, the only access to files there is."""
        match call.args:
            case [ast.BinOp(left=ast.Name(id="HERE"), op=ast.Div(), right=ast.Constant(value=str() as file))]:
                found = _STORED.fullmatch(file)
                if found is not None and self._stored_of is not None and not call.keywords:
                    tensor = self._stored_of(file)
                    self._draft.graph.tensors[tensor.digest] = tensor
                    return self._add("python.stored", {"digest": Written(f'"{tensor.digest}"')}, names)
        raise refusal_at(
            call, "Only a stored tensor beside the text can be loaded: it is written by GradStudio's export."
        )

    def _name(self, node: ast.expr, name: str) -> Value:
        if name == "device" and self._scope.has_device:
            return Written(DOCUMENT_DEVICE)
        found = self._scope.find(name)
        if found is None:
            self._modules.check(node)
            raise refusal_at(node, self._scope.unbound(name))
        return found

    def _infix(self, word: str, left: ast.expr, right: ast.expr, names: tuple[str, ...]) -> WiredResult:
        a = self.port(left)
        home = "python" if word in ("contains", "lacks") else "operator"
        return self._add(f"{home}.{word}", {"a": a, "b": self.port(right)}, names)

    def _item(self, value: ast.expr, index: ast.expr, names: tuple[str, ...]) -> WiredResult:
        ports: dict[str, Port] = {"a": self.port(value)}
        count = self.index(index, ports)
        return self._add("operator.getitem", ports, names, {"index": count})

    def _attribute(self, node: ast.Attribute, names: tuple[str, ...]) -> WiredResult:
        path = self._modules.path(node)
        if path is not None:
            self._modules.check(node)
            raise refusal_at(node, f"'{path}' is nothing that has a value of its own here.")
        value = self.port(node.value)
        maker = self._draft.maker(value) if isinstance(value, WiredResult) else None
        row = attribute_of_made(load().get(maker.operator) if maker is not None else None, node.attr)
        row = row or attribute_row(self._draft.family(value), node.attr, Face.ATTRIBUTE)
        if row is not None:
            return self._add(row.key, {row.parameters[0].name: value}, names)
        is_foreign = self._draft.is_foreign(value) or (maker is not None and maker.operator == CODE)
        made = self._add("python.attribute", {"object": value, "name": Written(node.attr)}, names)
        if is_foreign:
            self._draft.set_foreign(made.source, made.output)  # anything: a method of it may be anyone's
        return made

    def _add(
        self, key: str, ports: dict[str, Port], names: tuple[str, ...], lengths: dict[str, int] | None = None
    ) -> WiredResult:
        return self._draft.node(key, ports, names=names, lengths=lengths, nested=not names)


_HOLDERS = {
    Family.ARRAY: ("numpy.ndarray",),
    Family.OPTIMIZER: ("torch.optim.Optimizer",),
    Family.TEXT: ("torch.device", "torch.Tensor"),
}
_ANY_HOLDER = ("torch.Tensor", "numpy.ndarray", "torch.autograd.graph.Node", "torch.optim.Optimizer")
_OF_ANYTHING = {"__name__": "python.class_name", "__class__": "python.class"}


def attribute_row(family: Family, name: str, face: Face) -> Operator | None:
    """The row that reads or writes an attribute of a tensor; None when it is one of a module or unknown."""
    if face is Face.ATTRIBUTE and name in _OF_ANYTHING:
        return load()[_OF_ANYTHING[name]]
    if family is Family.MODULE:
        return None
    for owner in _HOLDERS.get(family, _ANY_HOLDER):
        row = load().get(f"{owner}.{name}" + ("=" if face is Face.SET_ATTRIBUTE else ""))
        if row is not None and row.face is face:
            return row
    return None


def _hole(part: ast.FormattedValue) -> str:
    """What stands behind the value: ``!r:>8``."""
    spec = ""
    if isinstance(part.format_spec, ast.JoinedStr):
        if not all(isinstance(inner, ast.Constant) for inner in part.format_spec.values):
            raise refusal_at(part, "the format of a value is plain here, such as {x:.4f}.")
        spec = ":" + "".join(str(inner.value) for inner in part.format_spec.values if isinstance(inner, ast.Constant))
        if is_wide(spec):
            raise refusal_at(part, TOO_WIDE)
    return (f"!{chr(part.conversion)}" if part.conversion > 0 else "") + spec


def refusal_at(node: ast.AST, reason: str) -> NotReadable:
    """That a canvas cannot express what stands here."""
    text = reason[:1].upper() + reason[1:] if not reason.startswith(("'", "`")) else reason
    return NotReadable(text, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def _text(port: Port | None) -> str:
    return port.text if isinstance(port, Written) else ""
