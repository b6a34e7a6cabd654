"""Graph → text: one item, one wire, one place a line, in program order. The same graph gives the same bytes."""

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from gradstudio.document.bookmarks import Bookmark
from gradstudio.document.bookmarks import lines as bookmark_lines
from gradstudio.document.gsg.file_records import FORMAT, VERSION
from gradstudio.document.gsg.line_memo import LineMemo
from gradstudio.graph.external_inputs import ExternalInput
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    Block,
    BodyId,
    Definition,
    Graph,
    ItemId,
    Node,
    Place,
    StoredTensor,
    Wire,
)
from gradstudio.graph.ports.muted_wires import muted_wires
from gradstudio.graph.ports.wire_dots import dot_key, dots_by_end
from gradstudio.graph.slices import Slices, portions, work_through
from gradstudio.late_pattern import late

Line = dict[str, Any]
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_CONTROL = late(r"[\x00-\x08\x0b-\x1f\x7f]")
_DIGITS = late(r"(\d+)")
_FARTHEST_PX = 1e7


def write(
    graph: Graph,
    name: str,
    view: Mapping[str, float] | None = None,
    *,
    with_data: bool = False,
    outside: Iterable[ExternalInput] = (),
    bookmarks: Mapping[str, Bookmark] | None = None,
) -> str:
    """The text of a graph; `name` is its `format`. With data, stored tensors are in the text itself.

    `outside` are the wires that end in a copied part.
    """
    slices = write_slices(graph, name, view, LineMemo(), with_data=with_data, outside=outside, bookmarks=bookmarks)
    return work_through(slices)


def write_slices(
    graph: Graph,
    name: str,
    view: Mapping[str, float] | None,
    memo: LineMemo,
    *,
    with_data: bool = False,
    outside: Iterable[ExternalInput] = (),
    bookmarks: Mapping[str, Bookmark] | None = None,
) -> Slices[str]:
    """As `write`, in slices between which the graph must not change; `memo` has the lines of the document before."""
    definitions = [graph.definitions[key] for key in sorted(graph.definitions)]
    parts = [f'"format": {_json(name)}', f'"version": {VERSION}', f'"header": {_json(_header(graph))}']
    parts += yield from _body(graph, "", memo)
    if definitions:
        texts = []
        for one in definitions:
            texts.append((yield from _definition(one, memo)))
        parts.append('"definitions": [\n' + ",\n".join(texts) + "\n]")
    if graph.tensors:
        tensors = (_tensor(graph.tensors[key], with_data) for key in sorted(graph.tensors))
        parts.append(_array("tensors", map(_json, tensors), ""))
    parts.append((yield from _view(graph, definitions, view or {}, bookmarks or {}, memo)))
    if lines := [_outside(one) for one in outside]:
        parts.append(_array("outside", map(_json, lines), ""))
    if graph.original and name == FORMAT:
        parts.append(_array("original", map(_json, graph.original.split("\n")), ""))
    memo.end()
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _body(graph: Graph, indent: str, memo: LineMemo, definition: str = "") -> Slices[list[str]]:
    order = list(graph.order())
    items = yield from _item_lines(graph, order, memo, definition)
    wires = yield from _sorted_wires(graph, order)
    wire_lines = yield from _wire_lines(wires, memo)
    parts = [_array("items", items, indent), _array("wires", wire_lines, indent)]
    muted = sorted(muted_wires(graph), key=lambda wire: (order.index(wire.target), _natural(wire.port)))
    if muted:
        parts.append(_array("muted_wires", work_through(_wire_lines(muted, memo)), indent))
    bodies = [ROOT, *(BodyId(item) for item in order if item in graph.blocks)]
    tails = [_tail(body, graph.tails[body]) for body in bodies if graph.tails.get(body)]
    return [*parts, _array("tails", map(_json, tails), indent)] if tails else parts


def _item_lines(graph: Graph, order: Iterable[ItemId], memo: LineMemo, definition: str) -> Slices[list[str]]:
    nodes, parents = graph.nodes, graph.parents
    records = [((definition, item, parents[item]), nodes.get(item) or graph.blocks[item]) for item in order]
    return memo.lines(records, lambda key, _: _json(_item(graph, key[1])))


def _wire_lines(wires: Iterable[Wire], memo: LineMemo) -> Slices[list[str]]:
    return memo.lines([(wire, wire) for wire in wires], lambda wire, _: _json(_wire(wire)))


