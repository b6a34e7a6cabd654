"""A wire that is not there yet: the small program that answers whether torch would take it, and the answer in words.

Only what the target reads, a few steps back, is compiled: what lies farther away is stood for by an empty tensor
of the shape that is known of it. So the question costs the same in a program of ten nodes and of ten thousand.
"""

from typing import NamedTuple

from gradstudio.advice.explanation import explain, failed_of
from gradstudio.advice.failure_case import Lookup
from gradstudio.advice.fixes.fix_kinds import fixes_for
from gradstudio.advice.model import Fix
from gradstudio.graph.edits import AddNode, AddWire, Edit, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Wire
from gradstudio.graph.names import fresh_name
from gradstudio.graph.text.item_titles import title
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.inference import PortInference, WireTried
from gradstudio.protocol.messages.records import TensorRecord

SMALL, NEAR, FAR = 60, 16, 240
"""A graph of so many items is compiled whole; so many nodes nearest to the target are kept as they are; so many at most
are kept because nothing is known of what they give."""
STAND_IN = "torch.empty"


class Verdict(NamedTuple):
    """What torch would say of a wire.

    Attributes:
        outcome: "fits", "refused", or "unknown" (only a run can tell, or an argument is still missing).
        title: one line, e.g. ``→ y: float32 [2, 5]``.
        text: an explanation; `words` are torch's own; `fix` is what will be offered after the drop, once it is
            known what torch says to the program with it.
        then: what torch would still refuse after the fix; "": nothing.
    """

    outcome: str
    title: str
    text: str = ""
    words: str = ""
    fix: str = ""
    then: str = ""


def trial_program(graph: Graph, target: ItemId, lookup: Lookup) -> Program:
    """The program to ask torch about: `graph` has the wire in place already."""
    part = _part(graph, target, lookup) if len(graph.nodes) + len(graph.blocks) > SMALL else None
    return compile_graph(part if part is not None else graph)


def missing_reason(program: Program, target: ItemId) -> str:
    """Why the target could not run yet even with the wire; "" when it could."""
    return next((row.reason for row in program.incomplete if row.node == target), "")


def pending_verdict(graph: Graph, target: ItemId, reason: str) -> Verdict:
    """The wire may be drawn, but more is needed before torch can be asked."""
    return Verdict("unknown", f"Fits so far; {title(graph, target)} cannot run yet: {reason}")


def judge(graph: Graph, tried: WireTried, lookup: Lookup) -> Verdict:
    """What torch's answer means; `graph` has the wire in place already."""
    if not tried.refusal:
        told = [_said(graph, port) for port in tried.outputs if port.node == tried.target]
        shapes = ", ".join(text for text in told if text)
        return (
            Verdict("fits", f"→ {shapes}") if shapes else Verdict("unknown", "Allowed. The rest is known after a run.")
        )
    text = explain(_failure(graph, tried, lookup), graph).explanation
    return Verdict("refused", "torch would refuse this", text, tried.refusal)


def way_out(graph: Graph, tried: WireTried, lookup: Lookup) -> Fix | None:
    """The first edit that will be offered after the drop; None: there is none, or nothing was refused."""
    ways = fixes_for(_failure(graph, tried, lookup), graph, lookup) if tried.refusal else ()
    return next((way for way in ways if way.edits is not None), None)


def with_way_out(verdict: Verdict, fix: Fix, graph: Graph, tried: WireTried, lookup: Lookup) -> Verdict:
    """The verdict with a fix: `graph` has it carried out, and `tried` is what torch says then."""
    then = explain(_failure(graph, tried, lookup), graph).explanation.partition(". ")[0] if tried.refusal else ""
    return verdict._replace(fix=fix.title, then=then or tried.refusal)


def _failure(graph: Graph, tried: WireTried, lookup: Lookup) -> Failed:
    return failed_of(PortInference(node=tried.target, refusal=tried.refusal), graph, lookup)


def _said(graph: Graph, port: PortInference) -> str:
    if port.shape is None:
        return ""
    node = graph.nodes.get(port.node)
    names = node.names if node is not None else ()
    name = names[port.output] if port.output < len(names) else title(graph, port.node)
    return f"{name}: {port.dtype} {list(port.shape)}".replace("  ", " ")


# ------------------------------------------------------------------ the part of the program that decides


def _part(graph: Graph, target: ItemId, lookup: Lookup) -> Graph | None:
    """The target, the nodes nearest in front of it, and stand-ins; None where only the whole program can tell."""
    kept, ends = _walk(graph, target, lookup)
    if not kept or not all(item in graph.nodes and graph.parents[item] == ROOT for item in kept):
        return None  # too much is unknown, or a block's turns and modes would have to be taken apart
    part = Graph()
    part.header, part.definitions, part.tensors = graph.header, dict(graph.definitions), dict(graph.tensors)
    taken = {name for item in kept for name in graph.nodes[item].names}
    added: list[Node] = []
    wires: list[Edit] = []
    stood: dict[tuple[ItemId, int], ItemId] = {}
    for item in (item for item in graph.bodies[ROOT] if item in kept):
        for wire in graph.wires_to(item):
            end = (wire.source, wire.output)
            if wire.source in kept:
                wires.append(AddWire(wire))
                continue
            if end not in stood:
                stood[end] = ItemId(f"{wire.source}.{wire.output}")
                name = fresh_name(taken, title(graph, wire.source))
                added.append(_stand_in(stood[end], name, ends[end], not graph.wires_to(wire.source)))
            wires.append(AddWire(Wire(stood[end], 0, item, wire.port)))
        added.append(graph.nodes[item])
    apply_all(part, (*(AddNode(node, ROOT, k) for k, node in enumerate(added)), *wires))
    return part


def _walk(graph: Graph, target: ItemId, lookup: Lookup) -> tuple[set[ItemId], dict[tuple[ItemId, int], TensorRecord]]:
    """Nodes to keep (none: there are too many), and the tensors that are known where the walk ended."""
    kept: set[ItemId] = {target}
    ends: dict[tuple[ItemId, int], TensorRecord] = {}
    queue = [target]
    for item in queue:
        for wire in graph.wires_to(item):
            if wire.source in kept:
                continue
            record = lookup(wire.source, wire.output) if len(kept) >= NEAR else None
            if isinstance(record, TensorRecord) and len(record.summary.shape) < 9:
                ends[wire.source, wire.output] = record
            elif len(kept) == FAR:
                return set(), {}
            else:
                kept.add(wire.source)
                queue.append(wire.source)
    return kept, ends


def _stand_in(item: ItemId, name: str, record: TensorRecord, is_leaf: bool) -> Node:
    """A tensor of that shape and dtype; it requires grad where a leaf did."""
    sizes = ", ".join(str(size) for size in record.summary.shape)
    literals = {
        "size": f"({sizes},)" if len(record.summary.shape) == 1 else f"({sizes})",
        "dtype": f"torch.{record.summary.dtype}",
    }
    if record.requires_grad and is_leaf:
        literals["requires_grad"] = "True"
    return Node(id=item, operator=STAND_IN, names=(name,), literals=literals)
