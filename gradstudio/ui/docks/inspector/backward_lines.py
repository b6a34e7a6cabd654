"""One step of a backward in lines: what arrives, the local rule, what leaves, the autograd nodes. No widgets."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.derivatives import local_rules
from gradstudio.advice.derivatives.local_rules import InputRule, LocalRule
from gradstudio.advice.derivatives.rule_rows import BROADCAST, SPREAD
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.gradient_sentences import hook_words
from gradstudio.protocol.messages.backward_trace import AutogradRow, EdgeValue, Reduction, SavedTensor, WireGrad
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.ranks.arrival_words import NOTICED_S, duration_words, late_words, waits
from gradstudio.protocol.timeline.run_timeline import Arrival, BackwardStep, Contribution
from gradstudio.scene import value_format
from gradstudio.ui.docks.inspector.display_names import milliseconds, name_of, port_name
from gradstudio.ui.docks.inspector.ledger import Line
from gradstudio.ui.docks.inspector.operands import Operands


class StepLines(NamedTuple):
    """What the section of a step of a backward shows."""

    arrives: tuple[Line, ...]
    rule: tuple[Line, ...]
    source: str
    leaves: tuple[Line, ...]
    autograd: tuple[Line, ...]


def lines_of(
    graph: Graph,
    step: BackwardStep,
    operands: Operands,
    gradients: tuple[GradRow, ...],
    retained: bool,
    backward: tuple[AutogradRow, ...] = (),
) -> StepLines:
    """All lines of a step.

    Args:
        operands: the values that went into the node and came out, for the formulas.
        gradients: of the node's results: for a leaf their parts are listed.
        retained: what was saved is kept for another backward.
        backward: all that this backward executed, to name where a gradient goes that leaves along no wire.
    """
    if any(row.reduction is not None for row in step.rows):
        return _reduction_lines(graph, step)
    accumulates = any(row.autograd == "AccumulateGrad" for row in step.rows)
    is_first_order = step.order == 1 or accumulates
    rule = rule_of(graph, step.node) if is_first_order else None
    rules = _rule(rule, operands, accumulates, step) if is_first_order else _rules_of_backward(step)
    source = rule.source if rule is not None and not accumulates else ""
    leaving = (*_accumulated(graph, step, gradients), *_leaves(graph, step, rule, accumulates, backward))
    autograd = list[Line]()
    for row in step.rows:
        autograd += _autograd(graph, row, retained)
    arriving = (*_arrives(graph, step), *_hooks(step, before_node=True))
    return StepLines(arriving, tuple(rules), source, (*leaving, *_hooks(step, before_node=False)), tuple(autograd))


def rule_of(graph: Graph, item: ItemId) -> LocalRule | None:
    """The local rule of a node; of a module's call, that of the function the module applies."""
    operator = operator_of(graph, item) if item in graph.nodes else None
    if operator is None:
        return None
    if operator.key != "python.call":
        return local_rules.rule_of(operator)
    wire = graph.wire_into(item, "module")
    module = graph.nodes.get(wire.source) if wire is not None else None
    key = local_rules.key_of_module(module.operator.rsplit(".", 1)[-1]) if module is not None else ""
    return local_rules.rule_of(load()[key]) if key else None


# ------------------------------------------------------------------ what arrives


def _arrives(graph: Graph, step: BackwardStep) -> Iterator[Line]:
    shown = [arrival for arrival in step.arrivals if arrival.value is not None] or list(step.arrivals)
    for arrival in shown:
        yield from _arrival(graph, arrival, len(shown) > 1, _before_hooks(step, arrival))


def _arrival(graph: Graph, arrival: Arrival, several: bool, came: Summary | None) -> Iterator[Line]:
    value = arrival.value
    if several and value is not None:
        yield Line(kind="heading", text=f"of {name_of(graph, value.node, value.output, value.path)}")
    if not arrival.parts:
        yield Line("the seed", summary=came)
        return
    for part in arrival.parts:
        yield Line(f"from {_sender(graph, part)}", summary=part.grad, link=part.node or None)
    if len(arrival.parts) > 1:
        yield Line("= sum", summary=came, kind="sum")


def _before_hooks(step: BackwardStep, arrival: Arrival) -> Summary | None:
    """What arrived, before a hook of the program's made something else of it."""
    value = arrival.value
    if value is not None:
        of_it = (hook for row in step.rows if value in row.values for hook in row.hooks if hook.kind == "tensor")
        return next((hook.before for hook in of_it if hook.index == value.index), arrival.grad)
    return arrival.grad


def _hooks(step: BackwardStep, *, before_node: bool) -> Iterator[Line]:
    """What the program's own hooks have made of what comes, or of what goes and of `.grad`."""
    for row in step.rows:
        for hook in row.hooks:
            if (hook.kind == "tensor") is before_node:
                yield Line(kind="heading", text=hook_words(hook))
                if not hook.changed:
                    yield Line(kind="words", role="dim", text="It changed nothing.")
                    continue
                what = ".grad " if hook.kind == "accumulated" else ""
                yield Line(f"{what}before", summary=hook.before)
                yield Line(f"{what}behind", summary=hook.after, kind="sum")


