"""The canvas as a screen reader meets it: a child for every card and frame, made when somebody asks and not before."""

from typing import TYPE_CHECKING, Protocol, cast

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleActionInterface,
    QAccessibleEvent,
    QAccessibleInterface,
    QAccessibleStateChangeEvent,
)
from PySide6.QtWidgets import QAccessibleWidget, QWidget
from shiboken6 import VoidPtr, getCppPointer

from gradstudio.graph.model import ItemId
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection

if TYPE_CHECKING:
    from PySide6.QtGui import QWindow


class AccessibleCanvas(CanvasContext, Protocol):
    """A canvas that a screen reader meets; `CanvasView` is one."""

    selection: CanvasSelection


Text, Role, Kind = QAccessible.Text, QAccessible.Role, QAccessible.Event


_NONE = VoidPtr(0)
"""WORKAROUND(PySide 6.11 dies of an `interface_cast` that returns None): the null pointer in its own words."""


class CardActions(QAccessibleActionInterface):
    """What can be done with a statement: it is gone to.

    WORKAROUND(PySide hands out the address of the first base of an object with two): an object of its own.
    """

    def __init__(self, canvas: AccessibleCanvas, item: ItemId) -> None:
        """Nothing is done before it is asked for."""
        super().__init__()
        self._canvas, self._item = canvas, item
        (address,) = getCppPointer(self)
        self.pointer = VoidPtr(address)

    def actionNames(self) -> list[str]:
        return [self.pressAction(), self.setFocusAction()]

    def doAction(self, name: str) -> None:
        canvas = self._canvas
        if name in self.actionNames() and self._item in canvas.scene.graph:
            canvas.attention.reveal(self._item)
            canvas.widget.setFocus()

    def keyBindingsForAction(self, name: str) -> list[str]:
        return []


