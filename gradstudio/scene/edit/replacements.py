"""What could stand in the place of a node: takes what comes, gives what is needed. No Qt."""

from gradstudio.graph import recipes
from gradstudio.graph.card_grouping import makes_module
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import find_port, output_family
from gradstudio.operators.calls.equivalent_calls import spellings
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import accepts
from gradstudio.operators.model import Family, Operator, Parameter
from gradstudio.scene.edit.search_suggestions import Fits

MOST: int = 24


def can_replace(graph: Graph, item: ItemId) -> Fits:
    """Whether an operator can be put where a node stands, so that its first wires stay."""
    node = graph.nodes[item]
    is_module = makes_module(load().get(node.operator))
    incoming = [output_family(graph, wire.source, wire.output) for wire in graph.wires_to(item)][:1]
    readers = [
        port.parameter
        for wire in graph.wires_from(item)
        if wire.output == 0 and (port := find_port(graph, wire.target, wire.port)) is not None
    ]

    def fits(operator: Operator) -> bool:
        if operator.key == node.operator or makes_module(operator) != is_module:
            return False
        return all(_takes(operator, family) for family in incoming) and _gives(operator, readers)

    return fits


class Costs:
    """What of a node's wires and values has no place in other operators; each is asked about once."""

    def __init__(self, graph: Graph, item: ItemId) -> None:
        """Nothing is asked yet."""
        self._graph, self._item = graph, item
        self._lost: dict[str, tuple[str, ...]] = {}

    def count(self, key: str) -> int:
        """How many wires and values would be lost."""
        return len(self._of(key))

    def words(self, key: str) -> str:
        """Which these are, shortly; "" for none."""
        lost = self._of(key)
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        return f"loses {lost[0]}{more}" if lost else ""

    def _of(self, key: str) -> tuple[str, ...]:
        if key not in self._lost:
            try:
                self._lost[key] = recipes.replace(self._graph, self._item, key).lost
            except Refused as refusal:
                self._lost[key] = (str(refusal),)
        return self._lost[key]


def similar_operators(operator: Operator) -> tuple[str, ...]:
    """Keys of what is likeliest wanted instead: other spellings, then everyday ones of its category."""
    same = [row.key for row in load() if row.category == operator.category and not row.rare]
    others = (other.key for other in spellings(operator))
    keys = dict.fromkeys((*others, *same))
    return tuple(key for key in keys if key != operator.key)[:MOST]


def _takes(operator: Operator, family: Family) -> bool:
    return any(not accepts(parameter, family) for parameter in operator.parameters)


def _gives(operator: Operator, readers: list[Parameter]) -> bool:
    if not readers:
        return True
    return bool(operator.results) and all(not accepts(reader, operator.results[0].family) for reader in readers)
