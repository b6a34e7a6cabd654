"""What a figure says at one moment of a run: values, gradients, what flows; read off the results. No Qt."""

from collections.abc import Mapping
from typing import NamedTuple

from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.operators.model import Face
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.scene.figure.drawing import Formula, Run
from gradstudio.scene.figure.figure_graph import FigureGraph, Flow
from gradstudio.scene.figure.figure_numbers import gradient_formula, sent_formula, value_formula
from gradstudio.scene.results import NoResults, Results

FlowKey = tuple[ItemId, ItemId]


class Asked(NamedTuple):
    """What a figure is to say of a run.

    Attributes:
        values, shapes: below the formula of each box.
        gradients: what arrived at each box.
        wire_gradients: what was sent back along each wire; at a moment of a backward those of the step, anyway.
    """

    values: bool = False
    shapes: bool = False
    gradients: bool = False
    wire_gradients: bool = False


NOTHING = Asked()
EVERYTHING = Asked(values=True, gradients=True, wire_gradients=True)


class Snapshot(NamedTuple):
    """One moment.

    Attributes:
        values, gradients: by box, in words.
        sent: by flow, the gradient that went back along it.
        active: the box that is at work; "" for none, and then all is as it stands at the end.
        phase: of the active box, "forward" or "backward"; "".
        lit: flows through which something comes or goes at this moment.
        later: boxes that have not run yet.
        caption: the moment in a sentence.
    """

    values: Mapping[ItemId, Formula] = {}
    gradients: Mapping[ItemId, Formula] = {}
    sent: Mapping[FlowKey, Formula] = {}
    active: ItemId = ItemId("")
    phase: str = ""
    lit: frozenset[FlowKey] = frozenset()
    later: frozenset[ItemId] = frozenset()
    caption: str = ""


NO_RUN = Snapshot()


def take_snapshot(figure: FigureGraph, results: Results | None, asked: Asked, caption: str = "") -> Snapshot:
    """What the figure says as of the moment that `results` stand at."""
    seen = results if results is not None else NoResults()
    lit, active, phase = _flowing(figure, seen)
    sent = {
        (flow.source, flow.target): words
        for flow in figure.flows
        if (asked.wire_gradients or (phase == "backward" and (flow.source, flow.target) in lit))
        and (words := _sent(flow, seen))
    }
    later = [item for item in figure.boxes if seen.moment is not None and _is_later(figure, seen, item)]
    return Snapshot(
        {item: words for item in figure.boxes if (words := _value(figure, seen, item, asked))},
        {item: words for item in figure.boxes if asked.gradients and (words := _gradient(seen, item))},
        sent,
        active,
        phase,
        lit,
        frozenset(later),
        caption,
    )


def _value(figure: FigureGraph, results: Results, item: ItemId, asked: Asked) -> Formula:
    operator = operator_of(figure.graph, item)
    # d = 8 has its value in its formula; what ∇w ← None writes into did not change.
    is_said = operator is not None and operator.face in (Face.LITERAL, Face.SET_ATTRIBUTE)
    if is_said or not (asked.values or asked.shapes):
        return ()
    outputs = results.outputs(item) or ()
    if not outputs:
        return ()
    words = value_formula(outputs[0], values=asked.values, shapes=asked.shapes)
    if asked.values and item in figure.leaves and isinstance(outputs[0], TensorRecord) and outputs[0].version:
        writes = outputs[0].version  # what was computed from it stands beside it, and had what was there before
        return (*words, Run(f" (after {writes} write{'s' * (writes != 1)})")) if words else words
    return words


def _gradient(results: Results, item: ItemId) -> Formula:
    row = results.grad(item)
    return gradient_formula(row.grad) if row is not None else ()


def _sent(flow: Flow, results: Results) -> Formula:
    """What went back along a flow; of several wires a sum, as it was sent."""
    found = [wire_grad for wire in flow.wires if (wire_grad := results.wire_grad(wire)) is not None]
    words: list[Run] = []
    for wire_grad in found:
        if words:
            words.append(Run(" + "))
        words += sent_formula(wire_grad.grad)
    return tuple(words)


def _flowing(figure: FigureGraph, results: Results) -> tuple[frozenset[FlowKey], ItemId, str]:
    """Flows that are lit, the box at work, and its phase."""
    tick = results.active
    if tick is None:
        return frozenset(), ItemId(""), ""
    home = figure.homes.get(tick.node, tick.node)
    if home not in figure.parents:
        return frozenset(), ItemId(""), tick.phase
    if tick.phase == "forward":
        is_statement = tick.node == home
        into = {(flow.source, flow.target) for flow in figure.flows if flow.target == home}
        return frozenset(into if is_statement else ()), home, tick.phase
    step = results.backward_step()
    leaving = {(sent.source, sent.output, sent.target, sent.port) for sent in step.wires} if step is not None else set()
    arrived = {arrival.value.output for arrival in step.arrivals if arrival.value is not None} if step else set()
    lit = set()
    for flow in figure.flows:
        for wire in flow.wires:
            comes = wire.source == tick.node and wire.output in arrived and results.wire_grad(wire) is not None
            if comes or _ends(wire) in leaving:
                lit.add((flow.source, flow.target))
    return frozenset(lit), home, tick.phase


def _ends(wire: Wire) -> tuple[ItemId, int, ItemId, str]:
    return wire.source, wire.output, wire.target, wire.port


def _is_later(figure: FigureGraph, results: Results, item: ItemId) -> bool:
    return all(results.row(one) is None for one in figure.members(item))