def _sender(graph: Graph, part: Contribution) -> str:
    name = name_of(graph, part.node) if part.node else part.autograd
    port = port_name(graph, part.node, part.port) if part.port else ""
    if port and name.isidentifier():
        return f"{name}.{port}"
    if port:
        return f"{name} ({port})"
    return name


# ------------------------------------------------------------------ the rule


def _is_broadcast(step: BackwardStep, part: InputRule) -> bool:
    """Whether the gradient that leaves along an input was summed to the input's shape."""
    arrived = next((arrival.grad.shape for arrival in step.arrivals if arrival.grad is not None), ())
    sent = (wire.grad.shape for wire in step.wires if wire.port == part.parameter and wire.grad is not None)
    return any(shape != arrived if part.python else len(shape) < len(arrived) for shape in sent)


def _rule(rule: LocalRule | None, operands: Operands, accumulates: bool, step: BackwardStep) -> Iterator[Line]:
    if accumulates:
        yield Line(kind="words", text="A leaf: what arrives is added to .grad.")
        return
    if rule is None:
        yield Line(kind="words", role="dim", text="No formula is known for this operator; torch knows the numbers.")
        return
    yield Line(kind="formula", text=rule.forward, role="dim")
    for part in rule.inputs:
        if not operands.is_differentiated(part.parameter):
            continue
        filled, number = operands.filled_in(rule, part)
        text = part.formula if not filled else f"{part.formula} = {filled}"
        vjp = part.vjp if _is_broadcast(step, part) else part.vjp.removesuffix(BROADCAST)
        if figures := _figures(rule, part, operands, step):
            vjp = f"{vjp.removesuffix(SPREAD)} = {figures}"
        yield Line(kind="formula", text=text if not number else f"{text} = {number}", note=vjp)


def _figures(rule: LocalRule, part: InputRule, operands: Operands, step: BackwardStep) -> str:
    """The numbers of what leaves along an input, where one gradient arrived and one left."""
    arrived = [arrival.grad for arrival in step.arrivals if arrival.grad is not None]
    sent = [wire.grad for wire in step.wires if wire.port == part.parameter and wire.grad is not None]
    if len(arrived) != 1 or len(sent) != 1:
        return ""
    return operands.figures(rule, part, arrived[0], sent[0])


def _rules_of_backward(step: BackwardStep) -> Iterator[Line]:
    """Of a step through what an earlier backward computed: the rule of each autograd node by its own class."""
    maker = "backward 1" if step.backward == 2 else "an earlier backward"
    for autograd in dict.fromkeys(row.autograd for row in step.rows):
        words = f"Made by {maker} with create_graph: the rule of {autograd}"
        rule = local_rules.rule_of_autograd(autograd)
        if rule is None:
            yield Line(kind="words", text=f"{words}.")
            continue
        yield Line(kind="words", text=f"{words} ({local_rules.word_of_autograd(autograd)}).")
        yield Line(kind="formula", text=rule.forward, role="dim")
        for part in rule.inputs:
            yield Line(kind="formula", text=part.formula, note=part.vjp)


# ------------------------------------------------------------------ what leaves


def _leaves(
    graph: Graph, step: BackwardStep, rule: LocalRule | None, accumulates: bool, backward: tuple[AutogradRow, ...]
) -> Iterator[Line]:
    for wire in step.wires:
        yield Line(
            f"{port_name(graph, wire.target, wire.port)} → {name_of(graph, wire.source, wire.output)}",
            summary=wire.grad,
            link=wire.source,
            note=_wire_note(graph, step, wire, rule),
        )
    if not step.wires and not accumulates:
        beside = list(_beside(graph, step, backward))
        yield from beside
        if beside:
            return
        gone = any(grad is not None for row in step.rows for grad in row.outgoing)
        yield Line(kind="words", role="dim", text="On its way inside the node." if gone else "Nothing leaves.")


def _beside(graph: Graph, step: BackwardStep, backward: tuple[AutogradRow, ...]) -> Iterator[Line]:
    """What goes to autograd nodes of others without a wire: from a view of memory that was written into since."""
    others = {row.id: row for row in backward if row.node and row.node != step.node}
    for row in step.rows:
        for (to, _), grad in zip(row.next, row.outgoing, strict=False):
            if grad is not None and to in others:
                target = others[to]
                note = f"no wire: torch goes on at {target.autograd}, the memory that both share"
                yield Line(f"→ {name_of(graph, target.node)}", summary=grad, link=target.node, note=note)


