"""What lies on the canvas and where: cards, frames, notes, wires and ports as arrays. No painting here.

The board follows the graph (`apply`), results (`results_changed`) and overlays (`show`); the view tells it.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.card_grouping import joined
from gradstudio.graph.edits import Edits, ReplaceNode, SetHeader, SetPlaces
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire
from gradstudio.graph.ports.muted_wires import muted_wires
from gradstudio.graph.text.notes import note_of
from gradstudio.operators.model import Family
from gradstudio.scene import geometry
from gradstudio.scene.card.card_layout import Face, mode_of
from gradstudio.scene.card.card_layout_cache import Moulds
from gradstudio.scene.card.compact_layout import compact
from gradstudio.scene.card.debug_sections import PLAIN, Experiments, Extras, NoExperiments, extras
from gradstudio.scene.card.display_flags import worn_at
from gradstudio.scene.card.port_style import PortLook
from gradstudio.scene.card.result_sections import NO_MODULE, Facts, Held, Shown, card_facts, facts_height
from gradstudio.scene.colour_scale import Colouring
from gradstudio.scene.dragging import Dragging
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.items import Card, Frame, Note, PortRef, leaf_offset, port_offset, stays_in_place, touched
from gradstudio.scene.placement import Placing
from gradstudio.scene.result_updates import Reading
from gradstudio.scene.results import Results
from gradstudio.scene.statement_numbers import Wearing
from gradstudio.scene.text_measure import TextMeasure
from gradstudio.scene.wire.reroute_dots import Dotted, ends_of
from gradstudio.scene.wire.wire_options import WireView


class Board(Dotted, Dragging, Placing, Reading, Wearing):
    """Cards, frames, notes and wires of one graph, with places in scene pixels.

    Attributes:
        joining: which items share a card; that of a module and its call is kept under the call.
        cards: by node, in painting order (the last lies on top).
        bounds: left, top, right, bottom of each card, `(cards, 4)`, in the order of `ids`.
        wires: drawn ones, `muted` ones too; `paths` and `path_bounds` belong to them, `wire_codes` index `wire_looks`.
        experiments: what was tried; shown on the cards.
        left_out: what is muted, and what reads it.
        colouring: what the cards are coloured by; None: by category.
        revision: another one when anything of it changed; `geometry_revision` when anything is elsewhere,
            `graph_revision` when the graph was edited.
    """

    def __init__(self, graph: Graph, results: Results, shown: Shown, meter: TextMeasure) -> None:
        """Lay out everything once."""
        Reading.__init__(self)
        self.graph, self.results, self.shown, self.meter = graph, results, shown, meter
        self._moulds = Moulds(meter.width)
        self.experiments: Experiments = NoExperiments()
        self.colouring: Colouring | None = None
        self.revision = self.geometry_revision = self.graph_revision = 0
        self.joining = joined(graph)
        self.expanded: set[ItemId] = set()
        self.unfolded: set[ItemId] = set()
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
        self._drag: dict[str, tuple[float, float]] = {}
        self._frozen: dict[ItemId, Box] = {}
        self._carried: frozenset[ItemId] = frozenset()
        self._touching: tuple[frozenset[str], NDArray[np.bool_]] | None = None
        self.wire_index: dict[Wire, int] = {}
        self.end_index: dict[tuple[ItemId, str], int] = {}
        self.muted: frozenset[Wire] = frozenset()
        self.wire_view, self.selection = WireView(), frozenset[ItemId]()
        self._numbered: object = None
        self._extent: tuple[int, Box | None] | None = None
        self.left_out: frozenset[ItemId] = frozenset()
        self.rebuild()

    # -------------------------------------------------------------- following

    def rebuild(self, graph: Graph | None = None) -> None:
        """Forget all and read the graph anew."""
        self.graph_revision += 1
        self.graph = graph if graph is not None else self.graph
        self.joining = joined(self.graph)
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
        self._wear_anew(edits)
        if all(isinstance(edit, SetPlaces) for edit in edits):
            self._place()
            return
        if any(isinstance(edit, SetHeader) for edit in edits):
            self.cards.clear()
        in_place = all(isinstance(edit, ReplaceNode) for edit in edits)  # as those of a slider that moves
        in_place = self._join() and in_place and self._muted_now() == self.muted
        for item in {self.joining.home(item) for item in touched(edits)} | self._switched(in_place):
            card = self.cards.get(item)
            if card is not None and item in self.graph.nodes:
                face = self._face(item)
                made = replace(
                    card, face=face, facts_height=self._facts_height(item, face), extras=self._extras(item),
                    revision=card.revision + 1, facts=None, leaves=None,
                )  # fmt: skip
                in_place = in_place and stays_in_place(card, made) and self._note_stays(item)
                self.cards[item] = made
            self._unread.update(self._looks.keys() & self.joining.whole((item,)))
        self._retitle()
        if in_place:
            before = self.left_out
            self._number_statements()
            if self.left_out != before:
                self._color_wires()
        else:
            self._sync()

    def _join(self) -> bool:
        """Ask anew which modules share a card; False when others do now: their cards are made anew."""
        before, self.joining = self.joining, joined(self.graph)
        old, new = before.insides(), self.joining.insides()
        if old == new:
            return True
        for item, home in old.items() ^ new.items():
            self.cards.pop(item, None)
            self.cards.pop(home, None)
        return False

    def _retitle(self) -> None:
        """Cards that are titled with what they write into follow its name."""
        for item, card in self.cards.items():
            if card.face.title.endswith("=") and item in self.graph.nodes:
                face = self._face(item)
                if face != card.face:
                    card.face, card.revision = face, card.revision + 1

    def _switched(self, in_place: bool) -> set[ItemId]:
        """Cards whose module is in another mode now, because of a statement about what holds it."""
        if in_place:
            return set()
        made = ((item, card.face) for item, card in self.cards.items() if card.face.module in self.graph.nodes)
        return {item for item, face in made if (face.mode, face.frozen) != mode_of(self.graph, face.module)}

    def _note_stays(self, item: ItemId) -> bool:
        note = self.notes.get(item)
        return note_of(self.graph.nodes[item]) == (note.text if note is not None else "")

    def show(self, shown: Shown) -> None:
        """Other overlays are on."""
        self.shown = shown
        self.results_changed()
        self.catch_up()

    def expand(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them again."""
        item = self.joining.home(item)
        self.expanded ^= {item}
        card = self.cards[item]
        card.face, card.revision = self._face(item), card.revision + 1
        self._place()

    def unfold(self, item: ItemId) -> None:
        """Show all leaves of the module on a card, or fold them again."""
        item = self.joining.home(item)
        self.unfolded ^= {item}
        card = self.cards[item]
        card.facts = card.leaves = None
        card.facts_height, card.revision = self._facts_height(item, card.face), card.revision + 1
        self._place()

    def show_wires(self, wires: WireView) -> None:
        """Draw wires in another way."""
        if self.wire_view != wires:
            self.wire_view = wires
            self._place()

    def is_drawn(self, wire: Wire) -> bool:
        """Whether a wire is drawn, as the person wants it; nothing else can be pointed at."""
        if self.wire_view.shown == "selection":
            return not self.whole((wire.source, wire.target)).isdisjoint(self.whole(self.selection))
        return self.wire_view.shown == "all"

    def raise_cards(self, items: Iterable[ItemId]) -> bool:
        """Put cards on top of those that cover them; whether anything lay above them. View state only."""
        homes = dict.fromkeys(self.joining.home(item) for item in items)
        covered = [item for item in homes if item in self.index and self._is_covered(self.index[item])]
        for item in covered:
            self._raised[item] = max(self._raised.values(), default=0) + 1
        if covered:
            bounds = dict(zip(self.ids, self.bounds, strict=True))
            self._stack()
            self.bounds = np.array([bounds[item] for item in self.ids]).reshape(-1, 4)
        return bool(covered)

    def home(self, item: ItemId) -> ItemId:
        """The item under which the card of this one is kept: the call for a module that shares its card."""
        return self.joining.home(item)

    def whole(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items with the other halves of their cards: what a gesture on a card is about."""
        return self.joining.whole(items)

    def _is_covered(self, k: int) -> bool:
        left, top, right, bottom = self.bounds[k].tolist()
        return bool(geometry.visible(self.bounds[k + 1 :], Box(left, top, right - left, bottom - top), 0.0).any())

    # -------------------------------------------------------------- asking

    def facts(self, item: ItemId) -> Facts:
        """What is written on a card below its ports."""
        item = self.joining.home(item)
        card = self.cards[item]
        if item in self._unmeasured and self._measure([item]):
            self._place()
        if card.facts is None:
            names, face = self.graph.nodes[item].names, card.face
            held = self._held(item, face)
            facts = card_facts(self.results, item, names, self.shown, _families(face), _is_leaf(face), held)
            card.leaves = facts.leaves
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
        card = self.cards.get(self.joining.home(item))
        if card is not None:
            return card.face
        frame = self.frames.get(item)
        return frame.face if frame is not None else None

    def extent(self, items: Iterable[ItemId] | None = None) -> Box | None:
        """The rectangle around these items, or around everything."""
        if items is not None:
            return geometry.union(box for item in items if (box := self.box(item)) is not None)
        if self._extent is None or self._extent[0] != self.geometry_revision:
            self._extent = self.geometry_revision, self._whole_extent()
        return self._extent[1]

    def _whole_extent(self) -> Box | None:
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
        if port.side == "output" and port.path:
            x, y = leaf_offset(face, self.leaves(self.joining.home(port.item)), port.path)
        else:
            x, y = port_offset(face, port)
        return box.x + x, box.y + y

    def input_looks(self, item: ItemId) -> tuple[tuple[str, PortLook], ...]:
        """How wired inputs are drawn: as what flows into them."""
        wires = self.graph.wires_to(item)
        module = self.joining.modules.get(item)
        if module is not None:
            wires = (*self.graph.wires_to(module), *(wire for wire in wires if not self.joining.is_hidden(wire)))
        return tuple((wire.port, self.look_of(wire.source, wire.output)) for wire in wires)

    def touching(self, items: frozenset[str]) -> NDArray[np.bool_]:
        """Which wires begin or end at one of these items."""
        if self._touching is None or self._touching[0] != items:
            key, dotted = items, ends_of(items)
            items = frozenset(items | self.joining.whole(ItemId(item) for item in items))
            ends = (
                wire.source in items or wire.target in items or (wire.target, wire.port) in dotted
                for wire in self.wires
            )
            self._touching = (key, np.fromiter(ends, dtype=np.bool_, count=len(self.wires)))
        return self._touching[1]

    def members(self, block: ItemId) -> frozenset[ItemId]:
        """Everything inside a block, blocks included, itself not."""
        return frozenset(self.graph.order(BodyId(block)))

    # -------------------------------------------------------------- laying out

    def _face(self, item: ItemId) -> Face:
        module = self.joining.modules.get(item)
        worn, expanded = worn_at(self.graph.places.get(item)), item in self.expanded
        return compact(self._moulds.face(self.graph, item, expanded, module), worn, self.meter.width, expanded=expanded)

    def _held(self, item: ItemId, face: Face) -> Held:
        if face.worn.collapsed:
            return NO_MODULE
        return Held(face.module, item in self.unfolded) if face.module is not None else NO_MODULE

    def _sync(self) -> None:
        """Cards for all nodes, none for others; then places, wires, ports."""
        old, self.cards = self.cards, {}
        for item in self.graph.order():
            if item in self.graph.nodes and not self.joining.is_inside(item):
                card = old.get(item)
                self.cards[item] = card if card is not None else self._new_card(item)
        self._numbered = None
        self._number_statements()
        self._stack()
        self.muted = self._muted_now()
        self.wires = [wire for wire in (*self.graph.wires.values(), *sorted(self.muted)) if self._ends_exist(wire)]
        self.wire_index = {wire: k for k, wire in enumerate(self.wires)}
        self.end_index = {(wire.target, wire.port): k for k, wire in enumerate(self.wires)}
        self._touching = None
        self._place()
        self._color_wires()

    def _muted_now(self) -> frozenset[Wire]:
        return frozenset(wire for wire in muted_wires(self.graph) if self._ends_exist(wire))

    def _stack(self) -> None:
        """Painting order: program order, above it what was raised, the latest on top."""
        if self._raised:
            self.cards = dict(sorted(self.cards.items(), key=lambda pair: self._raised.get(pair[0], 0)))
        self.ids = list(self.cards)
        self.index = {item: k for k, item in enumerate(self.ids)}
        shared = ((item, self.index.get(home)) for item, home in self.joining.insides().items())
        self.index |= {item: k for item, k in shared if k is not None}

    def _new_card(self, item: ItemId) -> Card:
        face = self._face(item)
        return Card(face, self._facts_height(item, face), extras=self._extras(item))

    def _extras(self, item: ItemId) -> Extras:
        if worn_at(self.graph.places.get(item)).collapsed:
            return PLAIN
        tried = self.experiments.what_if is not None or self.experiments.checked is not None
        return (
            extras(self.results, self.experiments, item, with_cost=self.shown.cost)
            if tried or self.shown.cost
            else PLAIN
        )

    def _facts_height(self, item: ItemId, face: Face) -> float:
        if face.worn.collapsed or item in CARDS:
            return 0.0
        leaf = _is_leaf(face)
        return facts_height(self.results, item, self.shown, _families(face), leaf, self._held(item, face))

    def _ends_exist(self, wire: Wire) -> bool:
        """Whether a wire is drawn: one from a module to the call on its card lies inside."""
        return wire.source in self.graph and wire.target in self.graph and not self.joining.is_hidden(wire)


def _families(face: Face) -> tuple[Family, ...]:
    return tuple(row.family for row in face.results)


def _is_leaf(face: Face) -> bool:
    """Whether a node reads no other: what it makes has no history."""
    return not face.is_joined and not any(row.state == "wired" for row in face.inputs)
