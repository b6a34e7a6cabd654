"""Modules and their calls that are drawn as one card (semantics §10): a view of the graph, never in the text.

A constructor and its call are joined while there is exactly one call and it stands in the same body. What switches
the module's mode, or freezes it, directly behind the constructor is on its card as well.
"""

from collections.abc import Iterable, Mapping

from gradstudio.graph.edits import (
    AddNode,
    AddWire,
    Edit,
    Edits,
    MoveItem,
    RemoveNode,
    RemoveWire,
    ReplaceNode,
    SetHeader,
    SetPlaces,
    SetTail,
    SetTensor,
    edits_since,
)
from gradstudio.graph.graph_index import index_of, nodes_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import BodyId, Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import row_of
from gradstudio.operators.model import Family, Operator

CALL = "python.call"
CALLED = "module"
"""The port of a call that takes the module."""
SELF = "self"
"""The port of a method of a module that takes it."""
EVAL, TRAIN = "torch.nn.Module.eval", "torch.nn.Module.train"
FREEZE = "torch.nn.Module.requires_grad_"
_FOLDED = {EVAL: ({},), TRAIN: ({}, {"mode": "True"}, {"mode": "False"}), FREEZE: ({"requires_grad": "False"},)}
"""What a card says by its switches: the arguments that it can say, by operator."""
NEVER_CALLED = frozenset(
    {"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList", "torch.nn.ParameterDict"}
)
"""Containers without a forward of their own."""


