"""What stands inside calls, and what a value is made by: followed through parameters, results and second names.

Ids are those of `graph.groups.call_ids`: they say by which calls one came inside, so a parameter is what those very
calls are given. Of a module that was handed in, handed back or kept by another one, the call is found all the same.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.groups.call_ids import INPUTS, OUTPUTS, SEPARATOR, call_item_id
from gradstudio.graph.groups.definitions import definition_graph
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import ROOT, Definition, Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.module_calls import FARTHEST, SAME_MODULE
from gradstudio.graph.text.code_records import FREE_METHOD
from gradstudio.operators.catalogue.loader import load

ALIAS = "python.alias"
TUPLE = "python.tuple"
ITEM, APPEND, COUNTED = "operator.getitem", "python.append", "builtins.enumerate"
LISTS = frozenset({"python.list", "torch.nn.ModuleList", "torch.nn.Sequential"})
"""What holds modules one after another."""
LISTED = frozenset({"items", "modules", "args"})
"""The ports by which they come into it."""
DEEPEST = 24
"""Calls inside calls, at most."""
POSITIONAL = "inputs."
TENSOR_METHOD = "torch.Tensor."
MAIN_PORTS = ("inputs.0", "input", "self", "a", "x", "value", "tensor", "tensors.0", "b", "other")
"""Ports by which a value comes into what computes with it, the likeliest first."""
LOOPS = frozenset({"for", "while"})
"""Blocks whose body may have no turn, conditions among them."""
CARRYING = frozenset({"first", "next"})
"""How the ports of a loop begin by which a value goes from turn to turn."""


class ItemLocation(NamedTuple):
    """Where an item stands: the program, or the inside of a definition, as a graph; and its id there."""

    graph: Graph
    item: ItemId


class Source(NamedTuple):
    """What is wired into a port: the item of the run, and which of its outputs."""

    port: str
    item: ItemId
    output: int


class CallPaths:
    """Looks up items of a program and inside its calls; what was looked up once is kept."""

    def __init__(self, graph: Graph) -> None:
        """Of the program that ran, or is to run."""
        self.graph = graph
        self._places: dict[ItemId, ItemLocation | None] = {}
        self._groups: dict[ItemId, str] = {}
        self._sources: dict[ItemId, tuple[Source, ...]] = {}

    def place(self, item: ItemId) -> ItemLocation | None:
        """The graph in which an item stands, and its id there; None when there is no such item (any more)."""
        if item not in self._places:
            self._places[item] = self._locate(item)
        return self._places[item]

    def node(self, item: ItemId) -> Node | None:
        """The node of an item; None for blocks, for the edges of a definition and for what is gone."""
        place = self.place(item)
        return place.graph.nodes.get(place.item) if place is not None else None

    def group(self, item: ItemId) -> str:
        """The definition that an item calls or constructs; "" when it does neither."""
        if item not in self._groups:
            self._groups[item] = ""  # a call that brings what it calls itself has none
            self._groups[item] = self._group(item)
        return self._groups[item]

    def definition(self, item: ItemId) -> Definition | None:
        """The same as what it holds."""
        return self.graph.definitions.get(self.group(item))

    def maker(self, call: ItemId) -> ItemId | None:
        """What constructs the module that is called; None where nobody here can tell, or it is one or another."""
        user, source = call, self.source(call, (CALLED, "self"))
        for _ in range(FARTHEST):
            if source is None or self._is_rebound(source.item, user):
                return None
            step = self._nearer(source.item, source.output) or self._same_module(source.item)
            if step is None:
                listed = self._listed(source)
                return listed if listed is not None or self.node(source.item) is None else source.item
            user, source = source.item, step
        return None

    def same_module(self, item: ItemId) -> ItemId:
        """What made the module that an item gives back; the item itself where it is none of those."""
        step = self._same_module(item)
        for _ in range(FARTHEST):
            if step is None:
                break
            item, _ = self.resolve(step.item, step.output)
            step = self._same_module(item)
        return item

    def calls(self, module: ItemId) -> Iterator[ItemId]:
        """The calls of a module, also where it was handed to."""
        todo, seen = [module], {module}
        while todo:
            for wire, prefix in self.uses(todo.pop()):
                target = ItemId(prefix + wire.target)
                if wire.port == CALLED:
                    if not self._is_made_in(prefix):
                        yield target
                elif target not in seen and _gives_back(self.node(target), wire.port):
                    seen.add(target)
                    todo.append(target)

    def uses(self, item: ItemId, output: int | None = None) -> Iterator[tuple[Wire, str]]:
        """The wires by which a value is taken, inside the calls that are given it and behind those that give it back.

        Args:
            item: what gives it.
            output: which of its outputs; None: any.

        Yields:
            Each with what the ids of its ends begin with.
        """
        todo: list[tuple[ItemId, int | None]] = [(item, output)]
        seen = set(todo)
        while todo:
            at, number = todo.pop(0)
            place, prefix = self.place(at), prefix_of(at)
            for wire in taken_by(place, number) if place is not None else ():
                further = self._further(wire, prefix)
                if further is None:
                    yield wire, prefix
                    continue
                todo += [one for one in further if one not in seen]
                seen.update(further)

    def sources(self, item: ItemId) -> tuple[Source, ...]:
        """What is wired into an item; of what a loop carries, both what it begins with and what comes back."""
        if item not in self._sources:
            place = self.place(item)
            self._sources[item] = tuple(_wired(place, prefix_of(item))) if place is not None else ()
        return self._sources[item]

    def source(self, item: ItemId, ports: tuple[str, ...] = MAIN_PORTS) -> Source | None:
        """What is wired into the first of these ports that has a wire."""
        sources = self.sources(item)
        return next((source for port in ports for source in sources if source.port == port), None)

    def resolve(self, item: ItemId, output: int) -> tuple[ItemId, int]:
        """What computed a value, inside the calls that give it and outside those that are given it."""
        for _ in range(FARTHEST):
            step = self._nearer(item, output)
            if step is None:
                break
            item, output = step.item, step.output
        return item, output

    # ------------------------------------------------------------------ private

    def _locate(self, item: ItemId) -> ItemLocation | None:
        around, _, last = item.rpartition(SEPARATOR)
        if not around:
            return ItemLocation(self.graph, item) if item in self.graph else None
        name = self.group(ItemId(around)) if around.count(SEPARATOR) < DEEPEST else ""
        is_known = name in self.graph.definitions
        return ItemLocation(definition_graph(self.graph, name), ItemId(last)) if is_known else None

    def _group(self, item: ItemId) -> str:
        node = self.node(item)
        if node is None or not self.graph.definitions:
            return ""
        if node.operator.startswith(GROUP):
            return node.operator.removeprefix(GROUP)
        maker = self.maker(item) if node.operator == CALL else None
        made = self._operator(maker) if maker is not None else ""
        name = made.removeprefix(GROUP) if made.startswith(GROUP) else ""
        known = self.graph.definitions.get(name)
        return name if known is not None and known.is_module else ""

    def _listed(self, element: Source) -> ItemId | None:
        """Of an element of a list of modules, which one class has made all of, the first that was listed."""
        held = self._list_of(element)
        todo = [(element.item, held)] if held is not None else []
        makers, seen = list[ItemId](), set[ItemId]()
        while todo:
            user, one = todo.pop(0)
            if self._is_rebound(one.item, user):
                return None
            item, _ = self.resolve(one.item, one.output)
            if item in seen:
                continue
            seen.add(item)
            if self._operator(item) not in LISTS:
                makers.append(item)
                continue
            todo += [(item, one) for one in self.sources(item) if one.port.partition(".")[0] in LISTED]
            users = (ItemId(prefix + wire.target) for wire, prefix in self.uses(item) if wire.port == "self")
            added = ((user, self.source(user, ("object",))) for user in users if self._operator(user) == APPEND)
            todo += [(user, one) for user, one in added if one is not None]
        classes = {self._operator(maker) for maker in makers}
        return makers[0] if len(classes) == 1 and classes.pop().startswith(GROUP) else None

    def _list_of(self, element: Source) -> Source | None:
        """The list that a loop, a counted one, too, or an index takes an element from."""
        if self._operator(element.item) == ITEM:
            return self.source(element.item, ("a",))
        number = element.output
        if self._operator(element.item) == TUPLE:
            loop = self.source(element.item, ("items",))
            over = self.source(loop.item, ("over",)) if loop is not None else None
            is_counted = over is not None and number == 1 and self._operator(over.item) == COUNTED
            return self.source(over.item, ("iterable",)) if over is not None and is_counted else None
        return self.source(element.item, ("over",)) if number == 0 else None

    def _operator(self, item: ItemId) -> str:
        node = self.node(item)
        return node.operator if node is not None else ""

    def _is_rebound(self, item: ItemId, user: ItemId) -> bool:
        """Whether an item stands in a loop or a condition that its user is behind: another one may have its name."""
        place, behind = self.place(item), self.place(user)
        if place is None or behind is None:
            return False
        bodies = set(place.graph.ancestors(place.item)) if place.item in place.graph.parents else set()
        if prefix_of(item) == prefix_of(user) and behind.item in behind.graph.parents:
            bodies -= set(behind.graph.ancestors(behind.item))
        return any(place.graph.blocks[ItemId(body)].kind in LOOPS for body in bodies if body != ROOT)

    def _is_made_in(self, prefix: str) -> bool:
        """Whether a module is constructed there: its `forward` runs in its calls alone."""
        node = self.node(ItemId(prefix.removesuffix(SEPARATOR))) if prefix else None
        definition = self.graph.definitions.get(node.operator.removeprefix(GROUP)) if node is not None else None
        return definition is not None and definition.is_module

    def _same_module(self, item: ItemId) -> Source | None:
        """What a method of modules is called of that gives back the module itself."""
        path = SAME_MODULE.get(self._operator(item))
        return self.source(item, (path,)) if path is not None else None

    def _nearer(self, item: ItemId, output: int) -> Source | None:
        """One step nearer to what computed a value."""
        around, _, last = item.rpartition(SEPARATOR)
        if last == INPUTS and around:
            return self._given(ItemId(around), output)
        node = self.node(item)
        if node is None:
            return None
        if node.operator == ALIAS or node.bypassed:
            return self.source(item)
        if node.operator == TUPLE and len(node.names) > 1:
            return self.source(item, (f"items.{output}",))
        if node.operator != CALL and not node.operator.startswith(GROUP):
            return None
        definition = self.definition(item)
        if definition is None or (definition.is_module and node.operator.startswith(GROUP)):
            return None
        wire = definition.graph.wire_into(OUTPUTS, str(output))
        return Source("", call_item_id(item, wire.source), wire.output) if wire is not None else None

    def _given(self, call: ItemId, output: int) -> Source | None:
        """What a call is given as the input of that number; of a module's setting, what it was constructed with."""
        definition, node = self.definition(call), self.node(call)
        if definition is None or node is None or output >= len(definition.inputs):
            return None
        name = definition.inputs[output]
        if name not in definition.settings:
            number = definition.taken.index(name)
            return self.source(call, (name, f"{POSITIONAL}{number}"))
        maker = self.maker(call) if node.operator == CALL else call
        return self.source(maker, (name,)) if maker is not None else None

    def _further(self, wire: Wire, prefix: str) -> list[tuple[ItemId, int | None]] | None:
        """Where a wire goes on behind a call that ends, or inside one that it leads into; None: its end uses it."""
        if wire.target == OUTPUTS:
            return [(ItemId(prefix.removesuffix(SEPARATOR)), int(wire.port))] if prefix else []
        target = ItemId(prefix + wire.target)
        definition = self.definition(target) if wire.port != CALLED else None
        if definition is None:
            return None
        name = wire.port
        if name.startswith(POSITIONAL) and name.removeprefix(POSITIONAL).isdigit():
            place = int(name.removeprefix(POSITIONAL))
            name = definition.taken[place] if place < len(definition.taken) else ""
        number = definition.inputs.index(name) if name in definition.inputs else None
        calls = self.calls(target) if name in definition.settings else ()
        return [(call_item_id(one, INPUTS), number) for one in (target, *calls)]


