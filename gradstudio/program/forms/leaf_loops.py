"""Switched: leaves that a loop over a list makes of tensors, ``for p in parameters: p.requires_grad = True``."""

from gradstudio.graph.analysis.operator_traits import ALWAYS_REPEATED, METADATA, traits_of
from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.analysis.static_gradients import body_is_top_level
from gradstudio.graph.model import Block, ItemId
from gradstudio.operators.model import Effect, Face, Family

Value = tuple[ItemId, int]


class SwitchLoops:
    """What such loops change, which no text tells of each tensor alone.

    Attributes:
        leaves: the tensors in the lists.
        repeated: what computes with them afterwards.
        drawn: what counts as repeated only because it draws from a generator that the program seeds itself.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Look at every loop of the program."""
        self._graph, self._validity = analysis.graph, analysis.validity
        self.leaves: set[Value] = set()
        self.repeated: set[ItemId] = set()
        self.drawn: set[ItemId] = set()
        self._analysis = analysis
        order = [item for item in self._graph.order() if self._validity.is_live(item)]
        for item in order:
            block = self._graph.blocks.get(item)
            if block is not None and block.kind == "for" and self._switches_on(block):
                self.leaves.update(self._elements(block))
            elif self.leaves and self._computes(item):
                self.repeated.add(item)
            elif item in analysis.gradients.repeated and self._is_drawn(item):
                self.drawn.add(item)

    def _switches_on(self, block: Block) -> bool:
        return any(self._is_switch(wire.target) for wire in self._graph.wires_from(block.id) if wire.output == 0)

    def _is_switch(self, item: ItemId) -> bool:
        node = self._graph.nodes.get(item)
        operator = self._validity.operators.get(item)
        if node is None or operator is None or not self._validity.is_live(item):
            return False
        if operator.face is Face.SET_ATTRIBUTE:
            return "requires_grad" in (operator.symbol, node.literals.get("name")) and (
                node.literals.get("value") == "True"
            )
        return traits_of(operator).sets_requires_grad and node.literals.get("requires_grad", "True") == "True"

    def _elements(self, block: Block) -> set[Value]:
        """The tensors that the loop goes over: of a list in its head, or of one made before."""
        found: set[Value] = set()
        for port in self._validity.ports[block.id]:
            wire = self._graph.wires[block.id, port]
            operator = self._validity.operators.get(wire.source)
            if operator is not None and operator.face in (Face.LIST, Face.TUPLE):
                inner = (self._graph.wires[wire.source, path] for path in self._validity.ports[wire.source])
                found.update(self._validity.binding(one.source, one.output) for one in inner)
            elif port.startswith("over."):
                found.add(self._validity.binding(wire.source, wire.output))
        return {value for value in found if value[0] in self._graph.nodes}

    def _computes(self, item: ItemId) -> bool:
        operator = self._validity.operators.get(item)
        if operator is not None and (operator.face in (Face.LIST, Face.TUPLE, Face.ALIAS) or operator.word in METADATA):
            return False
        wires = [self._graph.wires[item, port] for port in self._validity.ports[item]]
        sources = {self._validity.binding(wire.source, wire.output) for wire in wires}
        return any(value in self.leaves or value[0] in self.repeated for value in sources)

    def _is_drawn(self, item: ItemId) -> bool:
        operator = self._validity.operators.get(item)
        gradients = self._analysis.gradients
        if operator is None or operator.writes or not body_is_top_level(self._graph, self._graph.parents[item]):
            return False
        seeds = operator.key.startswith("torch.Generator")
        if any(e in ALWAYS_REPEATED and not (seeds and e is Effect.SEED) for e in operator.effects):
            return False
        wires = [self._graph.wires[item, port] for port in self._validity.ports[item]]
        if Effect.RANDOM in operator.effects and any(self._is_tensor(wire.source) for wire in wires):
            return False
        sources = {self._validity.binding(wire.source, wire.output) for wire in wires}
        drawn = all(value[0] in self.drawn or value[0] not in gradients.repeated for value in sources)
        return drawn and (seeds or bool(sources)) and not any(value in gradients.may for value in sources)

    def _is_tensor(self, item: ItemId) -> bool:
        operator = self._validity.operators.get(item)
        return operator is None or (operator.results[:1] != () and operator.results[0].family is Family.TENSOR)
