"""Editing in place on the canvas: literals, names and notes; one editor at a time."""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QPoint, QRect, QRectF, Qt

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, ReplaceBlock
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.literals.choices import DIMENSIONS, LiteralChoice, choices_for, is_closed
from gradstudio.operators.literals.parser import example_of
from gradstudio.scene.card import field_choices
from gradstudio.scene.card.card_layout import HEADER, InputRow
from gradstudio.scene.geometry import FRAME_TITLE, Box
from gradstudio.ui.canvas.canvas_context import CanvasContext, SessionLike

if TYPE_CHECKING:
    from gradstudio.ui.canvas.edit.in_place_editors import LineEdit, NoteEdit
    from gradstudio.ui.canvas.popups.choice_list import ChoiceList

    Editor = LineEdit | ChoiceList | NoteEdit


class InPlaceEditing:
    """Opens an editor over the canvas where something is edited, and takes it away again."""

    def __init__(self, canvas: CanvasContext) -> None:
        """Nothing is edited."""
        self._canvas = canvas
        self.editor: Editor | None = None
        self.port: tuple[ItemId, str] | None = None
        canvas.store.changing.connect(self._on_store_changing)

    def edit_field(self, item: ItemId, path: str) -> None:
        """Edit the literal of a port where it stands; `port` is it meanwhile."""
        self.close()
        self._open_field(item, path)
        layout = self._canvas.scene.placement.layout(item)
        row = layout.input(path) if layout is not None else None
        self.port = (row.owner, path) if self.editor is not None and row is not None else None

    def abandon(self) -> None:
        """Close what is open, and forget what was typed."""
        if self.editor is not None:
            self.editor.blockSignals(True)
            self._drop()
            self._canvas.widget.setFocus()

    def _open_field(self, item: ItemId, path: str) -> None:
        from gradstudio.scene.hit_test import field_box
        from gradstudio.ui.canvas.edit.in_place_editors import LineEdit
        from gradstudio.ui.canvas.gestures.number_steps import nudge_number

        canvas = self._canvas
        layout = canvas.scene.placement.layout(item)
        row = layout.input(path) if layout is not None else None
        box = field_box(canvas.scene, item, row) if row is not None else None
        if row is None or box is None:
            return
        rows = self._offers(item, row)
        if rows:
            self._open_choices(item, row, box, rows)
            return
        text = row.text if row.state == "literal" else ""
        commit = partial(self._set_literal, item, row)
        editor = LineEdit(canvas.viewport(), text, commit, canvas.canvas_style.theme, step=nudge_number)
        editor.setPlaceholderText(row.shown if row.faint and row.shown != "needed" else example_of(row.parameter))
        editor.setAccessibleName(row.label)
        self._show_line(editor, box)
        self._keep_below_title(editor, item)
        editor.closed.connect(lambda how: self._go_on(item, path, str(how)))

    def click_field(self, item: ItemId, path: str) -> None:
        """A click: a switch turns at once, everything else is edited."""
        layout = self._canvas.scene.placement.layout(item)
        row = layout.input(path) if layout is not None else None
        if row is None or not field_choices.is_switch(row.parameter) or row.state == "wired":
            self.edit_field(item, path)
            return
        self.close()
        words = self._set_literal(item, row, field_choices.toggle_literal(row.text, row.parameter.default))
        if words:
            self._canvas.refuse(words)

    def rename(self, item: ItemId) -> None:
        """Edit the names a node binds, or a block's title."""
        self.close()
        canvas, box = self._canvas, self._canvas.scene.placement.box(item)
        item = canvas.scene.state.card_groups.modules.get(item, item)  # the header has the module's name
        node, block = canvas.scene.graph.nodes.get(item), canvas.scene.graph.blocks.get(item)
        if box is None or (block is not None and block.kind != "group"):
            return
        strip = Box(box.x + 6, box.y + 3, max(box.width - 12, 140), (HEADER if node else FRAME_TITLE) - 6)
        if node is not None:
            text = ", ".join(node.names)
        elif block is not None:
            text = block.title
        else:
            text = ""
        from gradstudio.ui.canvas.edit.in_place_editors import LineEdit

        editor = LineEdit(canvas.viewport(), text, lambda new: self._set_name(item, new), canvas.canvas_style.theme)
        self._show_line(editor, strip)

    def ask(self, box: Box, text: str, commit: Callable[[str], str], name: str, *, fresh: bool = False) -> None:
        """A line to type into over a rectangle of the scene; `commit` says why the text is refused, or "".

        `fresh`: the text is a proposal, and is committed as it is, too.
        """
        from gradstudio.ui.canvas.edit.in_place_editors import LineEdit

        self.close()
        editor = LineEdit(self._canvas.viewport(), "" if fresh else text, commit, self._canvas.canvas_style.theme)
        editor.setText(text)
        editor.selectAll()
        editor.setAccessibleName(name)
        self._show_line(editor, box)

    def edit_note(self, item: ItemId, commit: Callable[[str], str], at: tuple[float, float] | None = None) -> None:
        """Edit the note of an item, or make one; the program's last comment is that of "".

        `commit` keeps what was written. A note that is made stands where `at` says, in scene pixels, else above its
        card.
        """
        from gradstudio.ui.canvas.edit.in_place_editors import NoteEdit, editor_place

        self.close()
        canvas = self._canvas
        scene = canvas.scene
        note, box = scene.placement.notes.get(item), scene.placement.box(item)
        if note is not None:
            place, text = note.box, note.text
        elif at is not None:
            place, text = Box(*at, 232, 56), ""
        elif box is not None:
            place, text = Box(box.x, box.y - 70, 232, 56), ""
        else:
            return
        editor = NoteEdit(canvas.viewport(), text, commit, canvas.canvas_style.theme)
        room, shown = canvas.viewport().rect(), canvas.camera.box_to_view(place)
        rect = editor_place(shown.x, shown.y, max(shown.width, 220), max(shown.height, 64), room)
        rect.moveTop(max(room.top() + 2, min(rect.top(), room.bottom() - rect.height() - 2)))
        editor.setGeometry(rect)
        editor.textChanged.connect(editor.grow)
        editor.refused.connect(self._on_editor_refused)
        self._take(editor)

    def close(self) -> None:
        """Close what is open; what is typed so far is kept when it is right, and the canvas has the keys again."""
        editor = self.editor
        if editor is not None:
            had_focus = editor.hasFocus()
            editor.clearFocus()
            if self.editor is editor:  # it had no focus to lose, or is just keeping its text
                self._drop()
            if had_focus:
                self._canvas.widget.setFocus()

    # --------------------------------------------------------------

    def _offers(self, item: ItemId, row: InputRow) -> tuple[LiteralChoice, ...]:
        canvas, graph = self._canvas, self._canvas.scene.graph
        sizes = field_choices.sizes_of(graph, canvas.scene.results, item) if row.parameter.name in DIMENSIONS else None
        return choices_for(
            row.parameter, required=row.required, current=row.text, devices=_devices(canvas.session),
            document_device=graph.header.device, sizes=sizes,
        )  # fmt: skip

    def _open_choices(self, item: ItemId, row: InputRow, box: Box, rows: tuple[LiteralChoice, ...]) -> None:
        from gradstudio.ui.canvas.edit.in_place_editors import editor_place
        from gradstudio.ui.canvas.popups.choice_list import ChoiceList

        canvas = self._canvas
        room = canvas.viewport().rect()
        commit = partial(self._set_literal, item, row)
        free = not is_closed(row.parameter)
        editor = ChoiceList(canvas.viewport(), row.label, rows, row.text, commit, canvas.canvas_style.theme, free=free)
        editor.refused.connect(self._on_editor_refused)
        shown = canvas.camera.box_to_view(box)
        width = min(max(shown.width, 200, editor.wanted_width()), room.width() - 8)
        place = editor_place(shown.x, shown.y, width, shown.height, room)
        _fit(editor, place, room)
        editor.resized.connect(lambda: _fit(editor, place, room))
        self._take(editor)
        editor.closed.connect(lambda how: self._go_on(item, row.path, str(how)))

    def _show_line(self, editor: "LineEdit", box: Box) -> None:
        from gradstudio.ui.canvas.edit.in_place_editors import editor_place

        canvas = self._canvas
        shown = canvas.camera.box_to_view(box)
        editor.setGeometry(editor_place(shown.x, shown.y, shown.width, shown.height, canvas.viewport().rect()))
        editor.refused.connect(self._on_editor_refused)
        self._take(editor)

    def _keep_below_title(self, editor: "LineEdit", item: ItemId) -> None:
        """From afar a line to type into is higher than its field: it goes down, so that one sees whose field it is."""
        from gradstudio.ui.canvas.paint.card.plate_ground import head_height

        canvas, box = self._canvas, self._canvas.scene.placement.box(item)
        if box is None:
            return
        shown = canvas.camera.box_to_view(box)
        rect = QRectF(shown.x, shown.y, shown.width, shown.height)
        below = math.ceil(rect.y() + head_height(rect, canvas.camera.zoom))
        editor.move(editor.x(), max(editor.y(), below))

    def _take(self, editor: "Editor") -> None:
        self.editor = editor
        editor.closed.connect(self._on_editor_closed)
        editor.show()
        editor.setFocus(Qt.FocusReason.PopupFocusReason)

    def _on_editor_refused(self, words: object) -> None:
        canvas, editor = self._canvas, self.editor
        if editor is not None:
            canvas.bubble.say(str(words), QPoint(editor.x(), editor.geometry().bottom() - 8))
        canvas.status_message.emit(str(words))

    def _on_store_changing(self) -> None:
        """Something else changes the graph: what is open has its last word before it."""
        if self.editor is not None:
            self.editor.finish()

    def _on_editor_closed(self, how: object) -> None:
        if how == "cancelled":
            self._canvas.bubble.hide()
        self._drop()

    def _drop(self) -> None:
        editor, self.editor = self.editor, None
        self.port = None
        if editor is not None:
            had_focus = editor.hasFocus()
            editor.hide()
            editor.deleteLater()
            if had_focus:
                self._canvas.widget.setFocus()

    def _go_on(self, item: ItemId, path: str, how: str) -> None:
        """Tab: the next field of the card, round and round."""
        if how not in ("next", "previous"):
            return
        layout = self._canvas.scene.placement.layout(item)
        ports = [(row.owner, row.path) for row in layout.fields()] if layout is not None else []
        if (item, path) in ports:
            step = 1 if how == "next" else -1
            self.edit_field(*ports[(ports.index((item, path)) + step) % len(ports)])

    def _set_literal(self, item: ItemId, row: InputRow, text: str) -> str:
        return self._try(recipes.set_value, f"Set {row.path}", item, row.path, text)

    def _set_name(self, item: ItemId, text: str) -> str:
        if item in self._canvas.scene.graph.blocks:
            return self._try(_retitled, "Rename group", item, text)
        names = tuple(part.strip() for part in text.split(",")) if text.strip() else ()
        return self._try(recipes.rename, f"Rename to {text.strip()}", item, names)

    def _try(self, recipe: object, text: str, *arguments: object) -> str:
        """Submit a recipe's edits; why it refused, or ""."""
        assert callable(recipe)
        store = self._canvas.store
        try:
            edits = recipe(store.graph, *arguments)
        except Refused as refusal:
            return str(refusal)
        store.submit(edits, text)
        return ""


def _devices(session: SessionLike) -> tuple[str, ...]:
    """Names of the devices that torch has, as far as the engine told."""
    engine = getattr(session, "engine", None)
    return tuple(device.name for device in engine.devices) if engine is not None else ()


def _fit(editor: "ChoiceList", field: QRect, room: QRect) -> None:
    """As high as its rows, over its field, within the canvas."""
    place = QRect(field)
    place.setHeight(min(editor.wanted_height(), room.height() - 8))
    place.moveBottom(min(place.bottom(), room.bottom() - 4))
    editor.setGeometry(place)


def _retitled(graph: Graph, item: ItemId, title: str) -> Edits:
    return (ReplaceBlock(msgspec.structs.replace(graph.blocks[item], title=title.strip())),)
