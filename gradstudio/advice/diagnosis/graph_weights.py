"""What each node of a program weighs: seconds and bytes of the last run, else bytes of the shapes that are expected."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal as OneOf

import msgspec

from gradstudio.advice.metrics import Readings
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.shared_storage import storage_of
from gradstudio.operators.model import Face
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord, TupleRecord

Expected = Callable[[ItemId, int], PortInference | None]
"""Asks what inference says of an output of a node."""
Origin = OneOf["run", "shapes", "nothing"]


class Weights(msgspec.Struct, frozen=True):
    """Figures of nodes.

    Attributes:
        of: by node, 0 or more.
        unit: "s" or "B".
        origin: the last run, the shapes that are expected, or nothing known.
        unknown: nodes of the program of which nothing is known, in program order; they count as 0.
    """

    of: dict[ItemId, float]
    unit: str
    origin: Origin
    unknown: tuple[ItemId, ...] = ()

    @property
    def total(self) -> float:
        """The sum over all nodes."""
        return sum(self.of.values())


def time_weights(graph: Graph, readings: Readings | None) -> Weights:
    """Wall time of each node in the last run, forward and backward together, in seconds."""
    found: dict[ItemId, float] = {}
    unknown: list[ItemId] = []
    for item in _nodes(graph):
        seconds = sum(readings.seconds(item)) if readings is not None else 0.0
        if seconds > 0:
            found[item] = seconds
        else:
            unknown.append(item)
    return Weights(found, "s", "run" if found else "nothing", tuple(unknown))


def memory_weights(graph: Graph, readings: Readings | None, expected: Expected) -> Weights:
    """Bytes of what each node makes: as the last run recorded them, else as its expected shapes and dtypes say.

    Each storage counts once, where it is made: views and writes into memory weigh nothing. A module weighs what its
    parameters and buffers do.
    """
    ran = {item: outputs for item in _nodes(graph) if readings and (outputs := readings.outputs(item)) is not None}
    if ran:
        missing = tuple(item for item in _nodes(graph) if item not in ran)
        return Weights(_recorded_bytes(ran), "B", "run", missing)
    found: dict[ItemId, float] = {}
    unknown: list[ItemId] = []
    for item in _nodes(graph):
        size_bytes = _expected_bytes(graph, item, expected)
        if size_bytes is None:
            unknown.append(item)
        else:
            found[item] = size_bytes
    return Weights(found, "B", "shapes" if any(found.values()) else "nothing", tuple(unknown))


def element_bytes(dtype: str) -> int:
    """Bytes of one element: ``torch.float32`` 4, ``torch.complex64`` 8, ``torch.bool`` 1."""
    bits = re.search(r"\d+", dtype)
    return max(1, int(bits[0]) // 8) if bits is not None else 1


def _nodes(graph: Graph) -> Iterator[ItemId]:
    return (item for item in graph.order() if item in graph.nodes)


def _recorded_bytes(ran: dict[ItemId, tuple[Record, ...]]) -> dict[ItemId, float]:
    """Bytes of the storages that were first seen at each node."""
    seen: set[int] = set()
    found: dict[ItemId, float] = {}
    for item, outputs in ran.items():
        found[item] = 0.0
        for record in _tensors(outputs):
            if not record.storage or record.storage not in seen:
                found[item] += record.size_bytes
            seen.add(record.storage)
    return found


def _tensors(records: Iterable[Record]) -> Iterator[TensorRecord]:
    for record in records:
        match record:
            case TensorRecord():
                yield record
            case TupleRecord():
                yield from _tensors(record.items)
            case ModuleRecord():
                yield from (*record.parameters.values(), *record.buffers.values())
            case _:
                pass


def _expected_bytes(graph: Graph, item: ItemId, expected: Expected) -> float | None:
    """Of all outputs; None where inference says nothing of any."""
    node = graph.nodes[item]
    row = row_of(graph, node)
    count = max(1, len(node.names), len(row.results) if row is not None else 0)
    ports = [port for output in range(count) if (port := expected(item, output)) is not None]
    sizes = [_port_bytes(port) for port in ports if not _is_held_elsewhere(graph, item, port.output)]
    known = [size for size in sizes if size is not None]
    if known:
        return float(sum(known))
    is_free = row is not None and not row.results
    return 0.0 if is_free or (ports and not sizes) else None


def _is_held_elsewhere(graph: Graph, item: ItemId, output: int) -> bool:
    row = row_of(graph, graph.nodes[item])
    takes_apart = row is not None and row.face in (Face.TUPLE, Face.LIST)
    return takes_apart or storage_of(graph, item, output) != (item, output)


def _port_bytes(port: PortInference) -> int | None:
    if port.leaves is not None:
        return sum(math.prod(leaf.shape) * element_bytes(leaf.dtype) for leaf in port.leaves)
    if port.shape is None or not port.dtype:
        return None
    return math.prod(port.shape) * element_bytes(port.dtype)