def _outside(one: ExternalInput) -> Line:
    wire = _wire(Wire(one.source, one.output, one.target, one.port))
    return {**wire, "name": _clean(one.name), "operator": _clean(one.operator)}


def _header(graph: Graph) -> Line:
    header = graph.header
    line: Line = {"seed": header.seed, "device": header.device}
    if header.default_dtype:
        line["default_dtype"] = header.default_dtype
    if header.deferred_annotations:
        line["deferred_annotations"] = True
    return line


def _item(graph: Graph, item: ItemId) -> Line:
    inside = graph.parents[item]
    head: Line = {"in": inside} if inside != ROOT else {}
    node = graph.nodes.get(item)
    if node is not None:
        return {"kind": "node", "id": item, **head, **_node(node)}
    block = graph.blocks[item]
    return {"kind": block.kind, "id": item, **head, **_block(block)}


def _node(node: Node) -> Line:
    line: Line = {"operator": node.operator}
    if node.names:
        line["names"] = node.names
    line |= _arguments(node)
    if node.positional is not None:
        line["positional"] = node.positional
    line |= _marks(node, "nested", "bypassed")
    return line | {"marks": node.marks} if node.marks else line


def _block(block: Block) -> Line:
    line: Line = {"title": _clean(block.title, "\n\t")} if block.title else {}
    line |= {"variable": block.variable} if block.variable else {}
    line |= {"carried": block.carried} if block.carried else {}
    return line | _arguments(block) | _marks(block, "endless")


def _arguments(owner: Node | Block) -> Line:
    line: Line = {}
    if owner.literals:
        line["literals"] = {path: owner.literals[path] for path in sorted(owner.literals, key=_natural)}
    if owner.lengths:
        line["lengths"] = {path: owner.lengths[path] for path in sorted(owner.lengths, key=_natural)}
    return line


def _marks(owner: Node | Block, *more: str) -> Line:
    line: Line = {"note": _clean(owner.note)} if owner.note else {}
    line |= {"beside": _clean(owner.beside).replace("\n", " ")} if owner.beside else {}
    flags = ("blank_before", "muted", *more)
    return line | {flag: True for flag in flags if getattr(owner, flag)}


def _sorted_wires(graph: Graph, order: list[ItemId]) -> Slices[list[Wire]]:
    """By their targets in program order, then by ports; those into no item, as of a definition, are the last."""
    incoming, found = graph.incoming, list[Wire]()
    for number, portion in enumerate(portions(order)):
        if number:
            yield
        for item in portion:
            wires = incoming.get(item)
            if wires is not None:
                found += wires if len(wires) == 1 else sorted(wires, key=_by_port)
    if len(found) < len(graph.wires):
        others = [wire for wire in graph.wires.values() if wire.target not in graph]
        found += sorted(others, key=_by_port)
    return found


def _by_port(wire: Wire) -> tuple[tuple[int, str], ...]:
    return _natural(wire.port)


def _wire(wire: Wire) -> Line:
    output = {"output": wire.output} if wire.output else {}
    return {"from": wire.source, **output, "to": wire.target, "port": wire.port}


def _tail(body: BodyId, text: str) -> Line:
    return {"in": body, "text": _clean(text)} if body != ROOT else {"text": _clean(text)}


def _definition(definition: Definition, memo: LineMemo) -> Slices[str]:
    head = [f'  "name": {_json(definition.name)}', f'  "inputs": {_json(definition.inputs)}']
    head.append(f'  "outputs": {_json(definition.outputs)}')
    more = {
        "defaults": {name: definition.defaults[name] for name in sorted(definition.defaults)},
        "module": definition.is_module,
        "settings": definition.settings,
        "setup": definition.setup,
        "kept": definition.kept,
        "note": _clean(definition.note),
    }
    head += [f'  "{key}": {_json(value)}' for key, value in more.items() if value]
    body = yield from _body(definition.graph, "  ", memo, definition.name)
    return "  {\n" + ",\n".join([*head, *body]) + "\n  }"


def _tensor(tensor: StoredTensor, with_data: bool) -> Line:
    line: Line = {"digest": tensor.digest, "dtype": tensor.dtype, "shape": tensor.shape}
    line |= {"source": _clean(tensor.source)} if tensor.source else {}
    return line | {"data": base64.b64encode(tensor.data).decode()} if with_data else line


