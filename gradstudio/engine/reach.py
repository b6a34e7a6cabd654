"""What a backward from given roots can reach: autograd nodes, whose they are, and which of their edges are wires."""

from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor
from torch.autograd.graph import Node, get_gradient_edge

from gradstudio.engine.gradients import Gradients
from gradstudio.engine.saved import SavedReader
from gradstudio.engine.watched import Key, Value
from gradstudio.engine.wires import MARK, Alias, Call, Marks, Sending, Turns, deal
from gradstudio.graph.model import ItemId
from gradstudio.protocol.autograd import EdgeValue, SavedTensor

Edge = tuple[int, int]
NOBODY = ItemId("")
NOWHERE = (-1, 0)


class Seen:
    """One autograd node of the graph behind the roots.

    Attributes:
        next: where each outgoing gradient goes: (number of the node, its input).
        leaf: of an AccumulateGrad: its tensor; `values` the canvas values made here, or that are the leaf.
        users: how many edges lead here.
        drops: outgoing gradients that are let go at once, because a leaf takes them over.
        giver: of such a leaf: from whom, and which.
        sends: outgoing gradients that leave along a wire.
        place: of its row, once it ran.
    """

    __slots__ = (
        "call", "drops", "giver", "held", "id", "leaf", "marks", "next", "node", "order", "owner", "place", "saved", "sends", "turns", "users",  # noqa: E501
        "values",
    )  # fmt: skip

    def __init__(self, node: Node, number: int) -> None:
        """Nothing is known of it."""
        self.node, self.id = node, number
        self.owner, self.turns, self.order = NOBODY, (), 1
        self.call: Call | None = None
        self.marks: Marks | None = None
        self.leaf: Tensor | None = None
        self.next: tuple[Edge, ...] = ()
        self.users, self.place = 0, -1
        self.drops: tuple[int, ...] = ()
        self.giver: tuple[Seen, int] | None = None
        self.sends: list[tuple[int, Sending]] = []
        self.values: tuple[EdgeValue, ...] = ()
        self.saved: tuple[SavedTensor, ...] = ()
        self.held: Sequence[Value] = ()

    turns: Turns


