"""What a backward from given roots can reach: autograd nodes, whose they are, and which of their edges are wires."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from torch import Tensor
from torch.autograd.graph import Node, get_gradient_edge

from gradstudio.engine.backward.saved_tensors import SavedReader
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.tensor_watch import Key, Value
from gradstudio.engine.gradient.wire_edges import MARK, Alias, Call, Marks, Sending, Turns, WireEdge, deal, marks_of
from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.view_state import grad_fn_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import EdgeValue, SavedTensor
from gradstudio.protocol.messages.records import Summary

Edge = tuple[int, int]
Grads = tuple[Tensor | None, ...]
NOBODY = ItemId("")
NOWHERE = (-1, 0)


class GraphNode(Struct, eq=False):
    """One autograd node of the graph behind the roots.

    Attributes:
        id: its number.
        next: where each outgoing gradient goes: (number of the node, its input).
        leaf: of an AccumulateGrad: its tensor; `values` the canvas values made here, or that are the leaf.
        users: how many edges lead here.
        drops: outgoing gradients that are let go at once, because a leaf takes them over.
        giver: of such a leaf: from whom, and which.
        sends: outgoing gradients that leave along a wire.
        place: of its row, once it ran; then also what came in and went out, as tensors until they are summarised
            (`incoming`, `outgoing`), then as summaries (`came`, `went`); `after`: of a leaf, its `.grad` behind it.
    """

    node: Node
    id: int
    owner: ItemId = NOBODY
    order: int = 1
    turns: Turns = ()
    call: Call | None = None
    marks: Marks | None = None
    leaf: Tensor | None = None
    next: tuple[Edge, ...] = ()
    users: int = 0
    place: int = -1
    drops: tuple[int, ...] = ()
    giver: "tuple[GraphNode, int] | None" = None
    sends: "Sequence[tuple[int, Sending]]" = ()
    values: tuple[EdgeValue, ...] = ()
    saved: tuple[SavedTensor, ...] = ()
    held: Sequence[Value] = ()
    incoming: Grads = ()
    outgoing: Grads = ()
    seconds: float = 0.0
    came: tuple[Summary | None, ...] = ()
    went: tuple[Summary | None, ...] = ()
    after: Summary | None = None


class Reach:
    """The graph behind the roots.

    Attributes:
        seen: its nodes by number.
        sendings: the wires whose target has a node among them.
        leaves: the nodes that accumulate into leaves; `to_leaves` who sends to them: (node, outgoing gradient, to).
    """

    def __init__(self, gradients: Gradients, roots: Iterable[Tensor]) -> None:
        """Walk it; nothing in it is changed."""
        self.seen: list[GraphNode] = []
        self.sendings: list[Sending] = []
        self.leaves: list[GraphNode] = []
        self.to_leaves: list[tuple[GraphNode, int, GraphNode]] = []
        self._aliased: list[GraphNode] = []
        self._by_node: dict[Node, GraphNode] = {}
        self._leaves: dict[int, list[Value]] = {}
        self._gradients = gradients
        for value in gradients.edgeless():
            if value.was_leaf and value.requires_grad:
                self._leaves.setdefault(identity(value.tensor), []).append(value)
        self._walk(roots)
        if gradients.has_overwritten:
            self._follow_writes([value for value in gradients.values.values() if value.written is not None])
        self._plan_wires()

    def of(self, node: Node) -> GraphNode | None:
        """What is known of an autograd node; None when it does not belong to the graph."""
        return self._by_node.get(node)

    def aliases(self) -> list[tuple[Edge, Alias]]:
        """Wires that pass a gradient on as it is, the last one made first."""
        found: list[tuple[Edge, Alias]] = []
        for seen in self._aliased:
            if seen.marks is not None:
                found += [((seen.id, alias.number), alias) for alias in seen.marks.aliases]
        for seen in self.leaves:
            leaf = self._gradients.leaves.get(identity(seen.leaf)) if seen.marks is None else None
            found += [((seen.id, 0), alias) for alias in (leaf.aliases.values() if leaf is not None else ())]
        return sorted(found, key=lambda pair: -pair[1].serial)

    def edge_of(self, root: Tensor) -> Edge:
        """Where the gradient of a root goes in; `NOWHERE` when it does not belong to the graph."""
        node = _node_of(root)
        seen = self._by_node.get(node) if node is not None else None
        if seen is None:
            return NOWHERE
        return seen.id, 0 if seen.leaf is not None else root.output_nr

    def turns_of(self, edge: Edge, source: ItemId, target: ItemId, reader: Turns) -> Turns:
        """In which turns the value that a wire brought was made: the latest not behind its reader."""
        values = self.seen[edge[0]].values if edge[0] >= 0 else ()
        if len(values) <= 1:
            return values[0].turns if values and values[0].node == source else reader
        made = [value.turns for value in values if value.node == source]
        itself = target == source  # what it reads it cannot have made in the same turn
        earlier = [turns for turns in made if turns < reader or (turns == reader and not itself)]
        return max(earlier, default=made[-1] if made else reader)

    # -------------------------------------------------------------- walking

    def _walk(self, roots: Iterable[Tensor]) -> None:
        saved_of, by_node, seens = SavedReader(self._gradients).of, self._by_node, self.seen
        begins = [node for root in roots if (node := _node_of(root)) is not None]
        todo: list[tuple[Node, GraphNode | None]] = [(node, None) for node in begins]
        edges: list[tuple[tuple[Node | None, int], ...]] = []
        while todo:
            node, user = todo.pop()
            if node in by_node:
                continue
            seen = by_node[node] = GraphNode(node, len(seens))
            seens.append(seen)
            marks: Marks | None = node.metadata.get(MARK)  # type: ignore[attr-defined]  # a dict, typed as a method
            if marks is not None:
                self._identify(seen, marks, user)
            elif (leaf := getattr(node, "variable", None)) is not None:
                self._identify_leaf(seen, leaf)
            elif user is not None:
                self._inherit(seen, user)
            if seen.leaf is None:
                seen.saved = saved_of(node)
            following = node.next_functions
            edges.append(following)
            for to, _ in following:
                if to is not None:
                    todo.append((to, seen))
        self._join(begins, edges)

    def _join(self, begins: list[Node], edges: list[tuple[tuple[Node | None, int], ...]]) -> None:
        """Say of each node where its gradients go, and how many come to it."""
        by_node, to_leaves = self._by_node, self.to_leaves
        for node in begins:
            by_node[node].users += 1
        for seen, leaving in zip(self.seen, edges, strict=True):
            following: list[Edge] = []
            for to, index in leaving:
                if to is None:
                    following.append(NOWHERE)
                    continue
                target = by_node[to]
                target.users += 1
                if target.leaf is not None:
                    to_leaves.append((seen, len(following), target))
                following.append((target.id, index))
            seen.next = tuple(following)

    def _identify(self, seen: GraphNode, marks: Marks, user: GraphNode | None) -> None:
        """The canvas node: of the gradient or value made at this edge, else of the operator it is a part of."""
        seen.marks, seen.order = marks, marks.order
        call = seen.call = marks.call
        values = marks.values
        if len(values) == 1:
            seen.values = self._gradients.constants.edge_of(values[0])
        elif values:
            seen.values = tuple([_value(key, index, turns) for key, _, index, turns in values])
        if marks.aliases:
            self._aliased.append(seen)
        if marks.owner is not None:
            seen.owner, seen.turns = marks.owner
        elif call is not None:
            seen.owner, seen.turns = call.node, call.turns
        elif values:
            (seen.owner, *_), _, _, seen.turns = values[0]
        elif user is not None:
            self._inherit(seen, user)

    def _identify_leaf(self, seen: GraphNode, leaf: Tensor) -> None:
        seen.leaf = leaf
        self.leaves.append(seen)
        held = seen.held = self._leaves.get(identity(leaf), ())
        if held:
            seen.owner = held[0].key[0]
            seen.values = tuple([_value(value.key, 0, value.turns) for value in held])

    def _inherit(self, seen: GraphNode, user: GraphNode) -> None:
        call = user.call
        if call is not None:
            for edge in call.edges:
                if edge.node is seen.node:
                    seen.owner = edge.source[0]
                    return
        seen.owner, seen.turns, seen.order, seen.call = user.owner, user.turns, user.order, call

    def _follow_writes(self, written: list[Value]) -> None:
        """Values that others wrote into since: where only their rebuilt edges are in the graph, those are theirs."""
        known = {mark[:2] for seen in self.seen if seen.marks is not None for mark in seen.marks.values}
        for value in written:
            tensor = value.tensor
            node = None if tensor is None else grad_fn_of(tensor)
            seen = None if node is None else self._by_node.get(node)
            if tensor is None or node is None or seen is None:
                continue
            marks = marks_of(node)
            if (value.key, value.serial) not in known and not self._is_another_value(marks, tensor):
                marks.values.append((value.key, value.serial, tensor.output_nr, value.turns))
                seen.marks, value.after_write, value.told = marks, True, None
                known.add((value.key, value.serial))
            if value.after_write and value.written is not None:
                made = _value(value.key, tensor.output_nr, value.turns, value.written.last[1])
                seen.values = (*(each for each in seen.values if not _is_of(each, value)), made)

    def _is_another_value(self, marks: Marks, tensor: Tensor) -> bool:
        """Whether the canvas has a later value that is this tensor, made at the edge: the result of the write."""
        found = (self._gradients.find(key, serial) for key, serial, _, _ in marks.values)
        return any(value is not None and value.tensor is tensor for value in found)

    # -------------------------------------------------------------- wires

    def _plan_wires(self) -> None:
        """Say of each outgoing gradient along which wire it leaves."""
        groups: dict[Call, list[GraphNode]] = {}
        for seen in self.seen:
            call = seen.call
            while call is not None:
                if call in groups:
                    groups[call].append(seen)
                else:
                    groups[call] = [seen]
                call = call.outer
        leaves = {identity(seen.leaf): seen.id for seen in self.leaves}
        for call, members in groups.items():
            if len(members) == 1 and len(call.edges) == 1:
                self._plan_single(call, members[0], leaves)
            else:
                self._plan_call(call, members, leaves)
        passed_on = {edge for edge, _ in self.aliases()}
        for sending in self.sendings if passed_on else ():
            if sending.edge in passed_on:
                sending.holds = True

    def _plan_single(self, call: Call, member: GraphNode, leaves: dict[int, int]) -> None:
        """One wire into an operator that is one autograd node."""
        (brought,) = call.edges
        edge = self._edge_behind(brought, leaves)
        sending = Sending(brought.port, brought.source, call.node, call.turns, edge)
        self.sendings.append(sending)
        if member.next == (edge,) and edge is not NOWHERE:
            member.sends = (*member.sends, (0, sending))
            return
        places = [(index, sending) for index, to in enumerate(member.next) if to == edge] if edge is not NOWHERE else []
        if places:
            member.sends = (*member.sends, *places)
            sending.holds = len(places) > 1

    def _edge_behind(self, brought: WireEdge, leaves: dict[int, int]) -> Edge:
        node, number = brought.node, brought.number
        if number < 0:
            return (leaves[identity(node)], 0) if identity(node) in leaves else NOWHERE
        seen = self._by_node.get(node)
        return NOWHERE if seen is None else (seen.id, number)

    def _plan_call(self, call: Call, members: list[GraphNode], leaves: dict[int, int]) -> None:
        ports: dict[Edge, list[Sending]] = {}
        target, turns = call.node, call.turns
        for brought in call.edges:
            edge = self._edge_behind(brought, leaves)
            sending = Sending(brought.port, brought.source, target, turns, edge)
            self.sendings.append(sending)
            if edge in ports:
                ports[edge].append(sending)
            else:
                ports[edge] = [sending]
        if len(members) > 1:
            members.sort(key=_made_at)
        slots: dict[Edge, list[tuple[GraphNode, int]]] = {}
        for member in members:
            for index, edge in enumerate(member.next):
                if edge in ports and edge is not NOWHERE:
                    slots.setdefault(edge, []).append((member, index))
        for edge, places in slots.items():
            sendings = ports[edge]
            if len(places) == 1:
                member, index = places[0]
                member.sends = (*member.sends, (index, sendings[0]))
                continue
            for (member, index), port_number in zip(places, deal(len(places), len(sendings)), strict=True):
                member.sends = (*member.sends, (index, sendings[port_number]))
            if len(places) > len(sendings):
                sendings[-1].holds = True


def _node_of(root: Tensor) -> Node | None:
    """None where torch has none: it will say so itself when the backward runs."""
    try:
        return get_gradient_edge(root).node if root.requires_grad else None
    except (RuntimeError, AssertionError):
        return None


def _value(key: Key, index: int, turns: Turns, after: str = "") -> EdgeValue:
    return EdgeValue(node=key[0], index=index, output=key[1], path=key[2], turns=turns, after=after)


def _is_of(edge: EdgeValue, value: Value) -> bool:
    return (edge.node, edge.output, edge.path) == value.key and edge.turns == value.turns


def _made_at(seen: GraphNode) -> int:
    return seen.node._sequence_nr()
