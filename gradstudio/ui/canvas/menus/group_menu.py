"""Context menus about groups: of a group's card, of a selection, of the ports of inputs and outputs."""

from collections.abc import Callable, Iterator

from gradstudio.graph.boundary_cards import CARDS, INPUTS_CARD
from gradstudio.graph.model import ItemId
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas

Row = tuple[str, Callable[[], object]] | None


def card_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """Of the card of a group's inputs or outputs, inside of it."""
    words = "input" if item == INPUTS_CARD else "output"
    yield f"Add an {words}", lambda: canvas.group_commands.add_port(item)
    yield f"Name the {words}s…", lambda: canvas.group_commands.edit_ports(item)
    yield "Step out\tgroup.step_out", canvas.group_commands.step_out


def step_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """Into the group that a card stands for."""
    if item not in CARDS and canvas.group_commands.way_in(item) is not None:
        yield "Step into\tgroup.step_in", lambda: canvas.group_commands.step_in(item)


def group_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """Of a card: what is done with the group it stands for; of any other: making one of the selection."""
    if item in CARDS:
        return
    yield "Make group…\tgroup.make", canvas.group_commands.make_group
    if canvas.group_commands.group_of(item) is not None:
        yield "Rename group…", lambda: canvas.group_commands.rename_group(item)
        yield "Make unique copy", lambda: canvas.group_commands.make_unique(item)
        yield "Publish to the Library", lambda: canvas.group_commands.publish(item)
        yield "Ungroup\tgroup.ungroup", canvas.group_commands.ungroup


def card_port_rows(canvas: MenuCanvas, port: PortRef) -> Iterator[Row]:
    """An input or output of the group whose inside is shown."""
    item, names = port.item, canvas.group_commands.ports_of_card(port.item)
    if item == INPUTS_CARD:
        number = port.output
    elif port.path in names:
        number = names.index(port.path)
    else:
        number = len(names)
    if number >= len(names):
        yield "Add one", lambda: canvas.group_commands.add_port(item)
        return
    yield "Rename…", lambda: canvas.group_commands.edit_ports(item, canvas.scene.placement.anchor(port)[1])
    if number:
        yield "Move up", lambda: canvas.group_commands.move_port(item, number, -1)
    if number < len(names) - 1:
        yield "Move down", lambda: canvas.group_commands.move_port(item, number, 1)
    yield f"Remove {names[number]}", lambda: canvas.group_commands.remove_port(item, number)
