"""Recipes for wires: connecting, taking away, inserting, lists of ports."""

import msgspec

from gradstudio.graph.edits import AddNode, AddWire, Edits, RemoveNode, SetPlaces
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.joining import CALLED, is_callable, joined, makes_module
from gradstudio.graph.model import BodyId, Graph, ItemId, Place, Wire
from gradstudio.graph.names import title
from gradstudio.graph.ports import find_port, input_ports, output_family, output_ports
from gradstudio.graph.recipes.drafts import Draft
from gradstudio.graph.recipes.nodes import add_call, fresh_node
from gradstudio.graph.rules import why_not
from gradstudio.operators.catalogue import load
from gradstudio.operators.model import Family, Kind

MAX_ELEMENTS = 64


def connect(graph: Graph, source: ItemId, output: int, target: ItemId, port: str) -> Edits:
    """Draw a wire; what stood in the port makes way, and the order follows.

    Raises:
        WireRefused: the rule-book forbids it; the message says why.
        Refused: no order of the statements allows it.
    """
    draft = Draft(graph)
    _connect(draft, source, output, target, port)
    _drop_idle_call(draft, source, target, port)
    return draft.finish()


def disconnect(graph: Graph, wire: Wire) -> Edits:
    """Take a wire away; a list that grew for it shrinks again."""
    draft = Draft(graph)
    draft.cut((wire,))
    _shrink(draft, wire.target, wire.port)
    return draft.finish()


def disconnect_all(graph: Graph, wires: tuple[Wire, ...]) -> Edits:
    """Take several wires away at once."""
    draft = Draft(graph)
    draft.cut(wires)
    for wire in wires:
        _shrink(draft, wire.target, wire.port)
    return draft.finish()


def replace_target(graph: Graph, wire: Wire, target: ItemId, port: str) -> Edits:
    """Move the end of a wire to another input.

    Raises:
        WireRefused: it may not end there; the message says why.
    """
    draft = Draft(graph)
    draft.cut((wire,))
    if (wire.target, wire.port) != (target, port):
        _shrink(draft, wire.target, wire.port)
    _connect(draft, wire.source, wire.output, target, port)
    return draft.finish()


def insert_on_wire(graph: Graph, wire: Wire, key: str, x: float, y: float) -> tuple[Edits, ItemId]:
    """A fresh node in the middle of a wire, directly before the wire's user.

    Raises:
        Refused: the operator has no input that takes what flows, or no output.
    """
    draft = Draft(graph)
    node = fresh_node(draft, load()[key])
    body = graph.parents[wire.target]
    if wire.port.startswith("next."):
        body = BodyId(wire.target)
    index = graph.bodies[body].index(wire.target) if wire.target in graph.bodies[body] else draft.end_of(body)
    draft.do(AddNode(node, body, index), SetPlaces({node.id: Place(x, y)}))
    draft.cut((wire,))
    if is_callable(load()[key]) and output_family(graph, wire.source, wire.output) is not Family.MODULE:
        node = add_call(draft, node, body, x, y)
    path = first_fitting_port(draft.graph, wire.source, wire.output, node.id)
    if path is None or not output_ports(draft.graph, node.id):
        raise Refused(f"{title(draft.graph, node.id)} cannot stand on this wire: nothing of it fits what flows here.")
    _connect(draft, wire.source, wire.output, node.id, path)
    _connect(draft, node.id, 0, wire.target, wire.port)
    return draft.finish(), node.id


def first_fitting_port(graph: Graph, source: ItemId, output: int, target: ItemId) -> str | None:
    """The input of target that a wire from this output would naturally take: the first free one that fits."""
    called = joined(graph).modules.get(target)
    ports = [port for port in input_ports(graph, target) if called is None or port.path != CALLED]
    fitting = [port for port in ports if not why_not(graph, source, output, target, port.path)]
    free = [port for port in fitting if port.state == "empty"]
    preferred = [port for port in free if port.required] or free or fitting
    return preferred[0].path if preferred else None


