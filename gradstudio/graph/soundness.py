"""Soundness: which items are part of the program, and why the others cannot run.

Muted items and what reads them are left out. An item is incomplete when an argument is missing
or is no literal, when its operator is unknown, when its text would not mean what its wires say,
or when it reads something that is incomplete (SEMANTICS 12).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from gradstudio.graph import names as names_of
from gradstudio.graph.arguments import (
    GROUP,
    Argument,
    argument_ports,
    arguments,
    block_arguments,
    find_operator,
    slice_parts,
)
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import DEFINITION_INPUTS, DOCUMENT_DEVICE, ROOT, Block, BodyId, Graph, ItemId, Node
from gradstudio.graph.spelling import NotALiteral, spell, spell_index
from gradstudio.operators.model import Face, Family, Kind, Operator

Binding = tuple[ItemId, int]
MAX_BLOCKS = 20
"""Python allows that many blocks within one another."""
MUTED = ""

TENSOR_ATTRIBUTES = frozenset(
    "T H mT mH shape dtype device layout grad grad_fn data requires_grad is_leaf ndim real imag itemsize nbytes "
    "is_cuda is_sparse names retains_grad output_nr".split()
)
_PATH = re.compile(r"(?!_)\w+(?:\.(?!_)\w+)*")
_DIGEST = re.compile(r"[0-9A-Za-z_-]{1,128}")


class Soundness:
    """One walk over a program.

    Attributes:
        operators: the row of every node that has one.
        arguments: the printed arguments of every node and block.
        ports: their wired ports in Python's order of evaluation.
        muted: items that are not part of the program.
        incomplete: items that cannot run, and why.
        bindings: for each output that was read, the binding whose name stands for it.
    """

    def __init__(self, graph: Graph, inputs: tuple[str, ...] = ()) -> None:
        """Walk the graph; `inputs` are the names a definition is given."""
        self.graph, self._inputs = graph, inputs
        self.operators: dict[ItemId, Operator] = {}
        self.arguments: dict[ItemId, tuple[Argument, ...]] = {}
        self.ports: dict[ItemId, tuple[str, ...]] = {}
        self.bindings: dict[Binding, Binding] = {}
        self._own: dict[ItemId, str | None] = {}
        self._gone: dict[ItemId, str] = {}
        self._collect()
        forced: dict[ItemId, str] = {}
        while True:
            self._gone = {}
            _Walk(self, inputs, forced, self._gone).body(ROOT, 0)
            found = {block: why for block, why in self._broken_loops() if block not in forced}
            if not found:
                break
            forced.update(found)
        self.muted = frozenset(item for item, why in self._gone.items() if why == MUTED)
        self.incomplete = {item: why for item, why in self._gone.items() if why != MUTED}

    def is_live(self, item: ItemId) -> bool:
        """Whether the item is printed and run."""
        return item not in self._gone

    def own_reason(self, item: ItemId) -> str | None:
        """Why the item cannot run whatever it reads; None when it can."""
        if item not in self._own:
            node = self.graph.nodes.get(item)
            self._own[item] = self._node_reason(node) if node else self._block_reason(self.graph.blocks[item])
        return self._own[item]

    def binding(self, source: ItemId, output: int) -> Binding:
        """The binding whose name stands for an output.

        Of an in-place or bypassed statement without a name it is that of the object it passes on.
        """
        key = (source, output)
        known = self.bindings.get(key)
        if known is None:
            self.bindings[key] = key  # ends the search should in-place statements feed one another in a ring
            before = self._passed_on(source)
            known = self.bindings[key] = self.binding(*before) if before is not None else key
        return known

    def name(self, binding: Binding) -> str:
        """The name of a binding; "" when it has none."""
        item, output = binding
        if item == DEFINITION_INPUTS:
            return self._inputs[output] if output < len(self._inputs) else ""
        if (block := self.graph.blocks.get(item)) is not None:
            bound = (block.variable, *block.carried)
        else:
            bound = self.graph.nodes[item].names
        return bound[output] if output < len(bound) and bound[output] != "_" else ""

    def _passed_on(self, source: ItemId) -> Binding | None:
        node = self.graph.nodes.get(source)
        if node is None or node.names:
            return None
        operator = self.operators.get(source)
        if node.bypassed:
            path = next(iter(self.ports.get(source, ())), "")
        else:
            path = operator.writes[0] if operator is not None and operator.writes else ""
        wire = self.graph.wires.get((source, path))
        return (wire.source, wire.output) if wire is not None else None

    def _collect(self) -> None:
        graph = self.graph
        for item in graph.order():
            node = graph.nodes.get(item)
            if node is None:
                printed = block_arguments(graph, graph.blocks[item])
                owner: Node | Block = graph.blocks[item]
            else:
                owner = node
                operator = find_operator(graph, node)
                if operator is None:
                    self.ports[item] = tuple(wire.port for wire in graph.wires_to(item))
                    continue
                self.operators[item] = operator
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
        return wired[:1] if isinstance(owner, Node) and owner.bypassed else wired

    def _broken_loops(self) -> Iterator[tuple[ItemId, str]]:
        """Loops whose carried values do not come back from the body."""
        for block in self.graph.blocks.values():
            if block.id in self._gone:
                continue
            for name in block.carried:
                wire = self.graph.wires.get((block.id, f"next.{name}"))
                if wire is None:
                    yield block.id, f"'{name}' is carried, but the body does not bind it"
                elif wire.source in self._gone:
                    yield block.id, self._gone[wire.source] and f"'{name}' is carried, but what binds it cannot run"
                elif self.name(self.binding(wire.source, wire.output)) != name:
                    yield block.id, f"'{name}' is carried, but the body binds it under another name"

    def _node_reason(self, node: Node) -> str | None:
        operator = self.operators.get(node.id)
        reason = _names_reason(node.names)
        if reason is None and node.bypassed:
            needs_input = bool(node.names) and not self.ports.get(node.id)
            return "it is bypassed, but nothing is wired to it" if needs_input else None
        if reason is None and operator is None:
            return f"the catalogue has no operator '{node.operator[:100]}'"
        if reason is None and operator is not None:
            reason = self._arguments_reason(node, self.arguments[node.id])
            reason = reason or self._face_reason(node, operator)
        return reason

    def _block_reason(self, block: Block) -> str | None:
        reason = _names_reason(tuple(name for name in (block.variable, *block.carried) if name))
        if reason is None:
            reason = self._arguments_reason(block, self.arguments[block.id])
        if reason is None and block.kind == "for" and len(self.arguments[block.id]) != 1:
            reason = "the loop has nothing to go over"
        return reason

    def _arguments_reason(self, owner: Node | Block, printed: tuple[Argument, ...]) -> str | None:
        for argument in printed:
            for path in argument.paths:
                reason = self._path_reason(owner, argument, path)
                if reason is not None:
                    return reason
        incoming = self.graph.incoming.get(owner.id, {})
        expected = len(self.ports[owner.id]) + 2 * len(owner.carried if isinstance(owner, Block) else ())
        if len(incoming) > expected:
            known = set(self.ports[owner.id])
            stray = next(
                (w.port for w in incoming if w.port not in known and w.port[:6] not in ("first.", "next.")), ""
            )
            return f"it has no argument '{stray}', and a wire ends there" if stray else None
        return None

    def _path_reason(self, owner: Node | Block, argument: Argument, path: str) -> str | None:
        if (owner.id, path) in self.graph.wires:
            return None
        kind = argument.parameter.kind
        literal = owner.literals.get(path, "")
        if kind is Kind.INDEX and not literal and (parts := slice_parts(self.graph, owner, path)):
            texts = [owner.literals[part] for part in parts if (owner.id, part) not in self.graph.wires]
            return next((reason for text in texts if (reason := _literal_reason(text, Kind.INT))), None)
        if not literal:
            return f"'{path}' is empty"
        return _literal_reason(literal, kind)

    def _face_reason(self, node: Node, operator: Operator) -> str | None:
        match operator.face:
            case Face.AUGMENTED:
                return self._augmented_reason(node)
            case Face.ATTRIBUTE | Face.SET_ATTRIBUTE if not operator.symbol:
                return self._attribute_reason(node)
            case Face.STORED if not _DIGEST.fullmatch(digest_of(node)):
                return "it names no stored tensor"
            case Face.SET_ITEM | Face.SET_ATTRIBUTE if (
                self.graph.wire_into(node.id, operator.parameters[0].name) is None
            ):
                return f"'{operator.parameters[0].name}' must be wired"
            case Face.GROUP:
                return definition_reason(self.graph, node.operator)
            case _:
                return None

    def _augmented_reason(self, node: Node) -> str | None:
        wire = self.graph.wire_into(node.id, "a")
        if wire is None:
            return "'a' must be wired: it writes into it"
        if node.names and self.name(self.binding(wire.source, wire.output)) != node.names[0]:
            return f"it would bind '{node.names[0]}', but it writes into another name"
        return None

    def _attribute_reason(self, node: Node) -> str | None:
        name = attribute_of(node)
        if _PATH.fullmatch(name) is None or not all(part.isidentifier() for part in name.split(".")):
            return f"'{name[:60]}' is not the name of an attribute"
        if name in TENSOR_ATTRIBUTES or self._is_module(node.id):
            return None
        return f"'.{name[:60]}' can be read from a module only"

    def _is_module(self, item: ItemId) -> bool:
        """Whether what an attribute is read from is a module, or a part of one, for all the text tells."""
        for _ in range(100):
            wire = next(iter(self.graph.wires_to(item)), None)
            operator = self.operators.get(wire.source) if wire is not None else None
            if wire is None or operator is None:
                return wire is not None and wire.source not in self.graph.nodes
            if operator.face not in (Face.ATTRIBUTE, Face.ITEM, Face.ALIAS):
                return bool(operator.results) and operator.results[0].family is Family.MODULE
            item = wire.source
        return False


class _Walk:
    """The walk in program order, with what every name means at each place."""

    def __init__(
        self, soundness: Soundness, inputs: tuple[str, ...], forced: dict[ItemId, str], gone: dict[ItemId, str]
    ) -> None:
        self.soundness, self.graph, self.forced, self.gone = soundness, soundness.graph, forced, gone
        self.seen: set[ItemId] = {DEFINITION_INPUTS}
        self.open: set[ItemId] = set()
        self.meaning: dict[str, Binding | None] = {name: (DEFINITION_INPUTS, k) for k, name in enumerate(inputs)}

    def body(self, body: BodyId, depth: int) -> None:
        for item in self.graph.bodies[body]:
            why = self._why_gone(item)
            if why is None and item in self.graph.blocks and depth >= MAX_BLOCKS:
                why = f"Python allows {MAX_BLOCKS} blocks within one another"
            if why is not None:
                self._drop(item, why)
            elif item in self.graph.blocks:
                self._block(self.graph.blocks[item], depth)
            else:
                self.seen.add(item)
                self._bind(item, self.graph.nodes[item].names)

    def _block(self, block: Block, depth: int) -> None:
        self.seen.add(block.id)
        self.open.add(block.id)
        if block.kind == "for":
            for name in self._bound_inside(block):
                self.meaning[name] = None  # before the body binds it, its second turn would read the first one's
            self._bind(block.id, (block.variable, *block.carried))
        self.body(BodyId(block.id), depth + (block.kind != "group"))
        self.open.discard(block.id)

    def _bind(self, item: ItemId, names: tuple[str, ...]) -> None:
        for k, name in enumerate(names):
            if name:
                self.meaning[name] = (item, k)

    def _bound_inside(self, block: Block) -> Iterator[str]:
        for item in self.graph.order(BodyId(block.id)):
            node = self.graph.nodes.get(item)
            yield from node.names if node is not None else (self.graph.blocks[item].variable,)

    def _drop(self, item: ItemId, why: str) -> None:
        self.gone[item] = why
        if item in self.graph.blocks:
            inside = MUTED if why == MUTED else f"it stands in a block that cannot run: {why}"
            for inner in self.graph.order(BodyId(item)):
                self.gone[inner] = inside

    def _why_gone(self, item: ItemId) -> str | None:
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        if owner.muted:
            return MUTED
        reasons = [
            why for wire in self.graph.incoming.get(item, ()) if (why := self._wire_reason(item, wire.port)) is not None
        ]
        if MUTED in reasons:
            return MUTED
        own = self.forced.get(item)
        if own is None:
            own = self.soundness.own_reason(item)
        return own if own is not None else (reasons[0] if reasons else None)

    def _wire_reason(self, item: ItemId, port: str) -> str | None:
        if port.startswith("next."):
            return None
        wire = self.graph.wires[item, port]
        source = wire.source
        if source in self.gone:
            return self.gone[source] and f"it reads '{names_of.title(self.graph, source)}', which cannot run"
        if source not in self.seen:
            return f"it reads '{names_of.title(self.graph, source)}' before that is made"
        if source in self.graph.blocks and source not in self.open:
            return "it reads from outside what exists only inside a block"
        meant = self.soundness.binding(source, wire.output)
        name = self.soundness.name(meant)
        if name and self.meaning.get(name) != meant:
            return f"'{name}' means another statement here: give one of the two another name"
        if port.startswith("first.") and name != port[6:]:
            return f"'{port[6:]}' has another name before the loop"
        return None


def attribute_of(node: Node) -> str:
    """The attribute that a node with a `name` port reads or writes."""
    return _unquoted(node.literals.get("name", ""))


def digest_of(node: Node) -> str:
    """The digest of the stored tensor that a node loads."""
    return _unquoted(node.literals.get("digest", ""))


def definition_reason(graph: Graph, operator_key: str) -> str | None:
    """Why a definition cannot be called; None when it can."""
    name = operator_key.removeprefix(GROUP)
    definition = graph.definitions.get(name)
    if definition is None:
        return f"there is no group '{name[:60]}'"
    if recursive(graph, operator_key):
        return "the group calls itself"
    if definition.name != name or name == "_":
        return "the group has another name"
    return _names_reason((name, *definition.inputs)) or _names_reason(definition.outputs)


def recursive(graph: Graph, operator_key: str) -> bool:
    """Whether a definition calls itself, directly or through others."""
    start = operator_key.removeprefix(GROUP)
    seen: set[str] = set()
    stack = [start]
    while stack:
        definition = graph.definitions.get(stack.pop())
        for node in definition.graph.nodes.values() if definition is not None else ():
            name = node.operator.removeprefix(GROUP)
            if name == start and node.operator != name:
                return True
            if node.operator != name and name not in seen:
                seen.add(name)
                stack.append(name)
    return False


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def _names_reason(names: tuple[str, ...]) -> str | None:
    for name in names:
        reason = _name_reason(name)
        if reason is not None:
            return reason
    if len(names) > 1:
        real = [name for name in names if name != "_"]
        return "it binds one name twice" if len(set(real)) != len(real) else None
    return None


@lru_cache(maxsize=8192)
def _name_reason(name: str) -> str | None:
    if name == "_":
        return None
    try:
        return None if names_of.check(name) == name else f"'{name[:60]}' is not a Python name as it is written"
    except Refused as error:
        return str(error)


def _literal_reason(text: str, kind: Kind) -> str | None:
    if kind in (Kind.DEVICE, Kind.ANY) and text == DOCUMENT_DEVICE:
        return None
    try:
        if kind is Kind.INDEX:
            spell_index(text)
        elif kind is not Kind.NAME:
            spell(text)
    except NotALiteral as error:
        return str(error)
    return None
