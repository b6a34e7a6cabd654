"""Explains a failure: which known error it is, and what can be done."""

import re
from collections.abc import Mapping

import msgspec

from gradstudio.advice.cut_chains import NO_WAY_BACK, describe_cut, describe_freezing
from gradstudio.advice.diagnosis.finding import Severity
from gradstudio.advice.failure_case import Lookup, place_of
from gradstudio.advice.failure_sentences import cause_sentence
from gradstudio.advice.model import Advice, Rule
from gradstudio.advice.none_causes import NONE, describe_early_gradient
from gradstudio.advice.quotations import source_name, value_name, written
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.advice.rules.gradient_errors import STEPPED
from gradstudio.advice.rules.layer_errors import OF_OPERATORS
from gradstudio.advice.rules.torch_warnings import WARNINGS
from gradstudio.advice.text_causes import cause_in_text, slip_in_text
from gradstudio.graph.analysis.call_addresses import group_at, locate_item
from gradstudio.graph.groups.call_ids import calls_around, is_call_item
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.arguments import find_operator
from gradstudio.graph.ports.module_calls import label_at, port_label
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.item_titles import title
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import flatten_statements
from gradstudio.protocol.messages.debugging import Clash
from gradstudio.protocol.messages.events import Failed, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.progress import ProgramExit
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord

STEP = "torch.optim.Optimizer.step"
FREED = r"first backward freed"
SHAPES_EXPLAIN_NOTHING = r"memory"
"""In an explanation: it is about two backwards; what went in has nothing to do with it."""
CUT = r"there is no way back"
COPIED_NUMBER = "Converting a tensor with requires_grad=True to a scalar"
PLAIN_NUMBERS = ("builtins.", "math.")
MAX_OPERANDS = 4
MAX_CULPRITS = 3
MAX_TEXT = 60
Lines = Mapping[ItemId, int]
"""Where statements stand in the text that a person gave, if they gave one."""
SCRIPT_LINES: Lines = {}
"""No such text: lines are those of the script."""


def explain_words(type_name: str, message: str) -> Advice:
    """Advice for torch's words alone; empty when they are not known."""
    for rule in RULES:
        advice = rule.match(type_name, message)
        if advice is not None:
            return advice
    return Advice()


def exit_words(end: ProgramExit) -> str:
    """That a program has ended itself, and with what."""
    said = f"“{end.words}” (code {end.code})" if end.words else f"code {end.code}"
    return f"The program ended itself with {said}: what follows was not run."


def explain_warning(category: str, message: str) -> Advice:
    """Advice for a warning; empty when it is not known."""
    found = (rule.match(category, message) for rule in WARNINGS)
    return next((advice for advice in found if advice is not None), Advice())


def warning_severity(graph: Graph, warned: Warned) -> Severity:
    """A note where a number is taken for what is printed or kept, which is how it is meant; else a warning."""
    place = locate_item(graph, warned.node)
    node = place.graph.nodes.get(place.item) if place is not None else None
    if COPIED_NUMBER not in warned.message or node is None:
        return "warning"
    makes_tensor = "tensor(" in code_of(node) if is_code(node) else not node.operator.startswith(PLAIN_NUMBERS)
    return "warning" if makes_tensor else "info"


def explain(failed: Failed, graph: Graph | None = None, lines: Lines = SCRIPT_LINES) -> Advice:
    """Advice for a failure, with what went into the node that failed, and for a clash who wrote into what.

    Of a failure inside calls it begins with where that is: "In Net ▸ fc2: ...". What has no place in `lines` is told
    with its line in the script.
    """
    if failed.program_exit is not None:
        return Advice(exit_words(failed.program_exit))
    reason, hint = slip_in_text(failed, graph) if graph is not None else ("", "")
    if reason or hint:
        advice = explain_words(failed.type_name, failed.message)
        return Advice(reason or f"{advice.explanation} {hint}".strip(), advice.fixes)
    found = locate_item(graph, failed.node) if graph is not None and is_call_item(failed.node) else None
    if graph is None or found is None or failed.clash is not None:
        return _with_freezing(_explain(failed, graph, lines), graph)
    advice = _explain(msgspec.structs.replace(failed, node=found.item), found.graph, lines)
    advice = _with_freezing(advice, graph)
    return Advice(f"In {describe_place(graph, failed.node)}: {advice.explanation}".removesuffix(": "), advice.fixes)