class SpokenCard(QAccessibleInterface):
    """A statement: its line is its name, everything else on its card the description; Press selects it."""

    def __init__(self, canvas: AccessibleCanvas, item: ItemId) -> None:
        """Nothing is read before it is asked for."""
        super().__init__()
        self._canvas, self.item = canvas, item
        self.actions = CardActions(canvas, item)

    def isValid(self) -> bool:
        return self.item in self._canvas.scene.graph

    def object(self) -> QObject | None:  # type: ignore[override]  # a card is no QObject
        """A card is no object of Qt."""
        return None

    def window(self) -> "QWindow":
        """The window of the canvas."""
        return self._canvas.widget.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self._canvas.widget)

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # it has none
        """A card has none; the canvas one for each of its items."""
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # it has none
        return None

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def role(self) -> QAccessible.Role:
        """Blocks hold others, statements are entries."""
        return Role.Grouping if self.item in self._canvas.scene.graph.blocks else Role.ListItem

    def text(self, kind: QAccessible.Text) -> str:
        """Name, description and value in words."""
        from gradstudio.scene.words.statement_description import describe_statement, statement_words, value_words

        session = self._canvas.session
        if not self.isValid():
            return ""
        match kind:
            case Text.Name:
                return statement_words(session, self.item)  # type: ignore[arg-type]  # the window's session has all
            case Text.Description:
                return describe_statement(session, self.item)  # type: ignore[arg-type]  # as above
            case Text.Value:
                return value_words(session.results, self.item)
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Names are changed in the outline or on the card."""

    def rect(self) -> QRect:
        """In pixels of the screen."""
        canvas = self._canvas
        box = canvas.scene.placement.box(self.item)
        if box is None:
            return QRect()
        shown, corner = canvas.camera.box_to_view(box), canvas.viewport().mapToGlobal(canvas.viewport().pos() * 0)
        return QRect(round(shown.x), round(shown.y), round(shown.width), round(shown.height)).translated(corner)

    def state(self) -> QAccessible.State:
        """Whether it is selected, has the keys, and can be seen."""
        canvas, state = self._canvas, QAccessible.State()
        widget = canvas.widget
        on_screen = widget.rect().translated(widget.mapToGlobal(widget.pos() * 0))
        current = canvas.attention.current == self.item and self.item in canvas.attention.selection
        for name, on in (
            ("selectable", True),
            ("focusable", True),
            ("multiSelectable", True),
            ("selected", canvas.selection.is_selected(self.item)),
            ("focused", current and canvas.widget.hasFocus()),
            ("offscreen", not on_screen.intersects(self.rect())),
        ):
            if on:
                setattr(state, name, 1)
        return state

    def interface_cast(self, kind: QAccessible.InterfaceType) -> VoidPtr:  # type: ignore[override]  # as PySide wants it
        """It can be pressed, and nothing more."""
        return self.actions.pointer if kind == QAccessible.InterfaceType.ActionInterface else _NONE


class SpokenCanvas(QAccessibleWidget):
    """The canvas: cards and frames in program order."""

    def __init__(self, canvas: AccessibleCanvas) -> None:
        """Children are made one by one, and kept while their statement is there."""
        super().__init__(canvas.widget, Role.List, "Canvas")
        self._canvas = canvas
        self._cards: dict[ItemId, SpokenCard] = {}
        self._order: tuple[int, list[ItemId]] = (-1, [])

    def items(self) -> list[ItemId]:
        """What has a card or a frame of its own, in program order."""
        scene = self._canvas.scene
        if self._order[0] != scene.state.graph_revision:
            items = [
                item for item in scene.graph.order() if item in scene.stack.cards or item in scene.placement.frames
            ]
            self._order = scene.state.graph_revision, items
            for gone in self._cards.keys() - frozenset(items):
                QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(self._cards.pop(gone)))
        return self._order[1]

    def card(self, item: ItemId) -> SpokenCard:
        """The child of an item."""
        if item not in self._cards:
            made = self._cards[item] = SpokenCard(self._canvas, item)
            QAccessible.registerAccessibleInterface(made)
        return self._cards[item]

    def childCount(self) -> int:
        return len(self.items())

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # None: there is none
        """A card has none; the canvas one for each of its items."""
        items = self.items()
        return self.card(items[index]) if 0 <= index < len(items) else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        item = getattr(child, "item", None)
        return self.items().index(item) if item in self.items() else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # None: the ground
        found = [item for item in self.items() if self.card(item).rect().contains(x, y)]
        return self.card(found[-1]) if found else None

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]  # None: nothing is current
        item = self._canvas.attention.current
        chosen = item is not None and item in self._canvas.attention.selection and item in self.items()
        return self.card(item) if chosen and item is not None else None

    def text(self, kind: QAccessible.Text) -> str:
        """Name, description and value in words."""
        if kind == Text.Value:
            count = len(self.items())
            return f"{count} statement{'s' * (count != 1)}"
        return super().text(kind)


def install(kind: type[QWidget]) -> None:
    """From now on canvases of that kind are met as above; once per process."""
    if not _KINDS:
        QAccessible.installFactory(_made)
    if kind not in _KINDS:
        _KINDS.append(kind)


_KINDS: list[type[QWidget]] = []
_KEPT: dict[int, SpokenCanvas] = {}
"""WORKAROUND(PySide frees what only C++ holds): the interfaces of canvases that live."""


def _made(_class: str, asked: QObject | None) -> QAccessibleInterface | None:
    if asked is None or not isinstance(asked, tuple(_KINDS)):
        return None
    key = id(asked)
    if key not in _KEPT:
        _KEPT[key] = SpokenCanvas(cast(AccessibleCanvas, asked))
        asked.destroyed.connect(lambda: _KEPT.pop(key, None))
    return _KEPT[key]


class Speaking(QObject):
    """Announces what changes on a canvas; nothing is done while no screen reader runs."""

    def __init__(self, canvas: AccessibleCanvas) -> None:
        """Follow selection and results."""
        super().__init__(canvas.widget)
        self._canvas = canvas
        install(type(canvas.widget))
        canvas.attention.selection_changed.connect(self._on_attention_selection_changed)
        canvas.session.results.changed.connect(self._on_results_changed)

    def _spoken(self) -> SpokenCanvas | None:
        if not QAccessible.isActive():
            return None
        QAccessible.queryAccessibleInterface(self._canvas.widget)
        return _KEPT.get(id(self._canvas))

    def _on_attention_selection_changed(self) -> None:
        spoken, item = self._spoken(), self._canvas.attention.current
        if spoken is None or item is None or item not in spoken.items():
            return
        card = spoken.card(item)
        changed = QAccessible.State()
        changed.selected = 1
        QAccessible.updateAccessibility(QAccessibleStateChangeEvent(card, changed))
        QAccessible.updateAccessibility(QAccessibleEvent(card, Kind.Selection))
        if self._canvas.widget.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(card, Kind.Focus))

    def _on_results_changed(self, items: frozenset[ItemId]) -> None:
        item = self._canvas.attention.current
        spoken = self._spoken() if item is not None and (not items or item in items) else None
        if spoken is not None and item is not None and item in spoken.items():
            for kind in (Kind.ValueChanged, Kind.DescriptionChanged):
                QAccessible.updateAccessibility(QAccessibleEvent(spoken.card(item), kind))
