"""Gradients, read from the text alone: what may require grad, and what a pass repeats (SEMANTICS 5)."""

from gradstudio.graph.model import DEFINITION_INPUTS, BodyId, Graph, ItemId, Node
from gradstudio.graph.soundness import TENSOR_ATTRIBUTES, Soundness, attribute_of
from gradstudio.operators.model import Effect, Face, Family, Operator

Value = tuple[ItemId, int]

ALWAYS_REPEATED = frozenset(
    {Effect.BACKWARD, Effect.GRAD, Effect.OPTIMIZER, Effect.PRINT, Effect.SEED, Effect.MODULE_CALL}
)
METADATA = frozenset(
    "shape dtype device layout ndim requires_grad is_leaf itemsize nbytes size dim numel nelement ndimension "
    "element_size stride storage_offset is_contiguous is_floating_point is_complex get_device data_ptr "
    "is_cuda is_sparse names output_nr retains_grad".split()
)
"""Attributes and methods that look at a tensor without computing with its values."""
PARAMETER_KEYS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
INIT_PREFIX = "torch.nn.init."
CONTAINERS = frozenset({Face.TUPLE, Face.LIST})


class Gradients:
    """One walk over the sound part of a program.

    Attributes:
        may: outputs that may require grad.
        repeated: items of the repeated part; a block is in it when something inside is.
    """

    def __init__(self, graph: Graph, soundness: Soundness) -> None:
        """Walk the graph in program order."""
        self.graph, self._soundness = graph, soundness
        self.may: set[Value] = set()
        self.repeated: set[ItemId] = set()
        self._roots: dict[Value, Value] = {}
        self._modules: set[Value] = set()  # modules and optimizers: they hold tensors, and are none
        self._tracked: set[Value] = set()  # objects that may require grad, views and aliases counted as one
        self._written: set[Value] = set()  # objects that the repeated part wrote into
        self._loops: set[ItemId] = set()
        for item in graph.order():
            if soundness.is_live(item):
                if item in graph.nodes:
                    self._node(graph.nodes[item])
                else:
                    self._block(item)
        for item in tuple(self.repeated):
            self.repeated.update(ItemId(body) for body in graph.ancestors(item) if body)

    def _block(self, item: ItemId) -> None:
        block = self.graph.blocks[item]
        if block.kind == "for" or self.graph.parents[item] in self._loops:
            self._loops.add(item)
            self.repeated.add(item)
        if block.kind == "for":  # a parameter, an element of a list, a carried value: no text tells
            for k in range(1 + len(block.carried)):
                if k or not ("range" in block.lengths or "range" in block.literals):
                    self._tracked.add((item, k))
                    self.may.add((item, k))

    def _node(self, node: Node) -> None:
        sources = self._sources(node)
        operator = self._soundness.operators.get(node.id)
        is_tracked = any(self._root(value) in self._tracked for value in sources)
        if node.bypassed or operator is None:
            self._share(node, sources)
            if self._takes_repeated(node, sources):
                self.repeated.add(node.id)
            return
        is_repeated = self._takes_repeated(node, sources) or self._repeats_itself(node, operator, sources)
        if is_repeated:
            self.repeated.add(node.id)
        self._note_module(node, operator, sources)
        self._outputs(node, operator, sources, is_tracked)
        self._writes(node, operator, is_tracked, is_repeated)

    def _sources(self, node: Node) -> list[Value]:
        wires = self.graph.wires
        return [
            (wire.source, wire.output)
            for port in self._soundness.ports[node.id]
            if (wire := wires[node.id, port]).source != DEFINITION_INPUTS
        ]

    def _takes_repeated(self, node: Node, sources: list[Value]) -> bool:
        if self.graph.parents[node.id] in self._loops:
            return True
        return any(value[0] in self.repeated or self._root(value) in self._written for value in sources)

    def _note_module(self, node: Node, operator: Operator, sources: list[Value]) -> None:
        is_made = bool(operator.results) and operator.results[0].family in (Family.MODULE, Family.OPTIMIZER)
        is_passed_on = operator.face in (Face.ALIAS, Face.ITEM) and bool(sources) and sources[0] in self._modules
        if is_made or is_passed_on:
            self._modules.add((node.id, 0))

    def _repeats_itself(self, node: Node, operator: Operator, sources: list[Value]) -> bool:
        effects = operator.effects
        if any(effect in ALWAYS_REPEATED for effect in effects):
            return True
        if is_set_up(operator):
            return False
        if Effect.RANDOM in effects and self._takes_tensor(node, operator):
            return True
        if not computes(operator, node):
            return False
        if operator.face is Face.ITEM and sources and self._is_container(sources[0]):
            return False
        return any(self._root(value) in self._tracked and value not in self._modules for value in sources)

    def _is_container(self, value: Value) -> bool:
        operator = self._soundness.operators.get(value[0])
        return operator is not None and operator.face in CONTAINERS

    def _takes_tensor(self, node: Node, operator: Operator) -> bool:
        for port in self._soundness.ports[node.id]:
            wire = self.graph.wires[node.id, port]
            source = self._soundness.operators.get(wire.source)
            families = [result.family for result in source.results] if source is not None else []
            if not families or families[0] in (Family.TENSOR, Family.UNKNOWN, Family.TUPLE):
                return True
        return False

    def _outputs(self, node: Node, operator: Operator, sources: list[Value], is_tracked: bool) -> None:
        own = (node.id, 0)
        if _makes_leaf(operator, node):
            self._tracked.add(own)
        elif shares_memory(operator) and sources:
            self._share(node, sources)
        elif is_tracked and not operator.cuts and carries_gradient(operator) and not self._is_no_grad(node):
            self._tracked.update((node.id, k) for k in range(max(1, len(operator.results), len(node.names))))
        elif operator.face is Face.CONSTRUCTOR or _is_parameter_path(operator):
            self._tracked.add(own)
        if _sets_requires_grad(operator, node):
            root = self._root(sources[0]) if sources else own
            if _literal_flag(operator, node) == "False":
                self._tracked.discard(root)
            else:
                self._tracked.add(root)
        for k in range(max(1, len(operator.results), len(node.names))):
            if self._root((node.id, k)) in self._tracked and may_be_tensor(operator):
                self.may.add((node.id, k))

    def _writes(self, node: Node, operator: Operator, is_tracked: bool, is_repeated: bool) -> None:
        for name in operator.writes:
            wire = self.graph.wires.get((node.id, name))
            if wire is None:
                continue
            root = self._root((wire.source, wire.output))
            if is_tracked and not self._is_no_grad(node):
                self._tracked.add(root)
            if is_repeated:
                self._written.add(root)

    def _share(self, node: Node, sources: list[Value]) -> None:
        if sources:
            self._roots[node.id, 0] = self._root(sources[0])
            if self._root(sources[0]) in self._tracked:
                self.may.add((node.id, 0))

    def _root(self, value: Value) -> Value:
        return self._roots.get(value, value)

    def _is_no_grad(self, node: Node) -> bool:
        for body in self.graph.ancestors(node.id):
            kind = self.graph.blocks[ItemId(body)].kind if body else ""
            if kind in ("no_grad", "inference_mode"):
                return True
            if kind == "enable_grad":
                return False
        return False


