"""Gradients, read from the text alone: what may require grad, and what a pass repeats (semantics §5)."""

import heapq
from collections.abc import Set
from functools import cached_property
from itertools import repeat

from gradstudio.graph.analysis.incomplete_reasons import SET_ATTRIBUTE, TENSOR_ATTRIBUTES
from gradstudio.graph.analysis.operator_traits import (
    ATTRIBUTE,
    CONTAINERS,
    METADATA,
    Traits,
    traits_of,
)
from gradstudio.graph.analysis.validity import Validity
from gradstudio.graph.model import DEFINITION_INPUTS, BodyId, Graph, ItemId, Node
from gradstudio.graph.ports.item_ports import counts
from gradstudio.graph.text.record_checks import attribute_of
from gradstudio.operators.model import Face, Operator

Value = tuple[ItemId, int]

_TABLES = tuple("_may _leaves _repeated _lost _tensors _roots _modules _tracked _plain _widths".split())
"""What is taken over from an earlier walk."""


class Gradients:
    """One walk over the sound part of a program.

    What was known of nodes that cannot run any more stays in the tables, for nothing that runs reads them; it is told
    of none of them, and forgotten when they can run again.
    """

    def __init__(
        self,
        graph: Graph,
        validity: Validity,
        earlier: "Gradients | None" = None,
        changed: frozenset[ItemId] = frozenset(),
        reordered: bool = False,
    ) -> None:
        """Walk the graph in program order; with an `earlier` walk only what follows from the nodes that `changed`.

        `reordered`: what was there may stand in another order.
        """
        self._begin(graph, validity)
        if earlier is None or not self._follow(earlier, changed, reordered):
            self._begin(graph, validity)
            self._walk()
        self._around = _around(graph, self._live_repeated()) if graph.blocks else frozenset[ItemId]()

    @cached_property
    def may(self) -> Set[Value]:
        """Outputs that may require grad, now or after a later write into them."""
        return self._of_live(self._may)

    @cached_property
    def leaves(self) -> Set[Value]:
        """Outputs that are leaves which require grad."""
        return self._of_live(self._leaves)

    @cached_property
    def repeated(self) -> Set[ItemId]:
        """Items of the repeated part; a block is in it when something inside is."""
        found = self._live_repeated()
        return found | self._around if self._around else found

    def _live_repeated(self) -> Set[ItemId]:
        return self._repeated - self._lost if self._lost else self._repeated

    def _of_live(self, values: Set[Value]) -> Set[Value]:
        return {value for value in values if value[0] not in self._lost} if self._lost else values

    def _begin(self, graph: Graph, validity: Validity) -> None:
        """Nothing is known."""
        self.graph, self._validity = graph, validity
        self._may: set[Value] = set()
        self._leaves: set[Value] = set()
        self._tensors: set[Value] = set()
        self._repeated: set[ItemId] = set()
        self._roots: dict[Value, Value] = {}
        self._modules: set[Value] = set()  # modules and optimizers: they hold tensors, and are none
        self._tracked: set[Value] = set()  # objects that may require grad, views and aliases counted as one
        self._written: set[Value] = set()  # objects that the repeated part wrote into
        self._plain: set[Value] = set()  # numbers, texts and the like, and tuples of nothing else: no tensors
        self._loops: set[BodyId] = set()
        self._touched: set[Value] = set()  # objects that a later statement may have changed
        self._touching: set[ItemId] = set()  # those statements
        self._widths: dict[ItemId, int] = {}  # how many outputs of a node were looked at
        self._lost: set[ItemId] = set()  # nodes that cannot run any more, of which all this tells as it was

    def _walk(self) -> None:
        graph, validity = self.graph, self._validity
        for item in graph.order():
            if validity.is_live(item):
                if item in graph.nodes:
                    self._node(graph.nodes[item])
                else:
                    self._block(item)
        roots, tracked = self._roots, self._tracked
        self._may.update([value for value in self._tensors if roots.get(value, value) in tracked])

    # -------------------------------------------------------------- only what an edit changed

    def _follow(self, earlier: "Gradients", changed: frozenset[ItemId], reordered: bool) -> bool:
        """Look at the changed nodes, and on where they give something else; False: the whole has to be walked.

        What writes into memory, or switches whether it requires grad, changes what statements around it see: where
        such a one, or one that reads such memory, is to be looked at, the order of all decides.
        """
        dirty = changed | earlier._validity.left_by(self._validity)
        if not dirty.isdisjoint(self.graph.blocks) or (earlier._touching and reordered):
            return False  # a block is another, or what touches memory may have another place among the rest
        for name in _TABLES:
            setattr(self, name, getattr(earlier, name).copy())
        self._written, self._loops, self._touched = earlier._written, earlier._loops, set(earlier._touched)
        self._touching = set(earlier._touching)
        lost = self._validity.gone_of(dirty - changed)
        if not lost.isdisjoint(self._touching) or any(item in lost for item, _ in self._touched):
            return False
        self._lost |= lost
        place = self.graph.numbers()
        waiting = {(place.get(item, -1), item) for item in dirty - lost}
        heap = sorted(waiting)
        while heap:
            item = heapq.heappop(heap)[1]
            # whoever reads a new one has to be looked at whatever it gives
            is_new = item in self._lost or item not in self._widths
            before = None if is_new else self._state(item, earlier._validity)
            if not self._look_again(item):
                return False
            if not is_new and self._state(item, self._validity) == before:
                continue
            for wire in self.graph.outgoing.get(item, ()):
                user = place.get(wire.target, -1), wire.target
                if wire.target in self.graph.nodes and wire.target not in lost and user not in waiting:
                    waiting.add(user)
                    heapq.heappush(heap, user)
        return True

    def _look_again(self, item: ItemId) -> bool:
        """Forget what was known of a node, and look at it as it is now; False: it touches memory."""
        if item in self._touching:
            return False
        self._lost.discard(item)
        for k in range(self._widths.pop(item, 0)):
            if (item, k) in self._touched:
                return False
            for known in (self._may, self._leaves, self._tensors, self._modules, self._tracked, self._plain):
                known.discard((item, k))
            self._roots.pop((item, k), None)
        self._repeated.discard(item)
        if item not in self.graph.nodes or not self._validity.is_live(item):
            return True
        node = self.graph.nodes[item]
        if self._touched and any(self._root(value) in self._touched for value in self._sources(node)):
            return False
        self._node(node)
        return item not in self._touching

    def _state(self, item: ItemId, validity: Validity) -> tuple[object, ...]:
        """All that those who read a node see of it."""
        outputs = []
        for value in [(item, k) for k in range(self._widths.get(item, 0))]:
            root = self._root(value)
            where = (self._tensors, self._modules, self._plain, self._leaves, self._may)
            outputs.append((root, root in self._tracked, *[value in values for values in where]))
        return validity.operators.get(item), item in self._repeated, outputs

    # -------------------------------------------------------------- one item

    def _block(self, item: ItemId) -> None:
        block = self.graph.blocks[item]
        if block.kind == "for" or self.graph.parents[item] in self._loops:
            self._loops.add(BodyId(item))
            self._repeated.add(item)
        if block.kind == "for":  # a parameter, an element of a list, a carried value: no text tells
            for k in range(1 + len(block.carried)):
                if k or not counts(self.graph, block):
                    self._tracked.add((item, k))
                    self._may.add((item, k))

    def _node(self, node: Node) -> None:
        sources = self._sources(node)
        operator = self._validity.operators.get(node.id)
        if node.bypassed or operator is None:
            self._widths[node.id] = max(1, len(operator.results), len(node.names)) if operator is not None else 1
            self._share(node, sources)
            if sources and sources[0] in self._plain:
                self._plain.add((node.id, 0))
            if self._takes_repeated(node, sources):
                self._repeated.add(node.id)
            return
        traits = traits_of(operator)
        count = self._widths[node.id] = max(1, len(operator.results), len(node.names))
        is_tracked = self._is_one_among(sources, self._tracked)
        is_repeated = self._takes_repeated(node, sources) or self._repeats_itself(node, operator, traits, sources)
        if is_repeated:
            self._repeated.add(node.id)
        if traits.makes_module or (traits.hands_on and sources and sources[0] in self._modules):
            self._modules.add((node.id, 0))
        self._note_plain(node, operator, traits, sources)
        self._outputs(node, operator, traits, sources, is_tracked)
        if traits.may_be_tensor:
            self._note_tensors(list(zip(repeat(node.id), range(count))))
        if operator.writes:
            self._writes(node, operator, is_tracked, is_repeated)

    def _sources(self, node: Node) -> list[Value]:
        ports = self._validity.ports[node.id]
        if not ports:
            return []
        wires = self.graph.wires
        ends = [wires[node.id, port] for port in ports]
        return [(wire.source, wire.output) for wire in ends if wire.source != DEFINITION_INPUTS]

    def _note_tensors(self, values: list[Value]) -> None:
        self._tensors.update(values)
        roots, tracked = self._roots, self._tracked
        self._may.update([value for value in values if roots.get(value, value) in tracked])

    def _is_one_among(self, values: list[Value], objects: set[Value]) -> bool:
        """Whether one of the values is one of some objects."""
        roots = self._roots
        return bool(objects) and not objects.isdisjoint([roots.get(value, value) for value in values])

    def _takes_repeated(self, node: Node, sources: list[Value]) -> bool:
        if self._loops and self.graph.parents[node.id] in self._loops:
            return True
        if self._is_one_among(sources, self._written):
            return True
        return bool(self._repeated) and not self._repeated.isdisjoint([value[0] for value in sources])

    def _repeats_itself(self, node: Node, operator: Operator, traits: Traits, sources: list[Value]) -> bool:
        if traits.always:
            return True
        if traits.is_set_up:
            return False
        if traits.is_random and self._takes_tensor(node):
            return True
        if operator.key == ATTRIBUTE:
            computes = attribute_of(node) in TENSOR_ATTRIBUTES - METADATA
        else:
            computes = traits.computes and not (operator.face is Face.ITEM and self._is_container(sources))
        return computes and self._is_one_among([one for one in sources if one not in self._modules], self._tracked)

    def _is_container(self, sources: list[Value]) -> bool:
        """Whether an item is taken from a list, which is no computing."""
        operator = self._validity.operators.get(sources[0][0]) if sources else None
        return operator is not None and operator.face in CONTAINERS

    def _takes_tensor(self, node: Node) -> bool:
        wires = (self.graph.wires[node.id, port] for port in self._validity.ports[node.id])
        return any((wire.source, wire.output) not in self._plain for wire in wires)

    def _note_plain(self, node: Node, operator: Operator, traits: Traits, sources: list[Value]) -> None:
        """Outputs that are no tensors whatever the program is given."""
        count = self._widths[node.id]
        if operator.face is Face.TUPLE and len(node.names) > 1 and node.lengths:
            path = operator.parameters[0].name
            given = {k: self.graph.wires.get((node.id, f"{path}.{k}")) for k in range(count)}
            self._plain.update(
                (node.id, k) for k, wire in given.items() if not wire or (wire.source, wire.output) in self._plain
            )
        elif self._is_plain(node, operator, traits, sources):
            self._plain.update(zip(repeat(node.id), range(count)))

    def _is_plain(self, node: Node, operator: Operator, traits: Traits, sources: list[Value]) -> bool:
        if traits.is_plain:
            return True
        if traits.is_plain_of_plain:
            return self._plain.issuperset(sources)
        return operator.key == ATTRIBUTE and attribute_of(node) in METADATA

    def _outputs(self, node: Node, operator: Operator, traits: Traits, sources: list[Value], is_tracked: bool) -> None:
        own = (node.id, 0)
        count = self._widths[node.id]
        if traits.makes_leaf and _makes_leaf(traits, node):
            self._tracked.add(own)
            self._leaves.add(own)
        elif traits.shares_memory and sources and not (operator.view and self._is_no_grad(node)):
            sources = self._given_back(node, operator, sources)
            self._share(node, sources, count)
            if not operator.view and sources[0] in self._leaves:
                self._leaves.add(own)
        elif is_tracked and traits.carries_gradient and not self._is_no_grad(node):
            self._tracked.update(zip(repeat(node.id), range(count)))
        elif traits.holds_parameters:
            self._tracked.add(own)
        if traits.sets_requires_grad or (operator.key == SET_ATTRIBUTE and attribute_of(node) == "requires_grad"):
            self._set_flag(operator, node, sources[0] if sources else own)

    def _given_back(self, node: Node, operator: Operator, sources: list[Value]) -> list[Value]:
        """The object that the result is, first: of an in-place operator what it writes into."""
        wire = self.graph.wires.get((node.id, operator.writes[0])) if operator.writes else None
        return [(wire.source, wire.output)] if wire is not None else sources

    def _set_flag(self, operator: Operator, node: Node, value: Value) -> None:
        port = "value" if operator.face is Face.SET_ATTRIBUTE else "requires_grad"
        root = self._root(value)
        self._touching.add(node.id)
        self._touched.add(root)
        if node.literals.get(port) == "False":
            self._tracked.discard(root)
            self._leaves.discard(value)
        elif root not in self._tracked:
            self._tracked.add(root)
            self._leaves.update((value, (node.id, 0)))

    def _writes(self, node: Node, operator: Operator, is_tracked: bool, is_repeated: bool) -> None:
        for name in operator.writes:
            wire = self.graph.wires.get((node.id, name))
            if wire is None:
                continue
            root = self._root((wire.source, wire.output))
            self._touching.add(node.id)
            self._touched.add(root)
            if is_tracked and not self._is_no_grad(node):
                self._tracked.add(root)
            if is_repeated:
                self._written.add(root)

    def _share(self, node: Node, sources: list[Value], count: int = 1) -> None:
        if sources:
            root = self._root(sources[0])
            self._roots.update(((node.id, k), root) for k in range(count))
            if root in self._tracked:
                self._may.update((node.id, k) for k in range(count))

    def _root(self, value: Value) -> Value:
        return self._roots.get(value, value)

    def _is_no_grad(self, node: Node) -> bool:
        if not self.graph.blocks:
            return False
        for body in self.graph.ancestors(node.id):
            block = self.graph.blocks[ItemId(body)] if body else None
            kind = block.kind if block is not None else ""
            if kind in ("no_grad", "inference_mode"):
                return True
            if block is not None and kind == "set_grad_enabled":
                return block.literals.get("mode") == "False"
            if kind == "enable_grad":
                return False
        return False


