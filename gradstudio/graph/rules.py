"""The one rule-book for wires: whether one may be drawn, and if not, why, in words."""

from collections.abc import Iterable

from gradstudio.graph.errors import Refused
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.graph.ports.drop_target import drop_target
from gradstudio.graph.ports.item_ports import find_port, input_ports, output_family, shown_outputs
from gradstudio.graph.text.code_records import PRINT
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.families import accepts

MOST_NAMED = 12
"""Of a loop that a wire would close, so many items are named."""


def why_not(graph: Graph, source: ItemId, output: int, target: ItemId, port: str, *, exact: bool = False) -> str:
    """Why a wire may not be drawn; "" when it may. Linear in the size of the graph.

    `exact`: it is to end in this very port, and not where a drop there would land (`graph.ports.drop_target`).
    """
    return (
        _ends(graph, source, output, target, port)
        or _fits(graph, source, output, target, port, exact=exact)
        or (_cycle(graph, source, target, port) or _border(graph, source, target, port))
    )


def legal_targets(
    graph: Graph, source: ItemId, output: int, among: Iterable[ItemId] | None = None
) -> frozenset[tuple[ItemId, str]]:
    """Every input port that a wire from this output may end in; `among` these items alone, where some are named."""
    items = _all_or(graph, among, DEFINITION_OUTPUTS)
    place = graph.numbers()
    first = min((place[item] for item in items if item in place), default=0) if among is not None else 0
    blocked = ancestors_of(graph, source, first) | {source}
    targets, family = [], output_family(graph, source, output)
    for item in items:
        if item in blocked and item not in graph.blocks:
            continue
        for port in input_ports(graph, item):
            if accepts(port.parameter, family) and not drop_target(graph, source, output, item, port.path):
                continue
            reason = _border(graph, source, item, port.path) if graph.blocks else ""
            if not reason and (item not in graph.blocks or not _cycle(graph, source, item, port.path)):
                targets.append((item, port.path))
    return frozenset(targets)


def legal_sources(
    graph: Graph, target: ItemId, port: str, among: Iterable[ItemId] | None = None
) -> frozenset[tuple[ItemId, int]]:
    """Every output port that a wire into this input may start from; `among` these items alone, where some are named."""
    if not _is_there(graph, target, DEFINITION_OUTPUTS) or find_port(graph, target, port) is None:
        return frozenset()
    items, found = _all_or(graph, among, DEFINITION_INPUTS), []
    place = graph.numbers()
    last = max((place[item] for item in items if item in place), default=0) if among is not None else len(place)
    fed = descendants_of(graph, target, last) | {target}
    for item in items:
        if _border(graph, item, target, port) or (item in fed and _cycle(graph, item, target, port)):
            continue
        outputs = (output.index for output in shown_outputs(graph, item))
        found += [(item, output) for output in outputs if not _fits(graph, item, output, target, port)]
    return frozenset(found)


def _all_or(graph: Graph, among: Iterable[ItemId] | None, edge: ItemId) -> tuple[ItemId, ...]:
    """The items that are asked about."""
    if among is None:
        return (*graph.nodes, *graph.blocks, *((edge,) if graph.edges is not None else ()))
    return tuple(item for item in among if _is_there(graph, item, edge))


def ancestors_of(graph: Graph, item: ItemId, first: int = 0) -> set[ItemId]:
    """Every item whose value flows into this one, by a walk that visits each once.

    Of a program whose wires go forward only those from the place `first` on in the order.
    """
    place = graph.numbers()
    first = first if first and index_of(graph).is_forward else 0
    seen: set[ItemId] = set()
    stack = [item]
    while stack:
        for wire in graph.incoming.get(stack.pop(), ()):
            if wire.source not in seen and place.get(wire.source, 0) >= first:
                seen.add(wire.source)
                stack.append(wire.source)
    return seen


def descendants_of(graph: Graph, item: ItemId, last: int | None = None) -> set[ItemId]:
    """Every item into which this one's value flows, by a walk that visits each once.

    Of a program whose wires go forward only those up to the place `last` in the order.
    """
    place = graph.numbers()
    if last is None or not index_of(graph).is_forward:
        last = len(place)
    seen: set[ItemId] = set()
    stack = [item]
    while stack:
        for wire in graph.outgoing.get(stack.pop(), ()):
            if wire.target not in seen and place.get(wire.target, 0) <= last:
                seen.add(wire.target)
                stack.append(wire.target)
    return seen


