"""What calls a group follows when its inputs and outputs change: ports by name, results by number."""

import msgspec

from gradstudio.graph.edits import AddWire, Edit, Edits, RemoveWire, ReplaceNode, SetDefinition, apply_all
from gradstudio.graph.model import Definition, Graph, Node, Wire
from gradstudio.graph.names import bound_names, fresh
from gradstudio.graph.rows import GROUP

Kept = tuple[tuple[str, int], ...]
"""What the inputs or outputs are called now, each with the number of the old one it goes on; -1: a new one."""


def calls_of_group(graph: Graph, name: str) -> tuple[Node, ...]:
    """The nodes that call a group, in this graph alone."""
    return tuple(node for node in graph.nodes.values() if node.operator == GROUP + name)


def callers_follow(root: Graph, before: Definition, inputs: Kept, outputs: Kept) -> Edits:
    """Edits of the calls in the program and in the other definitions; the definition itself is the new one."""
    edits = _calls_follow(root, before, inputs, outputs)
    for name, holder in root.definitions.items():
        inside = _calls_follow(holder.graph, before, inputs, outputs) if name != before.name else ()
        if inside:
            inner = holder.graph.copy()
            apply_all(inner, inside)
            edits = (*edits, SetDefinition(name, holder.but(graph=inner)))
    return edits


def _calls_follow(graph: Graph, before: Definition, inputs: Kept, outputs: Kept) -> Edits:
    taken = set(bound_names(graph))
    done: list[Edit] = []
    for call in calls_of_group(graph, before.name):
        done += _call_follows(graph, call, before, inputs, outputs, taken)
    return tuple(done)


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
    return tuple(name or fresh(taken, output) for name, (output, _) in zip(kept, outputs, strict=True))
