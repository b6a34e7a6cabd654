"""Gradients, read from the text alone: what may require grad, and what a pass repeats (semantics §5)."""

import msgspec

from gradstudio.graph.analysis.incomplete_reasons import TENSOR_ATTRIBUTES
from gradstudio.graph.analysis.validity import Validity
from gradstudio.graph.groups.definitions import INIT_PREFIX, PARAMETER_KEYS
from gradstudio.graph.model import DEFINITION_INPUTS, BodyId, Graph, ItemId, Node
from gradstudio.graph.ports.item_ports import counts
from gradstudio.graph.text.record_checks import attribute_of
from gradstudio.operators.model import Effect, Face, Family, Operator

Value = tuple[ItemId, int]

ALWAYS_REPEATED = frozenset(
    {Effect.BACKWARD, Effect.GRAD, Effect.OPTIMIZER, Effect.PRINT, Effect.SEED, Effect.SETTING, Effect.MODULE_CALL}
)
METADATA = frozenset(
    "shape dtype device layout ndim requires_grad is_leaf itemsize nbytes size dim numel nelement ndimension "
    "element_size stride storage_offset is_contiguous is_floating_point is_complex get_device data_ptr "
    "is_cuda is_sparse names output_nr retains_grad".split()
)
"""Attributes and methods that look at a tensor without computing with its values."""
CREATES_LIKE = frozenset(
    "zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty new_tensor".split()
)
"""Creation that takes its shape, dtype and device from a tensor, and so does not compute with it."""
CONTAINERS = frozenset({Face.TUPLE, Face.LIST})
PASSING = CONTAINERS | {Face.ALIAS, Face.LITERAL, Face.SET_ATTRIBUTE}
TENSOR_FAMILIES = frozenset({Family.TENSOR, Family.TUPLE, Family.UNKNOWN})
OF_WHAT_IT_TAKES = CONTAINERS | {Face.INFIX, Face.PREFIX, Face.ITEM, Face.ALIAS, Face.CHOICE}
"""Statements that give numbers of numbers, and tensors of tensors."""
ATTRIBUTE, SET_ATTRIBUTE = "python.attribute", "python.set_attribute"


