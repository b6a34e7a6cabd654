"""What the canvas says of the thing under the pointer: sentences, torch's words, whole numbers. No Qt."""

from html import escape
from typing import Final, Protocol

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.item_ports import find_port, operator_of, output_ports
from gradstudio.graph.ports.module_calls import described_by
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.descriptions import argument, signature
from gradstudio.operators.model import Effect, Parameter
from gradstudio.protocol.messages.charts import ConfusionDrawn
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import PlainRecord, Record, Summary, TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.card.confusion_cells import cell_words
from gradstudio.scene.card.gradient_state_words import STATE_SENTENCES, state_words
from gradstudio.scene.card.gradient_terms import part_words
from gradstudio.scene.hit_test import Hit
from gradstudio.scene.items import PortRef
from gradstudio.scene.results import FailureLike
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.wire_labels import brief
from gradstudio.scene.words.module_tooltips import leaf_text, mode_text
from gradstudio.scene.words.shard_words import placement_words, shape_words


class Pages(Protocol):
    """What torch's own documentation says, as far as it is known; `ui.state.PageStore` answers, so does `NO_PAGES`."""

    def first_sentence(self, key: str, /) -> str:
        """What is said first of an operator; "" while that is not known."""

    def argument_words(self, key: str, name: str, /) -> str:
        """What is said of an argument; "" while that is not known."""


class _NoPages:
    def first_sentence(self, _key: str) -> str:
        return ""

    def argument_words(self, _key: str, _name: str) -> str:
        return ""


NO_PAGES: Final[Pages] = _NoPages()


def failure_lines(failure: FailureLike) -> list[str]:
    """Why it failed, and below that torch's own words; theirs alone where we know no more."""
    if not failure.explanation:
        return [f"<b>{escape(failure.what)}</b>"]
    return [f"<b>{escape(failure.explanation)}</b>", f"<code>{escape(failure.what)}</code>"]


def tooltip(scene: Scene, hit: Hit, pages: Pages = NO_PAGES) -> str:
    """Rich text for what was hit; "" where nothing helps. `pages` knows what torch says."""
    match hit.kind:
        case "port" if hit.port is not None:
            return port_text(scene, hit.port, pages)
        case "field" if hit.row is not None:
            return parameter_text(hit.row.parameter, pages, described_by(scene.graph, hit.row.owner))
        case "card" if hit.label is not None:
            return parameter_text(hit.label.parameter, pages, described_by(scene.graph, hit.label.owner))
        case "card" if hit.leaf:
            return leaf_text(scene, hit.item, hit.leaf)
        case "card" if hit.cell is not None and isinstance(chart := scene.results.chart(hit.item), ConfusionDrawn):
            return cell_words(chart, hit.cell)
        case "switch":
            return mode_text(scene, hit.item)
        case "card" if hit.item in scene.graph.nodes:
            return card_text(scene, hit, pages)
        case "dot" if hit.wire is not None:
            return f"{wire_text(scene, hit.wire)}<br>Drag moves the dot, Ctrl+drag draws another wire from it."
        case "wire" if hit.wire is not None:
            return wire_text(scene, hit.wire)
        case "drop_what_if":
            return "Drop the <i>What if</i>: the cards show the run alone."
        case "title":
            return "Drag the title to move the block. Drag nodes in and out to change what it holds."
        case _:
            return ""


def card_text(scene: Scene, hit: Hit, pages: Pages = NO_PAGES) -> str:
    """A card: what the operator does, its place in the program, what is wrong, its gradient."""
    graph, item = scene.graph, hit.item
    operator = operator_of(graph, item)
    name = graph.nodes[item].operator
    parts = [f"<b><code>{escape(signature(operator) if operator is not None else name)}</code></b>"]
    if operator is None:
        parts.append("This operator is not in the catalogue; it is kept.")
    else:
        parts.append(escape(pages.first_sentence(name) or operator.summary))
    if hit.header:
        parts.append(place_text(scene, hit))
    parts += check_lines(scene, item)
    failure = scene.results.failure(item)
    if failure is not None:
        parts += failure_lines(failure)
    parts += [escape(warning.message) for warning in scene.results.warnings(item)[-2:]]
    parts.append(escape(scene.results.incomplete(item)))
    if not hit.header:
        parts += [record_text(scene, hit, k, record) for k, record in enumerate(scene.results.outputs(item) or ())]
    if scene.results.stale(item):
        parts.append("<i>These results belong to an older program: run it again.</i>")
    return "<br>".join(part for part in parts if part)


