"""What the program's text tells of a failure: a slip that its reader sees, a name that is gone, a missing flatten."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gradstudio.advice.model import Advice
from gradstudio.advice.none_causes import cause_of_none
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.names import names_of
from gradstudio.graph.text.code_records import CODE, FREE, code_of
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.records import TensorRecord

NAME = re.compile(r"^name '(?P<name>\w+)' is not defined")
PRODUCT = re.compile(r"mat1 and mat2 shapes cannot be multiplied \((?P<a>\d+)x(?P<b>\d+) and (?P<c>\d+)x\d+\)")
HINT = re.compile(r"Did you mean '[^']+'\?")
OF_CANVAS = re.compile(r"canvas|drawn|unbinds")
"""A reason why something is not drawn, which says nothing of why it failed."""
UNBOUND = re.compile(r"'(?P<name>\w+)' is not bound by any statement above")
SLIPS = frozenset({"AttributeError", "NameError", "RuntimeError", "TypeError"})
SEQUENTIAL = "torch.nn.Sequential"
FLATTEN = "Put nn.Flatten() in front of the layer that takes {}"
BIND_AGAIN = "Take the del away, or bind the name again"
BIND = "Bind the name above this line"


def cause_in_text(failed: Failed, graph: Graph) -> Advice | None:
    """Why it failed and what to do, where the text says more than torch's words; `failed` stands in this graph."""
    return cause_of_none(failed, graph) or _missing_flatten(failed, graph) or _missing_name(failed, graph)


def slip_in_text(failed: Failed, graph: Graph) -> tuple[str, str]:
    """What the reader of programs says of the line that failed, and the name it thinks is meant; "" where nothing.

    Args:
        graph: the program, not the inside of a definition.
    """
    if failed.type_name not in SLIPS or not _is_undrawn(failed, graph):
        return "", ""
    reasons = dict(_reasons(write(graph).code))
    reason = next((reasons[line] for line in _lines(failed, graph) if line in reasons), "")
    hint = HINT.search(reason)
    return "" if OF_CANVAS.search(reason) else reason, hint[0] if hint is not None else ""


def describe_slips(graph: Graph, lines: Mapping[ItemId, int] | None) -> str:
    """What looks like a slip in code that is not drawn, with its lines; "" where nothing does.

    Args:
        lines: of the text that a person has, by item; None: lines are those of the script.
    """
    script, found = write(graph), list[str]()
    reasons = {line: reason for line, reason in _reasons(script.code) if _is_slip(reason, graph)}
    for span in script.spans if reasons else ():
        node = graph.nodes.get(span.node)
        first = span.line if lines is None else lines.get(span.node, span.line)
        if node is not None and node.operator in FREE:
            places = range(span.line, span.end_line + 1)
            found += [f"  line {first + at - span.line}: {reasons[at]}" for at in places if at in reasons]
    return "\n".join(["", "What looks like a slip in them:", *found]) if found else ""


def _is_slip(reason: str, graph: Graph) -> bool:
    """Whether it is one: a name that nothing has. What Python or torch takes and no card has, is none.

    Nor is a function or class that is handed on by its name.
    """
    unbound = UNBOUND.search(reason)
    return HINT.search(reason) is not None if unbound is None else unbound["name"] not in graph.definitions


def _is_undrawn(failed: Failed, graph: Graph) -> bool:
    """Whether the node is one of those that hold what a canvas does not draw."""
    item = path_of(failed.node)[-1]
    node = next((one.nodes[item] for one in graphs_of(graph) if item in one.nodes), None)
    return node is not None and node.operator in FREE


def _lines(failed: Failed, graph: Graph) -> range:
    """The lines of the script that a node stands in."""
    item, script = path_of(failed.node)[-1], write(graph)
    spans = (*script.spans, *(span for inside in script.insides.values() for span in inside))
    span = next((one for one in spans if one.node == item), None)
    return range(span.line, span.end_line + 1) if span is not None else range(failed.line, failed.line + 1)


@lru_cache(maxsize=2)
def _reasons(text: str) -> tuple[tuple[int, str], ...]:
    """What a text cannot be drawn for, by line, the last first so that the first of a line is what stays."""
    try:
        read_script(text)
    except NotReadable as error:
        return tuple((one.line, one.reason) for one in reversed(error.all))
    return ()


def _missing_name(failed: Failed, graph: Graph) -> Advice | None:
    """A name that was deleted, or that nothing binds; None where a loop binds it that had no turn."""
    found = NAME.match(failed.message)
    if found is None:
        return None
    name = found["name"]
    codes = [code_of(node) for node in graph.nodes.values() if node.operator == CODE]
    if any(re.search(rf"^\s*del\b.*\b{name}\b", code, re.MULTILINE) for code in codes):
        return Advice(f"{name} was deleted above, so the name has no value here.", (BIND_AGAIN,))
    binders = (item for item in (*graph.nodes, *graph.blocks) if name in names_of(graph, ItemId(item)))
    if any(item in graph.blocks or graph.ancestors(item)[:-1] for item in binders):
        return None
    return Advice(f"Nothing above this line gives the name {name} a value.", (BIND,))


def _missing_flatten(failed: Failed, graph: Graph) -> Advice | None:
    """A row of layers that hands maps of a picture to a layer that takes numbers in a row."""
    found, module = PRODUCT.search(failed.message), graph.wire_into(failed.node, "module")
    node = graph.nodes.get(module.source) if module is not None else None
    record = dict(failed.operands).get("inputs.0")
    if found is None or node is None or node.operator != SEQUENTIAL or not isinstance(record, TensorRecord):
        return None
    rows, columns, features = (int(found[key]) for key in "abc")
    batch = record.summary.shape[0] if len(record.summary.shape) > 2 else 0
    if rows * columns != batch * features:
        return None
    words = f"What comes to the layer is not flattened: it takes {features} numbers a row, and gets rows of {columns}"
    return Advice(f"{words}, {rows // batch} for each of the {batch} in the batch.", (FLATTEN.format(features),))
