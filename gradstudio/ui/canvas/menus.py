"""Context menus of the canvas, built for what was clicked from rows of text and method."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from gradstudio.graph import recipes
from gradstudio.graph.model import NOTE_COLORS, BlockKind, ItemId, Wire
from gradstudio.graph.names import title
from gradstudio.graph.ports import operator_of
from gradstudio.graph.scope_cards import CARDS
from gradstudio.operators.spellings import as_written, spellings
from gradstudio.ui.canvas.add_menu import fill_add
from gradstudio.ui.canvas.break_menu import node_rows, wire_rows
from gradstudio.ui.canvas.edit_menu import worn_rows
from gradstudio.ui.canvas.field_menu import element_rows, field_rows
from gradstudio.ui.canvas.group_menu import card_port_rows, group_rows
from gradstudio.ui.canvas.hits import Hit
from gradstudio.ui.canvas.module_menu import add_initialisers, child_rows, module_rows
from gradstudio.ui.canvas.things import PortRef

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView

Row = tuple[str, Callable[[], object]] | None
"""Text and what it does; None is a line."""
BLOCKS: tuple[tuple[BlockKind, str], ...] = (
    ("no_grad", "no_grad"),
    ("enable_grad", "enable_grad"),
    ("inference_mode", "inference_mode"),
    ("set_grad_enabled", "set_grad_enabled"),
    ("set_detect_anomaly", "set_detect_anomaly"),
    ("autocast", "autocast"),
    ("for", "for"),
    ("if", "if (prints only)"),
    ("group", "group"),
)


def context_menu(canvas: "CanvasView", hit: Hit, x: float, y: float) -> QMenu:
    """The menu for what lies under the pointer; (x, y) are scene pixels."""
    menu = QMenu(canvas)
    match hit.kind:
        case "port" if hit.port is not None:
            rows = _port_rows(canvas, hit.port)
        case "dot" if hit.wire is not None:
            rows = _dot_rows(canvas, hit.wire, hit.dot)
        case "wire" if hit.wire is not None:
            rows = _wire_rows(canvas, hit.wire, x, y)
        case "field" if hit.row is not None:
            rows = _field_rows(canvas, hit.item, hit.row.path)
        case "card" | "field" | "more" | "more_leaves" | "switch" | "title":
            rows = _item_rows(canvas, canvas.board.home(hit.item))
        case "note":
            rows = _note_rows(canvas, hit.item)
        case _:
            rows = _canvas_rows(canvas, x, y)
    _fill(menu, rows)
    if hit.kind in ("empty", "frame"):
        first = menu.actions()[0]
        fill_add(menu, first, canvas, x, y)
    if hit.kind in ("card", "field", "more", "more_leaves", "switch"):
        add_initialisers(menu, canvas, hit.item, hit.leaf)
        _fill(menu.addMenu("Wrap in"), _wrap_rows(canvas))
        if others := tuple(_spelling_rows(canvas, hit.item)):
            _fill(menu.addMenu("Write as"), iter(others))
    return menu


def _fill(menu: QMenu, rows: Iterator[Row]) -> None:
    for row in rows:
        if row is None:
            menu.addSeparator()
            continue
        text, does = row
        menu.addAction(text).triggered.connect(lambda _checked=False, does=does: does())


def _field_rows(canvas: "CanvasView", item: ItemId, path: str) -> Iterator[Row]:
    """What can be done with the field, and below it with its card."""
    yield "Edit…", lambda: canvas.edit_field(item, path)
    yield from field_rows(canvas, item, path)
    yield from element_rows(canvas, item, path)
    yield None
    yield from _item_rows(canvas, item)


def _item_rows(canvas: "CanvasView", item: ItemId) -> Iterator[Row]:
    graph = canvas.board.graph
    node = graph.nodes.get(item)
    if canvas.board.results.failure(item) is not None:
        yield "Show the error", lambda: canvas.show_problem(item)
        yield None
    if node is not None:
        yield from group_rows(canvas, item)
        yield from module_rows(canvas, item)
        yield from node_rows(canvas, item)
        yield None
        yield "Rename…\tF2", canvas.rename_current
    else:
        yield "Remove block, keep its contents", canvas.unwrap_selection
    yield "Edit note…", lambda: canvas.edit_note(item)
    yield from _adding_rows(canvas, item)
    yield None
    yield "Cut\tCtrl+X", canvas.cut
    yield "Copy\tCtrl+C", canvas.copy
    yield "Copy as Python\tCtrl+Shift+C", canvas.copy_python
    yield "Duplicate\tCtrl+D", canvas.duplicate_selection
    yield "Duplicate with inputs\tCtrl+Shift+D", canvas.duplicate_wired
    yield "Delete\tDel", canvas.delete_selection
    yield "Delete and reconnect\tCtrl+Del", canvas.delete_and_reconnect
    yield None
    yield "Earlier", canvas.move_earlier
    yield "Later", canvas.move_later
    yield None
    yield from worn_rows(canvas, item)
    if node is not None:
        yield None
        if canvas.can_connect():
            yield "Connect…", canvas.connect_selected
        if recipes.swappable(graph, item) is not None:
            yield "Swap inputs\tAlt+S", canvas.swap_inputs
        if node.names and "root" not in node.marks:
            yield "Start Backward here (root)", lambda: canvas.mark_root(item, True)
        elif "root" in node.marks:
            yield "Do not start Backward here", lambda: canvas.mark_root(item, False)


def _adding_rows(canvas: "CanvasView", item: ItemId) -> Iterator[Row]:
    """Another operator; all defaults, where something differs from them."""
    graph = canvas.board.graph
    if recipes.replaceable(graph, item) is not None:
        yield "Replace…\tCtrl+R", lambda: canvas.searching.open_replace(item)
    differing = recipes.differing(graph, item)
    if differing:
        words = (
            "Reset its value to the default" if len(differing) == 1 else f"Reset {len(differing)} values to defaults"
        )
        yield words, lambda: canvas.reset_ports(differing)


def _spelling_rows(canvas: "CanvasView", item: ItemId) -> Iterator[Row]:
    """The same computation in other words; wires and literals stay."""
    operator = operator_of(canvas.board.graph, item)
    for other in spellings(operator) if operator is not None else ():
        words = as_written(other)
        yield words, partial(canvas.store.attempt, recipes.replace_operator, f"Write as {words}", item, other.key)


def _wrap_rows(canvas: "CanvasView") -> Iterator[Row]:
    for kind, text in BLOCKS:
        yield text, partial(canvas.wrap_selection, kind)


def _port_rows(canvas: "CanvasView", port: PortRef) -> Iterator[Row]:
    graph, store = canvas.board.graph, canvas.store
    if port.side == "output" and port.path:
        return
    if port.item in CARDS:
        yield from card_port_rows(canvas, port)
        return
    if port.side == "output":
        wires = tuple(wire for wire in graph.wires_from(port.item) if wire.output == port.output)
        yield f"Remove {len(wires)} wire{'' if len(wires) == 1 else 's'}", lambda: canvas.remove_wires(wires)
        yield (
            "Backward from here",
            lambda: store.attempt(recipes.append_backward, "Add backward", port.item, port.output),
        )
        for first in recipes.carriable(graph, port.item, port.output):
            words = f"Carry into the next turn, from {title(graph, first.source)} on"
            yield words, partial(store.attempt, recipes.carry, "Carry", port.item, port.output, first)
        return
    yield from child_rows(canvas, port.item, port.path)
    wire = graph.wire_into(port.item, port.path)
    if wire is not None:
        yield "Remove wire", lambda: canvas.remove_wires((wire,))
    else:
        yield from field_rows(canvas, port.item, port.path)
    yield from element_rows(canvas, port.item, port.path)


def _wire_rows(canvas: "CanvasView", wire: Wire, x: float, y: float) -> Iterator[Row]:
    yield "Put a dot here\tDouble-click", lambda: canvas.put_dot(wire, x, y)
    if canvas.board.dots_of(wire):
        yield "Remove its dots", lambda: canvas.remove_dots(wire)
    yield None
    if wire in canvas.board.muted:
        yield "Unmute wire", lambda: canvas.toggle_wires_muted((wire,))
        yield "Remove wire\tDel", lambda: canvas.remove_wires((wire,))
        return
    yield from wire_rows(canvas, wire)
    yield "Insert an operator…", lambda: canvas.searching.open_on_wire(wire, x, y)
    if wire.target in canvas.board.graph.nodes:
        yield "Mute wire", lambda: canvas.toggle_wires_muted((wire,))
    yield "Remove wire\tDel", lambda: canvas.remove_wires((wire,))


def _dot_rows(canvas: "CanvasView", wire: Wire, dot: str) -> Iterator[Row]:
    yield "Remove dot\tDel", partial(canvas.store.attempt, recipes.remove_dots, "Remove dot", (dot,))
    yield "Remove all dots of the wire", lambda: canvas.remove_dots(wire)
    yield "Remove wire", lambda: canvas.remove_wires((wire,))


def _note_rows(canvas: "CanvasView", item: ItemId) -> Iterator[Row]:
    yield "Edit note…", lambda: canvas.edit_note(item)
    yield "Remove note", lambda: canvas.set_note(item, "")
    yield None
    for color in ("", *NOTE_COLORS):
        yield (color or "yellow").capitalize(), partial(canvas.color_note, item, color)


def _canvas_rows(canvas: "CanvasView", x: float, y: float) -> Iterator[Row]:
    yield "Paste\tCtrl+V", lambda: canvas.paste(x, y)
    yield "Paste with inputs\tCtrl+Shift+V", lambda: canvas.paste(x, y, wired=True)
    yield None
    yield "Select all\tCtrl+A", canvas.select_all
    yield "Fit all\tHome", canvas.fit_all
    yield "100 %", canvas.zoom_reset
