"""Recipes for what a person types into a field: a literal, or names of values, which become wires."""

import keyword
import re
from collections.abc import Iterator
from difflib import get_close_matches

import msgspec

from gradstudio.graph.edits import AddWire, Edits
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import Block, Graph, ItemId, Node, Wire
from gradstudio.graph.ports.arguments import SLICE_PARTS
from gradstudio.graph.ports.item_ports import Port, find_port
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import set_literal
from gradstudio.graph.recipes.wiring.connection import connect
from gradstudio.graph.recipes.wiring.list_ports import MAX_ELEMENTS, index_in, parts_of
from gradstudio.graph.rules import why_not
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.families import element_parameter, is_list_like
from gradstudio.operators.literals import normalisation
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Kind, Parameter

NAME = re.compile(r"[^\W\d]\w*")
WORDS = frozenset({"None", "True", "False", "none", "true", "false", "inf", "nan", "pi", "Ellipsis"})


def set_value(graph: Graph, item: ItemId, path: str, text: str) -> Edits:
    """Write what was typed: a literal, or the names of values, which are wired.

    ``mask`` draws a wire from what binds it; ``:, i:j`` splits an index into its elements and wires two of them.

    Raises:
        Refused: it is neither; the words are those of the literal, or say which name is not there.
    """
    port = find_port(graph, item, path)
    try:
        return set_literal(graph, item, path, text)
    except Refused as refusal:
        names = _names_in(text)
        if port is None or not names or port.state == "wired" or port.parameter.kind is Kind.NAME:
            raise
        bound = {name: _binding(graph, item, name) for name in names}
        if not any(bound.values()):
            near = get_close_matches(names[0], _all_names(graph), n=1)
            if near:
                raise Refused(f"No value is named '{names[0]}'. Did you mean '{near[0]}'?") from None
            raise refusal from None
        return _with_names(graph, item, port, text.strip())


def _with_names(graph: Graph, item: ItemId, port: Port, text: str) -> Edits:
    is_index = port.parameter.kind is Kind.INDEX and port.element is None
    if not is_index and NAME.fullmatch(text) and (source := _binding(graph, item, text)) is not None:
        return connect(graph, *source, item, port.path)
    if port.parameter.kind is Kind.INDEX and port.element is not None:
        return _elements(graph, item, port.path.rpartition(".")[0], {port.element: normalisation.index(text)}, None)
    if is_list_like(port.parameter) and port.element is None:
        inner = normalisation.index(text) if port.parameter.kind is Kind.INDEX else _without_brackets(text)
        parts = dict(enumerate(parts_of(inner)))
        if len(parts) > MAX_ELEMENTS:
            raise Refused(f"A list can have 1 to {MAX_ELEMENTS} ports here; for more, build the list first.")
        return _elements(graph, item, port.path, parts, len(parts))
    raise Refused(f"'{text[:40]}' is computed: make a node for it, and write its name here.")


def _elements(graph: Graph, item: ItemId, parameter: str, parts: dict[int, str], count: int | None) -> Edits:
    """Write elements of a list, each a literal, a name, or a slice between names; a count makes the list anew."""
    draft = Draft(graph)
    owner = draft.owner(item)
    whole = find_port(graph, item, parameter) or find_port(graph, item, f"{parameter}.0")
    assert whole is not None
    element = element_parameter(whole.parameter) if whole.element is None else whole.parameter
    changed = {w for w in graph.wires_to(item) if w.port == parameter or index_in(w.port, parameter) in parts}
    draft.cut(tuple(changed | {w for w in graph.wires_to(item) if count is not None and _is_in(w.port, parameter)}))
    literals = {
        path: text
        for path, text in owner.literals.items()
        if not (_is_in(path, parameter) if count is not None else index_in(path, parameter) in parts)
    }
    wires: list[tuple[str, str]] = []
    for number, text in parts.items():
        for path, part in _paths(f"{parameter}.{number}", text, element):
            if NAME.fullmatch(part) and part not in WORDS:
                wires.append((path, part))
            else:
                literals[path] = _literal(part, element if path.count(".") == 1 else _BOUND)
    lengths = owner.lengths if count is None else {**owner.lengths, parameter: count}
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    for path, name in wires:
        _wire(draft, item, path, name)
    return draft.finish()


_BOUND = Parameter("bound", Kind.INT)


def _paths(path: str, text: str, element: Parameter) -> Iterator[tuple[str, str]]:
    """Port and text of an element: one, or one for each bound of a slice that has names in it."""
    bounds = parts_of(text, ":") if element.kind is Kind.INDEX else [text]
    if len(bounds) == 1 or len(bounds) > 3 or not any(NAME.fullmatch(bound) for bound in bounds):
        yield path, text
        return
    yield from ((f"{path}.{part}", bound) for part, bound in zip(SLICE_PARTS, bounds, strict=False) if bound)


def _literal(text: str, parameter: Parameter) -> str:
    try:
        return parse(text, parameter)
    except LiteralError as error:
        if any(name not in WORDS for name in _names_in(text)):
            raise Refused(f"'{text[:40]}' is computed: make a node for it, and write its name here.") from None
        raise Refused(str(error)) from None


def _wire(draft: Draft, item: ItemId, path: str, name: str) -> None:
    source = _binding(draft.graph, item, name)
    if source is None:
        near = get_close_matches(name, _all_names(draft.graph), n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise Refused(f"No value is named '{name}'.{hint}")
    element = ".".join(path.split(".")[:2])
    ports = (path, element, f"{element}.start")  # a bound has a port only when another one is there
    port = next(port for port in ports if find_port(draft.graph, item, port))
    reason = why_not(draft.graph, *source, item, port, exact=True)
    if reason:
        raise WireRefused(reason)
    draft.do(AddWire(Wire(*source, item, path)))


def _binding(graph: Graph, item: ItemId, name: str) -> tuple[ItemId, int] | None:
    """What a name means at an item: the last statement before it that binds the name, else the first behind it."""
    found, behind = None, False
    for other in graph.order():
        behind = behind or other == item
        if other == item or (behind and found is not None):
            continue
        owner: Node | Block = graph.nodes.get(other) or graph.blocks[other]
        if (number := _output(owner, name)) is not None:
            found = other, number
    return found


def _output(owner: Node | Block, name: str) -> int | None:
    names = owner.names if isinstance(owner, Node) else (owner.variable, *owner.carried)
    return names.index(name) if name in names else None


def _all_names(graph: Graph) -> list[str]:
    return [name for node in graph.nodes.values() for name in node.names if name != "_"]


def _names_in(text: str) -> list[str]:
    """The names in a text outside of quotes, without those after a dot and Python's own words."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", " ", text)
    return [
        match[0]
        for match in NAME.finditer(bare)
        if match[0] not in WORDS and not keyword.iskeyword(match[0]) and bare[match.start() - 1 : match.start()] != "."
    ]


def _is_in(path: str, parameter: str) -> bool:
    return path == parameter or index_in(path, parameter) >= 0


def _without_brackets(text: str) -> str:
    return text[1:-1] if text[:1] in "([" and text[-1:] in ")]" else text
