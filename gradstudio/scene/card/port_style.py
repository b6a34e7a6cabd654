"""What is known of an output: its family, dtype, whether it requires grad. Decides colours. No Qt."""

import functools

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import output_family
from gradstudio.operators.model import Family
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    TensorRecord,
    TupleRecord,
)
from gradstudio.scene.results import Results


class PortStyle(msgspec.Struct, frozen=True, gc=False):
    """How a port is drawn: what flows, of which dtype, and whether grad is required.

    Attributes:
        leaf: it is a leaf of the autograd graph.
        known: a run or inference said so; otherwise a tensor's port is grey.
        muted: of a wire that counts as absent.
        idle: of a wire: nothing flows along it, for one of its ends is left out.
    """

    family: Family
    dtype: str = ""
    requires_grad: bool = False
    leaf: bool = False
    known: bool = False
    muted: bool = False
    idle: bool = False


MUTED = PortStyle(Family.UNKNOWN, muted=True)
"""How wires are drawn that count as absent."""


def port_style(
    graph: Graph, results: Results, item: ItemId, output: int, records: tuple[Record, ...] | None
) -> PortStyle:
    """What the newest run, which gave `records`, else inference, else the catalogue says of an output."""
    if records is not None and output < len(records):
        return record_look(records[output])
    port = results.inference(item, output)
    if port is not None and port.dtype:
        return _of_tensor(port.dtype, port.requires_grad, port.requires_grad and not graph.wires_to(item))
    family = output_family(graph, item, output)
    return PortStyle(family, known=family not in (Family.TENSOR, Family.UNKNOWN))


def record_look(record: Record) -> PortStyle:
    """What a run said."""
    match record:
        case TensorRecord(summary=summary, requires_grad=requires_grad, is_leaf=leaf):
            return _of_tensor(summary.dtype, requires_grad, leaf)
        case PlainRecord(what="number"):
            return PortStyle(Family.NUMBER, known=True)
        case PlainRecord(what="text"):
            return PortStyle(Family.TEXT, known=True)
        case PlainRecord():
            return PortStyle(Family.NONE, known=True)
        case TupleRecord():
            return PortStyle(Family.TUPLE, known=True)
        case ModuleRecord():
            return PortStyle(Family.MODULE, known=True)
        case OptimizerRecord():
            return PortStyle(Family.OPTIMIZER, known=True)
        case ArrayRecord():
            return PortStyle(Family.ARRAY, known=True)
        case ObjectRecord():
            return PortStyle(Family.OBJECT, known=True)


@functools.lru_cache(maxsize=256)
def _of_tensor(dtype: str, requires_grad: bool, leaf: bool) -> PortStyle:
    return PortStyle(Family.TENSOR, dtype, requires_grad, leaf, known=True)