def _view(
    graph: Graph,
    definitions: list[Definition],
    view: Mapping[str, float],
    bookmarks: Mapping[str, Bookmark],
    memo: LineMemo,
) -> Slices[str]:
    parts = [f'"{key}": {_number(value)}' for key, value in view.items()]
    if bookmarks:
        marked = (f"{_json(digit)}: {_json(line)}" for digit, line in _marked(graph, bookmarks))
        parts.append(_object("bookmarks", marked, ""))
    parts.append(_object("places", (yield from _places(graph, memo)), ""))
    inner = []
    for one in definitions:
        if one.graph.places:
            inner.append(_object(one.name, (yield from _places(one.graph, memo, one.name)), "  "))
    if inner:
        parts.append('"definitions": {\n  ' + ",\n  ".join(inner) + "\n}")
    return '"view": {\n' + ",\n".join(parts) + "\n}"


def _marked(graph: Graph, bookmarks: Mapping[str, Bookmark]) -> Iterator[tuple[str, Line]]:
    for digit, line in bookmark_lines(bookmarks, graph):
        yield digit, {key: _number(value) if isinstance(value, float) else value for key, value in line.items()}


def _places(graph: Graph, memo: LineMemo, definition: str = "") -> Slices[list[str]]:
    records = yield from _place_records(graph, definition)
    lines = yield from memo.lines(records, lambda key, place: _place_line(key[2], place))
    dots = dots_by_end(graph)
    for end in sorted(dots, key=lambda end: (end[0], _natural(end[1]))):
        for k, key in enumerate(dots[end]):
            if math.isfinite(graph.places[key].x) and math.isfinite(graph.places[key].y):
                lines.append(_place_line(dot_key(end, k), graph.places[key]))
    return lines


def _place_records(graph: Graph, definition: str) -> Slices[list[tuple[tuple[str, str, str], Place]]]:
    """The places of items and their notes, each with what tells it from those of others."""
    records = list[tuple[tuple[str, str, str], Place]]()
    places, isfinite = graph.places, math.isfinite
    items = (*graph.order(), "", DEFINITION_INPUTS, DEFINITION_OUTPUTS)
    for number, portion in enumerate(portions(items)):
        if number:
            yield
        for item in portion:
            for key in (item, f"note:{item}"):
                place = places.get(key)
                if place is not None and isfinite(place.x) and isfinite(place.y):
                    records.append((("place", definition, key), place))
    return records


def _place_line(key: str, place: Place) -> str:
    return f"{_json(key)}: {_json(_place(place))}"


def _place(place: Place) -> Line:
    line: Line = {"x": _number(place.x), "y": _number(place.y)}
    if place.width is not None and 0 < place.width <= _FARTHEST_PX:
        line["width"] = _number(place.width)
    line |= {name: True for name in ("collapsed", "tucked", "pinned") if getattr(place, name)}
    line |= {name: text for name in ("color", "chart") if (text := _clean(getattr(place, name)))}
    return line


def _number(value: float) -> float:
    """Whole numbers without ".0", and nothing beyond what the reader takes."""
    near = max(-_FARTHEST_PX, min(_FARTHEST_PX, value))
    return int(near) if near == int(near) else near


def _clean(text: str, but: str = "") -> str:
    """Without the control characters that the reader refuses; line ends become plain ones."""
    plain = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return " ".join(plain.split(but[0])).replace("\t", " ") if but else plain


@lru_cache(maxsize=4096)
def _natural(path: str) -> tuple[tuple[int, str], ...]:
    """A key that puts ``size.2`` before ``size.10``."""
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in _DIGITS.split(path))


def _array(name: str, lines: Iterable[str], indent: str) -> str:
    text = f",\n{indent}  ".join(lines)
    return f"{indent}{_json(name)}: [\n{indent}  {text}\n{indent}]" if text else f"{indent}{_json(name)}: []"


def _object(name: str, lines: Iterable[str], indent: str) -> str:
    text = f",\n{indent}  ".join(lines)
    return f"{_json(name)}: {{\n{indent}  {text}\n{indent}}}" if text else f"{_json(name)}: {{}}"


def _json(value: object) -> str:
    """JSON on one line; a half of a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD."""
    text = _ENCODER.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
