"""A program as a run speaks of it: its items by their ids in calls, and what computed a value. No Qt, no torch.

Ids inside calls are those of `graph.groups.call_ids`. A value is followed to what computed it through second names,
through calls of functions and classes of the program's own, and into containers of layers.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.graph.analysis.call_addresses import ItemLocation, locate_item
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.groups.call_ids import INPUTS, OUTPUTS, SEPARATOR, call_item_id, calls_around, path_of
from gradstudio.graph.groups.definitions import group_of
from gradstudio.graph.model import Definition, Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.ports.module_calls import FARTHEST, origin
from gradstudio.graph.text.code_records import FREE_METHOD, FREE_PATH
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import binding_of, name_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator

CONTAINER = "torch.nn.Sequential"
NAMED = frozenset({FREE_METHOD, FREE_PATH})
"""What is called by a name that is written down: of a value of code, or of what the catalogue has not."""
TENSOR_METHOD = "torch.Tensor."
SECOND_NAMES = frozenset({"python.alias"})
TUPLE = "python.tuple"
MAIN_PORTS = ("inputs.0", "input", "self", "a", "x", "value", "tensor", "tensors.0", "b", "other")
"""Ports by which a value comes into what computes with it, the likeliest first."""
CARRYING = frozenset({"first", "next"})
"""How the ports of a loop begin by which a value goes from turn to turn."""
MAX_STAGES = 24


class Source(NamedTuple):
    """What is wired into a port: the item of the run, and which of its outputs."""

    port: str
    item: ItemId
    output: int


class Stage(NamedTuple):
    """One step of a computation: an operator applied, or a layer called.

    Attributes:
        item: the node of the run that was executed: of a layer, its call.
        node: whose literals count: of a layer, what constructs it.
        word: ``softmax``, ``Linear``.
    """

    item: ItemId
    node: Node
    word: str


class ProgramView:
    """Looks up items of a run in one graph; what was looked up once is kept."""

    def __init__(self, graph: Graph) -> None:
        """Of the program that ran, or is to run."""
        self.graph = graph
        self._places: dict[ItemId, ItemLocation | None] = {}
        self._words: dict[str, str] = {}

    def place(self, item: ItemId) -> ItemLocation | None:
        """The graph in which an item stands, and its id there."""
        if item not in self._places:
            self._places[item] = locate_item(self.graph, item)
        return self._places[item]

    def node(self, item: ItemId) -> Node | None:
        """The node of an item; None for blocks, for the edges of a definition and for what is gone."""
        place = self.place(item)
        return place.graph.nodes.get(place.item) if place is not None else None

    def name(self, item: ItemId) -> str:
        """How a person calls an item: the name it binds, else its operator."""
        place, node = self.place(item), self.node(item)
        if place is None:
            return str(item)
        if node is not None and node.operator == CALL and not any(name != "_" for name in node.names):
            wire = place.graph.wire_into(place.item, CALLED)
            return f"{title(place.graph, wire.source)}(…)" if wire is not None else title(place.graph, place.item)
        return title(place.graph, place.item)

    def name_of_written(self, item: ItemId) -> str:
        """The same; of what writes in place the name of what it writes into: "layers" for ``layers += […]``."""
        place = self.place(item)
        if place is None or place.item not in place.graph.nodes:
            return self.name(item)
        written, output = binding_of(place.graph, place.item, 0)
        return name_of(place.graph, (written, output)) or self.name(item)

    def applied(self, word: str, item: ItemId) -> str:
        """An operator where it is applied: "softmax in p"; its word alone where that is what the item is called."""
        name = self.name(item)
        return word if name.partition(" ")[0] == word else f"{word} in {name}"

    def where(self, item: ItemId) -> str:
        """How a person calls an item, with the calls that it is inside of: "Net ▸ fc2"."""
        *calls, _ = path_of(item)
        words, graph = [], self.graph
        for call in calls:
            group = group_of(graph, call)
            words.append(group or title(graph, call))
            place = self.place(call_item_id(call, INPUTS)) if group else None
            graph = place.graph if place is not None else graph
        return " ▸ ".join([*words, self.name(item)])

    def word(self, item: ItemId) -> str:
        """``mul`` for ``torch.mul``, ``x.mul_(y)``, ``x * y`` and ``x *= y``; of a called layer that of its class."""
        plain = self.graph.nodes.get(item)
        if plain is not None and (word := self._words.get(plain.operator)) is not None:
            return word
        word = self._word(item)
        row = load().get(plain.operator) if plain is not None else None
        if plain is not None and row is not None and row.face is not Face.CALL and plain.operator not in NAMED:
            self._words[plain.operator] = word  # the same row wherever it stands
        return word

    def _word(self, item: ItemId) -> str:
        place, node = self.place(item), self.node(item)
        if place is None or node is None:
            return ""
        if node.operator == CALL:
            maker = self._maker(place, node)
            return _word(maker.operator) if maker is not None else ""
        if node.operator in NAMED:
            return _word(node.literals.get("name", "").strip("\"'"))
        return _word_of(operator_of(place.graph, place.item), node.operator)

    def sources(self, item: ItemId) -> Iterator[Source]:
        """What is wired into an item; of what a loop carries, both what it begins with and what comes back."""
        place = self.place(item)
        if place is None or place.item not in place.graph:
            return
        prefix, node = _prefix(item), place.graph.nodes.get(place.item)
        is_method = node is not None and node.operator == FREE_METHOD and _is_tensor_method(place.graph, node)
        for wire in place.graph.wires_to(place.item):
            port = "self" if is_method and wire.port == CALLED else wire.port
            yield Source(port, ItemId(prefix + wire.source), wire.output)

    def source(self, item: ItemId, ports: tuple[str, ...] = MAIN_PORTS) -> Source | None:
        """What is wired into the first of these ports that has a wire."""
        found = {source.port: source for source in self.sources(item)}
        return next((found[port] for port in ports if port in found), None)

    def behind(self, item: ItemId, most: int) -> Iterator[ItemId]:
        """What a value is computed from, the nearest first, inside calls, too; about so many at most."""
        seen, todo = {item}, [item]
        while todo and len(seen) < most:
            for source in self.sources(todo.pop(0)):
                at, _ = self.resolve(source.item, source.output)
                if at not in seen:
                    seen.add(at)
                    todo.append(at)
                    yield at

    def carried(self, item: ItemId, output: int) -> tuple[Source, ...]:
        """What an output of a loop stands for: its first value, and what each turn leaves; () where it is none."""
        place = self.place(item)
        block = place.graph.blocks.get(place.item) if place is not None else None
        if place is None or block is None or not 0 < output <= len(block.carried):
            return ()
        name = block.carried[output - 1]
        wires = [place.graph.wire_into(place.item, f"{way}.{name}") for way in ("first", "next")]
        prefix = _prefix(item)
        return tuple([Source(w.port, ItemId(prefix + w.source), w.output) for w in wires if w is not None])

    def resolve(self, item: ItemId, output: int) -> tuple[ItemId, int]:
        """What computed a value, inside the calls that give it and outside those that are given it."""
        for _ in range(FARTHEST):
            step = self._nearer(item, output)
            if step is None:
                break
            item, output = step.item, step.output
        return item, output

    def stages(self, item: ItemId, output: int) -> Iterator[Stage]:
        """The steps by which a value came about, the last one first, along the first argument of each."""
        for _ in range(MAX_STAGES):
            item, output = self.resolve(item, output)
            place, node = self.place(item), self.node(item)
            if place is None or node is None:
                return
            if node.operator == CALL:
                maker = self._maker(place, node)
                if maker is None:
                    return
                yield from self._layers(item, place.graph, maker)
            elif not node.bypassed:
                yield Stage(item, node, self.word(item))
            source = self.source(item)
            if source is None:
                return
            item, output = source.item, source.output

    def followers(self, item: ItemId) -> Iterator[ItemId]:
        """What takes something of an item, inside the calls that are given it and behind those that give it back."""
        place = self.place(item)
        if place is None:
            return
        prefix = _prefix(item)
        for wire in _taken_by(place):
            target = ItemId(prefix + wire.target)
            if wire.target == OUTPUTS:
                yield from self.followers(ItemId(prefix.removesuffix(SEPARATOR)))
            elif self.definition(target) is None:
                yield target
            elif wire.port != CALLED:
                yield call_item_id(target, INPUTS)
        for around in calls_around(item):  # what a module has made is used in each of its calls
            for call in self._calls(around):
                yield ItemId(call + item.removeprefix(around))

    def insides(self) -> Iterator[tuple[ItemId, Graph, ItemId]]:
        """Every item of the program and of its calls: its id in a run, the graph it stands in, its id there."""
        todo = [("", self.graph)]
        while todo:
            prefix, graph = todo.pop()
            for item in graph.order():
                full = ItemId(prefix + item)
                yield full, graph, item
                group = group_of(graph, item) if graph.definitions else ""
                if not group or _only_constructs(graph, item, group):
                    continue
                inside = self.place(call_item_id(full, INPUTS))
                if inside is not None and len(path_of(full)) < MAX_STAGES:
                    todo.append((full + SEPARATOR, inside.graph))

    def definition(self, item: ItemId) -> Definition | None:
        """The definition that an item calls or constructs."""
        place = self.place(item)
        return place.graph.definitions.get(group_of(place.graph, place.item)) if place is not None else None

    # ------------------------------------------------------------------ private

    def _nearer(self, item: ItemId, output: int) -> Source | None:
        """One step nearer to what computed a value."""
        *calls, last = path_of(item)
        if last == INPUTS and calls:
            return self._given(ItemId(SEPARATOR.join(calls)), output)
        place, node = self.place(item), self.node(item)
        if place is None or node is None:
            return None
        if node.operator in SECOND_NAMES or node.bypassed:
            return self.source(item)
        if node.operator == TUPLE and len(node.names) > 1:
            return self.source(item, (f"items.{output}",))
        definition = self.definition(item)
        if definition is None or (definition.is_module and node.operator.startswith(GROUP)):
            return None
        wire = definition.graph.wire_into(OUTPUTS, str(output))
        return Source("", call_item_id(item, wire.source), wire.output) if wire is not None else None

    def _given(self, call: ItemId, output: int) -> Source | None:
        """What a call is given as the input of that number."""
        definition, node = self.definition(call), self.node(call)
        if definition is None or node is None or output >= len(definition.inputs):
            return None
        name = definition.inputs[output]
        ports = [name]
        if name in definition.taken:
            ports.append(f"inputs.{definition.taken.index(name)}")
        return self.source(call, tuple(ports))

    def _calls(self, module: ItemId) -> Iterator[ItemId]:
        place = self.place(module)
        wires = place.graph.wires_from(place.item) if place is not None else ()
        return (ItemId(_prefix(module) + wire.target) for wire in wires if wire.port == CALLED)

    def _maker(self, place: ItemLocation, call: Node) -> Node | None:
        wire = place.graph.wire_into(call.id, CALLED)
        made = place.graph.nodes.get(wire.source) if wire is not None else None
        return origin(place.graph, made) if made is not None else None

    def _layers(self, call: ItemId, graph: Graph, maker: Node) -> Iterator[Stage]:
        """A called layer; of a container its layers, the last one first."""
        if maker.operator != CONTAINER:
            yield Stage(call, maker, _word(maker.operator))
            return
        for child in layers_of(graph, maker.id)[::-1]:
            yield from self._layers(call, graph, child)


def _taken_by(place: ItemLocation) -> list[Wire]:
    """The wires out of an item; of what a loop carries those out of what it carries it as, not those of its counter."""
    found, seen = list[Wire](), set[Wire]()
    todo = list(place.graph.wires_from(place.item))
    while todo:
        wire = todo.pop(0)
        way, _, name = wire.port.partition(".")
        block = place.graph.blocks.get(wire.target)
        if block is None or way not in CARRYING or name not in block.carried:
            found.append(wire)
        elif wire not in seen:
            output = 1 + block.carried.index(name)
            todo += [one for one in place.graph.wires_from(block.id) if one.output == output]
        seen.add(wire)
    return found


def layers_of(graph: Graph, container: ItemId) -> list[Node]:
    """What a container was given, in order; [] where one wire brings them all."""
    numbered = [(wire.port.partition(".")[2], wire.source) for wire in graph.wires_to(container)]
    placed = sorted((int(number), source) for number, source in numbered if number.isdigit())
    found = [graph.nodes.get(source) for _, source in placed]
    makers = [origin(graph, node) for node in found if node is not None]
    return [node for node in makers if node is not None]


def _only_constructs(graph: Graph, item: ItemId, group: str) -> bool:
    """Whether an item makes a module of that group; its calls go through the inside."""
    return graph.definitions[group].is_module and graph.nodes[item].operator != CALL


def _is_tensor_method(graph: Graph, node: Node) -> bool:
    """Whether a method of what nobody knows is one that tensors have, and nothing else is given to it."""
    is_known = load().get(TENSOR_METHOD + node.literals.get("name", "").strip("\"'")) is not None
    return is_known and not any(wire.port.startswith("inputs") for wire in graph.wires_to(node.id))


def _word_of(operator: Operator | None, key: str) -> str:
    if operator is None:
        return _word(key)
    if operator.face is Face.AUGMENTED:
        return operator.word.removeprefix("i")
    return operator.word.rstrip("_")


def _word(key: str) -> str:
    return key.partition(":")[0].rpartition(".")[2]


def _prefix(item: ItemId) -> str:
    calls, separator, _ = item.rpartition(SEPARATOR)
    return calls + separator