_known: MemoTable[tuple[int, CallPaths]] = MemoTable()


def call_paths(graph: Graph) -> CallPaths:
    """Those of a graph as it stands; the same until it is edited."""
    revision, paths = _known.get(graph) or (-1, None)
    if paths is None or revision != graph.revision:
        paths = CallPaths(graph)
        _known[graph] = graph.revision, paths
    return paths


def prefix_of(item: ItemId) -> str:
    """What the ids of everything in the same call begin with."""
    calls, separator, _ = item.rpartition(SEPARATOR)
    return calls + separator


def _wired(place: ItemLocation, prefix: str) -> Iterator[Source]:
    if place.item not in place.graph:
        return
    node = place.graph.nodes.get(place.item)
    is_method = node is not None and node.operator == FREE_METHOD and _is_tensor_method(place.graph, node)
    for wire in place.graph.wires_to(place.item):
        port = "self" if is_method and wire.port == CALLED else wire.port
        yield Source(port, ItemId(prefix + wire.source), wire.output)


def taken_by(place: ItemLocation, output: int | None = None) -> list[Wire]:
    """The wires out of an item; of what a loop carries those out of what it carries it as, not those of its counter."""
    found, seen = list[Wire](), set[Wire]()
    todo = [wire for wire in place.graph.wires_from(place.item) if output is None or wire.output == output]
    while todo:
        wire = todo.pop(0)
        way, _, name = wire.port.partition(".")
        block = place.graph.blocks.get(wire.target)
        if block is None or way not in CARRYING or name not in block.carried:
            found.append(wire)
        elif wire not in seen:
            number = 1 + block.carried.index(name)
            todo += [one for one in place.graph.wires_from(block.id) if one.output == number]
        seen.add(wire)
    return found


def _gives_back(node: Node | None, port: str) -> bool:
    return node is not None and SAME_MODULE.get(node.operator) == port


def _is_tensor_method(graph: Graph, node: Node) -> bool:
    """Whether a method of what nobody knows is one that tensors have, and nothing else is given to it."""
    is_known = load().get(TENSOR_METHOD + node.literals.get("name", "").strip("\"'")) is not None
    return is_known and not any(wire.port.startswith("inputs") for wire in graph.wires_to(node.id))
