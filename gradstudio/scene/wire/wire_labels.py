"""Where the gradient of a wire is written: on the wire near its target, clear of cards and of other labels. No Qt.

Where a wire is too short for its number, the number stands above or below the cards, with a line down to the wire;
where there is no room at all, there is no label: hovering the wire tells it. Letters keep a size that can be read
while the scene shrinks. Places do not depend on what is seen, so a label stays where it is while the scene is moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from gradstudio.graph.model import Wire
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import geometry, value_format
from gradstudio.scene.geometry import FRAME_TITLE, Box, Floats
from gradstudio.scene.items import Frame
from gradstudio.scene.scene import Scene
from gradstudio.scene.text_measure import TextMeasure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROLE: Final = "mono_label"
HEIGHT: Final = 15.0
ARROW: Final = 9.0
"""Room for the arrow before the words."""
EDGE: Final = 5.0
CLEAR: Final = 1.5
"""Least distance to cards and other labels."""
LOOSE: Final = 12.0
"""Pixels that a label may be wider than its words, so that it stays where it is while numbers change."""
POINTS: Final = (16, 14, 12, 18, 10, 8, 6, 4, 2)
"""Points of a path that are tried as the middle of a label, the nearest to the target first."""
ON_WIRE: Final = (0.0, -0.95, 0.95)
"""Heights of a label below its point that are tried: on the wire, or touching it."""
OFF_WIRE: Final = (-2.0, -3.0, -4.0, -5.0, 2.0, 3.0, 4.0, 5.0)
"""Those of a label that a line ties to its wire."""
FAR: Final = tuple(side * step for step in range(2, 25) for side in (-1.0, 1.0))
"""Those of a label that is lit and had no room, the nearest first."""
LIT_POINT: Final = 12
"""Point of a path around which a lit label stands where there is none otherwise: about its middle."""
PORT_ROOM: Final = 7.0
"""Least distance to a card's sides, where its ports are, scene pixels."""
LEAST_SCALE: Final = 1.0
"""Of the letters in view pixels; below it they cannot be read."""
LEAST_ZOOM: Final = 0.3
"""Below it labels are hidden; hovering a wire shows its own."""
MOST: Final = 400
"""So many wires at once are too many for labels."""
NEAR: Final = 240.0
"""Cards so far from wires can still be in the way of their labels."""


class WireLabel(msgspec.Struct, frozen=True):
    """What came back along a wire, in words, and where they stand, scene pixels.

    Attributes:
        foot: the point of the wire that a line ties it to; None: it stands on the wire.
    """

    text: str
    box: Box
    foot: tuple[float, float] | None = None