def split_list(graph: Graph, item: ItemId, parameter: str, count: int) -> Edits:
    """Give a list-like argument a port per element, with `count` elements.

    Raises:
        Refused: the count is out of bounds, or wires would be lost.
    """
    if not 1 <= count <= MAX_ELEMENTS:
        raise Refused(f"A list can have 1 to {MAX_ELEMENTS} ports here; for more, build the list first.")
    draft = Draft(graph)
    owner = draft.owner(item)
    draft.cut(tuple(w for w in graph.wires_to(item) if w.port == parameter or _index(w.port, parameter) >= count))
    literals = {
        key: text for key, text in owner.literals.items() if key != parameter and _index(key, parameter) < count
    }
    for k, text in enumerate(_elements(owner.literals.get(parameter, ""))[:count]):
        literals.setdefault(f"{parameter}.{k}", text)
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths={**owner.lengths, parameter: count}))
    return draft.finish()


def join_list(graph: Graph, item: ItemId, parameter: str) -> Edits:
    """Give a list-like argument one port for the whole list again; wires into elements are taken away."""
    draft = Draft(graph)
    owner = draft.owner(item)
    draft.cut(tuple(w for w in graph.wires_to(item) if _index(w.port, parameter) >= 0))
    count = owner.lengths.get(parameter, 0)
    texts = [owner.literals.get(f"{parameter}.{k}", "") for k in range(count)]
    literals = {key: text for key, text in owner.literals.items() if _index(key, parameter) < 0}
    if count and all(texts):
        literals[parameter] = f"({texts[0]},)" if count == 1 else f"({', '.join(texts)})"
    lengths = {key: length for key, length in owner.lengths.items() if key != parameter}
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    return draft.finish()


def _connect(draft: Draft, source: ItemId, output: int, target: ItemId, path: str) -> None:
    reason = why_not(draft.graph, source, output, target, path)
    if reason:
        raise WireRefused(reason)
    old = draft.graph.wire_into(target, path)
    if old is not None:
        draft.cut((old,))
    owner = draft.owner(target)
    port = find_port(draft.graph, target, path)
    lengths = owner.lengths
    if port is not None and port.grows and port.element is not None:
        lengths = {**lengths, port.path.rsplit(".", 1)[0]: port.element + 1}
    literals = {key: text for key, text in owner.literals.items() if key != path}
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    draft.do(AddWire(Wire(source, output, target, path)))


def _drop_idle_call(draft: Draft, source: ItemId, target: ItemId, path: str) -> None:
    """A layer that is given to a container is called by it: the call it came with goes, if nothing was wired to it."""
    call = joined(draft.graph).calls.get(source)
    port = find_port(draft.graph, target, path)
    takes = port is not None and port.parameter.kind in (Kind.MODULE, Kind.MODULES)
    if call is None or call == target or not takes or not makes_module(load().get(draft.graph.nodes[target].operator)):
        return
    if draft.graph.wires_from(call) or len(draft.graph.wires_to(call)) > 1 or draft.graph.nodes[call].literals:
        return
    draft.cut(draft.graph.wires_to(call))
    draft.do(RemoveNode(call), SetPlaces({key: None for key in (call, f"note:{call}") if key in draft.graph.places}))


def _shrink(draft: Draft, item: ItemId, path: str) -> None:
    """Drop empty elements at the end of a growing list, down to two."""
    parameter, _, number = path.rpartition(".")
    if not number.isdigit() or item not in draft.graph:
        return
    owner = draft.owner(item)
    count = owner.lengths.get(parameter, 0)
    while count > 2 and _is_empty(draft, item, f"{parameter}.{count - 1}"):
        count -= 1
    if count != owner.lengths.get(parameter, 0):
        draft.put(msgspec.structs.replace(owner, lengths={**owner.lengths, parameter: count}))


def _is_empty(draft: Draft, item: ItemId, path: str) -> bool:
    return draft.graph.wire_into(item, path) is None and path not in draft.owner(item).literals


def _index(path: str, parameter: str) -> int:
    """Number of the element a path names within a parameter; -1 when it names none."""
    head, _, tail = path.partition(".")
    number = tail.partition(".")[0]
    return int(number) if head == parameter and number.isdigit() else -1


def _elements(text: str) -> list[str]:
    """Texts of the elements of a literal tuple or list."""
    inner = text.strip()
    if inner[:1] in "([" and inner[-1:] in ")]":
        inner = inner[1:-1]
    return [part.strip() for part in inner.split(",") if part.strip()]