class CardGroups:
    """Which calls are drawn on the card of their module, until an edit concerns them.

    Attributes:
        calls: by constructor, the call whose card shows both.
        modules: by call, its constructor.
        switches: by statement that switches a module directly behind its constructor, the constructor.
    """

    def __init__(self, graph: Graph) -> None:
        """Look at every call."""
        self.calls: dict[ItemId, ItemId] = {}
        self.modules: dict[ItemId, ItemId] = {}
        self._asked = {node.id for node in nodes_of(graph, (CALL, *_FOLDED))}
        for node in nodes_of(graph, (CALL,)):
            if (wire := graph.wires.get((node.id, CALLED))) is not None:
                self._asked.add(wire.source)
            if (module := _called_here_alone(graph, node)) is not None:
                self.calls[module] = node.id
                self.modules[node.id] = module
        self.switches = _switches(graph)
        self._insides = {item: self.home(item) for item in (*self.calls, *self.switches)}
        self._together = _together(self.calls, self.switches)

    def stay(self, graph: Graph, edits: Edits) -> bool:
        """Whether edits that are applied surely leave them as they were."""
        folds = any(index_of(graph).by_operator.get(key) for key in _FOLDED)
        return all(self._is_elsewhere(graph, edit, folds) for edit in edits)

    def _is_elsewhere(self, graph: Graph, edit: Edit, folds: bool) -> bool:
        """Whether an edit concerns no call, no module that is called, and no order in which one may be switched."""
        match edit:
            case SetPlaces() | SetHeader() | SetTail() | SetTensor():
                return True
            case AddNode() | ReplaceNode():
                node = edit.node
                is_asked = node.operator == CALL or node.operator in _FOLDED or makes_module(row_of(graph, node))
                return not is_asked and node.id not in self._asked and not folds
            case RemoveNode():
                return edit.id not in self._asked and not folds
            case MoveItem():
                return edit.item not in self._asked and not folds
            case AddWire() | RemoveWire():
                return edit.wire.port != CALLED and not folds
            case _:
                return False

    def home(self, item: ItemId) -> ItemId:
        """The item whose card shows this one: a call for its module and what switches it, else itself."""
        module = self.switches.get(item, item)
        return self.calls.get(module, module)

    def is_inside(self, item: ItemId) -> bool:
        """Whether an item is drawn on the card of another."""
        return item in self.calls or item in self.switches

    def insides(self) -> Mapping[ItemId, ItemId]:
        """By item that is drawn on the card of another, that one."""
        return self._insides

    def whole(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items with all else that is on their cards."""
        if not self._together:
            return frozenset(items)
        found = set(items)
        for item in found & self._together.keys():
            found |= self._together[item]
        return frozenset(found)

    def homes(self, items: Iterable[ItemId]) -> Iterable[ItemId]:
        """The item whose card shows each of these."""
        return map(self.home, items) if self._together else items

    def cards(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items whose cards show these."""
        return frozenset(self.homes(items))

    def is_hidden(self, wire: Wire) -> bool:
        """Whether a wire lies inside a card: from a module to its call, or to what switches it."""
        if wire.port == CALLED:
            return self.modules.get(wire.target) == wire.source
        return wire.port == SELF and self.switches.get(wire.target) == wire.source


def _together(calls: dict[ItemId, ItemId], switches: dict[ItemId, ItemId]) -> dict[ItemId, set[ItemId]]:
    """By item that shares its card with others, all that are on it."""
    by_module: dict[ItemId, set[ItemId]] = {}
    for module, call in calls.items():
        by_module[module] = {module, call}
    for switch, module in switches.items():
        by_module.setdefault(module, {module}).add(switch)
    together: dict[ItemId, set[ItemId]] = {}
    for on_card in by_module.values():
        together.update(dict.fromkeys(on_card, on_card))
    return together


_known: MemoTable[tuple[int, CardGroups]] = MemoTable(is_copied=True)


def card_groups(graph: Graph) -> CardGroups:
    """Which calls and modules share a card as the graph is now; the same object as long as nothing concerns it."""
    revision, groups = _known.get(graph) or (-1, None)
    if groups is None or revision != graph.revision:
        edits = edits_since(graph, revision) if groups is not None else None
        if groups is None or edits is None or not groups.stay(graph, edits):
            groups = CardGroups(graph)
        _known[graph] = graph.revision, groups
    return groups


def makes_module(operator: Operator | None) -> bool:
    """Whether a node of the operator constructs a module."""
    return (
        operator is not None
        and operator.constructs
        and bool(operator.results)
        and operator.results[0].family is Family.MODULE
    )


def is_callable(operator: Operator | None) -> bool:
    """Whether what a constructor makes can be called with tensors."""
    return makes_module(operator) and operator is not None and operator.key not in NEVER_CALLED


def calls_of(graph: Graph, module: ItemId) -> tuple[ItemId, ...]:
    """The calls of a module, in the order they were wired."""
    return tuple(
        wire.target
        for wire in graph.wires_from(module)
        if wire.port == CALLED and wire.target in graph.nodes and graph.nodes[wire.target].operator == CALL
    )


def _called_here_alone(graph: Graph, call: Node) -> ItemId | None:
    """The constructor that a call can share its card with."""
    wire = graph.wires.get((call.id, CALLED))
    module = graph.nodes.get(wire.source) if wire is not None else None
    if module is None or graph.parents[module.id] != graph.parents[call.id]:
        return None
    alike = module.muted == call.muted and not module.bypassed
    if not alike or not makes_module(row_of(graph, module)) or len(calls_of(graph, module.id)) != 1:
        return None
    return module.id


def _switches(graph: Graph) -> dict[ItemId, ItemId]:
    """The statements that a card shows as its switches, and their modules."""
    asked = {node.id for node in nodes_of(graph, _FOLDED)}
    found: dict[ItemId, ItemId] = {}
    for body in {graph.parents[item] for item in asked}:
        _fold(graph, body, asked, found)
    return found


def _fold(graph: Graph, body: BodyId, asked: set[ItemId], found: dict[ItemId, ItemId]) -> None:
    last: Node | None = None
    for item in graph.bodies[body]:
        node = graph.nodes.get(item)
        if node is not None and last is not None and item in asked and _only_switches(graph, node, last):
            found[item] = last.id
        elif node is None or not node.nested:
            last = node if node is not None and makes_module(row_of(graph, node)) else None


def _only_switches(graph: Graph, switch: Node, module: Node) -> bool:
    """Whether a statement does no more than its card can say."""
    wires = graph.wires_to(switch.id)
    alone = len(wires) == 1 and (wires[0].source, wires[0].port) == (module.id, SELF)
    is_noted = bool(switch.note or switch.beside)
    plain = not (switch.names or is_noted or switch.bypassed or switch.nested) and switch.muted == module.muted
    return alone and plain and switch.literals in _FOLDED[switch.operator] and not graph.wires_from(switch.id)
