"""Arguments: what a node is given, in the order in which Python writes and evaluates it."""

from collections.abc import Iterator

import msgspec

from gradstudio.graph.model import Block, Graph, Node
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.ports.module_calls import row_of_call
from gradstudio.graph.text.code_records import READ
from gradstudio.operators.model import LIST_LIKE, Face, Kind, Operator, Parameter

SLICE_PARTS = ("start", "stop", "step")
KEYWORD_DIM = frozenset({"softmax", "log_softmax", "softmin", "gumbel_softmax", "glu"})
"""Operators whose required ``dim`` people write by keyword: ``torch.softmax(x, dim=1)``."""
KEYWORD_REQUIRED = frozenset({"kernel_size", "num_heads"})
"""Of layers, required and not the first, but written by keyword: ``nn.Conv2d(1, 8, kernel_size=3)``."""
KEYWORD_KINDS = frozenset({Kind.BOOL, Kind.DTYPE})
"""A bare ``True`` or dtype behind other arguments says nothing: ``torch.bmm(a, b, out_dtype=torch.float32)``."""
RANGES = frozenset({"arange", "range"})
"""Their ``step`` stands by position: ``torch.arange(0, 10, 2)``."""
POSITIONAL_FIRST = frozenset({"to", "type", "requires_grad_", "train"})
"""Methods whose optional first argument people write by position: ``x.to(device)``."""


_NO_RECEIVER = frozenset({Face.FUNCTION, Face.CONSTRUCTOR, Face.GROUP})
WHOLE = -1
"""In place of a number of elements: the argument is brought by one value."""
MAX_ARRANGED = 10_000


class Argument(msgspec.Struct, frozen=True, gc=False):
    """One argument that is printed.

    Attributes:
        keyword: printed as ``name=value``.
        paths: port paths of its values: one, or one per element when it is `split`.
        split: it has a port per element.
        missing: it is required and nothing is given.
    """

    parameter: Parameter
    keyword: bool
    paths: tuple[str, ...]
    split: bool = False
    missing: bool = False


_ArrangedBy = tuple[str | int, tuple[str, ...] | None, tuple[tuple[str, int], ...]]
_arranged: dict[_ArrangedBy, tuple[Operator, tuple[Argument, ...]]] = {}
"""A memo of `_arrange`: most nodes of an operator are given the same arguments."""


def find_operator(graph: Graph, node: Node) -> Operator | None:
    """The row of a node, also of one that calls a definition or a module; None when it is unknown."""
    row = row_of(graph, node)
    return row_of_call(graph, node, row) if row is not None and row.face is Face.CALL else row


def arguments(graph: Graph, node: Node, operator: Operator) -> tuple[Argument, ...]:
    """The arguments in the order they are printed (semantics §1 on position and keyword).

    The catalogue's style: what is required stands by position, what is optional by keyword. An
    optional parameter before a required one (``start`` of `arange`) is by position, or absent.
    """
    if operator.face is Face.CODE:
        return _code_arguments(graph, node, operator)
    literals = node.literals
    lengths = node.lengths
    wires = graph.wires
    item = node.id
    given: list[tuple[str, int]] = []
    for parameter in operator.parameters:
        name = parameter.name
        if lengths and name in lengths and parameter.kind in LIST_LIKE:
            given.append((name, lengths[name]))
        elif literals.get(name) or (item, name) in wires:
            given.append((name, WHOLE))
    row = id(operator) if operator.face is Face.CALL else operator.key  # a call's row depends on its module
    key = (row, node.positional, tuple(given))
    known = _arranged.get(key)
    if known is None or known[0] is not operator:
        if len(_arranged) > MAX_ARRANGED:
            _arranged.clear()
        known = _arranged[key] = (operator, _arrange(operator, node.positional, dict(given)))
    return known[1]


def _code_arguments(graph: Graph, node: Node, operator: Operator) -> tuple[Argument, ...]:
    """Its code, and the names that wires bring it."""
    brought = tuple(sorted(wire.port for wire in graph.wires_to(node.id) if wire.port.startswith(READ)))
    code = Argument(operator.parameters[0], False, (operator.parameters[0].name,))
    return (code, Argument(_BROUGHT, False, brought, split=True)) if brought else (code,)


def block_arguments(graph: Graph, block: Block) -> tuple[Argument, ...]:
    """What is printed in the head of a block."""
    found = []
    for parameter in BLOCK_PARAMETERS.get(block.kind, ()):
        count = block.lengths.get(parameter.name)
        if count is None and _is_given(graph, block, parameter.name):
            count = WHOLE
        found.append(_argument(parameter, count))
    return tuple(argument for argument in found if argument is not None)


