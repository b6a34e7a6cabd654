"""The quick search on the canvas: adds at the cursor, at the end of a dropped wire, or into a wire."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint

from gradstudio.graph import recipes, rules
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import find_port, output_family, output_ports
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import accepts, takes_parameters
from gradstudio.operators.model import Family, Kind, Operator
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.operator_commands import OperatorCommands
from gradstudio.ui.canvas.gestures.ghost_card import GhostCard
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.library.connection_statistics import ConnectionStatistics, visible_operator
from gradstudio.ui.state.library.user_groups import definitions, document_rows, is_own, published_rows

if TYPE_CHECKING:
    from gradstudio.scene.edit.search_suggestions import Fits, Wanted
    from gradstudio.ui.canvas.popups.search_popup import SearchPopup

LITERAL = "python.literal"
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
    ) -> None:
        """No search is open."""
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
            takes = found.parameter
            wanted = dataclasses.replace(
                wanted, likely=lambda operator: can_give(operator, takes), usual=usual_givers(takes)
            )
        self._show(at.x, at.y, lambda key: self._add_wired(key, port, at), wanted)

    def open_on_wire(self, wire: Wire, x: float, y: float) -> None:
        """Search for an operator to put into a wire."""
        from gradstudio.scene.edit.search_suggestions import Wanted

        graph = self._canvas.scene.graph
        port, key = PortRef(wire.source, "output", "", wire.output), visible_operator(graph, wire.source)
        wanted = Wanted(
            _fitting(graph, port), self.habits.after(key), f"usual after {_short(key)}", "Insert…", waits=True
        )
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
            self.pictures.definitions = definitions(canvas.scene.graph, self._canvas.shelf.published)
            own = (*document_rows(canvas.scene.graph), *published_rows(self._canvas.shelf.published))
            wanted = dataclasses.replace(wanted, own=own)
        popup = SearchPopup(
            window, canvas.canvas_style.theme, wanted, self._canvas.shelf, self.pictures, self._first_words
        )
        popup.chosen.connect(lambda key: self._on_popup_chosen(popup, str(key), chosen))
        popup.closed.connect(self._on_popup_closed)
        self.popup = popup
        view_x, view_y = canvas.camera.to_view(x, y)
        popup.open_at(canvas.viewport().mapTo(window, QPoint(round(view_x), round(view_y))))

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

    def _add_wired(self, key: str, port: PortRef, at: Pointer) -> None:
        """Add the operator and wire it: one undo entry."""
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap, place_output_at
        from gradstudio.scene.edit.card_drop import body_at

        canvas = self._canvas
        graph, body = canvas.scene.graph, body_at(canvas.scene, at.x, at.y)
        try:
            edits, item = add_wired(graph, key, port, at.x, at.y, body)
        except Refused as refusal:
            canvas.refuse(str(refusal))
            return
        if port.side == "input":
            edits = place_output_at(canvas.scene, edits, item, at.x, at.y)
        canvas.store.submit(avoid_overlap(canvas.scene, edits, body), f"Add {key.rsplit('.', 1)[-1]}")
        self._selection.select(frozenset({item}))
        self._canvas.shelf.use(key)
        self._navigation.show_items({item})


def add_wired(graph: Graph, key: str, port: PortRef, x: float, y: float, body: BodyId) -> tuple[Edits, ItemId]:
    """A fresh node with a wire to or from a port.

    Raises:
        Refused: no port of the operator fits, or the order forbids the wire.
    """
    from gradstudio.graph.recipes.wiring.connection import first_fitting_port

    edits, item = recipes.add_operator(graph, key, x, y, body=body)
    if port.side == "input" and key == LITERAL:
        edits = (*edits, *_saying_the_same(graph, edits, item, port))
    trial = graph.copy()
    apply_all(trial, edits)
    module = card_groups(trial).modules.get(item)
    if port.side == "output":
        takes = output_family(trial, port.item, port.output) is Family.MODULE and module is not None
        for target in (module, item) if takes else (item, module):
            path = first_fitting_port(trial, port.item, port.output, target) if target is not None else None
            if target is not None and path is not None:
                return (*edits, *recipes.connect(trial, port.item, port.output, target, path)), item
        raise Refused(f"'{key}' has no argument that takes this.")
    for source in (item, module) if module is not None else (item,):
        for output in output_ports(trial, source):
            if not rules.why_not(trial, source, output.index, port.item, port.path):
                return (*edits, *recipes.connect(trial, source, output.index, port.item, port.path)), source
    raise Refused(f"'{key}' gives nothing that fits here.")


def _saying_the_same(graph: Graph, edits: Edits, item: ItemId, port: PortRef) -> Edits:
    """A value that begins with what is written in the input it is for."""
    holder = graph.nodes.get(port.item)
    written = holder.literals.get(port.path, "") if holder is not None else ""
    trial = graph.copy()
    apply_all(trial, edits)
    return recipes.set_literal(trial, item, "value", written) if written else ()


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
