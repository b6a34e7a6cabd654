"""What calls a group follows when its inputs and outputs change: ports by name, results by number."""

import os
from collections.abc import Callable, Mapping

import msgspec

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.edits import (
    AddNode,
    AddWire,
    Edit,
    Edits,
    RemoveWire,
    ReplaceNode,
    SetDefinition,
    SetPlaces,
    apply_all,
)
from gradstudio.graph.model import ROOT, BodyId, Definition, Graph, ItemId, Node, Wire
from gradstudio.graph.names import bound_names, fresh_name
from gradstudio.graph.operator_rows import GROUP, instance_name
from gradstudio.graph.ports.module_calls import origin
from gradstudio.operators.calls.call_signature import INPUTS

Kept = tuple[tuple[str, int], ...]
"""What the inputs or outputs are called now, each with the number of the old one it goes on; -1: a new one."""


def calls_of_group(graph: Graph, name: str) -> tuple[Node, ...]:
    """The nodes that call a group, in this graph alone."""
    return tuple(node for node in graph.nodes.values() if node.operator == GROUP + name)


def callers_follow(root: Graph, before: Definition, inputs: Kept, outputs: Kept) -> Edits:
    """Edits of the calls in the program and in the other definitions; the definition itself is the new one."""
    return _everywhere(root, before.name, lambda graph: _calls_follow(graph, before, inputs, outputs))


def calls_split(root: Graph, made: Definition) -> Edits:
    """Edits that make a constructor and a call of each call of a function that is a module now."""
    return _everywhere(root, made.name, lambda graph: _split_in(graph, made))


def _everywhere(root: Graph, name: str, edits_in: Callable[[Graph], Edits]) -> Edits:
    """What is to be edited in the program, and in each definition but the one of that name."""
    edits = edits_in(root)
    for other, holder in root.definitions.items():
        inside = edits_in(holder.graph) if other != name else ()
        if inside:
            inner = holder.graph.copy()
            apply_all(inner, inside)
            edits = (*edits, SetDefinition(other, holder.but(graph=inner)))
    return edits


def _split_in(graph: Graph, made: Definition) -> Edits:
    draft = graph.copy()
    taken = {*bound_names(graph), *graph.definitions, made.name}
    done: list[Edit] = []
    for call in calls_of_group(graph, made.name):
        name = fresh_name(taken, instance_name(made.name))
        given = {key: text for key, text in call.literals.items() if key in made.settings}
        maker = Node(id=_free_id(draft), operator=call.operator, names=(name,), literals=given)
        place = draft.places.get(call.id)
        wires = draft.wires_to(call.id)
        port = {one: f"{INPUTS}.{k}" for k, one in enumerate(made.taken)}
        literals = {port[key]: text for key, text in call.literals.items() if key in port}
        now = Node(
            id=call.id, operator=CALL, names=call.names, literals=literals, lengths={INPUTS: len(port)},
            nested=call.nested, note=call.note, beside=call.beside, blank_before=call.blank_before,
            muted=call.muted, bypassed=call.bypassed, marks=call.marks,
        )  # fmt: skip
        body, index = _before_loops(draft, call, made)
        edits: list[Edit] = [*(RemoveWire(wire) for wire in wires), AddNode(maker, body, index), ReplaceNode(now)]
        for wire in wires:
            end = (maker.id, wire.port) if wire.port in made.settings else (call.id, port.get(wire.port, wire.port))
            edits.append(AddWire(Wire(wire.source, wire.output, *end)))
        edits.append(AddWire(Wire(maker.id, 0, call.id, CALLED)))
        edits += [SetPlaces({maker.id: place})] if place is not None else []
        apply_all(draft, tuple(edits))
        done += edits
    return tuple(done)


def _before_loops(graph: Graph, call: Node, made: Definition) -> tuple[BodyId, int]:
    """Where the module is made: before the loops around its call, as far as what its constructor takes is there."""
    needed = {wire.source for wire in graph.wires_to(call.id) if wire.port in made.settings}
    item = call.id
    body = graph.parents[call.id]
    while body != ROOT:
        inner = {ItemId(body), *graph.order(body)}
        if needed & inner:
            break
        item = ItemId(body)
        body = graph.parents[ItemId(body)]
    return body, graph.bodies[body].index(item)


def _free_id(graph: Graph) -> ItemId:
    while (item := ItemId("n" + os.urandom(4).hex())) in graph:
        pass
    return item


