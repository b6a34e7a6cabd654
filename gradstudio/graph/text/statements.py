"""What every item of a program prints: its row, its arguments, its wired ports, and which name stands for a result."""

from collections.abc import Iterable
from typing import TypeVar

from gradstudio.graph.model import DEFINITION_INPUTS, Block, Graph, ItemId, Node
from gradstudio.graph.ports.arguments import Argument, argument_ports, arguments, block_arguments, find_operator
from gradstudio.graph.ports.module_calls import is_direct
from gradstudio.operators.calls.call_signature import MODULE
from gradstudio.operators.catalogue.out_variants import written_port
from gradstudio.operators.model import Face, Operator

Binding = tuple[ItemId, int]
Fact = TypeVar("Fact")


def inputs_of(graph: Graph) -> tuple[str, ...]:
    """The names that the inside of a definition is given; none of a program."""
    return graph.edges.inputs if graph.edges is not None else ()


FAR_SIGHTED = frozenset({Face.CALL, Face.AUGMENTED, Face.ATTRIBUTE, Face.SET_ATTRIBUTE, Face.GROUP, Face.CODE})
"""What a statement of such an operator prints, or whether it can run, depends on more than its record and wires."""
SELF = "self."
"""How what belongs to a module is read in its class."""


def own_names(graph: Graph, item: ItemId) -> tuple[str, ...]:
    """The names that a node binds; what a module keeps has ``self.`` in front."""
    names = graph.nodes[item].names
    if graph.edges is None or item not in graph.edges.kept:
        return names
    return tuple(name if name == "_" else SELF + name for name in names)


