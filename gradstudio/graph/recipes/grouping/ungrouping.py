"""Recipe for ungrouping: the statements of a definition in place of its call (semantics §15)."""

from collections.abc import Iterator

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.card_grouping import CALL, CALLED, calls_of
from gradstudio.graph.edits import AddBlock, AddNode, AddWire, Edits, RemoveNode, SetDefinition, SetPlaces, SetTail
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import all_ids, callers, definition_graph, group_of, setup_of, top_of
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
    Wire,
)
from gradstudio.graph.operator_rows import GROUP, row_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.renaming import loop_aliases, new_names, renamed_block, renamed_node, renamed_port
from gradstudio.graph.text import name_bindings
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.record_checks import attribute_of
from gradstudio.operators.calls.call_signature import INPUTS
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face

ATTRIBUTE, LITERAL, ALIAS = "python.attribute", "python.literal", "python.alias"
_WIRED_ONLY = frozenset({Face.AUGMENTED, Face.SET_ITEM, Face.SET_ATTRIBUTE, Face.ATTRIBUTE, Face.METHOD, Face.CALL})
"""Where what stands in front cannot be written out."""
Value = tuple[ItemId, int]
Given = Value | str
"""What an input is: a result, or the text of a literal; "" when it is empty."""


def ungroup(graph: Graph, call: ItemId) -> Edits:
    """Put what a group holds in place of its call; of a module, in place of its constructor and all its calls.

    A definition that nothing calls any more goes with it.

    Raises:
        Refused: it calls no group, or the module is used by more than calls and reads of its layers.
    """
    maker = _maker(graph, call)
    node = graph.nodes[maker]
    name = node.operator.removeprefix(GROUP)
    if name not in graph.definitions:
        raise Refused(f"There is no group '{name[:60]}' any more.")
    draft = Draft(graph)
    work = _Inlining(draft, graph.definitions[name])
    if graph.definitions[name].is_module:
        work.module(node)
    else:
        work.function(node)
    if not list(callers(draft.graph, name)):
        draft.do(SetDefinition(name, None))
    return draft.finish()


def _maker(graph: Graph, item: ItemId) -> ItemId:
    if not group_of(graph, item):
        raise Refused("This calls no group. Select the card of a group to ungroup it.")
    wire = graph.wire_into(item, CALLED) if graph.nodes[item].operator == CALL else None
    return wire.source if wire is not None else item


