"""What the Code dock says of the word under the pointer: its value, its operator, why a line fails."""

from html import escape

from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.operators.catalogue.descriptions import signature
from gradstudio.protocol.messages.records import Record, TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.words.shard_words import shape_words
from gradstudio.ui.docks.code.code_hints import expected_words
from gradstudio.ui.state.session import Session

MOST_ROWS = 4


def item_tip(session: Session, item: ItemId) -> str:
    """A statement or a part of one: what its operator does, what came out, what is wrong."""
    graph, results = session.graph_store.graph, session.results
    if item not in graph.nodes:
        return ""
    parts: list[str] = []
    operator = operator_of(graph, item)
    failure = results.failure(item)
    if failure is not None:
        from gradstudio.scene.words.tooltips import failure_lines  # nothing has failed at the start

        parts += failure_lines(failure)
    names = graph.nodes[item].names
    records = results.outputs(item) or ()
    for k, record in enumerate(records[:MOST_ROWS]):
        name = f"<b>{escape(names[k])}</b> " if k < len(names) and names[k] != "_" else ""
        parts.append(name + record_tip(record))
    if not records and (expected := expected_words(results, item)):
        parts.append(f"<code>{escape(expected)}</code> <i>expected</i>")
    if results.stale(item):
        parts.append("<i>of an older program: run it again</i>")
    if operator is not None:
        words = session.pages.first_sentence(graph.nodes[item].operator) or operator.summary
        parts.append(f"<code>{escape(signature(operator))}</code><br>{escape(words)}".removesuffix("<br>"))
    if (reason := results.incomplete(item)) != "":
        parts.append(escape(reason))
    return "<br>".join(part for part in parts if part)


def record_tip(record: Record) -> str:
    """A value in full, as far as it is kept: type, shape, grad_fn, numbers."""
    if not isinstance(record, TensorRecord):
        return f"<code>{escape(value_format.one_line_value(record))}</code>"
    summary = record.summary
    facts = [f"{value_format.bare_dtype(summary.dtype)} {shape_words(summary)}", record.device]
    if record.grad_fn is not None:
        facts.append(record.grad_fn)
    elif record.requires_grad:
        facts.append("leaf, requires grad")
    head = f"<code>{escape(' · '.join(fact for fact in facts if fact))}</code>"
    if summary.value is not None and value_format.has_all_elements(summary.shape):
        rows = value_format.grid(summary)
        width = max((len(cell) for row in rows for cell in row), default=0)
        text = "\n".join("  ".join(cell.rjust(width) for cell in row) for row in rows)
        return f"{head}<pre style='margin:2px 0'>{escape(text)}</pre>"
    spread = [value_format.extent(summary), value_format.oddities(summary)]
    return "<br>".join([head, *(f"<code>{escape(word)}</code>" for word in spread if word)])
