"""What the context menu of a field or an input port offers: default, None, a port per element, another order."""

from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import GROWING, Port, find_port, operator_of
from gradstudio.graph.recipes.wiring.list_ports import elements_of, graph_lengths
from gradstudio.operators.families import is_list_like
from gradstudio.operators.model import Kind
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas

Row = tuple[str, Callable[[], object]] | None
SHORT = 24


def field_rows(canvas: MenuCanvas, item: ItemId, path: str) -> Iterator[Row]:
    """The rows for an input that no wire feeds."""
    graph, store = canvas.scene.graph, canvas.store
    port = find_port(graph, item, path)
    if port is None or port.grows:
        return
    parameter = port.parameter
    if recipes.is_changed(graph, item, path):
        default = recipes.default_of(graph, item, path) or parameter.default
        words = f"Reset to default ({_short(default)})" if default is not None else "Empty"
        yield words, lambda: canvas.field_commands.reset_ports(((item, path),))
    elif port.state == "literal" and parameter.default is None:
        yield "Empty", lambda: store.attempt(recipes.set_literal, "Empty", item, path, "")
    if parameter.nullable and port.literal != "None" and parameter.default != "None":
        yield "Set to None", lambda: store.attempt(recipes.set_literal, "Set to None", item, path, "None")
    if parameter.kind is Kind.DEVICE and parameter.name == "device" and port.state != "document_device":
        yield (
            "Follow the document's device",
            lambda: store.attempt(recipes.set_document_device_port, "Follow the document's device", item, path),
        )
    if port.element is None and is_list_like(parameter):
        yield from _split_rows(canvas, item, port)


def element_rows(canvas: MenuCanvas, item: ItemId, path: str) -> Iterator[Row]:
    """The rows for an element of a list, wired or not."""
    graph, store = canvas.scene.graph, canvas.store
    port = find_port(graph, item, path)
    if port is None or port.element is None or port.grows:
        return
    name, k = path.split(".")[0], port.element
    count = graph_lengths(graph, item).get(name, 0)
    operator = operator_of(graph, item)
    whole = operator.parameter(name) if operator is not None else None
    if whole is not None and whole.kind in GROWING:
        if k > 0:
            yield "Move up", lambda: store.attempt(recipes.move_element, "Move element up", item, name, k, k - 1)
        if k < count - 1:
            yield "Move down", lambda: store.attempt(recipes.move_element, "Move element down", item, name, k, k + 1)
    if count > 1:
        yield "Remove this element", lambda: store.attempt(recipes.remove_element, "Remove element", item, name, k)
    yield "One port for the whole list", lambda: store.attempt(recipes.join_list, "Join list", item, name)


def _split_rows(canvas: MenuCanvas, item: ItemId, port: Port) -> Iterator[Row]:
    """A port for each element: as many as are written there, else for a few counts."""
    written = len(elements_of(port.literal, is_index=port.parameter.kind is Kind.INDEX))
    if written:
        words = "A port for each of them" if written > 1 else "A port for the element"
        yield words, partial(_split, canvas, item, port.path, written)
        return
    for count in (1, 2, 3, 4):
        yield f"A port each for {count}", partial(_split, canvas, item, port.path, count)


def _split(canvas: MenuCanvas, item: ItemId, parameter: str, count: int) -> None:
    canvas.store.attempt(recipes.split_list, "Split list", item, parameter, count)


def _short(text: str) -> str:
    bare = text.removeprefix("torch.")
    return bare if len(bare) <= SHORT else f"{bare[: SHORT - 1]}…"