def _calls_follow(graph: Graph, before: Definition, inputs: Kept, outputs: Kept) -> Edits:
    taken = set(bound_names(graph))
    done: list[Edit] = []
    for call in calls_of_group(graph, before.name):
        done += _call_follows(graph, call, before, inputs, outputs, taken)
    for call in graph.nodes.values():
        if before.is_module and call.operator == CALL and _calls_module(graph, call, before.name):
            done += _module_call_follows(graph, call, before, inputs)
    return tuple(done)


def _calls_module(graph: Graph, call: Node, name: str) -> bool:
    """Whether a node calls what this group makes, each argument by itself."""
    wire = graph.wire_into(call.id, CALLED)
    module = graph.nodes.get(wire.source) if wire is not None else None
    maker = origin(graph, module) if module is not None else None
    is_whole = bool(call.literals.get(INPUTS)) or (call.id, INPUTS) in graph.wires
    return maker is not None and maker.operator == GROUP + name and not is_whole


def _module_call_follows(graph: Graph, call: Node, before: Definition, inputs: Kept) -> list[Edit]:
    """What a module is called with stays with its input; what no longer stands in a row with the first is named."""
    now = {before.inputs[k]: name for name, k in inputs if k >= 0}
    settings = {now.get(name) for name in before.settings}
    taken = [name for name, _ in inputs if name not in settings]
    in_row = [now.get(name) for name in before.taken[: call.lengths.get(INPUTS, 0)]]
    length = next((k for k, name in enumerate(taken) if name not in in_row), len(taken))
    port = {name: name if taken.index(name) >= length else f"{INPUTS}.{taken.index(name)}" for name in taken}
    before_at = {f"{INPUTS}.{k}": name for k, name in enumerate(in_row)} | {
        name: now.get(name) for name in before.taken
    }
    path = {old: port[name] if name else "" for old, name in before_at.items()}
    moving = [wire for wire in graph.wires_to(call.id) if path.get(wire.port, wire.port) != wire.port]
    made = msgspec.structs.replace(
        call,
        literals=_moved(call.literals, path),
        covered=_moved(call.covered, path),
        lengths={**call.lengths, INPUTS: length},
    )
    if made == call and not moving:
        return []
    back = [AddWire(Wire(wire.source, wire.output, wire.target, path[wire.port])) for wire in moving if path[wire.port]]
    return [*(RemoveWire(wire) for wire in moving), ReplaceNode(made), *back]


def _moved(texts: Mapping[str, str], path: Mapping[str, str]) -> dict[str, str]:
    """Texts by the new paths of their ports; those whose port goes to "" are left out."""
    moved: dict[str, str] = {}
    for old, text in texts.items():
        new = path.get(old, old)
        if new:
            moved[new] = text
    return moved


def _call_follows(
    graph: Graph, call: Node, before: Definition, inputs: Kept, outputs: Kept, taken: set[str]
) -> list[Edit]:
    port = {before.inputs[k]: name for name, k in inputs if k >= 0}
    place = {k: now for now, (_, k) in enumerate(outputs) if k >= 0}
    is_packed = before.is_module or (len(before.outputs) > 1 and len(call.names) == 1)
    entering = [wire for wire in graph.wires_to(call.id) if port.get(wire.port) != wire.port]
    leaving = [wire for wire in graph.wires_from(call.id) if not is_packed and place.get(wire.output) != wire.output]
    made = msgspec.structs.replace(
        call,
        literals={port[key]: text for key, text in call.literals.items() if key in port},
        covered={port[key]: text for key, text in call.covered.items() if key in port},
        positional=None,
        names=call.names if is_packed else _names(call.names, outputs, taken),
    )
    done: list[Edit] = [RemoveWire(wire) for wire in dict.fromkeys((*entering, *leaving))]
    if made != call:
        done.append(ReplaceNode(made))
    for wire in entering:
        if wire.port in port:
            done.append(AddWire(Wire(wire.source, wire.output, wire.target, port[wire.port])))
    for wire in leaving:
        if wire.output in place and wire not in entering:
            done.append(AddWire(Wire(wire.source, place[wire.output], wire.target, wire.port)))
    return done


def _names(names: tuple[str, ...], outputs: Kept, taken: set[str]) -> tuple[str, ...]:
    """Results that go on keep their names."""
    if not names and all(k >= 0 for _, k in outputs):
        return ()  # nobody wanted what it gives
    kept = (names[k] if 0 <= k < len(names) else "" for _, k in outputs)
    return tuple(name or fresh_name(taken, output) for name, (output, _) in zip(kept, outputs, strict=True))
