"""Expressions that choose while they run: read as one text with holes, of which no part is a node of its own."""

import ast
import copy
from collections.abc import Callable

from gradstudio.graph.errors import Refused
from gradstudio.graph.text.conditionals import conditional_of
from gradstudio.graph.text.literal_text import TYPES, quote
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.graph_builder import Port, WiredResult
from gradstudio.program.reading.imports import Modules

NameOf = Callable[[ast.expr], Port]
"""What an expression stands for."""
_SHORT = (("torch.nn.functional", "F"), ("torch.nn", "nn"), ("torch.optim", "optim"), ("numpy", "np"))


def chooses(node: ast.expr) -> bool:
    """Whether a part of an expression may not run, or cannot stand on a line of its own."""
    match node:
        case ast.BoolOp() | ast.IfExp() | ast.Dict():
            return True
        case ast.Compare(ops=operators):
            return len(operators) > 1
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return any(isinstance(element, ast.Starred) for element in elements)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format"), keywords=keywords):
            return bool(keywords)  # `"{loss:.3f}".format(loss=x)`
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Attribute(attr=name)]):
            return name not in ("Tensor", "ndarray")  # a class is no value of its own
        case ast.JoinedStr(values=parts):
            return any(
                isinstance(part, ast.FormattedValue)
                and isinstance(part.format_spec, ast.JoinedStr)
                and not all(isinstance(inner, ast.Constant) for inner in part.format_spec.values)
                for part in parts
            )
        case _:
            return False


def read_choice(
    node: ast.expr, written: Callable[[ast.expr], str], modules: Modules, value_of: NameOf, binds: Callable[[str], bool]
) -> dict[str, Port]:
    """The ports of the node for an expression: its text, and the values that it names.

    Args:
        node: the expression.
        written: a number in it as it is spelled.
        modules: what the imports bind.
        value_of: what a name, or a part that Python computes in any case, stands for; refuses what nothing binds.
        binds: whether some statement above binds a name.

    Raises:
        NotReadable: it holds what a canvas does not run.
    """
    holes = _Holes(modules, value_of, binds)
    body = holes.elements(copy.deepcopy(node))
    try:
        text = conditional_of(body, written).text
    except Refused as error:
        raise NotReadable(str(error), node.lineno, node.col_offset) from None
    ports: dict[str, Port] = {"template": Written(quote(text))}
    return ports | {f"values.{k}": value for k, value in enumerate(holes.values)}


class _Holes(ast.NodeTransformer):
    """Names become `v0`, `v1`, … in the order of the text; paths get their usual modules."""

    def __init__(self, modules: Modules, value_of: NameOf, binds: Callable[[str], bool]) -> None:
        self._modules, self._value_of, self._binds = modules, value_of, binds
        self.values: list[Port] = []

    def elements(self, node: ast.expr) -> ast.expr:
        """The expression; elements of a list, a tuple or a text are computed in any case, so that they may be nodes."""
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                node.elts = [self._element(element) for element in elements]
                return node
            case ast.Dict(keys=keys, values=values):
                for k, key in enumerate(keys):
                    keys[k] = self._element(key) if key is not None else None
                    values[k] = self._element(values[k])
                return node
            case ast.JoinedStr(values=parts):
                self._formatted(parts)
                return node
            case _:
                return self.visit(node)  # type: ignore[no-any-return]  # visits give expressions

    def _formatted(self, parts: list[ast.expr]) -> None:
        for part in parts:
            if isinstance(part, ast.FormattedValue):
                has_marks = any(mark in ast.unparse(part.value) for mark in "\"'\\{}")  # no Python before 3.12
                part.value = self.visit(part.value) if has_marks else self._element(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    self._formatted(part.format_spec.values)

    def _element(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = self._element(node.value)
            return node
        if isinstance(node, ast.Name):
            return self.visit_Name(node)
        port = self._value_of(node)
        return self._hole(node, port) if isinstance(port, WiredResult) else self.visit(node)

    def _hole(self, node: ast.expr, port: Port) -> ast.expr:
        self.values.append(port)
        return ast.copy_location(ast.Name(f"v{len(self.values) - 1}"), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        path = self._modules.path(node)
        if path is not None and not self._binds(node.id):
            return _named(path)
        is_builtin = node.id in TYPES or bool(load().overloads(f"builtins.{node.id}"))
        if is_builtin and not self._binds(node.id):
            return node
        return self._hole(node, self._value_of(node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        path = self._modules.path(node)
        return _named(path) if path is not None else self.generic_visit(node)  # type: ignore[return-value] # it is one

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        body, test, orelse = (self.visit(part) for part in (node.body, node.test, node.orelse))
        return ast.copy_location(ast.IfExp(test, body, orelse), node)


def _named(path: str) -> ast.expr:
    for long, short in _SHORT:
        if path == long or path.startswith(f"{long}."):
            path = short + path.removeprefix(long)
            break
    return ast.parse(path, mode="eval").body