def _wire_note(graph: Graph, step: BackwardStep, wire: WireGrad, rule: LocalRule | None) -> str:
    if wire.grad is None:
        same = (o for o in step.wires if (o.source, o.output) == (wire.source, wire.output) and o.grad is not None)
        if (packed := next(same, None)) is not None:
            port = port_name(graph, packed.target, packed.port)
            return f"torch packs what it reads from the same value into one: see {port}"
        return "torch sent no gradient: it counts as zero, and is none"
    words = ""
    incoming = next((arrival.grad for arrival in step.arrivals if arrival.grad is not None), None)
    part = rule.input(wire.port) if rule is not None else None
    if incoming is not None and part is not None and _is_broadcast(step, part):
        words = f"{value_format.shape(incoming.shape)} summed to {value_format.shape(wire.grad.shape)}"
    return f"{words}  sum of {wire.parts} parts".strip() if wire.parts > 1 else words


def _accumulated(graph: Graph, step: BackwardStep, gradients: tuple[GradRow, ...]) -> Iterator[Line]:
    for row in step.rows:
        if row.autograd != "AccumulateGrad":
            continue
        value = row.values[0] if row.values else None
        if value is not None and (value.path or len(step.rows) > 1):
            yield Line(kind="heading", text=name_of(graph, value.node, value.output, value.path))
        yield Line(".grad before", "None" if row.before is None else "", row.before)
        yield Line("+ arrives", summary=row.incoming[0] if row.incoming else None)
        yield Line("= .grad", summary=row.after, kind="sum")
        told = next((grad for grad in gradients if value is not None and _is_of(grad, value.output, value.path)), None)
        if told is not None and len(told.parts) > 1:
            yield Line(kind="heading", text="It holds, pass by pass")
            yield from (
                Line(f"pass {part.pass_number}, backward {part.backward}", "" if part.grad else "?", part.grad)
                for part in told.parts
            )


def _is_of(grad: GradRow, output: int, path: str) -> bool:
    return (grad.output, grad.path) == (output, path)


# ------------------------------------------------------------------ autograd nodes


def _autograd(graph: Graph, row: AutogradRow, retained: bool) -> Iterator[Line]:
    yield Line(row.autograd, milliseconds(row.seconds))
    for saved in row.saved:
        yield Line(kind="words", role="dim", text=f"    {_saved_words(graph, saved)}")
    if row.saved:
        yield Line(
            kind="words", role="dim", text=f"    {'kept: the graph is retained' if retained else 'released here'}"
        )


def _saved_words(graph: Graph, saved: SavedTensor) -> str:
    what = [f"saved {saved.name}", f"{value_format.bare_dtype(saved.dtype)}{value_format.shape(saved.shape)}"]
    what.append(value_format.size(saved.size_bytes))
    if saved.node:
        version = f", version {saved.version}" if saved.version else ""
        what.append(f"the value of {name_of(graph, saved.node, saved.output)}{version}")
    return "  ".join(what)


# ------------------------------------------------------------------ what ranks do together


def _reduction_lines(graph: Graph, step: BackwardStep) -> StepLines:
    """All lines of such a step."""
    row = step.rows[-1]
    reduction = row.reduction
    assert reduction is not None
    values = _parameters_of(row)
    arrives = [line for value in values for line in _gradients(graph, row, reduction, value)]
    rule = (
        Line(kind="formula", text=f".grad = 1/{reduction.ranks} · Σ of the ranks' gradients"),
        Line(kind="words", role="dim", text="DistributedDataParallel: one all-reduce for all of a bucket."),
    )
    leaves = [
        Line(f"{name_of(graph, value.node, value.output, value.path)}.grad", summary=row.outgoing[value.index])
        for value in values
    ]
    return StepLines(tuple(arrives), rule, "", tuple(leaves), tuple(_times(reduction)))


def _parameters_of(row: AutogradRow) -> tuple[EdgeValue, ...]:
    """A value for each parameter of the bucket: of what it is called, the longest name that is not the wrapper's."""
    found: dict[int, EdgeValue] = {}
    for value in sorted(row.values, key=lambda value: (value.node != row.node, len(value.path))):
        found[value.index] = value
    return tuple(found[index] for index in sorted(found))


def _gradients(graph: Graph, row: AutogradRow, reduction: Reduction, value: EdgeValue) -> Iterator[Line]:
    place = value.index
    yield Line(kind="heading", text=f"of {name_of(graph, value.node, value.output, value.path)}")
    for share in reduction.shares:
        yield Line(f"rank {share.rank}", summary=share.grads[place] if place < len(share.grads) else None)
    if not reduction.shares:
        yield Line("this rank", summary=row.incoming[place] if place < len(row.incoming) else None)
    yield Line("= mean", summary=row.outgoing[place], kind="sum")


def _times(reduction: Reduction) -> Iterator[Line]:
    if words := late_words(reduction.arrivals):
        yield Line(kind="words", text=f"{words[0].upper()}{words[1:]}.")
    for rank, seconds in waits(reduction):
        yield Line(f"rank {rank}", f"waited {duration_words(seconds)}" if seconds >= NOTICED_S else "waited for nobody")
    yield Line("all-reduce", f"at most {duration_words(reduction.done_s - reduction.came_s)}")
