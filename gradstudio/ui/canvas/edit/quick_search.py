"""The quick search on the canvas: adds at the cursor, at the end of a dropped wire, or into a wire."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import find_port, output_family, output_ports
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import accepts, takes_parameters
from gradstudio.operators.model import Family, Kind, Operator
from gradstudio.operators.search.fitting_literals import Giver
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.operator_commands import OperatorCommands
from gradstudio.ui.canvas.edit.size_follow_up import SizeFollowUp
from gradstudio.ui.canvas.edit.wired_adding import add_wired, givers_of, known_shape
from gradstudio.ui.canvas.gestures.ghost_card import GhostCard
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.library.connection_statistics import ConnectionStatistics, visible_operator
from gradstudio.ui.state.library.user_groups import DATA_SET_ROWS, definition_of, document_rows, is_own, published_rows

if TYPE_CHECKING:
    from gradstudio.scene.edit.search_suggestions import Fits, Wanted
    from gradstudio.ui.canvas.popups.search_popup import SearchPopup

BESIDE: Final = 64.0
"""Scene pixels between a card and what is added behind it by keys; below it, what takes nothing of it."""
TENSOR_KINDS = frozenset({Kind.TENSOR, Kind.TENSOR_OR_NUMBER, Kind.TENSORS, Kind.VALUES, Kind.ANY})
"""Arguments that a tensor is naturally wired into; a size takes one too, but nobody looks for that."""


class QuickSearch:
    """Opens one search popup at a time over a canvas."""

    def __init__(
        self,
        canvas: CanvasContext,
        selection: CanvasSelection,
        navigation: Viewport,
        operator_commands: OperatorCommands,
        ghost: GhostCard,
        follow_up: SizeFollowUp,
    ) -> None:
        """No search is open."""
        self._follow_up = follow_up
        self._canvas, self._selection, self._navigation = canvas, selection, navigation
        self._operator_commands, self._ghost = operator_commands, ghost
        self.popup: SearchPopup | None = None
        self.habits = ConnectionStatistics(canvas.widget)
        self.pictures = ghost.pictures
        canvas.store.submitted.connect(self._on_store_submitted)

    def open(self, x: float, y: float) -> None:
        """Search for an operator to put at a scene point; what usually follows the selected node comes first."""
        from gradstudio.scene.edit.card_drop import body_at
        from gradstudio.scene.edit.search_suggestions import Wanted

        graph, current = self._canvas.scene.graph, self._canvas.attention.current
        before = visible_operator(graph, current) if current in graph and current is not None else ""
        first = self.habits.after(before) if before else ()
        wanted = Wanted(first=first, why=f"usual after {_short(before)}")
        canvas = self._canvas
        self._show(
            x,
            y,
            lambda key: self._operator_commands.add_operator(key, x, y, body_at(canvas.scene, x, y), aside=True),
            wanted,
        )

    def open_at_pointer(self) -> None:
        """Search for an operator to put where the pointer is."""
        self.open(*self._canvas.pointer_or_middle())

    def open_behind(self) -> None:
        """Search for an operator to put behind the selected card, wired; where none is, at the pointer."""
        end = self._open_end()
        if end is None:
            self.open_at_pointer()
        else:
            self._open_behind(end)

    def _open_end(self) -> PortRef | None:
        """The first result of the one card that is selected."""
        chosen = self._selection.chosen()
        homes = self._canvas.scene.state.card_groups.cards(chosen)
        item = next(iter(homes)) if len(homes) == 1 else None
        if (
            item is None
            or item not in self._canvas.scene.stack.index
            or not output_ports(self._canvas.scene.graph, item)
        ):
            return None
        return PortRef(item, "output", "", 0)

    def _open_behind(self, port: PortRef) -> None:
        """Search for what follows a card: to its right and wired; what takes nothing of it stands below it."""
        from gradstudio.scene.edit.search_suggestions import Wanted

        scene = self._canvas.scene
        box = scene.placement.room(port.item)
        assert box is not None
        before = visible_operator(scene.graph, port.item)
        first, names = self.habits.after(before), ", ".join(scene.graph.nodes[port.item].names)
        wanted = Wanted(
            first=first,
            why=f"usual after {_short(before)}",
            title=f"Add behind {names or _short(before)}…",
            own=self._own_rows(),
            waits=True,
        )
        wanted = self._for_output(wanted, port)
        self._show(box.right + BESIDE, box.y, lambda key: self._add_behind(key, port), wanted)

    def _for_output(self, wanted: "Wanted", port: PortRef) -> "Wanted":
        """The same, of what is to take this result: where that is a tensor, with its shape as far as it is known."""
        graph = self._canvas.scene.graph
        if output_family(graph, port.item, port.output) is not Family.TENSOR:
            return wanted
        shape = known_shape(graph, self._canvas.scene.results, port.item, port.output)
        return dataclasses.replace(wanted, for_tensor=True, shape=shape)

    def _add_behind(self, key: str, port: PortRef) -> None:
        scene = self._canvas.scene
        box, body = scene.placement.room(port.item), scene.graph.parents[port.item]
        assert box is not None
        operator = load().get(key)
        if operator is not None and _takes(operator, output_family(scene.graph, port.item, port.output)):
            self._add_wired(key, port, (box.right + BESIDE, box.y), body)
        else:
            item = self._operator_commands.add_operator(key, box.x, box.bottom + BESIDE / 2, body, aside=True)
            if item is not None:
                self._navigation.show_with_neighbours(item)

    def replace_current(self) -> None:
        """Search for an operator to stand in the place of the selected one."""
        current = self._canvas.attention.current
        if current is not None and self._operator_commands.can_replace():
            self.open_replace(current)

    def open_replace(self, item: ItemId) -> None:
        """Search for an operator to stand in the place of a node's."""
        from gradstudio.scene.edit.replacements import Costs, can_replace, similar_operators
        from gradstudio.scene.edit.search_suggestions import Wanted

        scene, graph = self._canvas.scene, self._canvas.scene.graph
        box, target = scene.placement.box(scene.state.card_groups.home(item)), recipes.replaceable_node(graph, item)
        if box is None or target is None:
            return
        operator = load()[graph.nodes[target].operator]
        cost = Costs(graph, target)
        names = ", ".join(graph.nodes[target].names)
        wanted = Wanted(
            can_replace(graph, target),
            tuple(sorted(similar_operators(operator), key=cost.count)),
            "",
            f"Replace {operator.title}{f' ({names})' if names else ''} with…",
            waits=True,
            costs=cost.words,
        )
        self._show(box.right + 8, box.y, lambda key: self._operator_commands.replace_operator(item, key), wanted)

    def open_for_wire(self, port: PortRef, at: Pointer) -> None:
        """Search for an operator to which the wire that waits at `port` can go."""
        from gradstudio.operators.search.value_sources import can_give, usual_givers
        from gradstudio.scene.edit.card_drop import body_at
        from gradstudio.scene.edit.search_suggestions import Wanted

        graph = self._canvas.scene.graph
        key = visible_operator(graph, port.item)
        if port.side == "output":
            first, why, title = self.habits.after(key), f"usual after {_short(key)}", "Search what takes this…"
        else:
            first, why, title = self.habits.before(key), f"usual before {_short(key)}", "Search what gives this…"
        wanted = Wanted(_fitting(graph, port), first, why, title, waits=True)
        found = find_port(graph, port.item, port.path) if port.side == "input" else None
        if found is not None:
            takes, givers = found.parameter, givers_of(graph, self._canvas.scene.results, port.item, port.path)
            if givers:
                keys = dict.fromkeys(giver.key for giver in givers)
                wanted = dataclasses.replace(wanted, first=tuple(keys), why=givers[0].words)
            wanted = dataclasses.replace(
                wanted, likely=lambda operator: can_give(operator, takes), usual=usual_givers(takes)
            )
        if port.side == "output":
            wanted = self._for_output(wanted, port)
        body = body_at(self._canvas.scene, at.x, at.y)
        self._show(at.x, at.y, lambda key: self._add_wired(key, port, (at.x, at.y), body), wanted)

    def add_giver(self, giver: Giver, port: PortRef) -> None:
        """Add what gives an input its value, to its left; its card stays the one that is meant."""
        x, y = self._canvas.scene.placement.anchor(port)
        body = self._canvas.scene.graph.parents[port.item]
        if self._add_wired(giver.key, port, (x - BESIDE, y + BESIDE), body, giver):
            self._selection.select(frozenset({port.item}))

    def open_on_wire(self, wire: Wire, x: float, y: float) -> None:
        """Search for an operator to put into a wire."""
        from gradstudio.scene.edit.search_suggestions import Wanted

        graph = self._canvas.scene.graph
        port, key = PortRef(wire.source, "output", "", wire.output), visible_operator(graph, wire.source)
        wanted = Wanted(
            _fitting(graph, port), self.habits.after(key), f"usual after {_short(key)}", "Insert…", waits=True
        )
        wanted = self._for_output(wanted, port)
        self._show(x, y, lambda key: self._operator_commands.insert_on_wire(wire, key, x, y), wanted)

    def close(self) -> None:
        """Close the popup if one is open."""
        if self.popup is not None:
            self.popup.close_now()

    def _show(self, x: float, y: float, chosen: Callable[[str], object], wanted: "Wanted") -> None:
        from gradstudio.ui.canvas.popups.search_popup import SearchPopup

        self.close()
        canvas = self._canvas
        window = canvas.widget.window()  # the popup may lie over the docks: the canvas can be small
        if not wanted.waits:
            wanted = dataclasses.replace(wanted, own=self._own_rows())
        if wanted.own:
            graph, published = canvas.scene.graph, self._canvas.shelf.published
            self.pictures.definition_of = partial(definition_of, graph=graph, published=published)
        popup = SearchPopup(
            window, canvas.canvas_style.theme, wanted, self._canvas.shelf, self.pictures, self._first_words
        )
        popup.chosen.connect(lambda key: self._on_popup_chosen(popup, str(key), chosen))
        popup.closed.connect(self._on_popup_closed)
        self.popup = popup
        view_x, view_y = canvas.camera.to_view(x, y)
        popup.open_at(canvas.viewport().mapTo(window, QPoint(round(view_x), round(view_y))))

    def _own_rows(self) -> tuple[Operator, ...]:
        """The groups of the document, those that a person published, and those that come with the program."""
        shelf = self._canvas.shelf
        return (*document_rows(self._canvas.scene.graph), *published_rows(shelf.published), *DATA_SET_ROWS)

    def _first_words(self, key: str) -> str:
        """What torch says of an operator, if the engine has told."""
        pages = getattr(self._canvas.session, "pages", None) if not is_own(key) else None
        return str(pages.first_sentence(key)) if pages is not None else ""

    def _on_store_submitted(self, edits: object) -> None:
        """What a person wires tells what they usually wire."""
        assert isinstance(edits, tuple)
        self.habits.learn(self._canvas.scene.graph, edits)

    def _on_popup_chosen(self, popup: "SearchPopup", key: str, chosen: Callable[[str], object]) -> None:
        """What was chosen with the mouse hangs at the cursor; keys need no mouse, and who waits has a place for it."""
        canvas = self._canvas
        if popup.by_mouse and not popup.wanted.waits and self._ghost.carries(key):
            self._ghost.carry(key, *canvas.pointer_or_middle())
        else:
            chosen(key)

    def _on_popup_closed(self) -> None:
        self.popup = None
        self._canvas.widget.setFocus()
        self._canvas.viewport().update()

    def _add_wired(
        self, key: str, port: PortRef, at: tuple[float, float], body: BodyId, giver: Giver | None = None
    ) -> bool:
        """Add the operator and wire it: one undo entry; whether it fits."""
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap, place_output_at

        canvas = self._canvas
        self._follow_up.take_up()
        graph, results = canvas.scene.graph, canvas.scene.results
        shape, literals = None, dict[str, str]()
        if port.side == "output":
            shape = known_shape(graph, results, port.item, port.output)
        else:
            likely = (giver,) if giver is not None else givers_of(graph, results, port.item, port.path)
            literals = next((one.literals for one in likely if one.key == key), literals)
        try:
            edits, item = add_wired(graph, key, port, at, body, shape, literals)
        except Refused as refusal:
            canvas.refuse(str(refusal))
            return False
        if port.side == "input":
            edits = place_output_at(canvas.scene, edits, item, *at)
        canvas.store.submit(avoid_overlap(canvas.scene, edits, body), f"Add {key.rsplit('.', 1)[-1]}")
        self._follow_up.wait(item, port)
        self._selection.select(frozenset({item}))
        self._canvas.shelf.use(key)
        self._navigation.show_with_neighbours(item)
        return True


def _fitting(graph: Graph, port: PortRef) -> "Fits":
    """Whether an operator can take what flows from an output, or give what an input takes."""
    if port.side == "output":
        family = output_family(graph, port.item, port.output)
        return lambda operator: _takes(operator, family)
    found = find_port(graph, port.item, port.path)
    if found is None:
        return lambda operator: False
    return lambda operator: any(not accepts(found.parameter, result.family) for result in operator.results)


def _takes(operator: Operator, family: Family) -> bool:
    """Whether people would wire this into the operator; a module takes tensors when it is called."""
    if family is Family.TENSOR:
        is_module = bool(operator.results) and operator.results[0].family is Family.MODULE
        return is_module or any(parameter.kind in TENSOR_KINDS for parameter in operator.parameters)
    if family is Family.MODULE and any(takes_parameters(operator, parameter) for parameter in operator.parameters):
        return True
    return any(not accepts(parameter, family) for parameter in operator.parameters)


def _short(key: str) -> str:
    return key.partition(":")[0].rpartition(".")[2]
