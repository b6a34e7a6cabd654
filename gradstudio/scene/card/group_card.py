"""What is different about the cards of groups, and about those of a group's inputs and outputs. No Qt."""

from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from gradstudio.graph.boundary_cards import CARDS, INPUTS_CARD
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import GROUP
from gradstudio.operators.model import Kind, Parameter

Row = TypeVar("Row", bound=msgspec.Struct)
"""The row of an input: any record with a `parameter`."""
WIRED: Final = Parameter("", Kind.TENSOR)
"""In place of what the outputs of a group are: they take anything, and only from wires."""


def is_group(key: str) -> bool:
    """Whether nodes of an operator stand for a group, which has an inside."""
    return key.startswith(GROUP)


def uses_of(graph: Graph, key: str) -> str:
    """Behind the title of a group in the program, how often it is used in the document, if more than once."""
    if not is_group(key) or INPUTS_CARD in graph.nodes:
        return ""
    count = sum(node.operator == key for one in graphs_of(graph) for node in one.nodes.values())
    return f" ×{count}" if count > 1 else ""


def card_rows(rows: Iterable[Row], item: ItemId) -> tuple[Row, ...]:
    """The inputs of a card; the outputs of a group have no fields to type into."""
    return tuple(replace(row, parameter=WIRED) for row in rows) if item in CARDS else tuple(rows)
