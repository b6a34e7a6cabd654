"""What is told of a statement in words, wherever no picture of it is seen: outline, screen readers. No Qt here."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.names import block_word
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.item_ports import find_port, operator_of, output_ports
from gradstudio.graph.text.code_records import is_code_at, shown_lines
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.records import Record, TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.card.gradient_state_words import STATE_SENTENCES, STATE_WORDS
from gradstudio.scene.results import Results
from gradstudio.scene.words.statement_source import StatementSource


class Sign(NamedTuple):
    """A state: in words, as a picture, and the colour of that picture."""

    words: str
    icon: str
    role: str


FAILED = Sign("error", "error", "danger")
REFUSED = Sign("will fail", "error", "danger")
INCOMPLETE = Sign("incomplete", "details", "text_dim")
WARNING = Sign("warning", "warning", "warning")
RUNNING = Sign("running", "run", "ok")
PAUSED = Sign("paused here", "pause", "ok")
STALE = Sign("stale", "rerun", "warning")
MUTED = Sign("muted", "mute", "text_dim")
BYPASSED = Sign("bypassed", "bypass", "text_dim")
BREAKPOINT = Sign("breakpoint", "breakpoint", "danger")


def signs(session: StatementSource, item: ItemId) -> tuple[Sign, ...]:
    """Everything that is the matter with an item now, the gravest first."""
    return tuple(_signs(session, item))


def _signs(session: StatementSource, item: ItemId) -> Iterator[Sign]:
    graph, results = session.shown_store.graph, session.results
    found = session.problems.of(item)
    if results.failure(item) is not None:
        yield FAILED
    elif any(problem.severity == "error" for problem in found):
        yield REFUSED
    if results.incomplete(item):
        yield INCOMPLETE
    if any(problem.severity == "warning" for problem in found):
        yield WARNING
    if results.running_node == item:
        yield RUNNING
    state = session.run.state
    if results.next_node == item and state.live and not state.busy and not state.stale and not state.at_end:
        yield PAUSED
    if results.stale(item):
        yield STALE
    owner = graph.nodes.get(item) or graph.blocks.get(item)
    if owner is not None and owner.muted:
        yield MUTED
    if getattr(owner, "bypassed", False):
        yield BYPASSED
    if session.debug.at(item):
        yield BREAKPOINT


def operator_words(graph: Graph, item: ItemId) -> str:
    """What a statement does, in the words of its card: ``matmul``, ``group encoder``, ``for``, a line of code."""
    if (block := graph.blocks.get(item)) is not None:
        return block_word(block)
    if is_code_at(graph, item):
        return next((line for line in shown_lines(graph.nodes[item]) if line.strip()), "Python")
    operator, key = operator_of(graph, item), graph.nodes[item].operator
    if key.startswith(GROUP):
        return f"group {key.removeprefix(GROUP)}"
    return operator.title if operator is not None else key


def value_words(results: Results, item: ItemId) -> str:
    """The results in short: a scalar's value, else dtype and shape; what is expected before a run."""
    records = results.outputs(item)
    if records:
        return ", ".join(_short(record) for record in records)
    expected = results.inference(item)
    if expected is None or expected.shape is None:
        return ""
    return f"{_dtype(expected.dtype)}{value_format.shape(expected.shape)} expected"


def _short(record: Record) -> str:
    if isinstance(record, TensorRecord):
        summary = record.summary
        one = value_format.single(summary)
        if one is not None:
            return value_format.number(one)
        odd = value_format.oddities(summary)
        return f"{_dtype(summary.dtype)}{value_format.shape(summary.shape)}{f' {odd}' if odd else ''}"
    return value_format.one_line_value(record)


def _dtype(dtype: str) -> str:
    bare = value_format.bare_dtype(dtype)
    return value_format.SHORT_DTYPES.get(bare, bare)


def wire_words(graph: Graph, wire: Wire) -> str:
    """An input and what flows into it: ``other ← w``."""
    port = find_port(graph, wire.target, wire.port)
    return f"{port.label if port is not None else wire.port} ← {source_words(graph, wire.source, wire.output)}"


def source_words(graph: Graph, source: ItemId, output: int) -> str:
    """Where a value comes from: its name, else the statement that gives it."""
    if source not in graph:
        return title(graph, source)
    ports = output_ports(graph, source)
    name = ports[output].name if output < len(ports) else ""
    return name or title(graph, source)


def statement_words(session: StatementSource, item: ItemId) -> str:
    """A statement as it is read aloud: what it does, then its line of Python: ``matmul y = a @ b``."""
    graph = session.shown_store.graph
    text = session.run.text_of(item) or title(graph, item)
    operator = operator_words(graph, item)
    return text if text.startswith(operator) else f"{operator} {text}"


def describe_statement(session: StatementSource, item: ItemId) -> str:
    """Everything a card shows besides its head: value, gradient, what is the matter, what flows in and out."""
    graph = session.shown_store.graph
    parts = [value_words(session.results, item), *_values(session, item), *_gradients(session, item)]
    parts += [_sign_words(session, item, sign) for sign in signs(session, item)]
    wires = sorted(graph.wires_to(item), key=lambda wire: wire.port)
    parts += [wire_words(graph, wire).replace("←", "from") for wire in wires]
    followers = dict.fromkeys(title(graph, wire.target) for wire in graph.wires_from(item))
    parts.append(f"goes to {', '.join(followers)}" if followers else "")
    return "; ".join(part for part in parts if part)


def _values(session: StatementSource, item: ItemId) -> Iterator[str]:
    for record in session.results.outputs(item) or ():
        if isinstance(record, TensorRecord) and record.summary.shape != () and record.summary.minimum is not None:
            summary = record.summary
            yield f"from {value_format.number(summary.minimum)} to {value_format.number(summary.maximum)}"


def _gradients(session: StatementSource, item: ItemId) -> Iterator[str]:
    for output, record in enumerate(session.results.outputs(item) or ()):
        if not isinstance(record, TensorRecord):
            continue
        row = session.results.grad(item, output)
        state = row.state if row is not None else record.grad_state
        if state == "value" and row is not None and row.grad is not None:
            yield f"gradient {value_format.extent(row.grad)}"
        elif state not in ("value", "not_run"):
            reason = (row.reason if row is not None else record.grad_reason) or STATE_SENTENCES[state]
            yield f"gradient {STATE_WORDS[state]}: {reason}"


def _sign_words(session: StatementSource, item: ItemId, sign: Sign) -> str:
    failure = session.results.failure(item)
    if sign == FAILED and failure is not None:
        return f"error: {failure.explanation or failure.what}"
    if sign == INCOMPLETE:
        return f"incomplete: {session.results.incomplete(item)}"
    if sign in (REFUSED, WARNING):
        severity = "error" if sign == REFUSED else "warning"
        return next((f"{sign.words}: {one.title}" for one in session.problems.of(item) if one.severity == severity), "")
    if sign == RUNNING and session.results.running_seconds:
        return f"{sign.words} for {session.results.running_seconds} s"
    return sign.words
