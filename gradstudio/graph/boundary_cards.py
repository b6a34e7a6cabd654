"""The two cards on which the inputs and outputs of a group stand while its inside is shown.

They are nodes of the shown graph only (`graph.groups.group_view`), never of a definition or of the program.
"""

from functools import lru_cache

from gradstudio.graph.model import ItemId, Node
from gradstudio.operators.model import Face, Family, Kind, Operator, Parameter, Result

INPUTS_CARD = ItemId("card:inputs")
OUTPUTS_CARD = ItemId("card:outputs")
CARDS = frozenset({INPUTS_CARD, OUTPUTS_CARD})
INPUTS_KEY = "scope.inputs"
OUTPUTS_KEY = "scope.outputs:"
"""The names of the outputs follow, with commas between them."""
MORE = "+"
"""The port that is not there yet: a wire to it makes another input or output."""


def is_card_key(key: str) -> bool:
    """Whether an operator's key is that of one of the two cards."""
    return key == INPUTS_KEY or key.startswith(OUTPUTS_KEY)


def inputs_node(names: tuple[str, ...]) -> Node:
    """The card that gives the inputs."""
    return Node(id=INPUTS_CARD, operator=INPUTS_KEY, names=names)


def outputs_node(names: tuple[str, ...]) -> Node:
    """The card that takes the outputs."""
    return Node(id=OUTPUTS_CARD, operator=OUTPUTS_KEY + ",".join(names))


def output_names(node: Node) -> tuple[str, ...]:
    """What the ports of the card of outputs are called."""
    text = node.operator.removeprefix(OUTPUTS_KEY)
    return tuple(text.split(",")) if text else ()


def card_operator(node: Node) -> Operator | None:
    """The row of one of the two cards; None for any other node."""
    if node.operator == INPUTS_KEY:
        return _inputs_row(node.names)
    return _outputs_row(output_names(node)) if node.operator.startswith(OUTPUTS_KEY) else None


@lru_cache(maxsize=64)
def _inputs_row(names: tuple[str, ...]) -> Operator:
    return Operator(
        key=INPUTS_KEY,
        title="Inputs",
        face=Face.GROUP,
        category="Groups",
        summary="What the group is given.",
        results=tuple(Result(name, Family.UNKNOWN) for name in names),
    )


@lru_cache(maxsize=64)
def _outputs_row(names: tuple[str, ...]) -> Operator:
    return Operator(
        key=OUTPUTS_KEY,
        title="Outputs",
        face=Face.GROUP,
        category="Groups",
        summary="What the group gives back.",
        parameters=tuple(Parameter(name, Kind.ANY) for name in names),
        results=(),
    )


MORE_PARAMETER = Parameter(MORE, Kind.ANY, hint="a wire adds an output")
