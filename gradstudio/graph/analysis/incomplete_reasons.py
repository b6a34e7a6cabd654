"""Why an item cannot run, whatever it reads: what is missing, is no literal, or is asked of the wrong thing."""

import unicodedata
from keyword import iskeyword

from gradstudio.graph.boundary_cards import is_card_key
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import definition_reason
from gradstudio.graph.model import Block, ItemId, Node
from gradstudio.graph.operator_rows import AUTOGRAD, GROUP
from gradstudio.graph.ports.arguments import Argument, slice_parts
from gradstudio.graph.ports.module_calls import before_loops, label_at, named_arguments, taker_of
from gradstudio.graph.text.code_records import CODE, FREE, FREE_METHOD, FREE_PATH, MOVES, READ, code_reason
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.format_templates import count
from gradstudio.graph.text.record_checks import attribute_of, digest_of, literal_reason, names_reason
from gradstudio.graph.text.statements import Statements
from gradstudio.late_pattern import late
from gradstudio.operators.calls.call_signature import INPUTS, is_argument_name, stray_reason
from gradstudio.operators.catalogue.method_names import methods
from gradstudio.operators.model import Face, Family, Kind, Operator

OF_AUTOGRAD = "it is a node of autograd's graph, and no statement"
TORCH = "torch"
"""Where the path of what has no row of its own begins."""
TENSOR_ATTRIBUTES = frozenset(
    "T H mT mH shape dtype device layout grad grad_fn data requires_grad is_leaf ndim real imag itemsize nbytes "
    "is_cuda is_sparse names retains_grad output_nr".split()
)
_PATH = late(r"(?!_)\w+(?:\.(?!_)\w+)*")
SET_ATTRIBUTE = "python.set_attribute"
SETTINGS = frozenset("args arguments options opts cfg config conf hparams flags settings".split())
"""How the settings of a program are called, where a function is given them."""
_HANDS_ON = frozenset({"python.attribute", "python.call", "python.alias", "operator.getitem"})
"""What gives a part of what it is given first, or lets that make something."""
_CHOICE = "python.choice"
_DIGEST = late(r"[0-9A-Za-z_-]{1,128}")


def node_reason(statements: Statements, node: Node) -> str | None:
    """Why a node cannot run whatever it reads; None when it can."""
    if node.operator.startswith(AUTOGRAD):
        return OF_AUTOGRAD
    operator = statements.operators.get(node.id)
    reason = names_reason(node.names) if node.operator != CODE else None
    if reason is None and not statements.graph.definitions.keys().isdisjoint(node.names):
        reason = f"'{next(name for name in node.names if name in statements.graph.definitions)}' is the name of a group"
    if reason is None and node.bypassed:
        gives = bool(node.names) or bool(statements.graph.outgoing.get(node.id))
        needs_input = gives and not statements.ports.get(node.id)
        return "it is bypassed, but nothing is wired to it" if needs_input else None
    if reason is None and operator is None:
        return f"the catalogue has no operator '{node.operator[:100]}'"
    if reason is None and operator is not None:
        reason = _arguments_reason(statements, node, statements.arguments[node.id])
        reason = reason or _face_reason(statements, node, operator)
    return reason


def block_reason(statements: Statements, block: Block) -> str | None:
    """Why a block cannot run whatever stands in it; None when it can."""
    reason = names_reason(tuple(name for name in (block.variable, *block.carried) if name))
    if reason is None:
        reason = _arguments_reason(statements, block, statements.arguments[block.id])
    if reason is None and block.kind == "for" and len(statements.arguments[block.id]) != (not block.endless):
        reason = "the loop has nothing to go over"
    return reason


def _arguments_reason(statements: Statements, owner: Node | Block, printed: tuple[Argument, ...]) -> str | None:
    for argument in printed:
        for path in argument.paths:
            reason = _path_reason(statements, owner, argument, path)
            if reason is not None:
                return reason
    incoming = statements.graph.incoming.get(owner.id, {})
    expected = len(statements.ports[owner.id]) + 2 * len(owner.carried if isinstance(owner, Block) else ())
    if len(incoming) > expected:
        known = set(statements.ports[owner.id])
        stray = next((w.port for w in incoming if w.port not in known and w.port[:6] not in ("first.", "next.")), "")
        return f"it has no argument '{stray}', and a wire ends there" if stray else None
    return None


def _path_reason(statements: Statements, owner: Node | Block, argument: Argument, path: str) -> str | None:
    if (owner.id, path) in statements.graph.wires:
        return None
    kind = argument.parameter.kind
    literal = owner.literals.get(path, "")
    if kind is Kind.INDEX and not literal and (parts := slice_parts(statements.graph, owner, path)):
        texts = [owner.literals[part] for part in parts if (owner.id, part) not in statements.graph.wires]
        return next((reason for text in texts if (reason := literal_reason(text, Kind.INT))), None)
    if not literal:
        return f"'{label_at(statements.graph, owner.id, path)}' is empty"
    return literal_reason(literal, kind)


def _face_reason(statements: Statements, node: Node, operator: Operator) -> str | None:
    match operator.face:
        case Face.CALL:
            return _call_reason(statements, node)
        case Face.AUGMENTED:
            return _augmented_reason(statements, node)
        case Face.ATTRIBUTE | Face.SET_ATTRIBUTE if not operator.symbol:
            return _attribute_reason(statements, node)
        case Face.STORED if not _DIGEST.fullmatch(digest_of(node)):
            return "it names no stored tensor"
        case Face.SET_ITEM | Face.SET_ATTRIBUTE if (
            statements.graph.wire_into(node.id, operator.parameters[0].name) is None
        ):
            return f"'{operator.parameters[0].name}' must be wired"
        case Face.FORMAT | Face.CHOICE:
            return _template_reason(node, operator)
        case Face.CODE:
            in_loop = statements.graph.loop_around(node.id) is not None
            return code_reason(node, _brought(statements, node), node.names, in_loop=in_loop)
        case Face.GROUP if not is_card_key(node.operator):
            return definition_reason(statements.graph, node.operator)
        case _:
            return None


