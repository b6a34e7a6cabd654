"""Recipes that take nodes out of their wires: what fed them feeds their users, where the rule-book allows it."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import find_port, output_family
from gradstudio.graph.recipes.removal import delete
from gradstudio.graph.recipes.wiring.connection import connect, disconnect_all
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.statements import Statements
from gradstudio.operators.families import kind_words
from gradstudio.operators.model import Face, Family, Kind

Source = tuple[ItemId, int]
NUMBERS: Final = frozenset({Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.SHAPE, Kind.INTS, Kind.NUMBERS})
"""Arguments that read a tensor only where it holds single numbers: nobody has said that this one does."""


class Reconnection(msgspec.Struct, frozen=True):
    """What was done around the nodes.

    Attributes:
        wired: how many inputs are fed by what fed the nodes.
        left: inputs that nothing feeds now, in words, with the reason.
    """

    edits: Edits
    wired: int
    left: tuple[str, ...]


def delete_and_reconnect(graph: Graph, items: Iterable[ItemId]) -> Reconnection:
    """Remove items, and let what fed them feed their users."""
    chosen = dict.fromkeys(item for item in items if item in graph)
    trial, healed = _wired_past(graph, chosen)
    return msgspec.structs.replace(healed, edits=(*healed.edits, *delete(trial, chosen)))


def shake_off(graph: Graph, items: Iterable[ItemId]) -> Reconnection:
    """Take items out of all wires to others, and let what fed them feed their users."""
    chosen = dict.fromkeys(item for item in items if item in graph)
    trial, healed = _wired_past(graph, chosen)
    wires = (wire for item in chosen for wire in (*trial.wires_to(item), *trial.wires_from(item)))
    outer = tuple(wire for wire in wires if (wire.source in chosen) != (wire.target in chosen))
    return msgspec.structs.replace(healed, edits=(*healed.edits, *(disconnect_all(trial, outer) if outer else ())))


def _wired_past(graph: Graph, chosen: dict[ItemId, None]) -> tuple[Graph, Reconnection]:
    """A copy of the graph in which users of the items read what fed these, and how it came to be."""
    statements, trial = Statements(graph), graph.copy()
    edits = list[Edits]()
    wired = 0
    left = list[str]()
    for wire in [wire for item in chosen for wire in graph.wires_from(item) if wire.target not in chosen]:
        step, reason = _past(trial, wire, _sources(statements, chosen, wire.source))
        if reason:
            left.append(f"{_end(graph, wire)} ({reason})")
            continue
        apply_all(trial, step)
        edits.append(step)
        wired += 1
    return trial, Reconnection(tuple(edit for step in edits for edit in step), wired, tuple(left))


def _past(graph: Graph, wire: Wire, sources: Iterable[Source]) -> tuple[Edits, str]:
    """The edits that let the first source that fits feed the end of a wire; else why the first does not."""
    reason = ""
    for source, output in sources:
        words = _too_much(graph, wire, (source, output))
        words = words or why_not(graph, source, output, wire.target, wire.port, exact=True)
        if not words:
            try:
                return connect(graph, source, output, wire.target, wire.port), ""
            except Refused as refusal:
                words = str(refusal)
        reason = reason or words.split(". ")[0].rstrip(".")
    return (), reason or "nothing was wired in front of it"


def _too_much(graph: Graph, wire: Wire, source: Source) -> str:
    """Why a tensor must not come by itself to where a number is read; "" where it may."""
    port = find_port(graph, wire.target, wire.port)
    if port is None or output_family(graph, *source) is not Family.TENSOR:
        return ""
    reads_number = port.parameter.kind in NUMBERS
    if not reads_number and port.parameter.kind is Kind.INDEX:
        reads_number = output_family(graph, wire.source, wire.output) is Family.NUMBER
    return f"'{port.parameter.name}' takes {kind_words(port.parameter)}; this is a tensor" if reads_number else ""


def _sources(statements: Statements, chosen: dict[ItemId, None], start: ItemId) -> Iterator[Source]:
    """What feeds the chosen items from outside, seen from one of them: nearest to its first argument first."""
    graph = statements.graph
    seen = set[ItemId]()
    stack = [start]
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        inner = list[ItemId]()
        for path in _paths(statements, item):
            wire = graph.wires[item, path]
            if wire.source not in chosen:
                yield wire.source, wire.output
            else:
                inner.append(wire.source)
        stack.extend(reversed(inner))


def _paths(statements: Statements, item: ItemId) -> tuple[str, ...]:
    """The wired arguments of an item in Python's order; of a call without its module."""
    operator = statements.operators.get(item)
    paths = statements.ports.get(item, ())
    return paths[1:] if operator is not None and operator.face is Face.CALL and len(paths) > 1 else paths


def _end(graph: Graph, wire: Wire) -> str:
    return f"'{wire.port}' of {title(graph, wire.target)}"
