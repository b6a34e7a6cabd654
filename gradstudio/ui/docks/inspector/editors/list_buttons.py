"""Buttons beside the elements of a list: up, down, out; and between one port for all and a port for each."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import GROWING, Port, operator_of
from gradstudio.graph.recipes.wiring.list_ports import elements_of, graph_lengths
from gradstudio.operators.families import is_list_like
from gradstudio.operators.model import Kind
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.theme import Theme, icon_pixmap

ICON_PX = 14


def has_list_buttons(port: Port) -> bool:
    """Whether the row of a port has buttons, which are of one item."""
    return port.element is not None or (port.state != "wired" and is_list_like(port.parameter))


def list_buttons(store: GraphStore, theme: Theme, item: ItemId, port: Port, parent: QWidget) -> list[QToolButton]:
    """The buttons of one row; none for what is no list."""
    name = port.path.split(".")[0]

    def button(icon: str, words: str, does: Callable[[], object], *, enabled: bool = True) -> QToolButton:
        made = QToolButton(parent)
        made.setObjectName("dock_button")
        made.setIcon(icon_pixmap(icon, theme.color("text_dim"), ICON_PX))
        made.setToolTip(words)
        made.setAccessibleName(words)
        made.setFixedSize(22, 24)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.setEnabled(enabled)
        made.clicked.connect(lambda _checked=False: does())
        return made

    if not has_list_buttons(port):
        return []
    if port.element is None:
        written = elements_of(port.literal, is_index=port.parameter.kind is Kind.INDEX)
        count = len(written) or 2
        return [
            button("list", "A port for each element", lambda: store.attempt(
                recipes.split_list, "Split list", item, name, count))
        ]  # fmt: skip
    count, k = graph_lengths(store.graph, item).get(name, 0), port.element
    if port.grows:
        return [button("wrap", "One port for the whole list", lambda: store.attempt(
            recipes.join_list, "Join list", item, name))]  # fmt: skip
    buttons = []
    operator = operator_of(store.graph, item)
    whole = operator.parameter(name) if operator is not None else None
    if whole is not None and whole.kind in GROWING:
        for icon, words, to in (("earlier", "Move up", k - 1), ("later", "Move down", k + 1)):
            fits = 0 <= to < count
            buttons.append(button(icon, f"{words}: {port.label}", lambda to=to: store.attempt(  # type: ignore[misc]  # bound now
                recipes.move_element, "Move element", item, name, k, to), enabled=fits))  # fmt: skip
    elif k == 0:
        buttons.append(button("wrap", "One port for the whole list", lambda: store.attempt(
            recipes.join_list, "Join list", item, name)))  # fmt: skip
    buttons.append(button("close", f"Remove {port.label}", lambda: store.attempt(
        recipes.remove_element, "Remove element", item, name, k), enabled=count > 1))  # fmt: skip
    return buttons


def with_buttons(field: QWidget, buttons: list[QToolButton]) -> QWidget:
    """A field with a button on its right; with several below it, so that what it says keeps its room."""
    row = QWidget()
    layout = QGridLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.setColumnStretch(0, 1)
    is_below = len(buttons) > 1
    layout.addWidget(field, 0, 0, 1, len(buttons) + 1 if is_below else 1)
    for column, made in enumerate(buttons, 1):
        layout.addWidget(made, int(is_below), column, Qt.AlignmentFlag.AlignTop)
    return row
