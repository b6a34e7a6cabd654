"""Modules and their calls that are drawn as one card (SEMANTICS 10): a view of the graph, never in the text.

A constructor and its call are joined while there is exactly one call and it stands in the same body.
"""

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.operators.catalogue import load
from gradstudio.operators.model import Face, Family, Operator

CALL = "python.call"
CALLED = "module"
"""The port of a call that takes the module."""
NEVER_CALLED = frozenset(
    {"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList", "torch.nn.ParameterDict"}
)
"""Containers without a forward of their own."""


class Joining:
    """Which calls are drawn on the card of their module, at one revision of a graph.

    Attributes:
        calls: by constructor, the call whose card shows both.
        modules: by call, its constructor.
    """

    def __init__(self, graph: Graph) -> None:
        """Look at every call."""
        self.revision = graph.revision
        self.calls: dict[ItemId, ItemId] = {}
        self.modules: dict[ItemId, ItemId] = {}
        for node in graph.nodes.values():
            if node.operator == CALL and (module := _called_here_alone(graph, node)) is not None:
                self.calls[module] = node.id
                self.modules[node.id] = module

    def home(self, item: ItemId) -> ItemId:
        """The item whose card shows this one: a call for its module, else itself."""
        return self.calls.get(item, item)

    def whole(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items with the other halves of their cards."""
        found = set(items)
        found |= {self.calls[item] for item in found if item in self.calls}
        return frozenset(found | {self.modules[item] for item in found if item in self.modules})

    def cards(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items whose cards show these."""
        return frozenset(self.home(item) for item in items)

    def is_hidden(self, wire: Wire) -> bool:
        """Whether a wire lies inside a card: from a module to its call."""
        return wire.port == CALLED and self.modules.get(wire.target) == wire.source


_known: "WeakKeyDictionary[Graph, Joining]" = WeakKeyDictionary()


def joined(graph: Graph) -> Joining:
    """Which calls and modules share a card as the graph is now; kept until the next edit."""
    known = _known.get(graph)
    if known is None or known.revision != graph.revision:
        known = _known[graph] = Joining(graph)
    return known


def makes_module(operator: Operator | None) -> bool:
    """Whether a node of the operator constructs a module."""
    return (
        operator is not None
        and operator.face is Face.CONSTRUCTOR
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
    if not alike or not makes_module(load().get(module.operator)) or len(calls_of(graph, module.id)) != 1:
        return None
    return module.id