class Gradients:
    """One walk over the sound part of a program.

    Attributes:
        may: outputs that may require grad, now or after a later write into them.
        leaves: outputs that are leaves which require grad.
        repeated: items of the repeated part; a block is in it when something inside is.
    """

    def __init__(self, graph: Graph, validity: Validity) -> None:
        """Walk the graph in program order."""
        self.graph, self._validity = graph, validity
        self.may: set[Value] = set()
        self.leaves: set[Value] = set()
        self._tensors: set[Value] = set()
        self.repeated: set[ItemId] = set()
        self._roots: dict[Value, Value] = {}
        self._modules: set[Value] = set()  # modules and optimizers: they hold tensors, and are none
        self._tracked: set[Value] = set()  # objects that may require grad, views and aliases counted as one
        self._written: set[Value] = set()  # objects that the repeated part wrote into
        self._plain: set[Value] = set()  # numbers, texts and the like, and tuples of nothing else: no tensors
        self._loops: set[BodyId] = set()
        for item in graph.order():
            if validity.is_live(item):
                if item in graph.nodes:
                    self._node(graph.nodes[item])
                else:
                    self._block(item)
        self.may.update(value for value in self._tensors if self._root(value) in self._tracked)
        for item in tuple(self.repeated):
            self.repeated.update(ItemId(body) for body in graph.ancestors(item) if body)

    def _block(self, item: ItemId) -> None:
        block = self.graph.blocks[item]
        if block.kind == "for" or self.graph.parents[item] in self._loops:
            self._loops.add(BodyId(item))
            self.repeated.add(item)
        if block.kind == "for":  # a parameter, an element of a list, a carried value: no text tells
            for k in range(1 + len(block.carried)):
                if k or not counts(self.graph, block):
                    self._tracked.add((item, k))
                    self.may.add((item, k))

    def _node(self, node: Node) -> None:
        sources = self._sources(node)
        operator = self._validity.operators.get(node.id)
        is_tracked = bool(self._tracked) and any(self._root(value) in self._tracked for value in sources)
        if node.bypassed or operator is None:
            self._share(node, sources)
            if sources and sources[0] in self._plain:
                self._plain.add((node.id, 0))
            if self._takes_repeated(node, sources):
                self.repeated.add(node.id)
            return
        is_repeated = self._takes_repeated(node, sources) or self._repeats_itself(node, operator, sources)
        if is_repeated:
            self.repeated.add(node.id)
        self._note_module(node, operator, sources)
        self._note_plain(node, operator, sources)
        self._outputs(node, operator, sources, is_tracked)
        self._writes(node, operator, is_tracked, is_repeated)

    def _sources(self, node: Node) -> list[Value]:
        wires = [self.graph.wires[node.id, port] for port in self._validity.ports[node.id]]
        return [(wire.source, wire.output) for wire in wires if wire.source != DEFINITION_INPUTS]

    def _takes_repeated(self, node: Node, sources: list[Value]) -> bool:
        if self.graph.parents[node.id] in self._loops:
            return True
        if self._written and any(self._root(value) in self._written for value in sources):
            return True
        return any(value[0] in self.repeated for value in sources)

    def _note_module(self, node: Node, operator: Operator, sources: list[Value]) -> None:
        is_made = bool(operator.results) and operator.results[0].family in (Family.MODULE, Family.OPTIMIZER)
        is_passed_on = operator.face in (Face.ALIAS, Face.ITEM) and bool(sources) and sources[0] in self._modules
        if is_made or is_passed_on:
            self._modules.add((node.id, 0))

    def _repeats_itself(self, node: Node, operator: Operator, sources: list[Value]) -> bool:
        traits = traits_of(operator)
        if traits.always:
            return True
        if traits.is_set_up:
            return False
        if traits.is_random and self._takes_tensor(node):
            return True
        if operator.key == ATTRIBUTE:
            computes = attribute_of(node) in TENSOR_ATTRIBUTES - METADATA
        else:
            computes = traits.computes and not (operator.face is Face.ITEM and self._is_container(sources))
        return computes and any(self._root(value) in self._tracked and value not in self._modules for value in sources)

    def _is_container(self, sources: list[Value]) -> bool:
        """Whether an item is taken from a list, which is no computing."""
        operator = self._validity.operators.get(sources[0][0]) if sources else None
        return operator is not None and operator.face in CONTAINERS

    def _takes_tensor(self, node: Node) -> bool:
        wires = (self.graph.wires[node.id, port] for port in self._validity.ports[node.id])
        return any((wire.source, wire.output) not in self._plain for wire in wires)

    def _note_plain(self, node: Node, operator: Operator, sources: list[Value]) -> None:
        """Outputs that are no tensors whatever the program is given."""
        count = max(1, len(operator.results), len(node.names))
        if operator.face is Face.TUPLE and len(node.names) > 1 and node.lengths:
            path = operator.parameters[0].name
            given = {k: self.graph.wires.get((node.id, f"{path}.{k}")) for k in range(count)}
            self._plain.update(
                (node.id, k) for k, wire in given.items() if not wire or (wire.source, wire.output) in self._plain
            )
        elif self._is_plain(node, operator, sources):
            self._plain.update((node.id, k) for k in range(count))

    def _is_plain(self, node: Node, operator: Operator, sources: list[Value]) -> bool:
        if operator.results and operator.results[0].family not in TENSOR_FAMILIES:
            return True
        if operator.face in OF_WHAT_IT_TAKES or operator.key.startswith("builtins."):
            return all(value in self._plain for value in sources)
        word = attribute_of(node) if operator.key == ATTRIBUTE else operator.symbol or operator.word
        return operator.face in (Face.ATTRIBUTE, Face.METHOD) and word in METADATA

    def _outputs(self, node: Node, operator: Operator, sources: list[Value], is_tracked: bool) -> None:
        own = (node.id, 0)
        traits = traits_of(operator)
        count = max(1, len(operator.results), len(node.names))
        if _makes_leaf(traits, node):
            self._tracked.add(own)
            self.leaves.add(own)
        elif traits.shares_memory and sources and not (operator.view and self._is_no_grad(node)):
            sources = self._given_back(node, operator, sources)
            self._share(node, sources, count)
            if not operator.view and sources[0] in self.leaves:
                self.leaves.add(own)
        elif is_tracked and traits.carries_gradient and not self._is_no_grad(node):
            self._tracked.update((node.id, k) for k in range(count))
        elif traits.holds_parameters:
            self._tracked.add(own)
        if traits.sets_requires_grad or (operator.key == SET_ATTRIBUTE and attribute_of(node) == "requires_grad"):
            self._set_flag(operator, node, sources[0] if sources else own)
        if traits.may_be_tensor:
            for k in range(count):
                value = node.id, k
                self._tensors.add(value)
                if self._roots.get(value, value) in self._tracked:
                    self.may.add(value)

    def _given_back(self, node: Node, operator: Operator, sources: list[Value]) -> list[Value]:
        """The object that the result is, first: of an in-place operator what it writes into."""
        wire = self.graph.wires.get((node.id, operator.writes[0])) if operator.writes else None
        return [(wire.source, wire.output)] if wire is not None else sources

    def _set_flag(self, operator: Operator, node: Node, value: Value) -> None:
        port = "value" if operator.face is Face.SET_ATTRIBUTE else "requires_grad"
        root = self._root(value)
        if node.literals.get(port) == "False":
            self._tracked.discard(root)
            self.leaves.discard(value)
        elif root not in self._tracked:
            self._tracked.add(root)
            self.leaves.update((value, (node.id, 0)))

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

    def _share(self, node: Node, sources: list[Value], count: int = 1) -> None:
        if sources:
            root = self._root(sources[0])
            self._roots.update(((node.id, k), root) for k in range(count))
            if root in self._tracked:
                self.may.update((node.id, k) for k in range(count))

    def _root(self, value: Value) -> Value:
        return self._roots.get(value, value)

    def _is_no_grad(self, node: Node) -> bool:
        for body in self.graph.ancestors(node.id):
            block = self.graph.blocks[ItemId(body)] if body else None
            kind = block.kind if block is not None else ""
            if kind in ("no_grad", "inference_mode"):
                return True
            if block is not None and kind == "set_grad_enabled":
                return block.literals.get("mode") == "False"
            if kind == "enable_grad":
                return False
        return False


