"""Data that a program makes: which statements belong together, and what they give as data."""

import re
from typing import Final

from gradstudio.document.data.stored_data import STORED, StoredData, scales_inputs
from gradstudio.graph.model import Graph, ItemId, Node, StoredTensor
from gradstudio.graph.operator_rows import GROUP

_NAME: Final = re.compile(r"[Xy](_\d+)?(_train|_val|_test)?")
LEARN: Final = "_train"
APART: Final = ("_val", "_test")


def makers_of(graph: Graph, item: ItemId) -> tuple[ItemId, ...]:
    """The statements that make the data which a card is a part of; () where it is of none.

    Returns:
        A call of a group that takes no wire and gives two results, inputs and target; or X and y of the program, and
        behind those to learn from, where they are, X and y to validate with.
    """
    node = graph.nodes.get(item)
    if node is None:
        return ()
    if node.operator.startswith(GROUP):
        definition = graph.definitions.get(node.operator.removeprefix(GROUP))
        is_one = definition is not None and not definition.is_module and len(definition.outputs) == 2
        return (item,) if is_one and not graph.wires_to(item) else ()
    named = _NAME.fullmatch(node.names[0]) if len(node.names) == 1 and _is_made(node) else None
    return _named_makers(graph, named[1] or "", named[2] or "") if named is not None else ()


def are_data(shapes: tuple[tuple[int, ...], ...]) -> bool:
    """Whether they are the sizes of inputs, and of one target value for each of their rows; perhaps twice."""
    if len(shapes) not in (2, 4):
        return False
    pairs = zip(shapes[::2], shapes[1::2], strict=True)
    return all(len(inputs) > 1 and target in (inputs[:1], (inputs[0], 1)) for inputs, target in pairs)


def made_data(graph: Graph, makers: tuple[ItemId, ...], tensors: tuple[StoredTensor, ...]) -> StoredData | None:
    """What the statements gave as data; None where it is none."""
    if not are_data(tuple(one.shape for one in tensors)):
        return None
    inputs, target, *apart = tensors
    inputs_apart, target_apart = apart or (None, None)
    note = "\n".join(graph.nodes[node].note for node in makers)
    return StoredData(inputs, target, inputs_apart, target_apart, note, scales_inputs(graph, makers[0]))


def _named_makers(graph: Graph, number: str, ending: str) -> tuple[ItemId, ...]:
    nodes = {node.names[0]: node.id for node in graph.nodes.values() if len(node.names) == 1 and _is_made(node)}

    def pair(end: str) -> tuple[ItemId, ...]:
        found = [nodes[name] for name in (f"X{number}{end}", f"y{number}{end}") if name in nodes]
        return tuple(found) if len(found) == 2 else ()

    own, learn = pair(ending), pair(LEARN)
    if not own or not ending or not learn:
        return own
    apart = own if ending != LEARN else next(filter(None, map(pair, APART)), ())
    return (*learn, *apart)


def _is_made(node: Node) -> bool:
    return node.operator != STORED
