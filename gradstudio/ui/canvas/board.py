"""What lies on the canvas and where: cards, frames, notes, wires and ports as arrays. No painting here.

The board follows the graph (`apply`), results (`results_changed`) and overlays (`show`); the view tells it.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradstudio.graph import analysis
from gradstudio.graph.edits import Edits, ReplaceNode, SetHeader, SetPlaces
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.operators.model import Effect, Family
from gradstudio.ui.canvas import geometry
from gradstudio.ui.canvas.board_drag import Dragging
from gradstudio.ui.canvas.board_results import Reading
from gradstudio.ui.canvas.colouring import Colouring
from gradstudio.ui.canvas.extras import PLAIN, Experiments, Extras, NoExperiments, extras
from gradstudio.ui.canvas.face import Face, block_face, node_face, widened
from gradstudio.ui.canvas.facts import Facts, Shown, card_facts, facts_height
from gradstudio.ui.canvas.geometry import Box, Floats
from gradstudio.ui.canvas.look import Meter
from gradstudio.ui.canvas.note_places import place_notes
from gradstudio.ui.canvas.port_looks import PortLook
from gradstudio.ui.canvas.results import Results
from gradstudio.ui.canvas.things import Card, Frame, Note, PortRef, port_offset, stays_in_place, touched

ORDERED = frozenset(Effect) - {Effect.MODE, Effect.MODULE_CALL}
"""Effects that give a statement a number on its card."""


class Board(Dragging, Reading):
    """Cards, frames, notes and wires of one graph, with places in scene pixels.

    Attributes:
        cards: by node, in painting order (the last lies on top).
        bounds: left, top, right, bottom of each card, `(cards, 4)`, in the order of `ids`.
        wires: drawn ones; `paths` and `path_bounds` belong to them, `wire_codes` index `wire_looks`.
        experiments: what was tried; shown on the cards.
        colouring: what the cards are coloured by; None: by category.
        revision: another one when anything of it changed; `geometry_revision` when anything is elsewhere,
            `graph_revision` when the graph was edited.
    """

    def __init__(self, graph: Graph, results: Results, shown: Shown, meter: Meter) -> None:
        """Lay out everything once."""
        Reading.__init__(self)
        self.graph, self.results, self.shown, self.meter = graph, results, shown, meter
        self.experiments: Experiments = NoExperiments()
        self.colouring: Colouring | None = None
        self.revision = self.geometry_revision = self.graph_revision = 0
        self.expanded: set[ItemId] = set()
        self._raised: dict[ItemId, int] = {}
        self.cards: dict[ItemId, Card] = {}
        self.ids: list[ItemId] = []
        self.index: dict[ItemId, int] = {}
        self.bounds: Floats = np.empty((0, 4))
        self.frames: dict[ItemId, Frame] = {}
        self.notes: dict[ItemId, Note] = {}
        self.wires: list[Wire] = []
        self.paths: Floats = np.empty((0, geometry.PATH_POINTS, 2))
        self.path_bounds: Floats = np.empty((0, 4))
        self.wire_codes: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.wire_looks: list[PortLook] = []
        self.ports: list[PortRef] = []
        self.port_points: Floats = np.empty((0, 2))
        self._drag: dict[str, tuple[float, float]] = {}
        self._frozen: dict[ItemId, Box] = {}
        self._carried: frozenset[ItemId] = frozenset()
        self._touching: tuple[frozenset[str], NDArray[np.bool_]] | None = None
        self.wire_index: dict[Wire, int] = {}
        self.rebuild()

    # -------------------------------------------------------------- following

    def rebuild(self, graph: Graph | None = None) -> None:
        """Forget all and read the graph anew."""
        self.graph_revision += 1
        self.graph = graph if graph is not None else self.graph
        self.cards.clear()
        self._looks.clear()
        self._rows.clear()
        self._drag.clear()
        self._frozen.clear()
        self._carried = frozenset()
        self._sync()

    def apply(self, edits: Edits) -> None:
        """Follow edits that were just applied to the graph."""
        self.graph_revision += 1
        if all(isinstance(edit, SetPlaces) for edit in edits):
            self._place()
            return
        if any(isinstance(edit, SetHeader) for edit in edits):
            self.cards.clear()
        in_place = all(isinstance(edit, ReplaceNode) for edit in edits)  # as those of a slider that moves
        for item in touched(edits):
            card = self.cards.get(item)
            if card is not None and item in self.graph.nodes:
                face = self._face(item)
                made = replace(
                    card, face=face, facts_height=self._facts_height(item, face), extras=self._extras(item),
                    revision=card.revision + 1, facts=None,
                )  # fmt: skip
                in_place = in_place and stays_in_place(card, made) and self._note_stays(item)
                self.cards[item] = made
            self._looks.pop(item, None)
        if in_place:
            self._number_statements()
            self._color_wires()
        else:
            self._sync()

    def _note_stays(self, item: ItemId) -> bool:
        note = self.notes.get(item)
        return self.graph.nodes[item].note == (note.text if note is not None else "")

    def show(self, shown: Shown) -> None:
        """Other overlays are on."""
        self.shown = shown
        self.results_changed()
        self.catch_up()

    def expand(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them again."""
        self.expanded ^= {item}
        card = self.cards[item]
        card.face, card.revision = self._face(item), card.revision + 1
        self._place()

    def raise_cards(self, items: Iterable[ItemId]) -> bool:
        """Put cards on top of those that cover them; whether anything lay above them. View state only."""
        covered = [item for item in items if item in self.index and self._is_covered(self.index[item])]
        for item in covered:
            self._raised[item] = max(self._raised.values(), default=0) + 1
        if covered:
            bounds = dict(zip(self.ids, self.bounds, strict=True))
            self._stack()
            self.bounds = np.array([bounds[item] for item in self.ids]).reshape(-1, 4)
        return bool(covered)

    def _is_covered(self, k: int) -> bool:
        left, top, right, bottom = self.bounds[k].tolist()
        return bool(geometry.visible(self.bounds[k + 1 :], Box(left, top, right - left, bottom - top), 0.0).any())

    # -------------------------------------------------------------- asking

    def facts(self, item: ItemId) -> Facts:
        """What is written on a card below its ports."""
        card = self.cards[item]
        if item in self._unmeasured and self._measure([item]):
            self._place()
        if card.facts is None:
            names = self.graph.nodes[item].names
            facts = card_facts(self.results, item, names, self.shown, _families(card.face), _is_leaf(card.face))
            card.facts = replace(facts, height=card.facts_height)
        return card.facts

    def box(self, item: ItemId) -> Box | None:
        """Where the card or frame of an item stands."""
        k = self.index.get(item)
        if k is not None:
            left, top, right, bottom = self.bounds[k].tolist()
            return Box(left, top, right - left, bottom - top)
        frame = self.frames.get(item)
        return frame.box if frame is not None else None

    def face(self, item: ItemId) -> Face | None:
        """The face of a node's card or of a block's head."""
        card = self.cards.get(item)
        if card is not None:
            return card.face
        frame = self.frames.get(item)
        return frame.face if frame is not None else None

    def extent(self, items: Iterable[ItemId] | None = None) -> Box | None:
        """The rectangle around these items, or around everything."""
        if items is not None:
            return geometry.union(box for item in items if (box := self.box(item)) is not None)
        boxes = [frame.box for frame in self.frames.values()] + [note.box for note in self.notes.values()]
        if len(self.bounds):
            left, top = self.bounds[:, :2].min(0).tolist()
            right, bottom = self.bounds[:, 2:].max(0).tolist()
            boxes.append(Box(left, top, right - left, bottom - top))
        return geometry.union(boxes)

    def anchor(self, port: PortRef) -> tuple[float, float]:
        """Where a port is, scene pixels."""
        box, face = self.box(port.item), self.face(port.item)
        if box is None or face is None:
            return 0.0, 0.0
        x, y = port_offset(face, port)
        return box.x + x, box.y + y

    def input_looks(self, item: ItemId) -> tuple[tuple[str, PortLook], ...]:
        """How wired inputs are drawn: as what flows into them."""
        return tuple((wire.port, self.look_of(wire.source, wire.output)) for wire in self.graph.wires_to(item))

    def touching(self, items: frozenset[str]) -> NDArray[np.bool_]:
        """Which wires begin or end at one of these items."""
        if self._touching is None or self._touching[0] != items:
            ends = (wire.source in items or wire.target in items for wire in self.wires)
            self._touching = (items, np.fromiter(ends, dtype=np.bool_, count=len(self.wires)))
        return self._touching[1]

    def members(self, block: ItemId) -> frozenset[ItemId]:
        """Everything inside a block, blocks included, itself not."""
        return frozenset(self.graph.order(BodyId(block)))

    # -------------------------------------------------------------- laying out

    def _face(self, item: ItemId) -> Face:
        return node_face(self.graph, item, self.meter.width, item in self.expanded)

    def _sync(self) -> None:
        """Cards for all nodes, none for others; then places, wires, ports."""
        old, self.cards = self.cards, {}
        for item in self.graph.order():
            if item in self.graph.nodes:
                card = old.get(item)
                self.cards[item] = card if card is not None else self._new_card(item)
        self._number_statements()
        self._stack()
        self.wires = [wire for wire in self.graph.wires.values() if self._ends_exist(wire)]
        self.wire_index = {wire: k for k, wire in enumerate(self.wires)}
        self._touching = None
        self._place()
        self._color_wires()

    def _stack(self) -> None:
        """Painting order: program order, above it what was raised, the latest on top."""
        if self._raised:
            self.cards = dict(sorted(self.cards.items(), key=lambda pair: self._raised.get(pair[0], 0)))
        self.ids = list(self.cards)
        self.index = {item: k for k, item in enumerate(self.ids)}

    def _new_card(self, item: ItemId) -> Card:
        face = self._face(item)
        return Card(face, self._facts_height(item, face), extras=self._extras(item))

    def _extras(self, item: ItemId) -> Extras:
        tried = self.experiments.what_if is not None or self.experiments.checked is not None
        return (
            extras(self.results, self.experiments, item, with_cost=self.shown.cost)
            if tried or self.shown.cost
            else PLAIN
        )

    def _facts_height(self, item: ItemId, face: Face) -> float:
        return facts_height(self.results, item, self.shown, _families(face), _is_leaf(face))

    def _ends_exist(self, wire: Wire) -> bool:
        return wire.source in self.graph and wire.target in self.graph

    def _number_statements(self) -> None:
        repeated, number = analysis.repeated(self.graph), 0
        nested = analysis.nested_now(self.graph)
        for item, card in self.cards.items():
            number += item not in nested
            ordered = bool(ORDERED.intersection(analysis.effects(self.graph, item)))
            place = number + (item in nested)  # a part is printed in the statement after it
            order, set_up = (place if ordered else 0), item not in repeated
            if (order, set_up) != (card.order, card.set_up):
                card.order, card.set_up, card.revision = order, set_up, card.revision + 1

    def _place(self) -> None:
        """Rectangles, frames, notes, wires and ports, from the graph's places."""
        self.geometry_revision += 1
        spare = 0.0
        rows = []
        for item, card in self.cards.items():
            place = self._where(item)
            if place is None:
                place, spare = (0.0, spare), spare + card.height + 24
            rows.append((place[0], place[1], place[0] + card.face.width, place[1] + card.height))
        self.bounds = np.array(rows, dtype=np.float64).reshape(-1, 4)
        self._place_frames()
        self._place_notes()
        self._route()
        self._list_ports()

    def _where(self, key: str) -> tuple[float, float] | None:
        if key in self._drag:
            return self._drag[key]
        place = self.graph.places.get(key)
        return (place.x, place.y) if place is not None else None

    def _place_frames(self) -> None:
        self.frames = {}
        for item in self.graph.bodies[ROOT]:
            if item in self.graph.blocks:
                self._place_frame(item, 0)
        self.frames = dict(sorted(self.frames.items(), key=lambda pair: pair[1].depth))

    def _place_frame(self, item: ItemId, depth: int) -> Box:
        boxes = []
        for member in self.graph.bodies[BodyId(item)]:
            box = self._place_frame(member, depth + 1) if member in self.graph.blocks else self.box(member)
            if box is not None:
                boxes.append(box)
        face = block_face(self.graph, item, self.meter.width)
        box = self._frozen.get(item) or geometry.frame_box(boxes, face.height - geometry.FRAME_TITLE, face.width)
        if box is None:
            x, y = self._where(item) or (0.0, 0.0)
            width, height = geometry.EMPTY_FRAME
            box = Box(x, y, max(width, face.width), max(height, face.height + 40))
        self.frames[item] = Frame(item, widened(face, box.width), box, depth)
        return box

    def _place_notes(self) -> None:
        self.notes = place_notes(self.graph, self.meter, self._where, self.box, self.bounds)

    def _route(self) -> None:
        if not self.wires:
            self.paths, self.path_bounds = np.empty((0, geometry.PATH_POINTS, 2)), np.empty((0, 4))
            return
        starts = np.array([self.anchor(PortRef(w.source, "output", "", w.output)) for w in self.wires])
        ends = np.array([self.anchor(PortRef(w.target, "input", w.port)) for w in self.wires])
        source = np.array(
            [self._corners(w.source, start) for w, start in zip(self.wires, starts.tolist(), strict=True)]
        )
        target = np.array([self._corners(w.target, end) for w, end in zip(self.wires, ends.tolist(), strict=True)])
        self.paths = geometry.wire_paths(starts, ends, source, target)
        self.path_bounds = geometry.path_bounds(self.paths)

    def _corners(self, item: ItemId, point: list[float]) -> tuple[float, float, float, float]:
        """The card to go around; for a frame only the port's own place."""
        k = self.index.get(item)
        if k is not None:
            left, top, right, bottom = self.bounds[k].tolist()
            return left, top, right, bottom
        return point[0], point[1] - 10, point[0], point[1] + 10

    def _list_ports(self) -> None:
        ports: list[PortRef] = []
        points: list[tuple[float, float]] = []
        frames = [(frame.face, frame.box.x, frame.box.y) for frame in self.frames.values()]
        cards = (
            (card.face, row[0], row[1]) for card, row in zip(self.cards.values(), self.bounds.tolist(), strict=True)
        )
        for face, x, y in (*frames, *cards):
            for row in face.inputs:
                ports.append(PortRef(face.item, "input", row.path))
                points.append((x + row.x, y + row.y))
            for output in face.outputs:
                ports.append(PortRef(face.item, "output", "", output.index))
                points.append((x + output.x, y + output.y))
        self.ports, self.port_points = ports, np.array(points, dtype=np.float64).reshape(-1, 2)


def _families(face: Face) -> tuple[Family, ...]:
    return tuple(row.family for row in face.outputs)


def _is_leaf(face: Face) -> bool:
    """Whether a node reads no other: what it makes has no history."""
    return not any(row.state == "wired" for row in face.inputs)
