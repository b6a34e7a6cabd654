"""Timelines made of rows as the engine sends them."""

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Summary, TensorRecord


def summary(value: float, nan: int = 0) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, nan=nan, value=value)


def row(step: int, node: str, value: float = 1.0, nan: int = 0, turns: tuple[int, ...] = (), passes: int = 1) -> Row:
    record = TensorRecord(device="cpu", summary=summary(value, nan))
    return Row(step=step, node=ItemId(node), outputs=(record,), turns=turns, pass_number=passes, seconds=0.001)


def traced(
    number: int, *names: tuple[str, str], turns: tuple[int, ...] = (), statement: str = "back"
) -> BackwardTraced:
    rows = tuple(
        AutogradRow(backward=number, autograd=autograd, node=ItemId(node), incoming=(summary(1.0),), id=k)
        for k, (node, autograd) in enumerate(names)
    )
    return BackwardTraced(revision=1, rows=rows, backward=number, statement=ItemId(statement), turns=turns)