def _around(graph: Graph, items: Set[ItemId]) -> frozenset[ItemId]:
    """The blocks around any of the items."""
    found: set[ItemId] = set()
    for body in {graph.parents[item] for item in items}:
        while body and ItemId(body) not in found:
            found.add(ItemId(body))
            body = graph.parents[ItemId(body)]
    return frozenset(found)


def _makes_leaf(traits: Traits, node: Node) -> bool:
    if traits.makes_leaf == "parameter":
        return node.literals.get("requires_grad") != "False"
    if traits.makes_leaf == "flag":
        wired = node.literals.get("requires_grad", "False")
        return wired != "False"
    return False


def decisive_literals(node: Node) -> tuple[str | None, ...]:
    """All of a node's literals that analysis reads: they may change what requires grad, and what is nested."""
    return tuple(node.literals.get(name) for name in ("requires_grad", "value", "name", "template"))


def losses_first(operator: Operator | None) -> bool:
    """Whether the operator is a loss, which goes first as the root of an appended backward."""
    return operator is not None and (operator.category == "Losses" or operator.word.endswith("_loss"))


def body_is_top_level(graph: Graph, body: BodyId) -> bool:
    """Whether the body has the program's own scope: no loop and no condition around it."""
    while body:
        if graph.blocks[ItemId(body)].kind in ("for", "if"):
            return False
        body = graph.parents[ItemId(body)]
    return True