def _with_freezing(advice: Advice, graph: Graph | None) -> Advice:
    """The same with what freezes something, where nothing that a root was computed from requires grad."""
    if graph is None or not advice.explanation.endswith(NO_WAY_BACK):
        return advice
    return Advice(f"{advice.explanation} {describe_freezing(graph)}".strip(), advice.fixes)


def describe_place(graph: Graph, node: ItemId) -> str:
    """The groups that an item of a run is inside of, and what it calls or is called: "Net ▸ fc2"."""
    words = [group_at(graph, call) for call in calls_around(node)]
    place = locate_item(graph, node)
    if place is None or place.item not in place.graph:
        return " ▸ ".join([*words, "inputs"])
    module = place.graph.wire_into(place.item, "module")
    return " ▸ ".join([*words, title(place.graph, module.source if module is not None else place.item)])


def _explain(failed: Failed, graph: Graph | None, lines: Lines) -> Advice:
    """The advice for what failed in a graph of its own."""
    advice = _explain_rule(failed, graph, lines)
    cause = cause_sentence(failed, graph) if graph is not None and failed.clash is None else ""
    return Advice(f"{cause} {advice.explanation}".strip(), advice.fixes) if cause else advice


def _explain_rule(failed: Failed, graph: Graph | None, lines: Lines) -> Advice:
    """What the text or the rules know of it, with names and sizes."""
    cause = cause_in_text(failed, graph) if graph is not None else None
    if cause is not None:
        return cause
    advice = explain_words(failed.type_name, failed.message)
    for rule in of_operator(graph, failed.node):
        advice = rule.match(failed.type_name, failed.message) or advice
    if graph is not None and re.search(CUT, advice.explanation):
        return Advice(describe_cut(failed.node, graph) or advice.explanation, advice.fixes)
    stepped = stepped_between(failed, graph) if graph is not None else ""
    if stepped and failed.clash is not None:
        words = STEPPED.explanation.replace("The step", stepped)
        return Advice(f"{words} {describe_clash(failed.clash, graph)}", STEPPED.fixes)
    if graph is not None and advice.explanation and NONE in failed.message:
        advice = _early(failed, graph, advice)
    if advice.explanation and failed.clash is not None and failed.clash.culprits:
        first, dot, _ = advice.explanation.partition(". ")  # what follows is told better, with names and lines
        told = describe_clash(failed.clash, graph)
        return Advice(f"{first}: {told[:1].lower()}{told[1:]}" if dot else f"{first} {told}", advice.fixes)
    if advice.explanation and re.search(FREED, advice.explanation):
        return Advice(f"{advice.explanation} {describe_backwards(failed, graph, lines)}".strip(), advice.fixes)
    operands = describe_operands(failed.operands, graph, failed.node)
    if not advice.explanation or not operands or re.search(SHAPES_EXPLAIN_NOTHING, advice.explanation):
        return advice
    return Advice(f"{advice.explanation} {operands}", advice.fixes)


def _early(failed: Failed, graph: Graph, advice: Advice) -> Advice:
    """The same with the reason, where a gradient is asked for before there is one."""
    words = describe_early_gradient(failed.node, graph)
    return Advice(words, advice.fixes) if words else advice


def stepped_between(failed: Failed, graph: Graph) -> str:
    """The step of an optimizer that wrote into what a backward needs, as it is written; "" where none did."""
    for culprit in failed.clash.culprits if failed.clash is not None else ():
        place = locate_item(graph, culprit.node)
        node = place.graph.nodes.get(place.item) if place is not None else None
        if place is not None and node is not None and node.operator == STEP:
            wire = place.graph.wire_into(place.item, "self")
            return f"{source_name(place.graph, wire)}.step()" if wire is not None else "A step"
    return ""


def of_operator(graph: Graph | None, node: ItemId) -> tuple[Rule, ...]:
    """The rules of the failing operator alone."""
    operator = find_operator(graph, graph.nodes[node]) if graph is not None and node in graph.nodes else None
    return OF_OPERATORS.get(operator.word, ()) if operator is not None else ()


def failed_of(refusal: PortInference, graph: Graph | None = None, lookup: Lookup | None = None) -> Failed:
    """An expected refusal as if it had happened, with what is expected to go in."""
    node = refusal.node
    words = refusal.refusal
    told = _expected_operands(graph, node, lookup) if graph is not None and lookup is not None else ()
    return Failed(revision=0, node=node, address="", line=0, type_name="", message=words, operands=told)


