"""The one number that a result is, such as a loss or an accuracy."""

from collections.abc import Sequence
from functools import cached_property

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.model import Effect
from gradstudio.protocol.messages.records import PlainRecord, Record, TensorRecord


def number_of(record: Record | None) -> float | None:
    """The number of a tensor without dimensions or of Python's own; None of everything else."""
    value: object = None
    if isinstance(record, TensorRecord) and not record.summary.shape:
        value = record.summary.value
    elif isinstance(record, PlainRecord):
        value = record.value
    return value if isinstance(value, float) else None


class ResultNumbers:
    """What the nodes of a program have computed that is one number and says something of the run as a whole.

    A loop that does not learn beside one that does goes over parts, such as the batches of a test: its numbers are
    those of the last part, or sums on their way.
    """

    def __init__(self, graph: Graph) -> None:
        """Of this program."""
        self._graph = graph

    def of(self, item: ItemId, outputs: Sequence[Record | None]) -> dict[str, float]:
        """The numbers of a node, by name."""
        node = self._graph.nodes.get(item)
        names = node.names if node is not None and item in self._graph.incoming else ()
        numbers = {name: number_of(output) for name, output in zip(names, outputs, strict=False)}
        found = {name: value for name, value in numbers.items() if value is not None}
        return found if found and not self._is_of_part(item) else {}

    def _is_of_part(self, item: ItemId) -> bool:
        loop = self._graph.loop_around(item)
        return loop is not None and bool(self._learning) and loop.id not in self._learning

    @cached_property
    def _learning(self) -> frozenset[ItemId]:
        """The loops with a backward in them."""
        operators = analyse(self._graph).validity.operators
        backwards = [item for item, operator in operators.items() if Effect.BACKWARD in operator.effects]
        around = {ItemId(body) for item in backwards for body in self._graph.ancestors(item)}
        return frozenset(
            body for body in around if body in self._graph.blocks and self._graph.blocks[body].kind == "for"
        )