class Statements:
    """The items of one graph as they would be printed, sound or not.

    Attributes:
        operators: the row of every node that has one.
        arguments: the printed arguments of every node and block.
        ports: their wired ports in Python's order of evaluation.
        bindings: for outputs that were read, the binding whose name stands for it; those that are their own are none.
        kept: the nodes of which all is as an earlier look had it.
        anew: those of which it had something, and that were looked at again.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: tuple[str, ...] = (),
        earlier: "Statements | None" = None,
        changed: frozenset[ItemId] = frozenset(),
    ) -> None:
        """Look at every item; `inputs` are the names a definition is given.

        With an `earlier` look at the same graph, only at those that `changed` since, and at what sees farther than
        its own record and wires.
        """
        self.graph, self._inputs = graph, inputs or inputs_of(graph)
        self.operators: dict[ItemId, Operator] = {}
        self.arguments: dict[ItemId, tuple[Argument, ...]] = {}
        self.ports: dict[ItemId, tuple[str, ...]] = {}
        self.bindings: dict[Binding, Binding] = {}
        self._near: set[ItemId] = set()  # what they print, and whether they can run, their records and wires tell
        self._far: set[ItemId] = set()  # the others
        self.kept: frozenset[ItemId] = frozenset()
        self.anew: frozenset[ItemId] = frozenset()
        if earlier is not None:
            self._take_over(earlier, changed)
        self._collect(graph.order() if earlier is None else [item for item in self.anew if item in graph])

    @property
    def far_sighted(self) -> set[ItemId]:
        """What prints, or can run, by more than its own record and wires; what passes on an object is among it."""
        return self._far

    def binding(self, source: ItemId, output: int) -> Binding:
        """The binding whose name stands for an output.

        Of an in-place or bypassed statement without a name it is that of the object it passes on.
        """
        key = (source, output)
        if source in self._near:
            return key
        known = self.bindings.get(key)
        if known is None:
            self.bindings[key] = key  # ends the search should in-place statements feed one another in a ring
            before = self._passed_on(source, output)
            known = self.bindings[key] = self.binding(*before) if before is not None else key
        return known

    def meant(self, key: Binding) -> Binding | None:
        """The binding that was found for an output; None when nobody asked."""
        return key if key[0] in self._near else self.bindings.get(key)

    def prints_same(self, node: Node) -> bool:
        """Whether a node with other literals has the arguments and ports it had."""
        operator = self.operators.get(node.id)
        if find_operator(self.graph, node) != operator:
            return False
        if operator is None:
            return True
        printed = arguments(self.graph, node, operator)
        return printed == self.arguments[node.id] and self._wired(node, printed) == self.ports[node.id]

    def name(self, binding: Binding) -> str:
        """The name of a binding; "" when it has none."""
        item, output = binding
        graph = self.graph
        if item == DEFINITION_INPUTS:
            return self._inputs[output] if output < len(self._inputs) else ""
        if (block := graph.blocks.get(item)) is not None:
            bound: tuple[str, ...] = (block.variable, *block.carried)
        else:
            bound = graph.nodes[item].names if graph.edges is None else own_names(graph, item)
        return bound[output] if output < len(bound) and bound[output] != "_" else ""

    def _passed_on(self, source: ItemId, output: int) -> Binding | None:
        node = self.graph.nodes.get(source)
        if node is None or node.names:
            return None
        operator = self.operators.get(source)
        if node.bypassed:
            path = next(iter(self.ports.get(source, ())), "")
        else:
            path = written_port(operator.writes, output) if operator is not None else ""
        wire = self.graph.wires.get((source, path))
        return (wire.source, wire.output) if wire is not None else None

    def _take_over(self, earlier: "Statements", changed: frozenset[ItemId]) -> None:
        """What an earlier look says of the nodes that see no farther than what did not change."""
        self.anew = changed | earlier._far | self._calls_of(changed)
        self._near = earlier._near - self.anew
        self.kept = frozenset(self._near)
        self.operators, self.arguments, self.ports = (
            without(table, self.anew) for table in (earlier.operators, earlier.arguments, earlier.ports)
        )

    def _calls_of(self, changed: frozenset[ItemId]) -> set[ItemId]:
        """The calls of modules that changed."""
        wires = self.graph.outgoing
        return {wire.target for item in changed for wire in wires.get(item, ()) if wire.port == MODULE}

    def _is_near(self, node: Node, operator: Operator) -> bool:
        """Whether its record and wires tell all of a node; of a call, with the node that it calls."""
        if node.bypassed or (operator.writes and not node.names):
            return False
        return operator.face not in FAR_SIGHTED or (bool(node.names) and is_direct(self.graph, node))

    def _collect(self, items: Iterable[ItemId]) -> None:
        graph = self.graph
        for item in items:
            node = graph.nodes.get(item)
            if node is None:
                self._far.add(item)
                printed = block_arguments(graph, graph.blocks[item])
                owner: Node | Block = graph.blocks[item]
            else:
                owner = node
                operator = find_operator(graph, node)
                if operator is None:
                    self._far.add(item)
                    self.ports[item] = tuple(wire.port for wire in graph.wires_to(item))
                    continue
                self.operators[item] = operator
                if self._is_near(node, operator):
                    self._near.add(item)
                else:
                    self._far.add(item)
                printed = arguments(graph, node, operator)
            self.arguments[item] = printed
            self.ports[item] = self._wired(owner, printed)

    def _wired(self, owner: Node | Block, printed: tuple[Argument, ...]) -> tuple[str, ...]:
        graph, item = self.graph, owner.id
        if item not in graph.incoming:
            return ()
        operator = self.operators.get(item)
        if operator is not None and operator.face in (Face.SET_ITEM, Face.SET_ATTRIBUTE):
            printed = (*printed[-1:], *printed[:-1])  # Python takes the value first
        paths = (path for argument in printed for path in argument_ports(graph, owner, argument))
        wired = tuple(path for path in paths if (item, path) in graph.wires)
        if not (isinstance(owner, Node) and owner.bypassed):
            return wired
        is_call = operator is not None and operator.face is Face.CALL
        return wired[1:2] if is_call and len(wired) > 1 else wired[:1]  # a module lets its input through, not itself


def without(table: dict[ItemId, Fact], items: Iterable[ItemId]) -> dict[ItemId, Fact]:
    """A copy of a table without what it says of these items."""
    rest = table.copy()
    for item in items:
        rest.pop(item, None)
    return rest
