"""Recipes for groups that are reused: making one of a selection (semantics §15). Ungrouping is in `ungrouping`."""

from collections.abc import Iterable

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.card_grouping import CALL, CALLED, card_groups
from gradstudio.graph.edits import (
    AddNode,
    AddWire,
    Edits,
    RemoveBlock,
    RemoveNode,
    SetDefinition,
    SetPlaces,
    SetTail,
    apply,
    apply_all,
)
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import bare_definition, result_word, setup_first, setup_statements, top_of
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    BodyId,
    Definition,
    Edges,
    Graph,
    ItemId,
    Node,
    Place,
    Wire,
)
from gradstudio.graph.operator_rows import GROUP, class_name, instance_name, row_of
from gradstudio.graph.order import order_edits
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.grouping.block_wrapping import top_items, wrap
from gradstudio.graph.recipes.nodes import fresh_node
from gradstudio.graph.text import name_bindings
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.calls.call_signature import INPUTS
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import default_names

ATTRIBUTE = "python.attribute"
Value = tuple[ItemId, int]


def make_group(graph: Graph, items: Iterable[ItemId], name: str) -> Edits:
    """Make a definition of a selection; a call of it takes the selection's place in the order.

    What flows in is an input each, named after the value; what is used outside is an output, or else the results
    that nobody uses. A selection that makes layers or leaves becomes a module: a node constructs it and another
    calls it; whoever used one of its layers outside reads it from the module.

    Raises:
        Refused: nothing is selected, a block is cut in two, something else would have to run in its middle, or
            the name is none.
    """
    chosen = _with_parts(graph, card_groups(graph).whole(item for item in items if item in graph and item not in CARDS))
    whole = top_items(graph, chosen)
    if not whole:
        raise Refused("Select the statements that shall be a group first.")
    if cut := next((item for item in whole if item not in chosen), None):
        raise Refused(
            f"The selection cuts '{title(graph, cut)}' in two. Select the whole block, or only what stands in it."
        )
    checked = naming.check(name)
    draft = Draft(graph)
    block = _gathered(draft, whole)
    return _Making(draft, block, checked).make()


def _with_parts(graph: Graph, chosen: frozenset[ItemId]) -> frozenset[ItemId]:
    """The selection with those parts, written inside its statements, that take something from it."""
    found = set(chosen)
    for item in graph.order():
        node = graph.nodes.get(item)
        if node is None or not node.nested or node.names or item in found:
            continue
        users = {wire.target for wire in graph.wires_from(item)}
        if any(wire.source in found for wire in graph.wires_to(item)) and _only_for(graph, users, found):
            found.add(item)
    return frozenset(found)


def _only_for(graph: Graph, users: set[ItemId], chosen: set[ItemId]) -> bool:
    """Whether parts are used by the selection alone, by way of other parts too."""
    for user in users - chosen:
        node = graph.nodes.get(user)
        further = {wire.target for wire in graph.wires_from(user)}
        if node is None or not node.nested or node.names or not further or not _only_for(graph, further, chosen):
            return False
    return bool(users)


def _gathered(draft: Draft, whole: list[ItemId]) -> ItemId:
    """Move the selection together, into a block for now; the block."""
    known = set(draft.graph.blocks)
    try:
        draft.do(*wrap(draft.graph, whole, "group"))
    except Refused as error:
        raise Refused(str(error).replace("into the block", "into the group")) from None
    return next(block for block in draft.graph.blocks if block not in known)


