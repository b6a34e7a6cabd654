"""What a drawn program is: nodes, wires, blocks and their order. No pictures, no torch, no Qt.

Records are frozen; `Graph` is the one mutable holder, changed only by `graph.edits.apply`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NewType
from typing import Literal as OneOf

import msgspec

ItemId = NewType("ItemId", str)
"""Id of a node or of a block; the two share one space."""
BodyId = NewType("BodyId", str)
"""Id of a list of statements: a block's id, or `ROOT`."""
ROOT = BodyId("")
DEFINITION_INPUTS = ItemId("@inputs")
DEFINITION_OUTPUTS = ItemId("@outputs")
DOCUMENT_DEVICE = "device"
"""The literal of a `device` port that follows the document's device (semantics §2)."""

BlockKind = OneOf[
    "no_grad",
    "enable_grad",
    "inference_mode",
    "set_grad_enabled",
    "autocast",
    "set_detect_anomaly",
    "detect_anomaly",
    "for",
    "if",
    "group",
]
Mark = OneOf["root", "input"]
NOTE_COLORS = ("blue", "green", "red", "violet", "grey")
"""Colours that a note may have beside the usual one."""


class Node(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One operator applied once: a statement, or (nested) a part of one.

    Attributes:
        operator: catalogue key; one that is not in the catalogue is kept as it is.
        names: the names it binds: none, one, or a flat tuple (unused ones are "_").
        literals: port path -> Python text. A path is a parameter's name, or "size.0" for one
            element of a list-like argument; a part of a slice is "index.1.start".
        lengths: number of elements of each list-like argument that has a port per element.
        positional: parameters given by position; None is the catalogue's style. Keywords of a call in their order, too.
        nested: printed inside its only user while semantics §1 allows it.
        note: comment lines above the statement, shown on the canvas as a note; an empty line is a blank line.
        beside: comment of one line behind the statement; of a block, behind its head.
        covered: port path -> Python text that stood there before a wire came; it comes back when the wire
            goes. Of this session only: neither in the file nor in the text.
        muted_wires: port path -> source and output of a wire into it that is muted (`graph.ports.muted_wires`):
            drawn, kept in the file, but the argument counts as unwired.
    """

    id: ItemId
    operator: str
    names: tuple[str, ...] = ()
    literals: dict[str, str] = {}
    lengths: dict[str, int] = {}
    positional: tuple[str, ...] | None = None
    nested: bool = False
    note: str = ""
    beside: str = ""
    blank_before: bool = False
    muted: bool = False
    bypassed: bool = False
    marks: tuple[Mark, ...] = ()
    covered: dict[str, str] = {}
    muted_wires: dict[str, tuple[ItemId, int]] = {}


class Block(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A Python block: its statements are `Graph.bodies[block.id]`.

    A `for` has the outputs 0 = loop variable, 1.. = carried values (inside), and the input
    ports "range.0".."range.2" (range) or "over" (a list), "first.NAME" (the binding before the
    loop) and "next.NAME" (the binding in the body). `autocast` has "device_type" and "dtype";
    `set_grad_enabled` has "mode", which must be given; `if` has "condition". A `for` that is `endless` goes over
    nothing and has no variable: it is a `while`, which code in it ends (`graph.text.while_heads`).
    """

    id: ItemId
    kind: BlockKind
    title: str = ""
    literals: dict[str, str] = {}
    lengths: dict[str, int] = {}
    variable: str = ""
    carried: tuple[str, ...] = ()
    endless: bool = False
    note: str = ""
    beside: str = ""
    blank_before: bool = False
    muted: bool = False


class Wire(msgspec.Struct, frozen=True, gc=False, order=True):
    """Output `output` of `source` flows into the port `port` of `target`."""

    source: ItemId
    output: int
    target: ItemId
    port: str


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is printed before every statement (semantics §11).

    Attributes:
        seed: of `torch.manual_seed`; None draws one at each start.
        device: "cpu", "auto", or a torch device such as "cuda:0".
        default_dtype: Python text such as "torch.float64"; "" is torch's default.
        deferred_annotations: code, where there is some, is compiled with `from __future__ import annotations`.
    """

    seed: int | None = 0
    device: str = "cpu"
    default_dtype: str = ""
    deferred_annotations: bool = False


PlaneKind = OneOf["boundary", "path", "prediction", "components"]
ChartKind = OneOf["", "curve", "confusion", "images", "attention", "histogram", "gradients", PlaneKind]


class Place(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Where an item stands on the canvas: the top left corner of its card, scene pixels.

    Attributes:
        collapsed: only its header is shown.
        tucked: inputs that no wire feeds are hidden.
        pinned: neither dragged nor nudged, aligned or tidied.
        color: of a note, one of `NOTE_COLORS`; "" is the usual one.
        chart: the card shows this chart of what is learnt; "": none.
    """

    x: float
    y: float
    width: float | None = None
    collapsed: bool = False
    tucked: bool = False
    pinned: bool = False
    color: str = ""
    chart: ChartKind = ""


class StoredTensor(msgspec.Struct, frozen=True):
    """Data too large for a literal.

    Attributes:
        digest: sha256 of `data` in hex.
        data: the bytes of a safetensors file with one tensor named "data".
        source: where it is from, and under which licence.
    """

    digest: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes
    source: str = ""


class Edges(msgspec.Struct, frozen=True):
    """What the two edges of a definition's inside are called: the names of its inputs and of its outputs.

    Attributes:
        kept: nodes whose names are attributes of a module, so that no other name can be taken for them.
    """

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    kept: frozenset[ItemId] = frozenset()


class Definition:
    """A sub-program that nodes `group:<name>` call, or (a module) construct (semantics §15).

    Inside, wires from `DEFINITION_INPUTS` (output k) bring input k, and wires to
    `DEFINITION_OUTPUTS` (port "k") return output k. `graph.groups.definitions.definition_graph` gives a graph to
    look at.

    Attributes:
        defaults: input -> Python text of the literal that it has when nothing is given.
        is_module: printed as a class: a node constructs it, and `python.call` nodes call what that made.
        settings: the inputs of a module that its constructor takes; calls take the others.
        setup: the outermost statements of a module's `__init__`, which stand first in its order; the rest is `forward`.
        note: comment lines above it.
        kept: those nodes of the `__init__` that are attributes of the module; what `forward` reads is one anyway.
        memos: what was derived of it (`graph.memo_table`).
    """

    def __init__(
        self,
        name: str,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        graph: "Graph",
        *,
        defaults: Mapping[str, str] | None = None,
        is_module: bool = False,
        settings: tuple[str, ...] = (),
        setup: tuple[ItemId, ...] = (),
        kept: tuple[ItemId, ...] = (),
        note: str = "",
    ) -> None:
        """Hold the parts; `graph` is owned by the definition and not changed in place."""
        self.name, self.inputs, self.outputs, self.graph = name, inputs, outputs, graph
        self.defaults: Mapping[str, str] = dict(defaults or {})
        self.is_module, self.settings, self.setup, self.kept = is_module, settings, setup, kept
        self.note = note
        self.memos: dict[object, Any] = {}

    @property
    def taken(self) -> tuple[str, ...]:
        """The inputs that a call takes: all but a module's settings."""
        return tuple(name for name in self.inputs if name not in self.settings)

    def but(
        self,
        *,
        name: str | None = None,
        inputs: tuple[str, ...] | None = None,
        outputs: tuple[str, ...] | None = None,
        graph: "Graph | None" = None,
        defaults: Mapping[str, str] | None = None,
        is_module: bool | None = None,
        settings: tuple[str, ...] | None = None,
        setup: tuple[ItemId, ...] | None = None,
        kept: tuple[ItemId, ...] | None = None,
        note: str | None = None,
    ) -> "Definition":
        """The same definition with other parts."""
        return Definition(
            self.name if name is None else name,
            self.inputs if inputs is None else inputs,
            self.outputs if outputs is None else outputs,
            self.graph if graph is None else graph,
            defaults=self.defaults if defaults is None else defaults,
            is_module=self.is_module if is_module is None else is_module,
            settings=self.settings if settings is None else settings,
            setup=self.setup if setup is None else setup,
            kept=self.kept if kept is None else kept,
            note=self.note if note is None else note,
        )


class Graph:
    """A drawn program: items by id, their order body by body, and the wires between them.

    Read it freely; change it only through `graph.edits.apply`.

    Attributes:
        nodes, blocks: the items by id.
        bodies: the ordered statements of the program (`ROOT`) and of each block.
        parents: the body in which each item stands.
        wires: the wire into each (item, port); an input has at most one.
        places: positions of items, of notes under "note:<item>", of dots on wires as `graph.ports.wire_dots` says.
        tails: comment after the last statement of a body.
        edges: of the inside of a definition, its inputs and outputs; None for a program.
        revision: grows by one with every edit.
        trail: the newest edits with the revisions that they made and what undoes them (`graph.edits.edits_since`).
        original: the Python text that it was read from, as it was typed; "" where it was not read from one.
        memos: what was derived of it (`graph.memo_table`); a copy begins without.
    """

    def __init__(self) -> None:
        """An empty program with seed 0 on the CPU."""
        self.header = Header()
        self.nodes: dict[ItemId, Node] = {}
        self.blocks: dict[ItemId, Block] = {}
        self.bodies: dict[BodyId, tuple[ItemId, ...]] = {ROOT: ()}
        self.parents: dict[ItemId, BodyId] = {}
        self.wires: dict[tuple[ItemId, str], Wire] = {}
        self.outgoing: dict[ItemId, dict[Wire, None]] = {}
        self.incoming: dict[ItemId, dict[Wire, None]] = {}
        self._own: set[tuple[int, ItemId]] = set()  # the wires of an item that no copy has in common
        self.places: dict[str, Place] = {}
        self.tails: dict[BodyId, str] = {}
        self.definitions: dict[str, Definition] = {}
        self.tensors: dict[str, StoredTensor] = {}
        self.edges: Edges | None = None
        self.revision, self.original = 0, ""
        self.trail: list[tuple[int, Any, Any]] = []
        self._walked: dict[BodyId, tuple[ItemId, ...]] = {}
        self._ordered: tuple[ItemId, ...] = ()
        self._numbered: dict[ItemId, int] | None = None
        self.memos: dict[object, Any] = {}

    def copy(self) -> "Graph":
        """An independent graph with the same records."""
        twin = Graph()
        for name in ("nodes", "blocks", "bodies", "parents", "wires", "places", "tails", "definitions", "tensors"):
            setattr(twin, name, getattr(self, name).copy())  # ten times faster than dict() once one was deleted
        twin.outgoing, twin.incoming = self.wires_by_end()
        twin.header, twin.edges, twin.revision = self.header, self.edges, self.revision
        twin.original = self.original
        twin._walked, twin._ordered, twin._numbered = self._walked, self._ordered, self._numbered
        return twin

    def __contains__(self, item: object) -> bool:
        """Whether a node or block of that id is there."""
        return item in self.nodes or item in self.blocks

    def wires_by_end(self) -> tuple[dict[ItemId, dict[Wire, None]], dict[ItemId, dict[Wire, None]]]:
        """The wires from and into each item now; later edits put others in the place of those they change."""
        self._own.clear()
        return self.outgoing.copy(), self.incoming.copy()

    def draw(self, wire: Wire) -> None:
        """Put a wire into a free input; `graph.edits` checks that it is."""
        self.wires[wire.target, wire.port] = wire
        for way, table, item in self._ends(wire):
            if (way, item) not in self._own:
                table[item] = dict(table.get(item, ()))
                self._own.add((way, item))
            table[item][wire] = None

    def erase(self, wire: Wire) -> None:
        """Take a wire away that is there."""
        del self.wires[wire.target, wire.port]
        for way, table, item in self._ends(wire):
            if (way, item) not in self._own:
                table[item] = dict(table[item])
                self._own.add((way, item))
            del table[item][wire]
            if not table[item]:
                del table[item]
                self._own.discard((way, item))

    def _ends(self, wire: Wire) -> tuple[tuple[int, dict[ItemId, dict[Wire, None]], ItemId], ...]:
        return (0, self.outgoing, wire.source), (1, self.incoming, wire.target)

    def wire_into(self, target: ItemId, port: str) -> Wire | None:
        """The wire that ends in the port, or None."""
        return self.wires.get((target, port))

    def wires_from(self, source: ItemId) -> tuple[Wire, ...]:
        """All wires that leave the item, in the order they were drawn."""
        return tuple(self.outgoing.get(source, ()))

    def wires_to(self, target: ItemId) -> tuple[Wire, ...]:
        """All wires that end in the item, in the order they were drawn."""
        return tuple(self.incoming.get(target, ()))

    def order(self, body: BodyId = ROOT) -> Iterator[ItemId]:
        """Items of the body in program order, each block before its statements."""
        return iter(self._whole_order() if body == ROOT else self._flat(body))

    def numbers(self) -> Mapping[ItemId, int]:
        """The place of each item in program order, from 0."""
        ordered = self._whole_order()
        if self._numbered is None:
            self._numbered = dict(zip(ordered, range(len(ordered)), strict=True))
        return self._numbered

    def _whole_order(self) -> tuple[ItemId, ...]:
        if self.bodies != self._walked:  # an edit replaces the bodies it changes: the others compare at once
            self._walked, self._numbered = self.bodies.copy(), None
            self._ordered = self._flat(ROOT)
        return self._ordered

    def _flat(self, body: BodyId) -> tuple[ItemId, ...]:
        """The items of a body with those inside its blocks; what lies between blocks is taken at once."""
        items = self.bodies[body]
        if not self.blocks:
            return items
        holders = {self.parents[block] for block in self.blocks}
        found: list[ItemId] = []
        waiting = [(items, 0, iter(self._blocks_among(items, body in holders)))]
        while waiting:
            items, start, ends = waiting.pop()
            end = next(ends, None)
            if end is None:
                found += items[start:]
                continue
            found += items[start : end + 1]
            inside = BodyId(items[end])
            waiting.append((items, end + 1, ends))
            items = self.bodies[inside]
            waiting.append((items, 0, iter(self._blocks_among(items, inside in holders))))
        return tuple(found)

    def _blocks_among(self, items: tuple[ItemId, ...], holds_some: bool) -> list[int]:
        """The places of the blocks in a body."""
        return [k for k, item in enumerate(items) if item in self.blocks] if holds_some else []

    def ancestors(self, item: ItemId) -> tuple[BodyId, ...]:
        """The bodies around the item, innermost first; the last is `ROOT`."""
        chain = [self.parents[item]]
        while chain[-1] != ROOT:
            chain.append(self.parents[ItemId(chain[-1])])
        return tuple(chain)

    def loop_around(self, item: ItemId) -> Block | None:
        """The innermost loop that the item stands in."""
        around = (self.blocks[ItemId(body)] for body in self.ancestors(item) if body != ROOT)
        return next((one for one in around if one.kind == "for"), None)
