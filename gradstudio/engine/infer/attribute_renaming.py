"""Definitions with plain names in place of what a module keeps: ``self.fc`` is read and bound as one name."""

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from gradstudio.engine import access
from gradstudio.engine.script.compiled_steps import Item, prepare_definition
from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Inside, Statement, flatten_statements

ATTRIBUTE = "self."
_PLAIN = "self_keeps__"
Some = tuple[Statement | BlockStatement, ...]


def renamed_attribute(name: str) -> str:
    """The plain name for ``self.fc``; any other as it is."""
    return _PLAIN + name.removeprefix(ATTRIBUTE) if name.startswith(ATTRIBUTE) else name


class RenamedDefinition:
    """A definition, ready to be gone through.

    Attributes:
        key: another when its text, or that of a definition it calls, is another.
        attributes: what its module keeps (``self.fc``); `keeps` the node and output that each is bound by.
        body, setup: the statements, under ids of the definition.
    """

    def __init__(self, inside: Inside, around: tuple[tuple[str, int], ...]) -> None:
        """Of the definitions before it, `around` gives the keys."""
        self.of = inside
        texts = (*_texts(inside.setup), None, *_texts(inside.body))
        written = repr((texts, inside.head, inside.making, inside.stores, inside.results, inside.inputs))
        self.key = hash((inside.name, written, tuple(key for name, key in around if name in written)))
        self.keeps: list[tuple[ItemId, int, str]] = [
            (one.node, place, name)
            for one in flatten_statements(inside.setup)
            for place, name in enumerate(one.names)
            if name.startswith(ATTRIBUTE)
        ]
        kept = dict.fromkeys([name for *_, name in self.keeps] + [ATTRIBUTE + name for name in inside.stores])
        self.attributes = frozenset(kept)
        self.body, self.setup = (self._prepared(part) for part in (inside.body, inside.setup))
        self._binders: dict[bool, Callable[..., dict[str, Any]]] = {}

    def binder(self, setup: bool, names: dict[str, Any]) -> Callable[..., dict[str, Any]]:
        """Gives the names that a call's arguments have inside."""
        known = self._binders.get(setup)
        if known is None:
            known = self._binders[setup] = access.binder(self.of.making if setup else self.of.head, names)
        return known

    def _prepared(self, statements: Some) -> tuple[Item, ...]:
        return prepare_definition(tuple(_renamed(one, self.attributes) for one in statements))


@lru_cache(maxsize=256)
def rename_attributes(inside: Inside, around: tuple[tuple[str, int], ...]) -> RenamedDefinition:
    """The definition, ready to be gone through; the same one comes back while it is the same."""
    return RenamedDefinition(inside, around)


def _texts(statements: Some) -> list[object]:
    found: list[object] = []
    for one in statements:
        if isinstance(one, Statement):
            found.append((one.node, one.operator, one.text))
        else:
            found += [(one.block, one.kind, one.context, one.iterable, one.condition, one.variable)]
            found += [*_texts(one.body), None]
    return found


def _renamed(one: Statement | BlockStatement, kept: frozenset[str]) -> Statement | BlockStatement:
    if isinstance(one, BlockStatement):
        body = tuple(_renamed(each, kept) for each in one.body)
        context, iterable, condition = (_as_names(text, kept) for text in (one.context, one.iterable, one.condition))
        drops = tuple(map(renamed_attribute, one.drops))
        return replace(one, body=body, context=context, iterable=iterable, condition=condition, drops=drops)
    names, drops = tuple(map(renamed_attribute, one.names)), tuple(map(renamed_attribute, one.drops))
    text, result = _as_names(one.text, kept), _as_names(one.result, kept)
    writes = tuple(_as_names(text, kept) for text in one.writes)
    inputs = tuple((port, _as_names(text, kept)) for port, text in one.inputs)
    return replace(one, text=text, names=names, drops=drops, writes=writes, inputs=inputs, result=result)


@lru_cache(maxsize=8192)
def _as_names(text: str, kept: frozenset[str]) -> str:
    if ATTRIBUTE not in text:
        return text
    try:
        return ast.unparse(_AsNames(kept).visit(ast.parse(text)))
    except SyntaxError:  # no Python of its own: a part of a statement
        return text


class _AsNames(ast.NodeTransformer):
    def __init__(self, kept: frozenset[str]) -> None:
        self._kept = kept

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``self.fc`` as one name."""
        if isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}" in self._kept:
            return ast.Name(renamed_attribute(f"{node.value.id}.{node.attr}"), node.ctx)
        self.generic_visit(node)
        return node
