"""Recipes for arguments with a port per element: splitting, joining, closing gaps, another order."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.edits import AddWire, Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.ports.arguments import find_operator
from gradstudio.graph.ports.item_ports import find_port
from gradstudio.graph.ports.module_calls import taker_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.text.literal_text import NotALiteral, spell
from gradstudio.operators.calls.call_signature import INPUTS, forward_parameters, input_parameter, required_inputs
from gradstudio.operators.model import Kind

T = TypeVar("T")
MAX_ELEMENTS = 64
FEWEST = {Kind.TENSORS: 2, Kind.MODULES: 2, Kind.VALUES: 1}
"""So many ports stay when wires are taken away from a list; the person may remove them one by one."""


def split_list(graph: Graph, item: ItemId, parameter: str, count: int) -> Edits:
    """Give a list-like argument a port per element, with `count` elements.

    Raises:
        Refused: the count is out of bounds.
    """
    if not 1 <= count <= MAX_ELEMENTS:
        raise Refused(f"A list can have 1 to {MAX_ELEMENTS} ports here; for more, build the list first.")
    draft = Draft(graph)
    owner = draft.owner(item)
    draft.cut(tuple(w for w in graph.wires_to(item) if w.port == parameter or index_in(w.port, parameter) >= count))
    literals = {
        key: text for key, text in owner.literals.items() if key != parameter and index_in(key, parameter) < count
    }
    port = find_port(graph, item, parameter)
    is_index = port is not None and port.parameter.kind is Kind.INDEX
    for k, text in enumerate(elements_of(owner.literals.get(parameter, ""), is_index=is_index)[:count]):
        literals.setdefault(f"{parameter}.{k}", text)
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths={**owner.lengths, parameter: count}))
    return draft.finish()


def join_list(graph: Graph, item: ItemId, parameter: str) -> Edits:
    """Give a list-like argument one port for the whole list again; wires into elements are taken away."""
    draft = Draft(graph)
    owner = draft.owner(item)
    draft.cut(tuple(w for w in graph.wires_to(item) if index_in(w.port, parameter) >= 0))
    count = owner.lengths.get(parameter, 0)
    texts = [owner.literals.get(f"{parameter}.{k}", "") for k in range(count)]
    literals = {key: text for key, text in owner.literals.items() if index_in(key, parameter) < 0}
    lengths = {key: length for key, length in owner.lengths.items() if key != parameter}
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    port = find_port(draft.graph, item, parameter)
    if count and all(texts):
        if port is not None and port.parameter.kind is Kind.INDEX:
            literals[parameter] = ", ".join(texts)
        else:
            literals[parameter] = f"({texts[0]},)" if count == 1 else f"({', '.join(texts)})"
        draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    return draft.finish()


def move_element(graph: Graph, item: ItemId, parameter: str, element: int, to: int) -> Edits:
    """Put an element of a list at another place; those between move up.

    Raises:
        Refused: there is no such place.
    """
    count = graph_lengths(graph, item).get(parameter, 0)
    if not (0 <= element < count and 0 <= to < count):
        raise Refused("There is no such place in this list.")
    order = list(range(count))
    order.insert(to, order.pop(element))
    draft = Draft(graph)
    remap(draft, item, parameter, {old: new for new, old in enumerate(order)}.get, count)
    return draft.finish()


def remove_element(graph: Graph, item: ItemId, parameter: str, element: int) -> Edits:
    """Take an element out of a list with its port; those behind it move up.

    Raises:
        Refused: it is the only one.
    """
    count = graph_lengths(graph, item).get(parameter, 0)
    if count <= 1 or not 0 <= element < count:
        raise Refused("A list keeps at least one port here.")
    draft = Draft(graph)
    take_out(draft, item, parameter, element)
    return draft.finish()


def take_out(draft: Draft, item: ItemId, parameter: str, element: int) -> None:
    """Remove an element with what feeds it."""
    count = draft.owner(item).lengths[parameter]
    draft.cut(tuple(w for w in draft.graph.wires_to(item) if index_in(w.port, parameter) == element))
    remap(draft, item, parameter, lambda k: None if k == element else k - (k > element), count - 1)


def close_gaps(draft: Draft, ends: Iterable[tuple[ItemId, str]]) -> None:
    """After wires were taken away: elements that became empty in a list that grows make room for those behind.

    Args:
        ends: target and port of the wires that are gone.
    """
    emptied: dict[tuple[ItemId, str], set[int]] = {}
    for item, path in ends:
        parameter, _, number = path.rpartition(".")
        if item in draft.graph and number.isdigit():
            emptied.setdefault((item, parameter), set()).add(int(number))
    for (item, parameter), numbers in emptied.items():
        node = draft.graph.nodes.get(item)
        if (
            parameter == INPUTS
            and node is not None
            and node.operator == CALL
            and forward_parameters(taker_of(draft.graph, node))
        ):
            _close_call(draft, node, numbers)
        else:
            _close(draft, item, parameter, numbers)


def _close_call(draft: Draft, call: Node, numbers: set[int]) -> None:
    """Inputs of a known module keep their places; behind an optional one that became empty, the rest goes by name."""
    maker = taker_of(draft.graph, call)
    count = call.lengths.get(INPUTS, 0)
    gaps = [k for k in numbers if required_inputs(maker) <= k < count and _is_empty(draft, call.id, f"{INPUTS}.{k}")]
    if not gaps:
        return
    names = {f"{INPUTS}.{k}": p.name for k in range(min(gaps), count) if (p := input_parameter(maker, k)) is not None}
    wires = tuple(wire for wire in draft.graph.wires_to(call.id) if wire.port in names)
    draft.cut(wires)
    literals = {names.get(path, path): text for path, text in call.literals.items()}
    covered = {names.get(path, path): text for path, text in call.covered.items()}
    muted = {names.get(path, path): end for path, end in call.muted_wires.items()}
    lengths = {**call.lengths, INPUTS: min(gaps)}
    changed = msgspec.structs.replace(call, literals=literals, lengths=lengths, covered=covered, muted_wires=muted)
    draft.put(changed)
    draft.do(*(AddWire(msgspec.structs.replace(wire, port=names[wire.port])) for wire in wires))


def fit_call(draft: Draft, call: ItemId) -> None:
    """Give a call of a known module a port for each input that it must have; ports that nothing feeds go."""
    node = draft.graph.nodes[call]
    maker = taker_of(draft.graph, node)
    count = node.lengths.get(INPUTS)
    if count is None or not forward_parameters(maker):
        return
    while count and _is_empty(draft, call, f"{INPUTS}.{count - 1}"):
        count -= 1
    count = max(count, required_inputs(maker))
    if count != node.lengths[INPUTS]:
        draft.put(msgspec.structs.replace(node, lengths={**node.lengths, INPUTS: count}))


def _close(draft: Draft, item: ItemId, parameter: str, numbers: set[int]) -> None:
    owner = draft.owner(item)
    count = owner.lengths.get(parameter, 0)
    kind = _kind_of(draft, item, parameter)
    if kind not in FEWEST:
        return
    gaps = {k for k in numbers if k < count and _is_empty(draft, item, f"{parameter}.{k}")}
    if not gaps:
        return
    order = [k for k in range(count) if k not in gaps]
    length = max(len(order), min(count, FEWEST[kind]))
    remap(draft, item, parameter, {old: new for new, old in enumerate(order)}.get, length)


def _kind_of(draft: Draft, item: ItemId, parameter: str) -> Kind | None:
    node = draft.graph.nodes.get(item)
    operator = find_operator(draft.graph, node) if node is not None else None
    found = operator.parameter(parameter) if operator is not None else None
    return found.kind if found is not None else None


def remap(draft: Draft, item: ItemId, parameter: str, place: Callable[[int], int | None], count: int) -> None:
    """Give every element of a list the number that `place` says; None drops it."""
    owner = draft.owner(item)
    wires = tuple(w for w in draft.graph.wires_to(item) if index_in(w.port, parameter) >= 0)
    moved = [Wire(w.source, w.output, item, port) for w in wires if (port := _placed(w.port, parameter, place))]
    if set(moved) != set(wires):
        draft.cut(wires)
    literals = _placed_keys(owner.literals, parameter, place)
    lengths = {**owner.lengths, parameter: count}
    if isinstance(owner, Node):
        covered = _placed_keys(owner.covered, parameter, place)
        muted = _placed_keys(owner.muted_wires, parameter, place)
        changed = msgspec.structs.replace(owner, literals=literals, lengths=lengths, covered=covered)
        draft.put(msgspec.structs.replace(changed, muted_wires=muted))
    else:
        draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    if set(moved) != set(wires):
        draft.do(*(AddWire(wire) for wire in moved))


def _placed_keys(texts: dict[str, T], parameter: str, place: Callable[[int], int | None]) -> dict[str, T]:
    return {path: text for key, text in texts.items() if (path := _placed(key, parameter, place))}


def _placed(path: str, parameter: str, place: Callable[[int], int | None]) -> str:
    """The path of an element at its new place; "" when it has none."""
    number = index_in(path, parameter)
    if number < 0:
        return path
    new = place(number)
    return "" if new is None else f"{parameter}.{new}{path[len(f'{parameter}.{number}') :]}"


def uncover(draft: Draft, wires: Iterable[Wire]) -> None:
    """Where wires were taken away, what was written there before them stands there again."""
    for wire in wires:
        node = draft.graph.nodes.get(wire.target)
        if node is None or wire.port not in node.covered or draft.graph.wire_into(node.id, wire.port) is not None:
            continue
        covered = {path: text for path, text in node.covered.items() if path != wire.port}
        literals = {**node.literals, wire.port: node.literals.get(wire.port) or node.covered[wire.port]}
        draft.put(msgspec.structs.replace(node, literals=literals, covered=covered))


def graph_lengths(graph: Graph, item: ItemId) -> dict[str, int]:
    """The numbers of elements of an item's lists."""
    owner = graph.nodes.get(item) or graph.blocks.get(item)
    return owner.lengths if owner is not None else {}


