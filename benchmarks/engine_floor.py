"""The least that a recorded pass of many small operators can cost in Python, against the same by hand: CPU time.

The chain of `engine_trace` without an engine around it: each operator is noted with its time, told in one row of the
protocol, hooked, and told in one row of its backward, one of its wire and one of its gradient, which are encoded.
Nothing is looked up for it: whose an autograd node is and where its gradients go is assumed, and neither what it has
saved, nor storages, nor writes in place are asked for. What an engine does besides comes on top.
"""

import time
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks._networks import chain, leaves_by_hand
from benchmarks.engine_trace import COMPARED, by_hand, ratio
from gradstudio.engine.value.summary_batches import summarise_alike
from gradstudio.engine.value.tensor_summary import outline
from gradstudio.graph.model import ItemId
from gradstudio.protocol.framing import frame_parts
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, WireGrad
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, Traced
from gradstudio.protocol.messages.records import Summary, TensorRecord

Note = tuple[float, Tensor]
Sent = tuple[int, tuple[Tensor | None, ...], tuple[Tensor, ...], float]


def measure() -> list[dict[str, Any]]:
    """A row without and one with figures of the values."""
    torch.set_num_threads(1)
    return [row("without figures", with_figures=False), row("with figures", with_figures=True)]


def row(name: str, *, with_figures: bool) -> dict[str, Any]:
    """The median of interleaved pairs."""
    network = chain()
    measured = ratio(barest(network, with_figures=with_figures), by_hand(network), 1)
    title = f"floor of a recorded pass / by hand, {name}, chain of 1,000 operators on 64 x 32"
    return {"name": title, "measured": measured, "goal": None, "unit": "x", "ok": None, "compared_with": COMPARED}


def barest(network: Any, *, with_figures: bool) -> Any:
    """A pass that notes, hooks and tells, and knows nothing."""
    (leaf,), nodes = leaves_by_hand(network), network[1]
    code = compile("\n".join(f"{name} = {text}\nnote((clock(), {name}))" for name, text in nodes), "floor", "exec")

    def run() -> None:
        leaf.grad = None
        notes: list[Note] = []
        exec(code, {"torch": torch, "x": leaf, "note": notes.append, "clock": time.perf_counter})
        tell_values(notes, with_figures=with_figures)
        tell_gradients(notes, with_figures=with_figures)

    return run


def tell_values(notes: list[Note], *, with_figures: bool) -> None:
    """One row a value."""
    rows = []
    before = 0.0
    summaries = summaries_of([value for _, value in notes], with_figures=with_figures)
    for place, ((ended, value), summary) in enumerate(zip(notes, summaries, strict=True)):
        record = TensorRecord(
            device="cpu", summary=summary, stride=value.stride(), requires_grad=value.requires_grad, is_leaf=False,
            grad_fn=type(value.grad_fn).__name__, version=value._version, contiguous=value.is_contiguous(),
            size_bytes=value.nbytes, storage=place,
        )  # fmt: skip
        node = ItemId(f"n{place}")
        rows.append(Row(step=place, node=node, outputs=(record,), seconds=ended - before, at_s=ended))
        before = ended
    frame_parts(Traced(revision=1, rows=tuple(rows)))


def tell_gradients(notes: list[Note], *, with_figures: bool) -> None:
    """The backward under hooks; a row an autograd node, a wire, a gradient."""
    sent: list[Sent] = []

    def saw(place: int, outgoing: tuple[Tensor | None, ...], incoming: tuple[Tensor, ...]) -> None:
        sent.append((place, outgoing, incoming, time.perf_counter()))

    nodes = [value.grad_fn for _, value in notes]
    handles = [node.register_hook(partial(saw, place)) for place, node in enumerate(nodes) if node is not None]
    notes[-1][1].backward()  # type: ignore[no-untyped-call]  # untyped in torch
    for handle in handles:
        handle.remove()
    came = summaries_of([incoming[0] for _, _, incoming, _ in sent], with_figures=with_figures)
    rows = []
    wires = []
    gradients = []
    for order, ((place, _, _, ended), summary) in enumerate(zip(sent, came, strict=True)):
        node, to, went = ItemId(f"n{place}"), ItemId(f"n{place - 1}"), came[min(order + 1, len(came) - 1)]
        kind = type(nodes[place]).__name__
        rows.append(
            AutogradRow(backward=1, autograd=kind, node=node, incoming=(summary,), outgoing=(went,), seconds=ended)
        )
        wires.append(WireGrad(source=to, target=node, port="arg.0", place=order, grad=went))
        gradients.append(GradRow(node=node, state="value", grad=summary))
    frame_parts(BackwardTraced(revision=1, rows=tuple(rows), wires=tuple(wires)))
    frame_parts(Gradients(revision=1, rows=tuple(gradients)))


def summaries_of(values: list[Tensor], *, with_figures: bool) -> list[Summary]:
    """What is told of their numbers: of those alike together, or only dtype and shape."""
    found = summarise_alike(values) if with_figures else [None] * len(values)
    return [summary or outline(value) for summary, value in zip(found, values, strict=True)]
