"""Context menus of the canvas, built for what was clicked from rows of text and method."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtWidgets import QMenu

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import NOTE_COLORS, ItemId, Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.scene.hit_test import Hit
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.menus.add_menu import fill_add
from gradstudio.ui.canvas.menus.card_menu import item_rows
from gradstudio.ui.canvas.menus.debug_menu import wire_rows
from gradstudio.ui.canvas.menus.field_menu import element_rows, field_rows
from gradstudio.ui.canvas.menus.group_menu import card_port_rows
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
from gradstudio.ui.canvas.menus.menu_rows import AnyRow, Row, fill
from gradstudio.ui.canvas.menus.module_menu import child_rows


def context_menu(canvas: MenuCanvas, hit: Hit, x: float, y: float) -> QMenu:
    """The menu for what lies under the pointer; (x, y) are scene pixels."""
    menu = QMenu(canvas.widget)
    rows: Iterator[AnyRow]
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
            rows = item_rows(canvas, canvas.scene.state.card_groups.home(hit.item), hit.leaf)
        case "note":
            rows = _note_rows(canvas, hit.item)
        case _:
            rows = _canvas_rows(canvas, x, y)
    fill(menu, rows, canvas.keys_of)
    if hit.kind in ("empty", "frame"):
        fill_add(menu, menu.actions()[0], canvas, x, y)
    return menu


def _field_rows(canvas: MenuCanvas, item: ItemId, path: str) -> Iterator[AnyRow]:
    """What can be done with the field, and below it with its card."""
    yield "Edit…", lambda: canvas.in_place.edit_field(item, path)
    yield from field_rows(canvas, item, path)
    yield from element_rows(canvas, item, path)
    yield None
    yield from item_rows(canvas, item)


def _port_rows(canvas: MenuCanvas, port: PortRef) -> Iterator[Row]:
    graph, store = canvas.scene.graph, canvas.store
    if port.side == "output" and port.path:
        return
    if port.item in CARDS:
        yield from card_port_rows(canvas, port)
        return
    if port.side == "output":
        wires = tuple(wire for wire in graph.wires_from(port.item) if wire.output == port.output)
        yield (
            f"Remove {len(wires)} wire{'' if len(wires) == 1 else 's'}",
            lambda: canvas.wire_commands.remove_wires(wires),
        )
        yield (
            "Backward from here",
            lambda: _add_backward(canvas, port),
        )
        for first in recipes.carriable_wires(graph, port.item, port.output):
            words = f"Carry into the next turn, from {title(graph, first.source)} on"
            yield words, partial(store.attempt, recipes.carry, "Carry", port.item, port.output, first)
        return
    yield from child_rows(canvas, port.item, port.path)
    wire = graph.wire_into(port.item, port.path)
    if wire is not None:
        yield "Remove wire", lambda: canvas.wire_commands.remove_wires((wire,))
    else:
        yield from field_rows(canvas, port.item, port.path)
    yield from element_rows(canvas, port.item, port.path)


def _wire_rows(canvas: MenuCanvas, wire: Wire, x: float, y: float) -> Iterator[Row]:
    yield "Put a dot here\tDouble-click", lambda: canvas.wire_commands.put_dot(wire, x, y)
    if canvas.scene.dots.of(wire):
        yield "Remove its dots", lambda: canvas.wire_commands.remove_dots(wire)
    yield None
    if wire in canvas.scene.wiring.muted:
        yield "Unmute wire", lambda: canvas.wire_commands.toggle_wires_muted((wire,))
        yield "Remove wire\tedit.delete", lambda: canvas.wire_commands.remove_wires((wire,))
        return
    yield from wire_rows(canvas, wire)
    yield "Insert an operator…", lambda: canvas.searching.open_on_wire(wire, x, y)
    if wire.target in canvas.scene.graph.nodes:
        yield "Mute wire", lambda: canvas.wire_commands.toggle_wires_muted((wire,))
    yield "Remove wire\tedit.delete", lambda: canvas.wire_commands.remove_wires((wire,))


def _dot_rows(canvas: MenuCanvas, wire: Wire, dot: str) -> Iterator[Row]:
    yield "Remove dot\tedit.delete", partial(canvas.store.attempt, recipes.remove_dots, "Remove dot", (dot,))
    yield "Remove all dots of the wire", lambda: canvas.wire_commands.remove_dots(wire)
    yield "Remove wire", lambda: canvas.wire_commands.remove_wires((wire,))


def _note_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    yield "Edit note…", lambda: canvas.note_commands.edit_note(item)
    yield "Remove note", lambda: canvas.note_commands.set_note(item, "")
    yield None
    for color in ("", *NOTE_COLORS):
        yield (color or "yellow").capitalize(), partial(canvas.note_commands.color_note, item, color)


def _add_backward(canvas: MenuCanvas, port: PortRef) -> None:
    from gradstudio.layout.placement.new_item_places import backward_beside

    before = set(canvas.store.graph.nodes)
    if canvas.store.attempt(backward_beside, "Add backward", port.item, port.output):
        for added in canvas.store.graph.nodes.keys() - before:
            canvas.navigation.show_with_neighbours(added)


def _canvas_rows(canvas: MenuCanvas, x: float, y: float) -> Iterator[Row]:
    yield "Add a note here\tgraph.note", lambda: canvas.note_commands.add_note_at(x, y)
    yield None
    yield "Find…\tedit.find", canvas.finding.open
    yield "Search the Library\tgraph.find", partial(canvas.command_requested.emit, "graph.find")
    yield None
    yield "Paste\tedit.paste", lambda: canvas.clipboard_commands.paste(x, y)
    yield "Paste with inputs\tedit.paste_wired", lambda: canvas.clipboard_commands.paste(x, y, wired=True)
    yield "Select all\tedit.select_all", canvas.selection.select_all
    yield None
    yield "Tidy\tgraph.tidy", partial(canvas.command_requested.emit, "graph.tidy")
    yield "Fit all\tview.fit", canvas.navigation.fit_all
    yield "Zoom to 100 %\tview.zoom_reset", canvas.navigation.zoom_reset