def place_text(scene: Scene, hit: Hit) -> str:
    """Where the statement stands, and whether it is set-up."""
    order = scene.numbers.order(hit.item)
    lines = []
    if hit.item in program_analysis.nested_now(scene.graph):
        lines.append("A part: printed inside the statement that uses it.")
    if order:
        lines.append(f"Statement {order} in program order. <i>Earlier</i> and <i>Later</i> move it.")
    if scene.numbers.is_set_up(hit.item):
        lines.append("Set-up: made once, kept from pass to pass (the thin bar at the left).")
    return "<br>".join(lines)


def record_text(scene: Scene, hit: Hit, output: int, record: Record) -> str:
    """A result and its gradient in full."""
    if not isinstance(record, TensorRecord):
        return plain_text(record)
    summary = record.summary
    lines = [
        f"<code>{escape(value_format.bare_dtype(summary.dtype))}{escape(shape_words(summary))} · "
        f"{escape(record.device)} · {value_format.size(record.size_bytes)}</code>",
        statistics_text(summary),
    ]
    lines.append(memory_text(record))
    if record.grad_fn is not None:
        lines.append(f"grad_fn <code>{escape(record.grad_fn)}</code>")
    row = scene.results.grad(hit.item, output)
    state = row.state if row is not None else record.grad_state
    reason = (row.reason if row is not None else record.grad_reason) or STATE_SENTENCES[state]
    named = state_words(state, reason)
    lines.append(f"∇ {f'<b>{escape(named)}</b>: ' if named else ''}{escape(reason)}")
    if row is not None and row.cause in scene.graph:
        lines.append(
            f"Responsible: <b>{escape(title(scene.graph, row.cause))}</b> (double-click the words to go there)"
        )
    if row is not None and len(row.parts) > 1:
        lines += parts_lines(row)
    grad = row.grad if row is not None else record.grad
    if grad is not None:
        lines.append(f"∇ {statistics_text(grad)}")
    return "<br>".join(line for line in lines if line)


def parts_lines(row: GradRow) -> list[str]:
    """An accumulated gradient, pass by pass."""
    told = [f"pass {part.pass_number}: {part_words(part.grad)}" for part in row.parts[-8:]]
    more = [f"{len(row.parts) - 8} earlier parts"] if len(row.parts) > 8 else []
    return [f"<code>{escape(line)}</code>" for line in (*more, *told)]


def memory_text(record: TensorRecord) -> str:
    """How often it was written to, and how it lies in its storage."""
    told = []
    if record.version:
        told.append(f"version {record.version}: written to in place {value_format.times(record.version)}")
    if not record.contiguous and record.stride is not None:
        told.append(f"not contiguous, strides {value_format.shape(record.stride)}")
    return escape("; ".join(told))


def check_lines(scene: Scene, item: ItemId) -> list[str]:
    """What gradcheck found: the worst element of each pair, with both numbers."""
    lines = []
    for row in scene.state.experiments.check_rows(item):
        at = f" at {value_format.shape(row.in_index)}" if row.in_index else ""
        numbers = (
            f"autograd {value_format.number(row.analytical, 6)}, differences {value_format.number(row.numerical, 6)}"
        )
        verdict = "agrees" if row.ok else "<b>differs</b>"
        lines.append(f"gradcheck by {escape(row.name)} {verdict}: <code>{escape(numbers + at)}</code>")
    return lines


def wire_text(scene: Scene, wire: Wire) -> str:
    """A wire: what went through it, which version, and what came back."""
    graph, results = scene.graph, scene.results
    start, end = title(graph, wire.source), f"{title(graph, wire.target)}.{wire.port}"
    lines = [f"<b>{escape(start)}</b> → <code>{escape(end)}</code>"]
    if wire in scene.wiring.muted:
        return f"{lines[0]}<br>muted: the argument counts as unwired"
    record = results.wire_record(wire)
    if isinstance(record, TensorRecord):
        lines += ["▶ " + value_text(record), statistics_text(record.summary, told=True), memory_text(record)]
        if record.version and Effect.IN_PLACE in program_analysis.effects(graph, wire.source):
            lines.append("after the write")
        shared = [title(graph, other) for pair in results.shared_storage() if wire.source in pair for other in pair]
        others = sorted({name for name in shared if name != start})
        lines.append(escape(f"shares its storage with {', '.join(others)}") if others else "")
    elif record is not None:
        lines.append(f"▶ {plain_text(record)}")
    else:
        lines.append(port_text(scene, PortRef(wire.source, "output", "", wire.output)))
    sent = results.wire_grad(wire)
    if sent is not None:
        lines.append(f"◀ backward: {brief(sent.grad)}" if sent.grad is not None else "◀ backward: undefined (None)")
        if sent.grad is not None and (numbers := statistics_text(sent.grad, told=True)):
            lines.append(f"∇ <code>{escape(value_format.shape(sent.grad.shape))}</code> {numbers}")
        if sent.parts > 1:
            lines.append(f"the sum of {sent.parts} autograd edges")
    return "<br>".join(line for line in lines if line)