def is_set_up(operator: Operator) -> bool:
    """Whether SEMANTICS 5 names it as set-up, whatever it takes (unless that is repeated)."""
    return (
        operator.face is Face.CONSTRUCTOR
        or operator.key in PARAMETER_KEYS
        or operator.key.startswith(INIT_PREFIX)
        or Effect.MODE in operator.effects
    )


def computes(operator: Operator, node: Node) -> bool:
    """Whether it computes with the values of a tensor it is given."""
    if operator.face in CONTAINERS or operator.face in (Face.ALIAS, Face.LITERAL, Face.SET_ATTRIBUTE):
        return False
    if operator.key == "python.append":
        return False
    if operator.key == "python.attribute":
        return attribute_of(node) in TENSOR_ATTRIBUTES - METADATA
    word = operator.symbol or operator.word
    return not (operator.face in (Face.ATTRIBUTE, Face.METHOD) and word in METADATA)


def shares_memory(operator: Operator) -> bool:
    """Whether the result is the object it was given, or a view of it that carries its gradient."""
    if operator.cuts:
        return False
    return bool(operator.writes) or operator.view or operator.face is Face.ALIAS or Effect.MODE in operator.effects


def carries_gradient(operator: Operator) -> bool:
    """Whether a result may be a tensor (or hold some) that requires grad because an input does."""
    return may_be_tensor(operator) or operator.face in CONTAINERS


def may_be_tensor(operator: Operator) -> bool:
    """Whether some result may be a tensor, or a list of some."""
    if operator.face is Face.ATTRIBUTE and operator.symbol in METADATA:
        return False
    return any(result.family in (Family.TENSOR, Family.TUPLE, Family.UNKNOWN) for result in operator.results)


def _makes_leaf(operator: Operator, node: Node) -> bool:
    if operator.key in PARAMETER_KEYS:
        return node.literals.get("requires_grad") != "False"
    if operator.parameter("requires_grad") is None or Effect.MODE in operator.effects:
        return False
    return node.literals.get("requires_grad", "False") != "False"


def _is_parameter_path(operator: Operator) -> bool:
    return operator.key == "python.attribute" or operator.word in ("parameters", "named_parameters")


def _sets_requires_grad(operator: Operator, node: Node) -> bool:
    if operator.word == "requires_grad_":
        return True
    if operator.face is not Face.SET_ATTRIBUTE:
        return False
    return (operator.symbol or attribute_of(node)) == "requires_grad"


def _literal_flag(operator: Operator, node: Node) -> str:
    return node.literals.get("value" if operator.face is Face.SET_ATTRIBUTE else "requires_grad", "True")


def losses_first(operator: Operator | None) -> bool:
    """Whether the operator is a loss, which goes first as the root of an appended backward."""
    return operator is not None and (operator.category == "Losses" or operator.word.endswith("_loss"))


def body_is_top_level(graph: Graph, body: BodyId) -> bool:
    """Whether the body has the program's own scope: no loop and no condition around it."""
    while body:
        if graph.blocks[ItemId(body)].kind in ("for", "if"):
            return False
        body = graph.parents[ItemId(body)]
    return True