def _brought(statements: Statements, node: Node) -> dict[str, str]:
    """By name that code reads, the name of what a wire brings."""
    wires = statements.graph.wires_to(node.id)
    return {w.port.removeprefix(READ): statements.name(statements.binding(w.source, w.output)) for w in wires}


def _call_reason(statements: Statements, node: Node) -> str | None:
    graph = statements.graph
    maker = taker_of(graph, node)
    words = [attribute_of(node)] if node.operator == FREE_METHOD else []
    if node.operator == FREE_PATH:
        root, *words = attribute_of(node).split(".")
        if root != TORCH or not words:
            return f"'{attribute_of(node)[:60]}' is nothing of torch"
    for name in (*words, *named_arguments(graph, node)):
        if not is_argument_name(name):
            return f"'{name[:60]}' is not the name of an argument"
    return stray_reason(maker, node.lengths.get(INPUTS, 0), named_arguments(graph, node)) or None


def _template_reason(node: Node, operator: Operator) -> str | None:
    template, values = operator.parameters
    try:
        literal = node.literals.get(template.name, "")
        holes = read_conditional(literal).count if operator.face is Face.CHOICE else count(literal)
    except Refused as error:
        return str(error)
    given = node.lengths.get(values.name, 0)
    return None if holes == given else f"the text has {holes} holes for {given} values"


def _augmented_reason(statements: Statements, node: Node) -> str | None:
    wire = statements.graph.wire_into(node.id, "a")
    if wire is None:
        return "'a' must be wired: it writes into it"
    if node.names and statements.name(statements.binding(wire.source, wire.output)) != node.names[0]:
        return f"it would bind '{node.names[0]}', but it writes into another name"
    return None


def _attribute_reason(statements: Statements, node: Node) -> str | None:
    name = attribute_of(node)
    parts = name.split(".")
    if _PATH.fullmatch(name) is None or not all(part.isidentifier() and not iskeyword(part) for part in parts):
        return f"'{name[:60]}' is not the name of an attribute"
    if name in TENSOR_ATTRIBUTES or name in _fields(statements, node.id) or _is_read_of_code(statements, node.id):
        return None
    if _is_read_of_settings(statements, node.id):
        return None
    if not methods().isdisjoint(unicodedata.normalize("NFKC", part) for part in parts):
        return f"'.{name[:60]}' is a method; only attributes can be read: to call it, write .{name[:60]}()"
    is_written = node.operator == SET_ATTRIBUTE  # Python takes any name, and says itself where it does not
    if is_written or _is_module(statements, node.id):
        return None
    return f"'.{name[:60]}' can be read from a module only"


def _fields(statements: Statements, item: ItemId) -> frozenset[str]:
    """Names under which the results of one call can be read: ``x.max(dim=1).values``."""
    wire = next(iter(statements.graph.wires_to(item)), None)
    operator = statements.operators.get(wire.source) if wire is not None else None
    while operator is not None and operator.face is Face.ALIAS and wire is not None:
        wire = next(iter(statements.graph.wires_to(wire.source)), None)
        operator = statements.operators.get(wire.source) if wire is not None else None
    results = operator.results if operator is not None and operator.face in (Face.FUNCTION, Face.METHOD) else ()
    return frozenset(result.name for result in results) if len(results) > 1 else frozenset()


def _is_read_of_code(statements: Statements, item: ItemId) -> bool:
    """Whether it reads what undrawn Python made, or what that gave, of which nothing runs without a yes."""
    graph, waiting, seen = statements.graph, list(statements.graph.wires_to(item))[:1], set[ItemId]()
    for wire in waiting:  # which grows
        if wire.source in seen:
            continue
        seen.add(wire.source)
        source = graph.nodes.get(before_loops(graph, wire.source, wire.output)[0])
        if source is None:
            continue
        if source.operator in FREE:
            return True
        if source.operator == _CHOICE:
            waiting += graph.wires_to(source.id)
        elif source.operator in _HANDS_ON or source.operator.partition(":")[0] in MOVES:
            waiting += list(graph.wires_to(source.id))[:1]
    return False


def _is_read_of_settings(statements: Statements, item: ItemId) -> bool:
    """Whether it reads settings that a function is given, or gives back: a namespace has no methods of tensors."""
    wire = next(iter(statements.graph.wires_to(item)), None)
    source = statements.graph.nodes.get(wire.source) if wire is not None else None
    if wire is None or (source is not None and not source.operator.startswith(GROUP)):
        return False
    return statements.name(statements.binding(wire.source, wire.output)) in SETTINGS


def _is_module(statements: Statements, item: ItemId) -> bool:
    """Whether what an attribute is read from is a module, or a part of one, for all the text tells."""
    for _ in range(100):
        wire = next(iter(statements.graph.wires_to(item)), None)
        operator = statements.operators.get(wire.source) if wire is not None else None
        if wire is None or operator is None:
            return wire is not None and wire.source not in statements.graph.nodes
        if operator.face not in (Face.ATTRIBUTE, Face.ITEM, Face.ALIAS):
            return bool(operator.results) and operator.results[0].family is Family.MODULE
        item = wire.source
    return False