class WireLabels:
    """Finds a place for each wire's label once; anew when cards move, or when new words do not fit there.

    Attributes:
        paused: there are no labels in a picture that is to be finished soon.
    """

    def __init__(self, scene: Scene) -> None:
        """Nothing is placed yet."""
        self._scene = scene
        self.paused = False
        self._labels: dict[Wire, WireLabel | None] = {}
        self._homes: dict[Wire, WireLabel] = {}
        self._sent: dict[Wire, WireGrad | None] = {}
        self._unchecked: set[Wire] = set()
        self._key: tuple[int, float] = (-1, 1.0)
        self._revision = -1
        self._pass_number: int | None = None
        self._scale = 1.0
        self._near: tuple[object, list[tuple[Wire, WireLabel]]] = (None, [])

    def near(self, seen: Box, zoom: float) -> list[tuple[Wire, WireLabel]]:
        """The labels of all wires that can show, each wire with its label."""
        scene = self._scene
        key = (seen, zoom, scene.state.geometry_revision, scene.state.revision)
        if self.paused or self._near[0] == key:
            return [] if self.paused else self._near[1]
        if self._key != (scene.state.geometry_revision, zoom):
            self._labels.clear()
            self._homes.clear()
            self._unchecked.clear()
            self._key, self._scale = (scene.state.geometry_revision, zoom), scale_at(zoom)
        around = scene.routes.wires_in(seen, 60.0 * self._scale)
        if zoom < LEAST_ZOOM or len(around) > MOST:
            return []
        self._note_revision()
        wires = [scene.wiring.wires[k] for k in around]
        for wire in self._unchecked.intersection(wires):
            self._forget_changed(wire)
        fresh = [wire for wire in wires if wire not in self._labels]
        if fresh:
            self._place(fresh)
        placed = [(wire, self._labels[wire]) for wire in wires]
        found = [(wire, label) for wire, label in placed if label is not None and label.box.is_within(seen)]
        self._near = (key, found)
        return found

    def of(self, wire: Wire) -> WireLabel | None:
        """The label of a wire that was near what was seen; None when it has none or found no room."""
        self._note_revision()
        if wire in self._unchecked:
            self._forget_changed(wire)
        return self._labels.get(wire) if not self.paused else None

    def whole(self, wire: Wire, text: str, zoom: float) -> WireLabel:
        """The wire's label with all of its words, where the label stands.

        What had no room stands where the words cover no card, tied to its wire.
        """
        import numpy as np

        label, scene = self.of(wire), self._scene
        if label is not None and label.text == text:
            return label
        x, y = (
            label.box.center
            if label is not None
            else scene.routes.paths[scene.wiring.ends[wire.target, wire.port]][LIT_POINT].tolist()
        )
        scale = scale_at(zoom)
        width, height = label_width(scene.state.meter, text) * scale, HEIGHT * scale
        here = Box(x - width / 2, y - height / 2, width, height)
        if label is not None:
            return WireLabel(text, here, label.foot)
        if wire not in self._labels:
            return WireLabel(text, here)
        lefts_tops = np.array([(here.x, here.y + lift * height) for lift in FAR])
        boxes = np.concatenate([lefts_tops, lefts_tops + np.array([width, height])], 1)
        cards = scene.placement.bounds[geometry.visible(scene.placement.bounds, here, FAR[-1] * height)]
        free = np.nonzero(~_meets(boxes, np.concatenate([cards, self._words_between(wire)])))[0]
        if not len(free):
            return WireLabel(text, here)
        return WireLabel(text, Box(here.x, float(boxes[free[0], 1]), width, height), (x, y))

    def _note_revision(self) -> None:
        """Labels at items that changed since may be others; in another pass all may be."""
        scene, since = self._scene, self._revision
        if since == scene.state.revision:
            return
        active = scene.results.active
        pass_number = active.pass_number if active is not None else None
        if scene.updates.all_changed_at > since or pass_number != self._pass_number:
            self._unchecked.update(self._labels)
        else:
            at = scene.updates.changed_at.get
            self._unchecked.update(w for w in self._labels if max(at(w.source, 0), at(w.target, 0)) > since)
        self._revision, self._pass_number = scene.state.revision, pass_number

    def _forget_changed(self, wire: Wire) -> None:
        """The label of a gradient that is another one now: where the new words fit it stays; else it is placed anew.

        The place of one that is gone is kept for when it comes back.
        """
        self._unchecked.discard(wire)
        found = self._scene.results.wire_grad(wire)
        if found is self._sent.get(wire):
            return
        home = self._homes.get(wire)
        if found is None and home is not None:
            self._labels[wire], self._sent[wire] = None, None
            return
        if home is not None and found is not None and self._fits(text := brief(found.grad), home):
            self._labels[wire] = self._homes[wire] = replace(home, text=text)
            self._sent[wire] = found
        else:
            del self._labels[wire]
            self._homes.pop(wire, None)

    def _fits(self, text: str, label: WireLabel) -> bool:
        """Whether other words have the room of a label, and need most of it."""
        room = label.box.width / self._scale - label_width(self._scene.state.meter, text)
        return -0.5 <= room <= LOOSE

    def _place(self, wires: Sequence[Wire]) -> None:
        scene = self._scene
        self._sent.update((wire, scene.results.wire_grad(wire)) for wire in wires)
        self._labels.update(dict.fromkeys(wires))
        sent = [wire for wire in wires if self._sent[wire] is not None and self._says_more(wire)]
        if not sent:
            return
        import numpy as np

        bounds = scene.routes.bounds[[scene.wiring.ends[wire.target, wire.port] for wire in sent]]
        (left, top), (right, bottom) = bounds[:, :2].min(0).tolist(), bounds[:, 2:].max(0).tolist()
        along = Box(left, top, right - left, bottom - top)  # also what is out of view now: a place is kept
        cards = scene.placement.bounds
        obstacles = cards[geometry.visible(cards, along, NEAR)] + (-PORT_ROOM, 0.0, PORT_ROOM, 0.0)
        obstacles = np.concatenate([obstacles, self._words_between()])
        for wire in sent:
            found = self._sent[wire]
            assert found is not None
            label = self._labels[wire] = self._placed(wire, found.grad, obstacles)
            if label is None:
                continue
            self._homes[wire] = label
            box = label.box
            obstacles = np.concatenate([obstacles, [(box.x, box.y, box.right, box.bottom)]])

    def _other_wires(self, wire: Wire, boxes: Floats) -> Floats:
        """Pieces of the paths of other wires that run near these boxes: a number on them would be read as theirs."""
        import numpy as np

        scene = self._scene
        own = scene.wiring.ends[wire.target, wire.port]
        (left, top), (right, bottom) = boxes[:, :2].min(0).tolist(), boxes[:, 2:].max(0).tolist()
        near = scene.routes.wires_in(Box(left, top, right - left, bottom - top))
        paths = scene.routes.paths[[number for number in near if number != own]]
        return np.concatenate([paths[:, :-1], paths[:, 1:]], 2).reshape(-1, 4)

    def _words_between(self, without: Wire | None = None) -> Floats:
        """What stands between cards and is to be read: notes, heads and edges of frames, labels of other wires."""
        import numpy as np

        scene = self._scene
        taken = [note.box for note in scene.placement.notes.values()]
        taken += [label.box for wire, label in self._homes.items() if wire != without]
        for frame in scene.placement.frames.values():
            taken += frame_lines(frame, scene.state.meter)
        return np.array([(box.x, box.y, box.right, box.bottom) for box in taken]).reshape(-1, 4)

    def _says_more(self, wire: Wire) -> bool:
        """Whether a wire's gradient is not just the one that stands on the card it comes from.

        It is one of several that were added there, or nothing of it is shown there.
        """
        scene, results = self._scene, self._scene.results
        if any(
            (other.source, other.output) == (wire.source, wire.output)
            and other != wire
            and results.wire_grad(other) is not None
            for other in scene.looks.wires_of(wire.source)
        ):
            return True
        card = scene.stack.cards.get(scene.state.card_groups.home(wire.source))
        if card is None or card.layout.display_flags.collapsed or not scene.state.shown.gradients:
            return True
        row = results.grad(wire.source, wire.output)
        return row is None or row.state != "value"

    def _placed(self, wire: Wire, grad: Summary | None, obstacles: Floats) -> WireLabel | None:
        """The first place for which there is room, on the wire or tied to it; None: there is none."""
        words = brief(grad)
        for lifts in (ON_WIRE, OFF_WIRE):
            label = self._free_label(wire, words, lifts, obstacles)
            if label is not None:
                return label
        return None

    def _free_label(self, wire: Wire, words: str, lifts: Sequence[float], obstacles: Floats) -> WireLabel | None:
        import numpy as np

        scene, height = self._scene, HEIGHT * self._scale
        width = label_width(scene.state.meter, words) * self._scale
        points = scene.routes.paths[scene.wiring.ends[wire.target, wire.port]][list(POINTS)]
        middles = np.concatenate([points + np.array([0.0, lift * height]) for lift in lifts])
        half = np.array([width / 2, height / 2])
        boxes = np.concatenate([middles - half, middles + half], 1)
        others = self._other_wires(wire, boxes)
        is_free = ~(_meets(boxes, obstacles) | _crossed(boxes, others))
        if lifts is OFF_WIRE and is_free.any():
            feet = np.concatenate([points] * len(lifts))
            ties = np.concatenate([np.minimum(middles, feet), np.maximum(middles, feet)], 1)
            is_tied = is_free & ~_meets(ties, obstacles) & ~_crossed(ties, others)
            is_free = is_tied if is_tied.any() else is_free
        places = np.nonzero(is_free)[0]
        if not len(places):
            return None
        left, top = boxes[places[0], :2].tolist()
        foot = tuple(points[places[0] % len(points)].tolist()) if lifts is OFF_WIRE else None
        return WireLabel(words, Box(left, top, width, height), foot)


