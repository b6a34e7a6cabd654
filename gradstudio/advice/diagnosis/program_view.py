"""A program as a run speaks of it: its items by their ids in calls, and what computed a value. No Qt, no torch.

Ids inside calls are those of `graph.groups.call_ids`. A value is followed to what computed it through second names,
through calls of functions and classes of the program's own, and into containers of layers.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from gradstudio.advice.quotations import own_name
from gradstudio.graph.analysis.call_paths import CallPaths, Source, prefix_of
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.groups.call_ids import INPUTS, SEPARATOR, call_item_id, calls_around, path_of
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.ports.module_calls import origin
from gradstudio.graph.text.code_records import FREE_METHOD, FREE_PATH
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import binding_of, name_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator

CONTAINER = "torch.nn.Sequential"
NAMED = frozenset({FREE_METHOD, FREE_PATH})
"""What is called by a name that is written down: of a value of code, or of what the catalogue has not."""
MAX_STAGES = 24


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


class ProgramView(CallPaths):
    """Looks up items of a run in one graph as a person and a rule speak of them."""

    def __init__(self, graph: Graph) -> None:
        """Of the program that ran, or is to run."""
        super().__init__(graph)
        self._words: dict[str, str] = {}

    def name(self, item: ItemId, output: int | None = None) -> str:
        """How a person calls an item: the name it binds, else its operator.

        Args:
            item: the item.
            output: of which of its outputs the name is wanted; None: of all together.
        """
        place, node = self.place(item), self.node(item)
        if place is None:
            return _word_in_code(item) or str(item)
        if output is not None and (name := own_name(*place, output)):
            return name
        if node is not None and node.operator == CALL and not any(name != "_" for name in node.names):
            source = self.source(item, (CALLED,))
            return f"{self.source_name(source)}(…)" if source is not None else title(*place)
        return title(*place)

    def source_name(self, source: Source) -> str:
        """How a person calls what is wired into a port."""
        return self.name(source.item, source.output)

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
        """How a person calls an item, with the calls that it is inside of: "Net ▸ fc2"; of a call in code its word."""
        if word := _word_in_code(item):
            return word
        around = calls_around(item)
        return " ▸ ".join([*(self.group(call) or self.name(call) for call in around), self.name(item)])

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
            return _word_in_code(item)
        if node.operator == CALL:
            maker = self.maker(item)
            return _word(self._operator(maker)) if maker is not None else ""
        if node.operator in NAMED:
            return _word(node.literals.get("name", "").strip("\"'"))
        return _word_of(operator_of(place.graph, place.item), node.operator)

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
        found = {source.port: source for source in self.sources(item)}
        return tuple([found[port] for port in (f"first.{name}", f"next.{name}") if port in found])

    def stages(self, item: ItemId, output: int) -> Iterator[Stage]:
        """The steps by which a value came about, the last one first, along the first argument of each."""
        for _ in range(MAX_STAGES):
            item, output = self.resolve(item, output)
            place, node = self.place(item), self.node(item)
            if place is None or node is None:
                return
            if node.operator == CALL:
                maker = self.maker(item)
                if maker is None:
                    return
                yield from self._layers(item, maker)
            elif not node.bypassed:
                yield Stage(item, node, self.word(item))
            source = self.source(item)
            if source is None:
                return
            item, output = source.item, source.output

    def followers(self, item: ItemId, output: int | None = None) -> Iterator[ItemId]:
        """What takes something of an item, inside the calls that are given it and behind those that give it back."""
        for wire, prefix in self.uses(item, output):
            target = ItemId(prefix + wire.target)
            if wire.port != CALLED or self.definition(target) is None:
                yield target
        for around in calls_around(item):  # what a module has made is used in each of its calls
            for call in self.calls(around):
                yield ItemId(call + item.removeprefix(around))

    def statement(self, item: ItemId) -> ItemId:
        """The statement of the program, or of a function of it, that an item inside calls of modules is a part of."""
        for around in calls_around(item):
            definition = self.definition(around)
            if definition is None or definition.is_module:
                return around
        return item

    def insides(self) -> Iterator[tuple[ItemId, Graph, ItemId]]:
        """Every item of the program and of its calls: its id in a run, the graph it stands in, its id there."""
        yield from self._inside("", self.graph)

    # ------------------------------------------------------------------ private

    def _inside(self, prefix: str, graph: Graph) -> Iterator[tuple[ItemId, Graph, ItemId]]:
        """What stands in a graph, what a call of it holds right behind the call: the first call is the first."""
        for item in graph.order():
            full = ItemId(prefix + item)
            yield full, graph, item
            group = self.group(full) if graph.definitions else ""
            is_entered = bool(group) and not _only_constructs(graph, item, group)
            inside = self.place(call_item_id(full, INPUTS)) if is_entered else None
            if inside is not None and len(path_of(full)) < MAX_STAGES:
                yield from self._inside(full + SEPARATOR, inside.graph)

    def _layers(self, call: ItemId, maker: ItemId) -> Iterator[Stage]:
        """A called layer; of a container its layers, the last one first."""
        place, node = self.place(maker), self.node(maker)
        if place is None or node is None:
            return
        if node.operator != CONTAINER:
            yield Stage(call, node, _word(node.operator))
            return
        for child in layers_of(*place)[::-1]:
            yield from self._layers(call, ItemId(prefix_of(maker) + child.id))


def written_nodes(graph: Graph) -> Iterator[Node]:
    """Every node that is written down, those in functions and classes among them."""
    for one in graphs_of(graph):
        yield from one.nodes.values()


def is_call(view: ProgramView, item: ItemId) -> bool:
    """Whether an item calls a module."""
    node = view.node(item)
    return node is not None and node.operator == CALL


def leads_to(view: ProgramView, item: ItemId, is_sought: Callable[[ItemId], bool]) -> bool:
    """Whether something that is sought is computed of an item."""
    seen, todo = {item}, [item]
    while todo:
        for target in view.followers(todo.pop()):
            if is_sought(target):
                return True
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return False


def is_changed_by_hand(view: ProgramView, leaf: ItemId) -> bool:
    """Whether a leaf, or a module that is never called, is written into by something else than an initialiser."""
    return leads_to(view, leaf, partial(_writes, view)) and not leads_to(view, leaf, partial(is_call, view))


def _writes(view: ProgramView, item: ItemId) -> bool:
    node = view.node(item)
    row = load().get(node.operator) if node is not None else None
    return row is not None and bool(row.writes) and not row.key.startswith("torch.nn.init.")


def layers_of(graph: Graph, container: ItemId) -> list[Node]:
    """What a container was given, in order; [] where one wire brings them all."""
    numbered = [(wire.port.partition(".")[2], wire.source) for wire in graph.wires_to(container)]
    placed = sorted((int(number), source) for number, source in numbered if number.isdigit())
    found = [graph.nodes.get(source) for _, source in placed]
    makers = [origin(graph, node) for node in found if node is not None]
    return [node for node in makers if node is not None]


def _word_in_code(item: ItemId) -> str:
    """What undrawn Python has called; "" of what is no such call."""
    call = code_call(item)
    return call.word if call is not None else ""


def _only_constructs(graph: Graph, item: ItemId, group: str) -> bool:
    """Whether an item makes a module of that group; its calls go through the inside."""
    return graph.definitions[group].is_module and graph.nodes[item].operator != CALL


def _word_of(operator: Operator | None, key: str) -> str:
    if operator is None:
        return _word(key)
    if operator.face is Face.AUGMENTED:
        return operator.word.removeprefix("i")
    return operator.word.rstrip("_")


def _word(key: str) -> str:
    return key.partition(":")[0].rpartition(".")[2]