class _Making:
    """One selection, on its way into a definition."""

    def __init__(self, draft: Draft, block: ItemId, name: str) -> None:
        self.draft = draft
        self.block = block
        self.body = BodyId(block)
        graph = draft.graph
        self.members = tuple(graph.order(self.body))
        inside = frozenset(self.members)
        wires = [wire for item in self.members for wire in graph.wires_to(item)]
        position = {item: k for k, item in enumerate(graph.order())}
        self.within = tuple(wire for wire in wires if wire.source in inside)
        self.into = tuple(wire for wire in wires if wire.source not in inside)
        self.out = tuple(
            sorted(
                (wire for item in self.members for wire in graph.wires_from(item) if wire.target not in inside),
                key=lambda wire: (position[wire.source], wire.output),
            )
        )
        self.taken = draft.taken_names()
        for definition in graph.definitions.values():
            self.taken.update(naming.bound_names(definition.graph), definition.inputs)
        self.name = name

    def make(self) -> Edits:
        """Everything that is to be done."""
        draft, parent = self.draft, self.draft.graph.parents[self.block]
        sources = self._sources()
        inputs = self._names_of(sources)
        definition = self._definition(inputs, sources)
        place = self._place()
        index = draft.graph.bodies[parent].index(self.block)
        self._take_out()
        draft.do(SetDefinition(definition.name, definition))
        module = self._construct(definition, parent, index, place) if definition.is_module else None
        has_call = module is None or any(item not in definition.setup for item in definition.graph.bodies[ROOT])
        call = self._call(definition, module, parent, index + (module is not None), place) if has_call else None
        self._wire_in(definition, sources, module, call)
        self._wire_out(definition, module, call)
        return draft.finish()

    # ---------------------------------------------------------------- the inside

    def _sources(self) -> list[Value]:
        carried = [wire for wire in self.into if wire.port.startswith("first.")]  # their names are fixed
        return list(dict.fromkeys((wire.source, wire.output) for wire in (*carried, *self.into)))

    def _names_of(self, sources: list[Value]) -> tuple[str, ...]:
        taken = set(self.draft.graph.definitions)
        return tuple(naming.fresh_name(taken, self._word(value)) for value in sources)

    def _word(self, value: Value) -> str:
        """What a value is called, or else what it is a result of."""
        return result_word(self.draft.graph, *value)

    def _definition(self, inputs: tuple[str, ...], sources: list[Value]) -> Definition:
        inner = self._inner(sources)
        seeds = setup_statements(inner, (), frozenset())
        is_module = bool(seeds)
        needs = {wire.output for wire in inner.wires_from(DEFINITION_INPUTS) if top_of(inner, wire.target) in seeds}
        late = frozenset(range(len(inputs))) - needs
        setup = setup_statements(inner, (), late) if is_module else ()
        name = self._free_name(class_name(self.name) if is_module else self.name)
        kept = tuple(item for item in setup if item in inner.nodes and inner.nodes[item].names)
        definition = Definition(
            name,
            inputs,
            (),
            inner,
            is_module=is_module,
            settings=tuple(inputs[k] for k in sorted(needs)),
            setup=setup,
            kept=kept,
        )
        outputs = self._outputs(definition)
        named = self._named_outputs(outputs)
        for k, (item, output) in enumerate(outputs):
            apply(inner, AddWire(Wire(item, output, DEFINITION_OUTPUTS, str(k))))
        setup_first(inner, setup)
        inner.edges = Edges(inputs, named)
        inner.definitions = dict(self.draft.graph.definitions)
        apply_all(inner, order_edits(inner))
        apply_all(inner, name_bindings.binding_edits(inner))
        return definition.but(outputs=named, graph=bare_definition(inner))

    def _inner(self, sources: list[Value]) -> Graph:
        """The selection as a graph of its own, its inputs wired."""
        graph, inner = self.draft.graph, Graph()
        for item in self.members:
            body = graph.parents[item]
            into = ROOT if body == self.body else body
            inner.bodies[into] = (*inner.bodies.get(into, ()), item)
            inner.parents[item] = into
            if (node := graph.nodes.get(item)) is not None:
                marks = tuple(mark for mark in node.marks if mark != "root")
                inner.nodes[item] = msgspec.structs.replace(node, marks=marks)
            else:
                inner.blocks[item] = graph.blocks[item]
                inner.bodies.setdefault(BodyId(item), ())
                if BodyId(item) in graph.tails:
                    inner.tails[BodyId(item)] = graph.tails[BodyId(item)]
            for key in (item, f"note:{item}"):
                if key in graph.places:
                    inner.places[key] = graph.places[key]
        for wire in self.within:
            apply(inner, AddWire(wire))
        for wire in self.into:
            number = sources.index((wire.source, wire.output))
            apply(inner, AddWire(Wire(DEFINITION_INPUTS, number, wire.target, wire.port)))
        inner.definitions = dict(graph.definitions)
        return inner

    def _free_name(self, name: str) -> str:
        return naming.fresh_name(self.taken | set(naming.bound_names(self.draft.graph)), name)

    def _outputs(self, definition: Definition) -> list[Value]:
        """What is used outside, but for what is read from the module; when there is none, the unused results."""
        graph = self.draft.graph
        used = dict.fromkeys(
            (wire.source, wire.output)
            for wire in self.out
            if top_of(definition.graph, wire.source) not in definition.setup
        )
        if used or self.out:
            return list(used)
        found = []
        for item in graph.bodies[self.body]:
            node = graph.nodes.get(item)
            if node is not None and item not in definition.setup and not graph.wires_from(item) and not node.muted:
                found += [(item, k) for k, name in enumerate(node.names) if name != "_"]
        return found

    def _named_outputs(self, outputs: list[Value]) -> tuple[str, ...]:
        taken: set[str] = set()
        return tuple(naming.fresh_name(taken, self._word(value)) for value in outputs)

    # ---------------------------------------------------------------- the outside

    def _place(self) -> Place:
        """Where the call stands: in the middle of what it stands for."""
        places = [self.draft.graph.places[item] for item in self.members if item in self.draft.graph.places]
        if not places:
            return Place(0.0, 0.0)
        middle_x = (min(p.x for p in places) + max(p.x for p in places)) / 2
        return Place(middle_x, (min(p.y for p in places) + max(p.y for p in places)) / 2)

    def _take_out(self) -> None:
        draft = self.draft
        self.nodes = {item: draft.graph.nodes[item] for item in self.members if item in draft.graph.nodes}
        draft.cut((*self.within, *self.into, *self.out))
        for item in reversed((self.block, *self.members)):
            if item in draft.graph.nodes:
                draft.do(RemoveNode(item))
                continue
            if draft.graph.tails.get(BodyId(item)):
                draft.do(SetTail(BodyId(item), ""))
            draft.do(RemoveBlock(item))
        keys = [key for item in self.members for key in (item, f"note:{item}") if key in draft.graph.places]
        if keys:
            draft.do(SetPlaces(dict.fromkeys(keys)))

    def _construct(self, definition: Definition, parent: BodyId, index: int, place: Place) -> Node:
        draft = self.draft
        name = naming.fresh_name(draft.taken_names(), instance_name(definition.name))
        node = Node(id=draft.new_id(), operator=GROUP + definition.name, names=(name,))
        draft.do(AddNode(node, parent, index), SetPlaces({node.id: place}))
        return node

    def _call(self, definition: Definition, module: Node | None, parent: BodyId, index: int, place: Place) -> Node:
        draft = self.draft
        values = list(definition.graph.wires_to(DEFINITION_OUTPUTS))
        values.sort(key=lambda wire: int(wire.port))
        names = self._outer_names(values)
        single = self.nodes.get(values[0].source) if len(values) == 1 else None
        nested = single is not None and single.nested and not single.names
        if len(values) == 1 and single is not None and not single.names:
            names = ()
        operator, lengths = (GROUP + definition.name, {}) if module is None else (CALL, {INPUTS: len(definition.taken)})
        node = Node(id=draft.new_id(), operator=operator, names=names, lengths=lengths, nested=nested)
        draft.do(AddNode(node, parent, index), SetPlaces({node.id: place}))
        if module is not None:
            draft.do(AddWire(Wire(module.id, 0, node.id, CALLED)))
        return node

    def _outer_names(self, values: list[Wire]) -> tuple[str, ...]:
        """What the call binds: the names that the results had; of two that had one name, the later has it."""
        taken = self.draft.taken_names() | self.taken
        found: list[str] = []
        for wire in reversed(values):
            node = self.nodes.get(wire.source)
            name = node.names[wire.output] if node is not None and wire.output < len(node.names) else "_"
            word = self._word_of(node, wire.output) if name == "_" else name
            found.append(name if name not in ("_", *found) else naming.fresh_name(taken, word))
        return tuple(reversed(found))

    def _word_of(self, node: Node | None, output: int) -> str:
        operator = row_of(self.draft.graph, node) if node is not None else None
        names = default_names(operator) if operator is not None else ()
        return names[output] if output < len(names) else "y"

    def _wire_in(self, definition: Definition, sources: list[Value], module: Node | None, call: Node | None) -> None:
        for name, (source, output) in zip(definition.inputs, sources, strict=True):
            if module is not None and name in definition.settings:
                self.draft.do(AddWire(Wire(source, output, module.id, name)))
            elif call is not None:
                port = name if module is None else f"{INPUTS}.{definition.taken.index(name)}"
                self.draft.do(AddWire(Wire(source, output, call.id, port)))

    def _wire_out(self, definition: Definition, module: Node | None, call: Node | None) -> None:
        ends = {(w.source, w.output): int(w.port) for w in definition.graph.wires_to(DEFINITION_OUTPUTS)}
        for wire in self.out:
            number = ends.get((wire.source, wire.output))
            if number is not None and call is not None:
                self.draft.do(AddWire(Wire(call.id, number, wire.target, wire.port)))
            elif module is not None:
                self._read_attribute(definition, wire, module)

    def _read_attribute(self, definition: Definition, wire: Wire, module: Node) -> None:
        """What used a layer of the selection reads it from the module."""
        draft = self.draft
        node = definition.graph.nodes.get(wire.source)
        if node is None or wire.output >= len(node.names):
            raise Refused(
                f"'{self._word_of(node, wire.output)}' is made together with the group's layers and used outside. "
                "Give it a name first."
            )
        body, target = draft.graph.parents[wire.target], wire.target
        word = fresh_node(draft, load()[ATTRIBUTE])
        word = msgspec.structs.replace(word, names=(), nested=True, literals={"name": f'"{node.names[wire.output]}"'})
        index = draft.graph.bodies[body].index(target)
        place = draft.graph.places.get(target, Place(0.0, 0.0))
        draft.do(
            AddNode(word, body, index),
            SetPlaces({word.id: Place(place.x - 260.0, place.y)}),
            AddWire(Wire(module.id, 0, word.id, "object")),
            AddWire(Wire(word.id, 0, target, wire.port)),
        )