class Traits(msgspec.Struct, frozen=True):
    """What of an operator matters here.

    Attributes:
        always: repeated whatever it takes (semantics §5).
        is_set_up: set-up whatever it takes, unless that is repeated.
        computes: it computes with the values of a tensor it is given.
        shares_memory: its result is the object it was given, or a view of it that carries its gradient.
        carries_gradient: a result may require grad because an input does.
        may_be_tensor: some result may be a tensor, or a list of some.
        holds_parameters: its result is a module or a part of one.
        makes_leaf: what it makes is a leaf: "" never, "flag" with requires_grad=True, "parameter" by itself.
    """

    always: bool
    is_random: bool
    is_set_up: bool
    computes: bool
    shares_memory: bool
    carries_gradient: bool
    may_be_tensor: bool
    holds_parameters: bool
    makes_leaf: str
    sets_requires_grad: bool


_traits: dict[str, tuple[Operator, Traits]] = {}


def traits_of(operator: Operator) -> Traits:
    """The traits of an operator; those of the catalogue's rows are worked out once."""
    known = _traits.get(operator.key)
    if known is None or known[0] is not operator:
        known = _traits[operator.key] = (operator, _traits_of(operator))
    return known[1]


def _traits_of(operator: Operator) -> Traits:
    face = operator.face
    effects = operator.effects
    word = operator.symbol or operator.word
    families = {result.family for result in operator.results}
    is_metadata = face in (Face.ATTRIBUTE, Face.METHOD) and word in METADATA
    may_be_tensor = bool(families & TENSOR_FAMILIES) and not is_metadata
    looks_only = is_metadata or operator.word in CREATES_LIKE
    is_parameter = operator.key in PARAMETER_KEYS
    has_flag = operator.parameter("requires_grad") is not None and Effect.MODE not in effects
    passes_on = bool(operator.writes) or operator.view or face is Face.ALIAS or Effect.MODE in effects
    return Traits(
        always=any(effect in ALWAYS_REPEATED for effect in effects),
        is_random=Effect.RANDOM in effects,
        is_set_up=operator.constructs or operator.key.startswith(INIT_PREFIX) or Effect.MODE in effects,
        computes=not (face in PASSING or operator.key in ("python.append", ATTRIBUTE) or looks_only),
        shares_memory=passes_on and not operator.cuts,
        carries_gradient=(may_be_tensor or face in CONTAINERS) and not operator.cuts,
        may_be_tensor=may_be_tensor,
        holds_parameters=operator.constructs or operator.key == ATTRIBUTE or word == "parameters",
        makes_leaf="parameter" if is_parameter else "flag" if has_flag else "",
        sets_requires_grad=word == "requires_grad_" or (face is Face.SET_ATTRIBUTE and word == "requires_grad"),
    )


def _makes_leaf(traits: Traits, node: Node) -> bool:
    if traits.makes_leaf == "parameter":
        return node.literals.get("requires_grad") != "False"
    if traits.makes_leaf == "flag":
        wired = node.literals.get("requires_grad", "False")
        return wired != "False"
    return False


def decisive_literals(node: Node) -> tuple[str | None, ...]:
    """All of a node's literals that analysis reads: they may change what requires grad, and what is nested."""
    return tuple(node.literals.get(name) for name in ("requires_grad", "value", "name", "template"))


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