def frame_lines(frame: Frame, meter: TextMeasure) -> list[Box]:
    """What of a frame is not to be written over: its title, its edges, and its ports with their words and fields."""
    from gradstudio.scene.wire.frame_obstacles import frame_heads

    box = frame.box
    width, height = box.width, box.height
    heads = [Box(x, y, right - x, bottom - y) for x, y, right, bottom in frame_heads(frame, meter.width)]
    return [
        Box(box.x, box.y, width, FRAME_TITLE),
        Box(box.x, box.y, 1.0, height),
        Box(box.right, box.y, 1.0, height),
        Box(box.x, box.bottom, width, 1.0),
        *(head for head in heads if head.width),
    ]


def scale_at(zoom: float) -> float:
    """Scene pixels per pixel of a label."""
    return max(1.0, LEAST_SCALE / zoom)


def label_width(meter: TextMeasure, text: str) -> float:
    """Of a label with its arrow, in its own pixels."""
    return meter.width(text, ROLE) + ARROW + 2 * EDGE


def _meets(boxes: Floats, others: Floats) -> NDArray[np.bool_]:
    """Which boxes (left, top, right, bottom) come too near to one of the others."""
    import numpy as np

    apart = (
        (boxes[:, None, 0] > others[None, :, 2] + CLEAR)
        | (boxes[:, None, 2] < others[None, :, 0] - CLEAR)
        | (boxes[:, None, 1] > others[None, :, 3] + CLEAR)
        | (boxes[:, None, 3] < others[None, :, 1] - CLEAR)
    )
    near: NDArray[np.bool_] = np.any(~apart, axis=1)
    return near