def argument_ports(graph: Graph, owner: Node | Block, argument: Argument) -> Iterator[str]:
    """The ports of one argument; an element that is a slice has one for each of its parts."""
    for path in argument.paths:
        if argument.parameter.kind is Kind.INDEX and (parts := slice_parts(graph, owner, path)):
            yield from parts
        else:
            yield path


def slice_parts(graph: Graph, owner: Node | Block, path: str) -> tuple[str, ...]:
    """The ports of a slice's bounds that are given; empty when the element is no slice."""
    return tuple(port for part in SLICE_PARTS if _is_given(graph, owner, port := f"{path}.{part}"))


def positional_beyond_style(
    operator: Operator, positional: tuple[str, ...], given: frozenset[str]
) -> tuple[str, ...] | None:
    """`Node.positional` of arguments that were given in this way: None when it is the catalogue's style."""
    keywords = given - set(positional)
    return None if keywords == _keywords(operator, None, set(given)) & given else positional


def _is_given(graph: Graph, owner: Node | Block, path: str) -> bool:
    return bool(owner.literals.get(path)) or (owner.id, path) in graph.wires


def _arrange(operator: Operator, positional: tuple[str, ...] | None, given: dict[str, int]) -> tuple[Argument, ...]:
    found = [
        argument
        for parameter in operator.parameters
        if (argument := _argument(parameter, given.get(parameter.name))) is not None
    ]
    by_keyword = _keywords(operator, positional, {argument.parameter.name for argument in found})
    return tuple(msgspec.structs.replace(argument, keyword=argument.parameter.name in by_keyword) for argument in found)


def _argument(parameter: Parameter, count: int | None) -> Argument | None:
    """The argument with `count` elements, `WHOLE`, or None when it is not given."""
    name = parameter.name
    if count is not None and count != WHOLE:
        return Argument(parameter, False, tuple(f"{name}.{k}" for k in range(count)), split=True)
    if count == WHOLE:
        return Argument(parameter, False, (name,))
    if parameter.default is None and not (parameter.variadic and parameter.kind is Kind.VALUES):
        return Argument(parameter, False, (name,), missing=True)
    return None


def _keywords(operator: Operator, positional: tuple[str, ...] | None, given: set[str]) -> frozenset[str]:
    """Which of the given parameters are printed by keyword."""
    result = set()
    is_open = True
    face, parameters = operator.face, operator.parameters
    for k, parameter in enumerate(parameters):
        precedes_required = any(other.default is None and not other.keyword_only for other in parameters[k + 1 :])
        if parameter.name not in given:
            is_open = is_open and positional is None and precedes_required
            continue
        is_receiver = k == 0 and face not in _NO_RECEIVER
        if positional is not None:
            by_position = parameter.name in positional and not parameter.keyword_only
        else:
            by_position = precedes_required or _is_conventional(face, operator.word, parameter, k)
        if not (parameter.positional_only or is_receiver or (is_open and by_position)):
            result.add(parameter.name)
            is_open = False
    return frozenset(result)


def _is_conventional(face: Face, word: str, parameter: Parameter, k: int) -> bool:
    """Whether people write the argument by position."""
    if parameter.keyword_only or (parameter.name == "dim" and word in KEYWORD_DIM):
        return False
    is_first = k == (1 if face is Face.METHOD else 0)
    says_nothing = parameter.kind in KEYWORD_KINDS and face not in (Face.SET_ITEM, Face.SET_ATTRIBUTE, Face.CALL)
    named = parameter.name in KEYWORD_REQUIRED and face is Face.CONSTRUCTOR
    if not is_first and (says_nothing or named):
        return False
    if word in RANGES and parameter.name == "step":
        return True
    return parameter.default is None or parameter.variadic or (is_first and word in POSITIONAL_FIRST)


_BROUGHT = Parameter("in", Kind.ANY, default="None")
_OVER = Parameter("over", Kind.ANY, default="()")
_RANGE = Parameter("range", Kind.SHAPE, default="()", variadic=True)
BLOCK_PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "for": (_RANGE, _OVER),
    "autocast": (
        Parameter("device_type", Kind.TEXT),
        Parameter("dtype", Kind.DTYPE, default="None"),
        Parameter("enabled", Kind.BOOL, default="True"),
        Parameter("cache_enabled", Kind.BOOL, default="None"),
    ),
    "inference_mode": (Parameter("mode", Kind.BOOL, default="True"),),
    "set_grad_enabled": (Parameter("mode", Kind.BOOL),),
    "set_detect_anomaly": (Parameter("mode", Kind.BOOL), Parameter("check_nan", Kind.BOOL, default="True")),
    "detect_anomaly": (Parameter("check_nan", Kind.BOOL, default="True"),),
    "if": (Parameter("condition", Kind.ANY),),
}