class Reach:
    """The graph behind the roots.

    Attributes:
        seen: its nodes by number.
        sendings: the wires whose target has a node among them.
    """

    def __init__(self, gradients: Gradients, roots: Iterable[Tensor]) -> None:
        """Walk it; nothing in it is changed."""
        self.seen: list[Seen] = []
        self.sendings: list[Sending] = []
        self._by_node: dict[Node, Seen] = {}
        self._leaves: dict[int, list[Value]] = {}
        self._gradients = gradients
        for value in gradients.values.values():
            if value.was_leaf and value.requires_grad:
                self._leaves.setdefault(id(value.tensor), []).append(value)
        self._walk(roots)
        self._plan_wires()

    def of(self, node: Node) -> Seen | None:
        """What is known of an autograd node; None when it does not belong to the graph."""
        return self._by_node.get(node)

    def aliases(self) -> list[tuple[Edge, Alias]]:
        """Wires that pass a gradient on as it is, the last one made first."""
        found = [((seen.id, alias.number), alias) for seen in self.seen if seen.marks for alias in seen.marks.aliases]
        for seen in self.seen:
            leaf = self._gradients.leaves.get(id(seen.leaf)) if seen.leaf is not None else None
            found += [((seen.id, 0), alias) for alias in (leaf.aliases.values() if leaf is not None else ())]
        return sorted(found, key=lambda pair: -pair[1].serial)

    def edge_of(self, root: Tensor) -> Edge:
        """Where the gradient of a root goes in; `NOWHERE` when it does not belong to the graph."""
        seen = self._by_node.get(node) if (node := _node_of(root)) is not None else None
        return NOWHERE if seen is None else (seen.id, 0 if seen.leaf is not None else root.output_nr)

    def turns_of(self, edge: Edge, source: ItemId, target: ItemId, reader: Turns) -> Turns:
        """In which turns the value that a wire brought was made: the latest not behind its reader."""
        made = [value.turns for value in self.seen[edge[0]].values if value.node == source] if edge[0] >= 0 else []
        itself = target == source  # what it reads it cannot have made in the same turn
        earlier = [turns for turns in made if turns < reader or (turns == reader and not itself)]
        return max(earlier, default=made[-1] if made else reader)

    # -------------------------------------------------------------- walking

    def _walk(self, roots: Iterable[Tensor]) -> None:
        saved = SavedReader(self._gradients)
        todo: list[tuple[Node, Seen | None]] = []
        users: dict[Node, int] = {}
        for root in roots:
            node = _node_of(root)
            if node is not None:
                users[node] = users.get(node, 0) + 1
                todo.append((node, None))
        edges: list[tuple[tuple[Node | None, int], ...]] = []
        while todo:
            node, user = todo.pop()
            if node in self._by_node:
                continue
            seen = self._by_node[node] = Seen(node, len(self.seen))
            self.seen.append(seen)
            self._identify(seen, user)
            if seen.leaf is None:
                seen.saved = saved.of(node)
            edges.append(node.next_functions)
            for following, _ in edges[-1]:
                if following is not None:
                    users[following] = users.get(following, 0) + 1
                    todo.append((following, seen))
        by_node = self._by_node
        for seen, leaving in zip(self.seen, edges, strict=True):
            seen.users = users[seen.node]
            seen.next = tuple([NOWHERE if node is None else (by_node[node].id, index) for node, index in leaving])

    def _identify(self, seen: Seen, user: Seen | None) -> None:
        """The canvas node: of the gradient or value made at this edge, else of the operator it is a part of."""
        leaf = getattr(seen.node, "variable", None)
        if leaf is not None:
            self._identify_leaf(seen, leaf)
            return
        marks: Marks | None = seen.node.metadata.get(MARK)  # type: ignore[attr-defined]  # a dict, typed as a method
        seen.marks = marks
        if marks is not None:
            seen.order, seen.call = marks.order, marks.call
            if marks.values:
                seen.values = tuple(
                    [EdgeValue(node=k[0], index=o, output=k[1], path=k[2], turns=t) for k, _, o, t in marks.values]
                )
            if marks.owner is not None:
                seen.owner, seen.turns = marks.owner
                return
            if marks.call is not None:
                seen.owner, seen.turns = marks.call.node, marks.call.turns
                return
            if marks.values:
                (seen.owner, *_), _, _, seen.turns = marks.values[0]
                return
        if user is not None:
            self._inherit(seen, user)

    def _identify_leaf(self, seen: Seen, leaf: Tensor) -> None:
        seen.leaf = leaf
        held = seen.held = self._leaves.get(id(leaf), ())
        if held:
            seen.owner = held[0].key[0]
            seen.values = tuple([_value(value.key, 0, value.turns) for value in held])

    def _inherit(self, seen: Seen, user: Seen) -> None:
        call = user.call
        if call is not None:
            for edge in call.edges:
                if edge.node is seen.node:
                    seen.owner = edge.source[0]
                    return
        seen.owner, seen.turns, seen.order, seen.call = user.owner, user.turns, user.order, call

    # -------------------------------------------------------------- wires

    def _plan_wires(self) -> None:
        """Say of each outgoing gradient along which wire it leaves."""
        groups: dict[Call, list[Seen]] = {}
        for seen in self.seen:
            if seen.call is not None:
                groups.setdefault(seen.call, []).append(seen)
        leaves = {id(seen.leaf): seen.id for seen in self.seen if seen.leaf is not None}
        for call, members in groups.items():
            self._plan_call(call, members, leaves)
        passed_on = {edge for edge, _ in self.aliases()}
        for sending in self.sendings:
            if sending.edge in passed_on:
                sending.holds = True

    def _plan_call(self, call: Call, members: list[Seen], leaves: dict[int, int]) -> None:
        ports: dict[Edge, list[Sending]] = {}
        for wire in call.edges:
            edge = self._edge(wire.node, wire.number, leaves)
            sending = Sending(wire.port, wire.source, call.node, call.turns, edge)
            ports.setdefault(edge, []).append(sending)
            self.sendings.append(sending)
        if len(members) > 1:
            members.sort(key=_made_at)
        slots: dict[Edge, list[tuple[Seen, int]]] = {}
        for member in members:
            for index, edge in enumerate(member.next):
                if edge in ports and edge is not NOWHERE:
                    slots.setdefault(edge, []).append((member, index))
        for edge, places in slots.items():
            sendings = ports[edge]
            for (member, index), port in zip(places, deal(len(places), len(sendings)), strict=True):
                member.sends.append((index, sendings[port]))
            if len(places) > len(sendings):
                sendings[-1].holds = True

    def _edge(self, node: Any, index: int, leaves: dict[int, int]) -> Edge:
        if index < 0:
            return (leaves[id(node)], 0) if id(node) in leaves else (-1, 0)
        seen = self._by_node.get(node)
        return (seen.id, index) if seen is not None else NOWHERE


def _node_of(root: Tensor) -> Node | None:
    """None where torch has none: it will say so itself when the backward runs."""
    try:
        return get_gradient_edge(root).node if root.requires_grad else None
    except (RuntimeError, AssertionError):
        return None


def _value(key: Key, index: int, turns: Turns) -> EdgeValue:
    return EdgeValue(node=key[0], index=index, output=key[1], path=key[2], turns=turns)


def _made_at(seen: Seen) -> int:
    return seen.node._sequence_nr()