def chain(graph: Graph, start: ItemId, goal: ItemId) -> list[ItemId]:
    """A shortest chain of items from start to goal along the wires; [] when there is none.

    What a loop carries into its next turn does not count. One walk that visits each item once answers
    whether a wire would close a loop and names the loop: it runs under the mouse while a wire is drawn.
    """
    if start == goal:
        return [start]
    came: dict[ItemId, ItemId] = {start: start}
    queue, leaving = [start], graph.outgoing
    for item in queue:
        for wire in leaving.get(item, ()):
            target = wire.target
            if target in came or wire.port.startswith("next."):
                continue
            came[target] = item
            if target == goal:
                return _walk_back(came, start, goal)
            queue.append(target)
    return []


def _walk_back(came: dict[ItemId, ItemId], start: ItemId, goal: ItemId) -> list[ItemId]:
    found = [goal]
    while found[-1] != start:
        found.append(came[found[-1]])
    return found[::-1]


def _ends(graph: Graph, source: ItemId, output: int, target: ItemId, port: str) -> str:
    if not _is_there(graph, source, DEFINITION_INPUTS) or not _is_there(graph, target, DEFINITION_OUTPUTS):
        return "One end of this wire is not there any more."
    if output not in (port.index for port in shown_outputs(graph, source)):
        return f"{title(graph, source)} has no result to take from here."
    if find_port(graph, target, port) is None:
        return f"{title(graph, target)} has no argument '{port}'."
    return ""


def _is_there(graph: Graph, item: ItemId, edge: ItemId) -> bool:
    return item in graph or (item == edge and graph.edges is not None)


def _fits(graph: Graph, source: ItemId, output: int, target: ItemId, path: str, *, exact: bool = False) -> str:
    port = find_port(graph, target, path)
    reason = accepts(port.parameter, output_family(graph, source, output)) if port else ""
    return "" if reason and not exact and drop_target(graph, source, output, target, path) else reason


def _cycle(graph: Graph, source: ItemId, target: ItemId, port: str) -> str:
    if target in graph.blocks and port.startswith("next."):
        return ""  # a carried value: it is read in the next turn, so no wire closes a cycle
    if source == target:
        return f"{title(graph, source)} cannot feed itself."
    place = graph.numbers()
    if place.get(source, -1) < place.get(target, -1) and index_of(graph).is_forward:
        return ""  # nothing flows back
    path = chain(graph, target, source)
    if not path:
        return ""
    named = [title(graph, item) for item in (path if len(path) <= MOST_NAMED else path[: MOST_NAMED // 2])]
    if len(path) > MOST_NAMED:
        others = len(path) - 2 * len(named)
        named += [f"… {others} more …", *(title(graph, item) for item in path[-len(named) :])]
    loop = " → ".join([*named, named[0]])
    return f"This would close a loop: {loop}. A value can only flow forward; use a for block to repeat."


def _border(graph: Graph, source: ItemId, target: ItemId, port: str) -> str:
    """Loop variables and carried values are seen only inside; a block's own ports only outside."""
    if source in graph.blocks:
        inside = BodyId(source)
        own_next = target == source and port.startswith("next.")
        if not own_next and (target not in graph or inside not in _around(graph, target)):
            return f"{title(graph, source)} gives this value to the statements inside the block only."
    if target in graph.blocks:
        within = source in graph and BodyId(target) in _around(graph, source)
        if port.startswith("next.") and not within and source != target:
            return f"The next turn's value of '{port[5:]}' must come from inside the block."
        if not port.startswith("next.") and within:
            return f"{title(graph, source)} is inside this block, but the block reads '{port}' before it begins."
    return ""


def check_bodies(graph: Graph, items: Iterable[ItemId]) -> None:
    """An `if` holds prints, and what is printed inside them: a canvas does not choose while it runs.

    Raises:
        Refused: one of the items stands in an `if` and is something else, or is an `if` that holds something else.
    """
    for item in items:
        members = graph.bodies.get(BodyId(item), ()) if _is_if(graph, item) else (item,)
        for member in members:
            body = graph.parents[member]
            node = graph.nodes.get(member)
            prints = node is not None and (node.operator == PRINT or (node.nested and not node.names))
            if body != ROOT and _is_if(graph, ItemId(body)) and not prints:
                raise Refused(f"An if block may hold only print, and '{title(graph, member)}' is none.")


def _is_if(graph: Graph, item: ItemId) -> bool:
    return item in graph.blocks and graph.blocks[item].kind == "if"


def broken_border(graph: Graph) -> str:
    """Why a wire of some block crosses its border where it must not; "" when none does."""
    reasons = (_border(graph, w.source, w.target, w.port) for b in graph.blocks for w in _wires_of(graph, b))
    return next((reason for reason in reasons if reason), "")


def _wires_of(graph: Graph, item: ItemId) -> tuple[Wire, ...]:
    return (*graph.wires_to(item), *graph.wires_from(item))


def _around(graph: Graph, item: ItemId) -> tuple[BodyId, ...]:
    return graph.ancestors(item) if item in graph.parents else (ROOT,)
