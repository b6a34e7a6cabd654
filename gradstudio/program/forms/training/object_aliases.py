"""Objects: which object a value is, holds or looks into, and what statements do to it."""

from gradstudio.graph.analysis import module_modes
from gradstudio.graph.analysis.operator_traits import CONTAINERS
from gradstudio.graph.model import ItemId, Node
from gradstudio.graph.ports.module_calls import origin
from gradstudio.operators.model import Effect, Face, Family, Operator
from gradstudio.program.forms.statement_units import Units, Value

_HANDS_ON = frozenset(
    "parameters named_parameters buffers modules children named_modules named_children data list tuple dict iter "
    "values items keys reversed sorted zip enumerate filter chain".split()
)
"""What gives the object itself, or its parts, in another wrapping: writing into that writes into it."""
_COLLECTS = frozenset("append extend insert".split())
_DEEPEST = 50


class Objects:
    """The objects of one program."""

    def __init__(self, units: Units) -> None:
        """Look at nothing yet."""
        self.units, self.graph = units, units.graph

    def origins(self, value: Value, depth: int = 0) -> set[Value]:
        """The objects that a value is, holds or looks into: ``W`` of ``W.grad``, ``fc`` of ``fc.weight``."""
        item, output = value
        block = self.graph.blocks.get(item)
        operator = self.units.operator(item)
        if depth > _DEEPEST:
            return {value}
        if block is not None:
            before = self._given(item, f"first.{block.carried[output - 1]}" if output else "over")
        elif operator is None or self._passes_on(operator) or self._joins_lists(item, operator):
            ports = self.units.validity.ports.get(item, ())
            holds_all = operator is not None and operator.face in (*CONTAINERS, Face.INFIX)
            before = [self._source(item, port) for port in (ports if holds_all else ports[:1])]
        elif operator.writes:
            before = self._given(item, operator.writes[0])
        else:
            return {value}
        found = {origin for source in before for origin in self.origins(source, depth + 1)}
        return found or {value}

    def changed(self, unit: ItemId) -> set[Value]:
        """The objects that a unit writes into, clears or switches."""
        found = set()
        for item in self.units.members(unit):
            operator = self.units.operator(item)
            for value in self.targets(item, operator) if operator is not None else ():
                found |= self.origins(value)
        return found

    def collects(self, unit: ItemId) -> bool:
        """Whether a unit changes nothing but lists, by putting something in."""
        for item in self.units.members(unit):
            operator = self.units.operator(item)
            if operator is not None and operator.word not in _COLLECTS and self.targets(item, operator):
                return False
        return True

    def acts(self, item: ItemId) -> bool:
        """Whether a node changes parameters, gradients, modes or an optimizer."""
        operator = self.units.operator(item)
        if operator is None:
            return False
        if Effect.OPTIMIZER in operator.effects:
            return True
        return any(self.is_model(found) for value in self.targets(item, operator) for found in self.origins(value))

    def is_model(self, value: Value) -> bool:
        """Whether a value is a parameter or a module of the set-up, or an optimizer."""
        if value in self.units.leaves:
            return True
        return self.makes(value[0], Family.MODULE) or self.makes(value[0], Family.OPTIMIZER)

    def makes(self, item: ItemId, family: Family) -> bool:
        """Whether a node constructs a module, or an optimizer."""
        operator = self.units.operator(item)
        is_constructor = operator is not None and operator.constructs and bool(operator.results)
        return is_constructor and operator is not None and operator.results[0].family is family

    def is_gradient(self, value: Value) -> bool:
        """Whether a value is what some tensor's ``.grad`` holds."""
        item: ItemId | None = value[0]
        for _ in range(_DEEPEST):
            if item is None or self.reads_gradient(item):
                return item is not None
            operator = self.units.operator(item)
            ports = self.units.validity.ports.get(item, ())
            goes_on = operator is not None and (operator.writes or self._passes_on(operator)) and ports
            item = self._source(item, ports[0])[0] if goes_on else None
        return False

    def reads_gradient(self, item: ItemId) -> bool:
        """Whether a node reads a tensor's ``.grad``."""
        operator = self.units.operator(item)
        node = self.graph.nodes.get(item)
        if operator is None or node is None or operator.face is not Face.ATTRIBUTE:
            return False
        return (operator.symbol or node.literals.get("name", "").strip("'\"")) == "grad"

    def sets_back(self, item: ItemId) -> bool:
        """Whether a node sets gradients to zero or to None."""
        operator = self.units.operator(item)
        if operator is None:
            return False
        if operator.face is Face.SET_ATTRIBUTE:
            return (operator.symbol or self.graph.nodes[item].literals.get("name", "").strip("'\"")) == "grad"
        return operator.word == "zero_grad" or (
            operator.word == "zero_" and self.is_gradient(self.targets(item, operator)[0])
        )

    def only_evaluates(self, unit: ItemId) -> bool:
        """Whether all that draws here is a module that was set to evaluation."""
        for item in self.units.members(unit):
            node = self.graph.nodes.get(item)
            operator = self.units.operator(item)
            if node is None or operator is None or not self._draws(item, operator):
                continue
            maker = self._maker(node, operator)
            if maker is None or module_modes.is_training(self.graph, maker.id):
                return False
        return True

    def _draws(self, item: ItemId, operator: Operator) -> bool:
        return Effect.RANDOM in operator.effects or Effect.SEED in operator.effects or operator.face is Face.CALL

    def _maker(self, node: Node, operator: Operator) -> Node | None:
        wire = self.graph.wires.get((node.id, operator.parameters[0].name)) if operator.parameters else None
        source = self.graph.nodes.get(wire.source) if wire is not None and operator.face is Face.CALL else None
        return origin(self.graph, source) if source is not None else None

    def targets(self, item: ItemId, operator: Operator) -> list[Value]:
        """What a node writes into, clears or switches."""
        acts = bool({Effect.MODE, Effect.OPTIMIZER} & {*operator.effects}) or operator.face is Face.SET_ATTRIBUTE
        clears = Effect.GRAD in operator.effects and not operator.results
        names = operator.writes
        if not names and (acts or clears or Effect.IN_PLACE in operator.effects):
            names = tuple(parameter.name for parameter in operator.parameters[:1])
        return [value for name in names for value in self._given(item, name)]

    def _given(self, item: ItemId, name: str) -> list[Value]:
        wires = self.graph.wires_to(item)
        return [(w.source, w.output) for w in wires if w.port == name or w.port.startswith(f"{name}.")]

    def _source(self, item: ItemId, port: str) -> Value:
        wire = self.graph.wires[item, port]
        return wire.source, wire.output

    def wired(self, item: ItemId) -> set[str]:
        """The ports of a node that have a wire."""
        return {wire.port for wire in self.graph.wires_to(item)}

    def is_tensor(self, item: ItemId, depth: int = 0) -> bool:
        """Whether a node gives a tensor, and not a list, a number or an object."""
        operator = self.units.operator(item)
        if operator is None or not operator.results:
            return False
        if operator.face in (Face.INFIX, Face.PREFIX, Face.ALIAS) and depth < _DEEPEST:
            ports = self.units.validity.ports.get(item, ())
            return any(self.is_tensor(self._source(item, port)[0], depth + 1) for port in ports)
        return operator.results[0].family is Family.TENSOR

    def _joins_lists(self, item: ItemId, operator: Operator) -> bool:
        """``list(a.parameters()) + list(b.parameters())``."""
        return operator.face is Face.INFIX and not self.is_tensor(item)

    def _passes_on(self, operator: Operator) -> bool:
        faces = (Face.ALIAS, Face.ATTRIBUTE, Face.ITEM, *CONTAINERS)
        return operator.face in faces or operator.view or operator.word in _HANDS_ON or Effect.MODE in operator.effects