def index_in(path: str, parameter: str) -> int:
    """Number of the element a path names within a parameter; -1 when it names none."""
    head, _, tail = path.partition(".")
    number = tail.partition(".")[0]
    return int(number) if head == parameter and number.isdigit() else -1


def elements_of(text: str, *, is_index: bool = False) -> list[str]:
    """Texts of the elements of a literal tuple or list, or of what stands between [ and ]."""
    if not text:
        return []
    if is_index:
        return parts_of(text)
    try:
        spelled = spell(text)
    except NotALiteral:
        return []
    return list(spelled.elements) if spelled.elements is not None else [spelled.text]


def parts_of(text: str, sign: str = ",") -> list[str]:
    """The parts of a text between commas (or another sign) outside of brackets and quotes; a last empty one is none."""
    parts = []
    depth = 0
    quoted = ""
    start = 0
    for k, letter in enumerate(text):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'":
            quoted = letter
        elif letter == sign and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
        else:
            depth += (letter in "([{") - (letter in ")]}")
    last = text[start:].strip()
    return [*parts, last] if last or sign != "," else parts


def _is_empty(draft: Draft, item: ItemId, path: str) -> bool:
    owner = draft.owner(item)
    paths = [path, *(f"{path}.{part}" for part in ("start", "stop", "step"))]
    return not any(draft.graph.wire_into(item, p) is not None or owner.literals.get(p) for p in paths)
