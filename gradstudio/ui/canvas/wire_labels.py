"""Where the gradient of a wire is written: on the wire near its target, clear of cards and of other labels. No Qt.

Places are scene pixels and do not depend on what is seen, so a label stays where it is while the scene is moved.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gradstudio.graph.model import Wire
from gradstudio.protocol.autograd import WireGrad
from gradstudio.protocol.records import Summary
from gradstudio.ui.canvas import formatting, geometry
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.geometry import Box, Floats

ROLE: Final = "mono_label"
HEIGHT: Final = 15.0
ARROW: Final = 9.0
"""Room for the arrow before the words."""
EDGE: Final = 5.0
CLEAR: Final = 3.0
"""Least distance to cards and other labels."""
POINTS: Final = (17, 15, 13, 19, 11, 9, 7, 5, 3)
"""Points of a path that are tried as the middle of a label, the nearest to the target first."""
LIFTS: Final = (0.0, -13.0, 13.0)
NEAR: Final = 240.0
"""Cards so far from what is seen can still be in the way."""


@dataclass(frozen=True, slots=True)
class WireLabel:
    """What came back along a wire, in words, and where they stand."""

    text: str
    box: Box


class WireLabels:
    """Finds a place for each wire's label once; forgets them when cards or gradients change."""

    def __init__(self, board: Board) -> None:
        """Nothing is placed yet."""
        self._board = board
        self._labels: dict[Wire, WireLabel | None] = {}
        self._taken: list[tuple[float, float, float, float]] = []
        self._revision = -1

    def near(self, seen: Box) -> list[tuple[Wire, WireLabel]]:
        """The labels of all wires that can show, each wire with its label."""
        board = self._board
        if self._revision != board.revision:
            self._labels.clear()
            self._taken.clear()
            self._revision = board.revision
        around = geometry.visible(board.path_bounds, seen, 60.0)
        wires = [board.wires[k] for k in np.nonzero(around)[0].tolist()]
        fresh = [wire for wire in wires if wire not in self._labels]
        if fresh:
            self._place(fresh, seen)
        return [(wire, label) for wire in wires if (label := self._labels[wire]) is not None]

    def of(self, wire: Wire) -> WireLabel | None:
        """The label of a wire that was near what was seen; None when it has none or found no room."""
        return self._labels.get(wire)

    def _place(self, wires: Iterable[Wire], seen: Box) -> None:
        board = self._board
        obstacles = board.bounds[geometry.visible(board.bounds, seen, NEAR)]
        notes = [(note.box.x, note.box.y, note.box.right, note.box.bottom) for note in board.notes.values()]
        if notes:
            obstacles = np.concatenate([obstacles, np.array(notes, dtype=np.float64)])
        for wire in wires:
            found = board.results.wire_grad(wire)
            self._labels[wire] = self._placed(wire, written(found), obstacles) if found is not None else None

    def _placed(self, wire: Wire, text: str, obstacles: Floats) -> WireLabel | None:
        board = self._board
        width = board.meter.width(text, ROLE) + ARROW + 2 * EDGE
        path = board.paths[board.wire_index[wire]]
        middles = np.concatenate([path[list(POINTS)] + (0.0, lift) for lift in LIFTS])
        half = np.array([width / 2, HEIGHT / 2])
        boxes = np.concatenate([middles - half, middles + half], 1)
        free = ~_meets(boxes, obstacles)
        if self._taken:
            free &= ~_meets(boxes, np.array(self._taken))
        places = np.nonzero(free)[0]
        if not len(places):
            return None
        left, top, right, bottom = boxes[places[0]].tolist()
        self._taken.append((left, top, right, bottom))
        return WireLabel(text, Box(left, top, width, HEIGHT))


def _meets(boxes: Floats, others: Floats) -> NDArray[np.bool_]:
    """Which boxes (left, top, right, bottom) come too near to one of the others."""
    apart = (
        (boxes[:, None, 0] > others[None, :, 2] + CLEAR)
        | (boxes[:, None, 2] < others[None, :, 0] - CLEAR)
        | (boxes[:, None, 1] > others[None, :, 3] + CLEAR)
        | (boxes[:, None, 3] < others[None, :, 1] - CLEAR)
    )
    near: NDArray[np.bool_] = np.any(~apart, axis=1)
    return near


def written(sent: WireGrad) -> str:
    """What came back along a wire in few letters: a number, a norm, or "none"."""
    return brief(sent.grad)


def brief(summary: Summary | None) -> str:
    """A gradient in few letters: ``0.32``, ``‖∇‖ 0.32``, "none" for an undefined one."""
    if summary is None:
        return "none"
    if summary.nan:
        return "NaN" if summary.shape == () else f"NaN {summary.nan}"
    if summary.shape == () and summary.value is not None:
        return formatting.number(summary.value, 3)
    if summary.posinf or summary.neginf:
        return f"∞ {summary.posinf + summary.neginf}"
    return f"‖∇‖ {formatting.norm(summary)}" if summary.rms is not None else formatting.shape(summary.shape)


def summed(parts: Iterable[Summary | None], total: int) -> str:
    """A sum as far as it was formed: ``1 of 2: 0.5 + …``, ``2 of 2: 0.5 + 1.5``."""
    words = [brief(part) for part in parts]
    shown = words if len(words) <= 3 else [words[0], "…", words[-1]]
    rest = " + …" if len(words) < total else ""
    return f"{len(words)} of {total}: {' + '.join(shown)}{rest}"