def _crossed(boxes: Floats, pieces: Floats) -> NDArray[np.bool_]:
    """Which boxes (left, top, right, bottom) a straight piece (x, y, x, y) comes too near to."""
    import numpy as np

    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    halves = (boxes[:, 2:] - boxes[:, :2]) / 2 + CLEAR
    starts, ways = pieces[:, :2], pieces[:, 2:] - pieces[:, :2]
    apart = np.abs(starts + ways / 2 - middles[:, None]) > halves[:, None] + np.abs(ways) / 2
    to_middle = middles[:, None] - starts
    beside = np.abs(ways[:, 0] * to_middle[..., 1] - ways[:, 1] * to_middle[..., 0])
    reach = halves[:, None, 0] * np.abs(ways[:, 1]) + halves[:, None, 1] * np.abs(ways[:, 0])
    crossed: NDArray[np.bool_] = np.any(~apart.any(2) & (beside <= reach), axis=1)
    return crossed


def brief(summary: Summary | None) -> str:
    """A gradient in few letters: ``0.32``, ``‖∇‖ 0.32``, ``1 NaN``, "none" for an undefined one."""
    if summary is None:
        return "none"
    if value_format.single(summary) is not None:
        return value_format.number_or_norm(summary)
    odd = value_format.oddities(summary)
    if odd:
        return odd.split(value_format.BETWEEN)[0]
    return value_format.number_or_norm(summary) if value_format.norm(summary) else value_format.shape(summary.shape)


def summed(parts: Iterable[Summary | None], total: int) -> str:
    """What has arrived of a sum: ``1 of 2: 0.5 + …``, ``2 of 2: 0.5 + 1.5 = 2``; norms and NaN add up to nothing."""
    found = list(parts)
    words = [brief(part) for part in found]
    shown = words if len(words) <= 3 else [words[0], "…", words[-1]]
    rest = ["…"] if len(words) < total else []
    if not adds_up(found):
        return f"{len(words)} of {total}: {', '.join([*shown, *rest])}"
    text = f"{len(words)} of {total}: {' + '.join([*shown, *rest])}"
    if rest or len(words) < 2:
        return text
    numbers = (value_format.single(part) for part in found)
    whole = value_format.number(sum(number for number in numbers if isinstance(number, float | int)))
    return f"{text} {value_format.sum_mark(words, whole)} {whole}"


def adds_up(parts: Iterable[Summary | None]) -> bool:
    """Whether parts can be written as a sum: each is one finite number."""
    numbers = [value_format.single(part) for part in parts]
    return all(isinstance(number, float | int) and math.isfinite(number) for number in numbers)


def arrival_words(grad: Summary | None, parts: Sequence[Summary | None]) -> str:
    """What arrives, as the sum of its parts where they can be written as one: ``arrives 1 + 2 = 3``."""
    if len(parts) > 1 and adds_up([grad, *parts]):
        words = [brief(part) for part in parts]
        shown = words[:3] + (["…"] if len(parts) > 3 else [])
        return f"arrives {' + '.join(shown)} {value_format.sum_mark(words, brief(grad))} {brief(grad)}"
    return f"arrives {brief(grad)}"
