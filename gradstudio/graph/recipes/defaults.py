"""Back to defaults: one argument, or all of a node; what is wired stays."""

import msgspec

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph, ItemId
from gradstudio.graph.ports.item_ports import find_port, operator_of
from gradstudio.graph.recipes.draft import Draft


def default_of(graph: Graph, item: ItemId, path: str) -> str:
    """What stands in an argument of a fresh node; "" where torch's own default holds."""
    operator = operator_of(graph, item)
    if operator is None:
        return ""
    if path == "device" and operator.creates:
        return DOCUMENT_DEVICE
    return operator.suggested.get(path, "")


def changed_arguments(graph: Graph, item: ItemId) -> tuple[tuple[ItemId, str], ...]:
    """Arguments on an item's card that are not as a fresh node has them, as (item, port path); wired ones apart."""
    owners = [owner for owner in (card_groups(graph).modules.get(item), item) if owner is not None]
    return tuple((owner, path) for owner in owners for path in _paths(graph, owner) if is_changed(graph, owner, path))


def is_changed(graph: Graph, item: ItemId, path: str) -> bool:
    """Whether something else stands in an argument than in that of a fresh node."""
    port = find_port(graph, item, path)
    if port is None or port.state == "wired" or port.grows:
        return False
    now = port.literal or ""
    default = default_of(graph, item, path)
    if port.state == "document_device":
        now = DOCUMENT_DEVICE
    return now != default and (bool(default) or (bool(now) and now != port.parameter.default))


def reset(graph: Graph, ports: tuple[tuple[ItemId, str], ...]) -> Edits:
    """Let the default hold again in arguments."""
    draft = Draft(graph)
    for item, path in ports:
        owner = draft.owner(item)
        literals = {key: text for key, text in owner.literals.items() if key != path}
        default = default_of(graph, item, path)
        if default:
            literals[path] = default
        draft.put(msgspec.structs.replace(owner, literals=literals))
    return draft.finish()


def _paths(graph: Graph, item: ItemId) -> tuple[str, ...]:
    operator = operator_of(graph, item)
    node = graph.nodes.get(item)
    if node is None:
        return tuple(graph.blocks[item].literals) if item in graph.blocks else ()
    suggested = operator.suggested if operator is not None else {}
    device = ("device",) if operator is not None and operator.creates and operator.parameter("device") else ()
    return tuple(dict.fromkeys((*node.literals, *suggested, *device)))
