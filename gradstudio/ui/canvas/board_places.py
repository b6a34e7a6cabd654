"""Where everything on the board is: rectangles, frames, notes, wires and ports. Methods of the board. No Qt."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.ui.canvas import geometry
from gradstudio.ui.canvas.block_face import block_face, widened
from gradstudio.ui.canvas.face import Face
from gradstudio.ui.canvas.geometry import Box, Floats
from gradstudio.ui.canvas.heights import Shown
from gradstudio.ui.canvas.leaves import NOTHING as NO_LEAVES
from gradstudio.ui.canvas.leaves import Leaves, leaf_rows
from gradstudio.ui.canvas.look import Meter
from gradstudio.ui.canvas.note_places import place_notes
from gradstudio.ui.canvas.results import Results
from gradstudio.ui.canvas.things import Card, Frame, Note, PortRef, leaf_offset


class Placing:
    """Methods of `Board`; what they need of it is declared here."""

    if TYPE_CHECKING:
        graph: Graph
        results: Results
        shown: Shown
        meter: Meter
        cards: dict[ItemId, Card]
        unfolded: set[ItemId]
        index: dict[ItemId, int]
        bounds: Floats
        frames: dict[ItemId, Frame]
        notes: dict[ItemId, Note]
        wires: list[Wire]
        paths: Floats
        path_bounds: Floats
        ports: list[PortRef]
        port_points: Floats
        geometry_revision: int
        _drag: dict[str, tuple[float, float]]
        _frozen: dict[ItemId, Box]

        def box(self, item: ItemId) -> Box | None: ...
        def anchor(self, port: PortRef) -> tuple[float, float]: ...

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
                ports.append(PortRef(row.owner, "input", row.path))
                points.append((x + row.x, y + row.y))
            for output in face.outputs:
                ports.append(PortRef(output.owner, "output", "", output.index))
                points.append((x + output.x, y + output.y))
            if face.module is not None:
                for port, (right, down) in self._leaf_ports(face):
                    ports.append(port)
                    points.append((x + right, y + down))
        self.ports, self.port_points = ports, np.array(points, dtype=np.float64).reshape(-1, 2)

    def _leaf_ports(self, face: Face) -> Iterator[tuple[PortRef, tuple[float, float]]]:
        """The ports of a module's leaves, and where they are on its card."""
        card, leaves = self.cards[face.item], self.leaves(face.item)
        assert face.module is not None
        card.listed = tuple(row.path for row in leaves.rows)
        for row in leaves.rows:
            yield PortRef(face.module, "output", row.path), leaf_offset(face, leaves, row.path)

    def leaves(self, item: ItemId) -> Leaves:
        """The rows of a module's parameters and buffers on the card of an item."""
        card = self.cards[item]
        if card.leaves is None:
            module, unfolded = card.face.module, item in self.unfolded
            made = leaf_rows(self.results, module, self.shown, unfolded=unfolded) if module is not None else NO_LEAVES
            card.leaves = made
        return card.leaves
