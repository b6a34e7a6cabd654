"""Where everything on the board is: rectangles, frames, notes, wires and ports. Methods of the board. No Qt."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.graph.text.notes import note_of
from gradstudio.scene import geometry
from gradstudio.scene.card.card_layout import Face
from gradstudio.scene.card.frame_layout import block_face, widened
from gradstudio.scene.card.parameter_rows import NOTHING as NO_LEAVES
from gradstudio.scene.card.parameter_rows import Leaves, leaf_rows
from gradstudio.scene.card.section_heights import Shown
from gradstudio.scene.geometry import Box, Floats, Indices
from gradstudio.scene.items import Card, Frame, Note, PortRef, input_offset, leaf_offset, output_offset
from gradstudio.scene.note.note_layout import NOTE_WIDTH
from gradstudio.scene.note.note_placement import place_notes
from gradstudio.scene.results import Results
from gradstudio.scene.text_measure import TextMeasure
from gradstudio.scene.wire import wire_styles
from gradstudio.scene.wire.frame_obstacles import obstacles_of_frames
from gradstudio.scene.wire.routing import MOST_WIRES, route_around
from gradstudio.scene.wire.wire_options import WireView

OUT_OF_FRAME = 28.0
"""Scene pixels between the ports with which a block serves its statements and the first of these."""
MOST_ABOVE = 400.0
Point = tuple[float, float]
Corners = list[float]


class Placing:
    """Methods of `Board`; what they need of it is declared here."""

    if TYPE_CHECKING:
        graph: Graph
        results: Results
        shown: Shown
        meter: TextMeasure
        cards: dict[ItemId, Card]
        unfolded: set[ItemId]
        ids: list[ItemId]
        index: dict[ItemId, int]
        bounds: Floats
        frames: dict[ItemId, Frame]
        notes: dict[ItemId, Note]
        wires: list[Wire]
        wire_view: WireView
        paths: Floats
        path_bounds: Floats
        geometry_revision: int
        _drag: dict[str, tuple[float, float]]
        _frozen: dict[ItemId, Box]

        def box(self, item: ItemId) -> Box | None: ...
        def anchor(self, port: PortRef) -> tuple[float, float]: ...
        def _list_dots(self) -> None: ...
        def _lead_through_dots(self) -> None: ...

    _led: tuple[tuple[Floats, Floats, Indices, Indices], Floats] | None = None
    _pointed: tuple[list[PortRef], Floats] | None = None

    def _place(self) -> None:
        """Rectangles, frames, notes, wires and ports, from the graph's places."""
        self.geometry_revision += 1
        self._list_dots()
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
        self._pointed = None
        for item, card in self.cards.items():
            if card.face.module is not None:
                card.listed = tuple(row.path for row in self.leaves(item).rows)

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
                boxes += [box, *self._note_above(member, box)]
        face = block_face(self.graph, item, self.meter.width)
        left = max((output.x + OUT_OF_FRAME for output in face.outputs), default=geometry.FRAME_PADDING)
        rows_height = face.height - geometry.FRAME_TITLE
        box = self._frozen.get(item) or geometry.frame_box(boxes, rows_height, face.width, left)
        if box is None:
            x, y = self._where(item) or (0.0, 0.0)
            width, height = geometry.EMPTY_FRAME
            box = Box(x, y, max(width, face.width), max(height, face.height + 40))
        room = min((member.y for member in boxes), default=box.bottom) - box.y
        self.frames[item] = Frame(item, widened(face, box.width), box, depth, room)
        return box

    def _note_above(self, member: ItemId, box: Box) -> Iterator[Box]:
        """The upper edge of a note that was put above its card: the frame's ports are not beside it."""
        place, corner = self.graph.places.get(f"note:{member}"), self._where(f"note:{member}")
        holder = self.graph.nodes.get(member) or self.graph.blocks[member]
        if place is None or corner is None or not note_of(holder):
            return
        if abs(corner[0] - box.x) < box.width and 0.0 < box.y - corner[1] < MOST_ABOVE:
            yield Box(*corner, place.width or NOTE_WIDTH, 1.0)

    def _place_notes(self) -> None:
        self.notes = place_notes(self.graph, self.meter, self._where, self.box, self.bounds)

    def _route(self) -> None:
        if not self.wires:
            self.paths, self.path_bounds = np.empty((0, geometry.PATH_POINTS, 2)), np.empty((0, 4))
            return
        (starts, source), (ends, target) = self._wires_begin(), self._wires_end()
        self.paths = wire_styles.styled_paths(self.wire_view.style, starts, ends, source, target)
        if len(self.cards) and len(self.wires) <= MOST_WIRES and not self._drag:
            self._lead_around()
        self._lead_through_dots()
        self.path_bounds = geometry.path_bounds(self.paths)

    def _wires_begin(self) -> tuple[Floats, Floats]:
        """Where each wire begins, `(wires, 2)`, and the corners of what it leaves, `(wires, 4)`."""
        index, ids, cards = self.index, self.ids, self.cards
        owners, offsets = list[int](), list[Point]()
        on_frames: dict[int, PortRef] = {}
        for number, wire in enumerate(self.wires):
            k = index.get(wire.source, -1)
            if k < 0:
                on_frames[number] = PortRef(wire.source, "output", "", wire.output)
            owners.append(k)
            offsets.append(output_offset(cards[ids[k]].face, wire.source, wire.output) if k >= 0 else (0.0, 0.0))
        return self._anchored(owners, offsets, on_frames)

    def _wires_end(self) -> tuple[Floats, Floats]:
        """Where each wire ends, `(wires, 2)`, and the corners of what it enters, `(wires, 4)`."""
        index, ids, cards = self.index, self.ids, self.cards
        owners, offsets = list[int](), list[Point]()
        on_frames: dict[int, PortRef] = {}
        for number, wire in enumerate(self.wires):
            k = index.get(wire.target, -1)
            if k < 0:
                on_frames[number] = PortRef(wire.target, "input", wire.port)
            owners.append(k)
            offsets.append(input_offset(cards[ids[k]].face, wire.port) if k >= 0 else (0.0, 0.0))
        return self._anchored(owners, offsets, on_frames)

    def _anchored(
        self, owners: list[int], offsets: list[Point], on_frames: dict[int, PortRef]
    ) -> tuple[Floats, Floats]:
        """Places by card and offset; those of `on_frames` are ports of frames."""
        corners = self.bounds[owners] if len(self.bounds) else np.zeros((len(owners), 4))
        points = corners[:, :2] + np.array(offsets)
        for number, port in on_frames.items():
            points[number], corners[number] = self._at_frame(port)
        return points, corners

    def _lead_around(self) -> None:
        """No wire runs behind a card or a note, through a block it does not belong to, or through ports of one."""
        notes = [(box.x, box.y, box.right, box.bottom) for note in self.notes.values() for box in (note.box,)]
        cards = np.concatenate([self.bounds, np.array(notes, dtype=np.float64).reshape(-1, 4)])
        frames, open_to = obstacles_of_frames(self.graph, self.frames, self.wires, len(cards), self.meter.width)
        obstacles = np.concatenate([cards, frames])
        source = np.array([self.index.get(wire.source, -1) for wire in self.wires])
        target = np.array([self.index.get(wire.target, -1) for wire in self.wires])
        before, now = self._led, (self.paths, obstacles, source, target)
        if before is not None and all(map(np.array_equal, before[0], now)):
            self.paths = before[1].copy()
            return
        plain = self.paths.copy()
        route_around(self.paths, obstacles, source, target, open_to, self.wire_view.style)
        self._led = (plain, *now[1:]), self.paths.copy()

    def _at_frame(self, port: PortRef) -> tuple[Point, Corners]:
        """Where a frame's port is; there is nothing to go around but the port."""
        x, y = self.anchor(port)
        return (x, y), [x, y - 10, x, y + 10]

    @property
    def ports(self) -> list[PortRef]:
        """All ports that can be pointed at; `port_points` are their places."""
        return self._listed_ports()[0]

    @property
    def port_points(self) -> Floats:
        """Places of the ports, scene pixels."""
        return self._listed_ports()[1]

    def _listed_ports(self) -> tuple[list[PortRef], Floats]:
        """Listed when somebody points at something: most edits are over before that."""
        if self._pointed is None:
            self._pointed = self._list_ports()
        return self._pointed

    def _list_ports(self) -> tuple[list[PortRef], Floats]:
        ports: list[PortRef] = []
        points: list[tuple[float, float]] = []
        frames = [(frame.face, frame.box.x, frame.box.y) for frame in self.frames.values()]
        cards = (
            (card.face, row[0], row[1]) for card, row in zip(self.cards.values(), self.bounds.tolist(), strict=True)
        )
        for face, x, y in (*frames, *cards):
            for row in face.inputs:
                ports.append(PortRef(row.owner, "input", row.path))
                points.append((x + row.x, y + row.y))
            for output in face.outputs:
                ports.append(PortRef(output.owner, "output", "", output.index))
                points.append((x + output.x, y + output.y))
            if face.module is not None:
                for port, (right, down) in self._leaf_ports(face):
                    ports.append(port)
                    points.append((x + right, y + down))
        return ports, np.array(points, dtype=np.float64).reshape(-1, 2)

    def _leaf_ports(self, face: Face) -> Iterator[tuple[PortRef, tuple[float, float]]]:
        """The ports of a module's leaves, and where they are on its card."""
        leaves = self.leaves(face.item)
        assert face.module is not None
        for row in leaves.rows:
            yield PortRef(face.module, "output", row.path), leaf_offset(face, leaves, row.path)

    def leaves(self, item: ItemId) -> Leaves:
        """The rows of a module's parameters and buffers on the card of an item."""
        card = self.cards[item]
        if card.leaves is None:
            module, unfolded = card.face.module, item in self.unfolded
            shown = module is not None and not card.face.worn.collapsed
            made = leaf_rows(self.results, module, self.shown, unfolded=unfolded) if shown and module else NO_LEAVES
            card.leaves = made
        return card.leaves