def _expected_operands(graph: Graph, node: ItemId, lookup: Lookup) -> tuple[tuple[str, Record], ...]:
    """What is known of the values that flow into a node, in the order of its arguments."""
    operator = find_operator(graph, graph.nodes[node]) if node in graph.nodes else None
    order = [parameter.name for parameter in operator.parameters] if operator is not None else []
    found = [(wire.port, lookup(wire.source, wire.output)) for wire in graph.wires_to(node)]
    known = [(port, record) for port, record in found if record is not None]
    return tuple(sorted(known, key=lambda row: place_of(order, row[0])))


def expected_record(port: PortInference | None) -> TensorRecord | None:
    """A tensor that inference expects, as a record without figures; None when it does not say one."""
    if port is None or port.shape is None or not port.dtype:
        return None
    summary = Summary(dtype=port.dtype, shape=port.shape)
    return TensorRecord(device=port.device, summary=summary, requires_grad=port.requires_grad)


def describe_operands(
    operands: tuple[tuple[str, Record], ...], graph: Graph | None = None, node: ItemId | None = None
) -> str:
    """Name the tensors that went in: "Here a (x) is float32 [2, 3], b (w) is float32 []"."""
    parts = []
    for port, record in operands:
        if isinstance(record, TensorRecord):
            wire = graph.wire_into(node, port) if graph is not None and node is not None else None
            name = source_name(graph, wire) if graph is not None and wire is not None else port
            label = label_at(graph, node, port) if graph is not None and node is not None else port_label(port)
            named = f"{label} ({name})" if name != port else label
            parts.append(f"{named} is {record.summary.dtype} {list(record.summary.shape)}")
    return f"Here {', '.join(parts[:MAX_OPERANDS])}." if parts else ""


def describe_backwards(failed: Failed, graph: Graph | None, lines: Lines = SCRIPT_LINES) -> str:
    """Which statement is the second backward, and which was the first: "Line 7 `y.backward()` is the second, ..."."""
    if graph is None or not failed.line:
        return ""
    statements = list(flatten_statements(compile_graph(graph).statements))
    here = next((k for k, statement in enumerate(statements) if statement.node == failed.node), -1)
    second = _place(graph, failed.node, failed.line, failed.address)
    first = next((one for one in reversed(statements[: max(here, 0)]) if one.backward), None)
    if first is None:
        return f"{_capital(second)} has run before."
    line = lines.get(first.node, first.line)
    return f"{_capital(second)} is the second, the first was {_place(graph, first.node, line, first.address)}."


def describe_clash(clash: Clash, graph: Graph | None = None) -> str:
    """Who wrote into what, which statement had saved it, and at which versions.

    "Line 4 `y += 1` wrote into y, which line 3 `y = x.exp()` had saved at version 0 as its result; it is at
    version 1 now."
    """
    shown = clash.culprits[-MAX_CULPRITS:]
    writers = [_place(graph, c.node, c.line, c.address) for c in shown]
    if len(clash.culprits) > len(shown):
        writers[0] = f"{len(clash.culprits) - len(shown)} other statements, {writers[0]}"
    wrote = f"{_capital(' and '.join(writers))} wrote into {_value_name(clash, graph)}"
    now = f"it is at version {clash.version} now."
    if not clash.victim:
        return f"{wrote}; {now}"
    victim = _place(graph, clash.victim, clash.victim_line, clash.victim_address)
    if not clash.autograd:
        return f"{wrote}, which is the leaf of {victim}."
    what = "its result" if clash.saved in ("result", "output", "out") else f"its '{clash.saved}'"
    saved = f"had saved at version {clash.saved_version} as {what}" if clash.saved else "needs for its backward"
    return f"{wrote}, which {victim} {saved} (for {clash.autograd}); {now}"


def _place(graph: Graph | None, item: ItemId, line: int, address: str) -> str:
    """``line 4 `y += 1```, as far as it is known."""
    text = (written(graph, item) if graph is not None else "") or address
    text = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
    return f"line {line} `{text}`" if line else f"`{text}`"


def _value_name(clash: Clash, graph: Graph | None) -> str:
    if clash.value and graph is not None and clash.value in graph:
        return value_name(graph, clash.value)
    return "the tensor"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