def plain_text(record: Record) -> str:
    """What is no tensor, in a line; of a number also how several ranks stand to each other."""
    value = f"<code>{escape(value_format.one_line_value(record))}</code>"
    ranks = escape(value_format.ranks_text(record)) if isinstance(record, PlainRecord) else ""
    return f"{value}<br>{ranks}" if ranks else value


def value_text(record: TensorRecord) -> str:
    """A tensor in short: its value where it is one number, dtype, shape, device."""
    summary = record.summary
    value = f"<b>{escape(value_format.number(summary.value))}</b> " if summary.shape == () else ""
    kind = escape(f"{value_format.bare_dtype(summary.dtype)}{shape_words(summary)} · {record.device}")
    return f"{value}<code>{kind}</code>"


def statistics_text(summary: Summary, *, told: bool = False) -> str:
    """What is told of one rank's numbers (`_numbers_text`), and where there are several, how the others stand to it."""
    numbers = _numbers_text(summary, told=told)
    parts = (numbers, escape(placement_words(summary)), escape(value_format.ranks_text(summary)))
    return "<br>".join(filter(None, parts))


def _numbers_text(summary: Summary, *, told: bool) -> str:
    """The elements when they are few, else minimum, maximum, mean and RMS of the finite, and what is not finite.

    Args:
        told: the value of a scalar stands there already.
    """
    if summary.shape == () and summary.value is not None:
        return "" if told else f"<b>{escape(value_format.number(summary.value))}</b>"
    if summary.value is not None and value_format.has_all_elements(summary.shape):
        rows = value_format.cells(summary, value_format.MAX_VECTOR)
        return "<br>".join(f"<code>[{escape(', '.join(row))}]</code>" for row in rows)
    if summary.minimum is None:
        return escape(value_format.oddities(summary))
    mark = "of the finite: " if value_format.oddities(summary) else ""
    mark += "~" if summary.sampled else ""
    parts = [f"min {value_format.number(summary.minimum)}", f"max {value_format.number(summary.maximum)}"]
    if summary.mean is not None:
        parts.append(f"mean {value_format.number(summary.mean)}")
    if summary.rms is not None:
        parts.append(f"RMS {value_format.number(summary.rms)}")
    oddities = value_format.oddities(summary)
    return escape(mark + "  ".join(parts) + (f"  {oddities}" if oddities else ""))


def port_text(scene: Scene, port: PortRef, pages: Pages = NO_PAGES) -> str:
    """A port: what it takes, or what flows from it."""
    if port.side == "output" and port.path:
        return leaf_text(scene, port.item, port.path) + "<br>Drag a wire from here to read it."
    if port.side == "input":
        found = find_port(scene.graph, port.item, port.path)
        key = described_by(scene.graph, port.item)
        return parameter_text(found.parameter, pages, key) if found is not None else ""
    outputs = output_ports(scene.graph, port.item)
    output = outputs[port.output] if port.output < len(outputs) else None
    if output is None:
        return ""
    records = scene.results.outputs(port.item)
    if records is not None and port.output < len(records):
        told = record_text(scene, Hit("port", port.item), port.output, records[port.output])
        return f"<b>{escape(output.name)}</b> {told}"
    expected = scene.results.inference(port.item, port.output)
    if expected is not None and expected.shape is not None:
        shape = escape(f"{value_format.bare_dtype(expected.dtype)}{value_format.shape(expected.shape)}")
        return f"<b>{escape(output.name)}</b> <i>expected:</i> <code>{shape}</code>"
    return f"<b>{escape(output.name)}</b> {output.family.value}"


def parameter_text(parameter: Parameter, pages: Pages = NO_PAGES, operator: str = "") -> str:
    """An argument: what it takes, its default, and what torch says of it, else our hint."""
    told = f"<b>{escape(parameter.name)}</b>: {escape(argument(parameter))}"
    name = parameter.name.split(".")[0]
    words = (pages.argument_words(operator, name) if operator else "") or parameter.hint
    return f"{told}<br>{escape(words)}" if words else told
