"""The canvas by keys alone: walking from card to card, wiring, the menu of the current card."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports, output_ports
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.search.fitting_literals import Giver
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.edit.wire_commands import WireCommands
from gradstudio.ui.canvas.edit.wired_adding import givers_of, known_shape
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.widgets.screen_reader import announce

if TYPE_CHECKING:
    from gradstudio.graph.ports.wire_candidates import WireCandidate
    from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
    from gradstudio.ui.canvas.popups.filter_list import Entry, FilterList

RING: Final = 6.0
"""View pixels between a card and the ring around the one that the keys mean."""


class KeyboardNavigation:
    """Walks, wires and opens menus for who has no mouse.

    Attributes:
        by_keys: whether the person came to the current card by keys: it has a ring then.
        chooser: the list of wires that is open.
    """

    def __init__(self, canvas: "MenuCanvas", navigation: Viewport, wire_commands: WireCommands) -> None:
        """Nobody has come by keys yet, and no list is open."""
        self._canvas, self._navigation, self._wire_commands = canvas, navigation, wire_commands
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention
        self.by_keys = False
        self.chooser: FilterList | None = None
        self._came: tuple[ItemId, ItemId] | None = None

    # -------------------------------------------------------------- walking

    def walk_back(self) -> None:
        """To the card that feeds the current one; back to where the last walk came from."""
        self._walk("back")

    def walk_on(self) -> None:
        """To the card into which the current one's value flows; back to where the last walk came from."""
        self._walk("on")

    def statement_before(self) -> None:
        """To the statement in front of the current one."""
        self._step(-1)

    def statement_after(self) -> None:
        """To the statement behind the current one."""
        self._step(1)

    def _walk(self, way: Literal["back", "on"]) -> None:
        item = self._current()
        if item is None:
            self._step(1)
            return
        found = self._neighbours(item, way)
        if not found:
            self._canvas.said.emit(f"Nothing {'feeds' if way == 'back' else 'follows from'} {self._name(item)}.")
            return
        goal = (
            self._came[0] if self._came is not None and self._came[1] == item and self._came[0] in found else found[0]
        )
        self._came = item, goal
        others = f", {found.index(goal) + 1} of {len(found)}" if len(found) > 1 else ""
        self._go(goal, f"{self._name(goal)}{others}")

    def _neighbours(self, item: ItemId, way: Literal["back", "on"]) -> list[ItemId]:
        """The cards beside a card, in the order of its arguments."""
        graph, scene = self._scene.graph, self._scene
        found: list[ItemId] = []
        for owner in scene.state.card_groups.whole((item,)) if item in graph.nodes else (item,):
            if way == "on":
                found += [wire.target for wire in graph.wires_from(owner)]
            else:
                wires = {wire.port: wire.source for wire in graph.wires_to(owner)}
                found += [wires[port.path] for port in input_ports(graph, owner) if port.path in wires]
        homes = dict.fromkeys(scene.state.card_groups.home(other) for other in found)
        return [home for home in homes if home != scene.state.card_groups.home(item) and home in graph]

    def _step(self, by: int) -> None:
        """So many statements on in program order; parts of a card and what is not drawn are passed over."""
        order = [item for item in self._scene.graph.order() if self._scene.state.card_groups.home(item) == item]
        if not order:
            self._canvas.said.emit("There is no statement yet: Tab searches for one to add.")
            return
        item = self._current()
        if item in order:
            place = order.index(item) + by
        elif by > 0:
            place = 0
        else:
            place = len(order) - 1
        if not 0 <= place < len(order):
            self._canvas.said.emit(
                f"{self._name(order[-1 if by > 0 else 0])} is the {'last' if by > 0 else 'first'} statement."
            )
            return
        self._came = None
        self._go(order[place], f"{self._name(order[place])}, statement {place + 1} of {len(order)}")

    def _current(self) -> ItemId | None:
        item = self._attention.current if self._attention.selection else None
        return self._scene.state.card_groups.home(item) if item is not None and item in self._scene.graph else None

    def _name(self, item: ItemId) -> str:
        return title(self._scene.graph, item)

    def _go(self, item: ItemId, words: str) -> None:
        self.by_keys = True
        self._attention.select((item,))
        self._navigation.bring_into_view(item)
        self._canvas.said.emit(words)
        self._canvas.viewport().update()

    def paint_focus(self, painter: QPainter) -> None:
        """A dashed ring around the card that the keys mean, outside of the line around what is selected."""
        item = self._current()
        box = (
            self._scene.placement.box(item)
            if item is not None and self.by_keys and self._canvas.widget.hasFocus()
            else None
        )
        if box is None:
            return
        shown = self._canvas.camera.box_to_view(box)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._canvas.canvas_style.color("text"), 1.5, Qt.PenStyle.DashLine))
        rect = QRectF(shown.x, shown.y, shown.width, shown.height).adjusted(-RING, -RING, RING, RING)
        painter.drawRoundedRect(rect, RING + 6, RING + 6)

    # -------------------------------------------------------------- wiring

    def wire_from_here(self) -> None:
        """Choose an output of the current card, then the input that it shall flow into."""
        from gradstudio.ui.canvas.popups.filter_list import Entry

        item = self._current()
        if item is None:
            self._canvas.refuse("Go to a card first: Ctrl+Down walks through the statements.")
            return
        graph = self._scene.graph
        ends = [
            (owner, port)
            for owner in self._wire_commands.owners(item, "outputs")
            for port in output_ports(graph, owner)
        ]
        if not ends:
            self._canvas.refuse(f"{self._name(item)} gives no value that a wire could take on.")
        elif len(ends) == 1:
            self._choose_target((ends[0][0], ends[0][1].index))
        else:
            words = [
                (port.name if port.name != "_" else "") or f"result {port.index} of {self._name(owner)}"
                for owner, port in ends
            ]
            rows = [
                Entry(text, str, True, (owner, port.index)) for text, (owner, port) in zip(words, ends, strict=True)
            ]
            self._open_chooser("Which result?", rows).chosen.connect(self._choose_target)

    def wire_into_here(self) -> None:
        """Choose an input of the current card, then what shall flow into it."""
        from gradstudio.ui.canvas.popups.filter_list import Entry

        item = self._current()
        if item is None:
            self._canvas.refuse("Go to a card first: Ctrl+Down walks through the statements.")
            return
        graph = self._scene.graph
        ends = [
            (owner, port) for owner in self._wire_commands.owners(item, "inputs") for port in input_ports(graph, owner)
        ]
        layout = self._scene.placement.layout(item)
        ends = [
            end for end in ends if layout is None or layout.input(end[1].path) is not None or end[1].state == "wired"
        ]
        if not ends:
            self._canvas.refuse(f"{self._name(item)} has no input.")
        elif len(ends) == 1:
            self._choose_source((ends[0][0], ends[0][1].path))
        else:
            ends.sort(key=lambda end: not (end[1].required and end[1].state == "empty"))  # what lacks something first
            rows = [
                Entry(port.label or port.path, partial(self._now_in, owner, port.path), True, (owner, port.path))
                for owner, port in ends
            ]
            self._open_chooser(f"Which input of {self._name(item)}?", rows).chosen.connect(self._choose_source)

    def _now_in(self, item: ItemId, path: str) -> str:
        graph = self._scene.graph
        wire = graph.wire_into(item, path)
        literals = graph.nodes[item].literals if item in graph.nodes else graph.blocks[item].literals
        return f"now {self._name(wire.source)}" if wire is not None else literals.get(path, "")

    def _choose_target(self, end: object) -> None:
        from gradstudio.graph.ports.wire_candidates import candidates_from

        assert isinstance(end, tuple)
        source, output = end
        choices = candidates_from(self._scene.graph, source, output)
        self._offer(f"Wire {self._name(source)} to", choices, f"{self._name(source)} has nowhere to go.")

    def _choose_source(self, end: object) -> None:
        from gradstudio.graph.ports.wire_candidates import candidates_into

        assert isinstance(end, tuple)
        target, path = end
        choices = candidates_into(self._scene.graph, target, path)
        givers = givers_of(self._scene.graph, self._scene.results, target, path)
        new = [(giver, PortRef(target, "input", path)) for giver in givers]
        self._offer(f"Wire into {self._name(target)}.{path}", choices, "There is no value to wire yet.", new)

    def _offer(
        self,
        words: str,
        choices: "Iterable[WireCandidate]",
        nothing: str,
        new: Sequence[tuple[Giver, PortRef]] = (),
    ) -> None:
        """Let a person choose among wires; what is `new` would be added and wired."""
        from gradstudio.ui.canvas.popups.filter_list import Entry

        graph = self._scene.graph
        rows = [Entry(f"New: {end[0].words}", partial(_new_note, end[0]), True, end) for end in new]
        rows += [Entry(choice.words, partial(_note, graph, choice), choice.legal, choice) for choice in choices]
        if not rows:
            self._canvas.refuse(nothing)
            return
        self._open_chooser(words, rows).chosen.connect(self._on_wire_chosen)

    def _open_chooser(self, words: str, rows: "Sequence[Entry]") -> "FilterList":
        from gradstudio.ui.canvas.popups.filter_list import FilterList

        self._canvas.close_editor()
        item = self._current()
        box = self._scene.placement.box(item) if item is not None else None
        x, y = self._canvas.camera.to_view(box.right, box.y) if box is not None else (40.0, 40.0)
        made = FilterList(self._canvas.viewport(), words, rows, self._canvas.canvas_style.theme)
        made.closed.connect(self._on_chooser_closed)
        made.refused.connect(self._on_chooser_refused)
        self.chooser, self.by_keys = made, True
        made.open_at(QPoint(round(x) + 12, round(y)))
        return made

    def _on_wire_chosen(self, choice: object) -> None:
        from gradstudio.graph.ports.wire_candidates import WireCandidate

        if not isinstance(choice, WireCandidate):
            assert isinstance(choice, tuple)
            self._canvas.searching.add_giver(*choice)
            return
        ends = choice.source, choice.output, choice.target, choice.port
        shape = known_shape(self._scene.graph, self._scene.results, choice.source, choice.output)
        if self._store.attempt(recipes.connect_fitting, "Wire", *ends, shape):
            self._canvas.said.emit(f"Wired {self._name(choice.source)} to {self._name(choice.target)}.{choice.port}.")

    def _on_chooser_refused(self, words: object) -> None:
        self._canvas.refuse(str(words))
        announce(self._canvas.viewport(), str(words))

    def _on_chooser_closed(self) -> None:
        self.chooser = None
        self._canvas.widget.setFocus()

    # -------------------------------------------------------------- the menu

    def menu_by_key(self) -> None:
        """The menu of the current card, beside it; that of the ground where none is current."""
        from gradstudio.scene.hit_test import Hit
        from gradstudio.ui.canvas.menus.context_menu import context_menu

        item = self._current()
        box = self._scene.placement.box(item) if item is not None else None
        if item is None or box is None:
            middle = self._canvas.viewport().rect().center()
            menu = context_menu(self._canvas, Hit("empty"), *self._canvas.camera.to_scene(middle.x(), middle.y()))
            at = middle
        else:
            self._navigation.bring_into_view(item)
            hit = Hit("title", item) if item in self._scene.graph.blocks else Hit("card", item, header=True)
            menu = context_menu(self._canvas, hit, box.x, box.y)
            at = QPoint(*map(round, self._canvas.camera.to_view(box.x + 24, box.y + 30)))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._canvas.viewport().mapToGlobal(at))
        menu.setActiveAction(menu.actions()[0])


def _new_note(giver: Giver) -> str:
    """What would be added."""
    said = ", ".join(f"{name}={text}" for name, text in giver.literals.items())
    return f"{giver.key.rpartition('.')[2]}({said})"


def _note(graph: Graph, choice: "WireCandidate") -> str:
    from gradstudio.graph.ports.wire_candidates import refusal_of

    return choice.note if choice.legal else refusal_of(graph, choice)
