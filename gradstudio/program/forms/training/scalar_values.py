"""Numbers: whether a value is a tensor with one number for all the text tells, as a loss must be."""

from gradstudio.graph.model import Node
from gradstudio.graph.ports.module_calls import origin
from gradstudio.operators.model import Face, Family, Operator
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.static_shapes import Shapes, literal

_REDUCES = frozenset(
    "sum mean norm prod max min amax amin std var median nansum nanmean nanmedian trace dot vdot logdet det dist "
    "vector_norm matrix_norm".split()
)
_KEEPS = frozenset(
    "exp log log1p expm1 log2 log10 log_ exp_ sqrt rsqrt square pow abs neg relu tanh sigmoid softplus sin cos tan "
    "clamp clone add sub mul div to float double half type_as contiguous squeeze add_ mul_ sub_ div_ neg_".split()
)
_ALWAYS = frozenset({"dot", "vdot", "trace", "det", "dist"})
_DEEPEST = 50


def is_one_number(units: Units, value: Value, depth: int = 0, assumed: frozenset[Value] = frozenset()) -> bool:
    """Whether a value is surely a tensor without dimensions, or a number beside one; `assumed` are, too."""
    node = units.graph.nodes.get(value[0])
    operator = units.operator(value[0])
    if value in assumed:
        return True
    if value[0] in units.graph.blocks and value[1]:
        return depth <= _DEEPEST and _is_carried_number(units, value, depth, assumed)
    if node is not None and operator is not None and operator.face is Face.TUPLE:
        element = node.literals.get(f"{operator.parameters[0].name}.{value[1]}", "")
        return isinstance(literal(element), int | float)
    if node is None or operator is None or not operator.results or value[1] or depth > _DEEPEST:
        return False
    if Shapes(units).of(value) == ():
        return True
    if operator.face is Face.CALL:
        wire = units.graph.wires.get((node.id, "module"))
        source = units.graph.nodes.get(wire.source) if wire is not None else None
        maker = origin(units.graph, source) if source is not None else None
        known = units.operator(maker.id) if maker is not None else None
        return maker is not None and known is not None and _is_loss(maker, known)
    if _is_loss(node, operator):
        return True
    if operator.word in _REDUCES:
        return operator.word in _ALWAYS or not _says(units, node, "dim", "axis", "other", "keepdim")
    if operator.face in (Face.INFIX, Face.PREFIX, Face.ALIAS, Face.AUGMENTED) or operator.word in _KEEPS:
        wires = [units.graph.wires[node.id, port] for port in units.validity.ports[node.id]]
        return all(
            _is_plain(units, (wire.source, wire.output))
            or is_one_number(units, (wire.source, wire.output), depth + 1, assumed)
            for wire in wires
        )
    return False


def _is_carried_number(units: Units, value: Value, depth: int, assumed: frozenset[Value]) -> bool:
    """Whether what a loop carries is one number before its first turn, and behind each that is given one."""
    block = units.graph.blocks[value[0]]
    if block.kind != "for" or value[1] > len(block.carried):
        return False
    name = block.carried[value[1] - 1]
    wires = [units.graph.wires.get((block.id, f"{end}.{name}")) for end in ("first", "next")]
    return all(
        wire is not None and is_one_number(units, (wire.source, wire.output), depth + 1, assumed | {value})
        for wire in wires
    )


def _is_loss(node: Node, operator: Operator) -> bool:
    is_named = operator.category == "Losses" or operator.word.endswith(("_loss", "cross_entropy"))
    return is_named and node.literals.get("reduction", "mean").strip("'\"") != "none"


def _says(units: Units, node: Node, *names: str) -> bool:
    wired = {wire.port.partition(".")[0] for wire in units.graph.incoming.get(node.id, ())}
    return bool({*names} & {*node.literals, *node.lengths, *wired})


def _is_plain(units: Units, value: Value) -> bool:
    operator = units.operator(value[0])
    return operator is not None and bool(operator.results) and operator.results[0].family is Family.NUMBER