class _Inlining:
    """One definition whose statements go back into the program."""

    def __init__(self, draft: Draft, definition: Definition) -> None:
        self.draft, self.definition = draft, definition
        self.inner = definition_graph(draft.graph, definition.name)
        self.setup = set(setup_of(definition))
        self.known = all_ids(draft.graph)
        self.made: dict[ItemId, ItemId] = {}
        self.settings: dict[str, Given] = {}

    def function(self, node: Node) -> None:
        """In place of one call."""
        given = {name: self._given(node, name, name) for name in self.definition.inputs}
        self._replace(node, given, self.inner.bodies[ROOT])

    def module(self, node: Node) -> None:
        """In place of the constructor and all its calls."""
        graph, draft = self.draft.graph, self.draft
        calls = calls_of(graph, node.id)
        for wire in graph.wires_from(node.id):
            user = graph.nodes.get(wire.target)
            if wire.target in calls or (user is not None and user.operator == ATTRIBUTE and self._read(user)):
                continue
            raise Refused(
                f"{title(graph, wire.target)} takes the whole of {title(graph, node.id)}, and there is none without "
                "the group. Wire it to the layers themselves first."
            )
        self.settings = {name: self._given(node, name, name) for name in self.definition.settings}
        attributes = [wire.target for wire in graph.wires_from(node.id) if wire.target not in calls]
        tops = tuple(item for item in self.inner.bodies[ROOT] if item in self.setup)
        self._put(tops, node, self.settings, {})
        for one in calls:
            call = draft.graph.nodes[one]
            taken = self.definition.taken
            given = {name: self._given(call, f"{INPUTS}.{k}", name) for k, name in enumerate(taken)}
            body = tuple(item for item in self.inner.bodies[ROOT] if item not in self.setup)
            draft.cut(tuple(wire for wire in draft.graph.wires_to(one) if wire.port == CALLED))
            self._replace(call, {**self.settings, **given}, body)
        for item in attributes:
            self._unread(item)
        self._drop(node.id)

    def _read(self, user: Node) -> Value | None:
        """The statement of `__init__` whose result is read as an attribute."""
        name = attribute_of(user)
        for item in self.inner.order():
            node = self.inner.nodes.get(item)
            if node is not None and name in node.names and top_of(self.inner, item) in self.setup:
                return item, node.names.index(name)
        return None

    def _unread(self, item: ItemId) -> None:
        draft = self.draft
        found = self._read(draft.graph.nodes[item])
        assert found is not None
        for wire in draft.graph.wires_from(item):
            draft.cut((wire,))
            draft.do(AddWire(Wire(self.made[found[0]], found[1], wire.target, wire.port)))
        self._drop(item)

    def _given(self, node: Node, port: str, name: str) -> Given:
        graph = self.draft.graph
        wire = graph.wire_into(node.id, port) or graph.wire_into(node.id, name)
        if wire is not None:
            return wire.source, wire.output
        return node.literals.get(port) or node.literals.get(name) or self.definition.defaults.get(name, "")

    def _replace(self, call: Node, given: dict[str, Given], tops: tuple[ItemId, ...]) -> None:
        """Put statements where a call stands, and give its results to who uses them."""
        draft = self.draft
        results = [self.inner.wire_into(DEFINITION_OUTPUTS, str(k)) for k in range(len(self.definition.outputs))]
        outer: dict[Value, str] = {}
        for k, wire in enumerate(results):
            if wire is not None and k < len(call.names) == len(results) and wire.source not in self.setup:
                meant = name_bindings.binding_of(self.inner, wire.source, wire.output)
                outer.setdefault(meant, call.names[k])
        made = self._put(tops, call, given, outer)
        for wire in draft.graph.wires_from(call.id):
            result = results[wire.output] if wire.output < len(results) else None
            draft.cut((wire,))
            if result is not None and len(call.names) in (0, len(results)):
                value = self._value(result, given, made)
                self._feed(value, wire.target, wire.port, result, call)
        if len(results) == 1 and results[0] is not None and len(call.names) == 1 and results[0].source in made:
            self._name(made[results[0].source], call.names[0])
        self._drop(call.id)

    def _name(self, item: ItemId, name: str) -> None:
        """A part that a call gave a name has that name."""
        node = self.draft.graph.nodes.get(item)
        row = row_of(self.draft.graph, node) if node is not None else None
        if node is not None and row is not None and not node.names and row.results and not row.writes:
            self.draft.put(msgspec.structs.replace(node, names=(name,), nested=False))

    def _value(self, wire: Wire, given: dict[str, Given], made: dict[ItemId, ItemId]) -> Given:
        if wire.source == DEFINITION_INPUTS:
            return given.get(self.definition.inputs[wire.output], "")
        return {**self.made, **made}[wire.source], wire.output

    def _put(
        self, tops: tuple[ItemId, ...], where: Node, given: dict[str, Given], outer: dict[Value, str]
    ) -> dict[ItemId, ItemId]:
        """Put statements before a node; their new ids."""
        draft = self.draft
        members = [one for top in tops for one in (top, *self._within(top))]
        ids = {item: self._new_id("b" if item in self.inner.blocks else "n") for item in members}
        names = self._names(members, where, outer, given)
        body = draft.graph.parents[where.id]
        for item in members:
            parent = self.inner.parents[item]
            into = body if parent == ROOT else BodyId(ids[ItemId(parent)])
            index = draft.graph.bodies[body].index(where.id) if parent == ROOT else draft.end_of(into)
            if (node := self.inner.nodes.get(item)) is not None:
                draft.do(AddNode(renamed_node(node, ids[item], names), into, index))
            else:
                self._put_block(self.inner.blocks[item], ids, names, into, index)
        for item in members:
            for wire in self.inner.wires_to(item):
                value = self._value(wire, given, ids)
                if wire.port.startswith("first.") and wire.source == DEFINITION_INPUTS:
                    value = self._before_loop(value, renamed_port(self.inner, wire, names)[6:], where)
                self._feed(value, ids[item], renamed_port(self.inner, wire, names), wire, where)
        self.made.update(ids)
        self._set_places(ids, where)
        return ids

    def _put_block(
        self, block: Block, ids: dict[ItemId, ItemId], names: dict[Value, str], into: BodyId, index: int
    ) -> None:
        self.draft.do(AddBlock(renamed_block(block, ids[block.id], names), into, index))
        if tail := self.inner.tails.get(BodyId(block.id)):
            self.draft.do(SetTail(BodyId(ids[block.id]), tail))

    def _within(self, item: ItemId) -> tuple[ItemId, ...]:
        return tuple(self.inner.order(BodyId(item))) if item in self.inner.blocks else ()

    def _carried(self, part: Graph, members: list[ItemId], given: dict[str, Given]) -> Iterator[tuple[Value, str]]:
        """What loops carry that comes from outside: it has the name that it has there."""
        for item in members:
            block = part.blocks.get(item)
            for k, name in enumerate(block.carried if block is not None else (), 1):
                wire = part.wires.get((item, f"first.{name}"))
                if wire is None or wire.source != DEFINITION_INPUTS:
                    continue
                value = given.get(self.definition.inputs[wire.output], "")
                if not isinstance(value, tuple):
                    continue
                word = name_bindings.name_of(self.draft.graph, name_bindings.binding_of(self.draft.graph, *value))
                if word not in ("", "_"):
                    yield (item, k), word

    def _names(
        self, members: list[ItemId], where: Node, outer: dict[Value, str], given: dict[str, Given]
    ) -> dict[Value, str]:
        """What the results are called: those that the call names, as it names them; the others, what is free."""
        graph = self.draft.graph
        own = set(where.names)
        taken = {name for name in self.draft.taken_names() if name not in own} | set(outer.values())
        of_nodes = {name for node in graph.nodes.values() if node.id != where.id for name in node.names}
        part = self.inner.copy()
        for item in [one for one in part.nodes if one not in set(members)]:
            part.nodes[item] = msgspec.structs.replace(part.nodes[item], names=())
        part.edges = None
        same = loop_aliases(part)
        alike = {same.get(value, value): name for value, name in outer.items()}
        alike |= {same.get(value, value): name for value, name in self._carried(part, members, given)}
        outer = outer | {value: alike[chief] for value, chief in same.items() if chief in alike} | alike
        for (item, output), name in outer.items():
            if item in part.nodes and name != "_":
                node = part.nodes[item]
                kept = tuple("_" if k == output else one for k, one in enumerate(node.names))
                part.nodes[item] = msgspec.structs.replace(node, names=kept)
        found = new_names(part, taken - {"_"}, of_nodes)
        return {**found, **{value: name for value, name in outer.items() if name != "_"}}

    def _before_loop(self, value: Given, name: str, where: Node) -> Given:
        """What is carried into a loop, under the name that it has there."""
        draft = self.draft
        if not value or (isinstance(value, tuple) and self._is_called(value, name)):
            return value
        literals = {"value": value} if isinstance(value, str) else {}
        key = LITERAL if isinstance(value, str) else ALIAS
        node = Node(id=self._new_id("n"), operator=key, names=(name,), literals=literals)
        body = draft.graph.parents[where.id]
        draft.do(AddNode(node, body, draft.graph.bodies[body].index(where.id)))
        draft.do(SetPlaces({node.id: draft.graph.places.get(where.id, Place(0.0, 0.0))}))
        if isinstance(value, tuple):
            draft.do(AddWire(Wire(value[0], value[1], node.id, "value")))
        return node.id, 0

    def _is_called(self, value: Value, name: str) -> bool:
        graph = self.draft.graph
        return name_bindings.name_of(graph, name_bindings.binding_of(graph, *value)) == name

    def _feed(self, value: Given, target: ItemId, port: str, wire: Wire, where: Node) -> None:
        """Give a port what it is to have."""
        draft = self.draft
        if isinstance(value, tuple):
            draft.do(AddWire(Wire(value[0], value[1], target, port)))
        elif value and self._takes_text(target, port):
            owner = draft.owner(target)
            draft.put(msgspec.structs.replace(owner, literals={**owner.literals, port: value}))
        elif value:
            name = self.definition.inputs[wire.output]
            node = Node(
                id=self._new_id("n"),
                operator=LITERAL,
                names=(naming.fresh_name(draft.taken_names(), name),),
                literals={"value": value},
            )
            body = draft.graph.parents[where.id]
            draft.do(AddNode(node, body, draft.graph.bodies[body].index(where.id)))
            draft.do(SetPlaces({node.id: draft.graph.places.get(where.id, Place(0.0, 0.0))}))
            draft.do(AddWire(Wire(node.id, 0, target, port)))

    def _takes_text(self, target: ItemId, port: str) -> bool:
        node = self.draft.graph.nodes.get(target)
        row = load().get(node.operator) if node is not None else None
        if row is None:
            return node is not None and not port.startswith(CALLED)
        first = row.parameters[0].name if row.parameters else ""
        return not (row.face in _WIRED_ONLY and port == first)

    def _new_id(self, prefix: str) -> ItemId:
        item = self.draft.new_id(prefix)
        while item in self.known:
            item = self.draft.new_id(prefix)
        return item

    def _drop(self, item: ItemId) -> None:
        draft = self.draft
        draft.cut((*draft.graph.wires_to(item), *draft.graph.wires_from(item)))
        keys = [key for key in (item, f"note:{item}") if key in draft.graph.places]
        draft.do(RemoveNode(item), SetPlaces(dict.fromkeys(keys)))

    def _set_places(self, ids: dict[ItemId, ItemId], where: Node) -> None:
        """The statements stand around the card that they came from, as they stand inside."""
        places = {item: self.inner.places[item] for item in ids if item in self.inner.places}
        if not places:
            return
        around = self.draft.graph.places.get(where.id, Place(0.0, 0.0))
        dx = around.x - (min(p.x for p in places.values()) + max(p.x for p in places.values())) / 2
        dy = around.y - (min(p.y for p in places.values()) + max(p.y for p in places.values())) / 2
        moved: dict[str, Place | None] = {
            ids[item]: msgspec.structs.replace(p, x=p.x + dx, y=p.y + dy) for item, p in places.items()
        }
        self.draft.do(SetPlaces(moved))
