"""The arguments of the selected item: a row each, with the editor that fits, or the wire that feeds it."""

from functools import partial

from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.item_ports import Port, input_ports
from gradstudio.graph.ports.module_calls import described_by
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.operators.literals.choices import DIMENSIONS, LiteralChoice, choices_for
from gradstudio.operators.model import Parameter
from gradstudio.scene.card.field_choices import sizes_of
from gradstudio.scene.words.statement_description import source_words
from gradstudio.scene.words.tooltips import parameter_text
from gradstudio.ui.docks.inspector.editors.argument_editor import ArgumentEditor, hint_of
from gradstudio.ui.docks.inspector.editors.argument_form import ArgumentForm, WireLink
from gradstudio.ui.docks.inspector.editors.choice_editor import make_editor
from gradstudio.ui.docks.inspector.editors.list_buttons import has_list_buttons, list_buttons, with_buttons
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import Section, field_row, label

MOST_FORMS = 8
"""Kinds of items whose rows are kept: a person who steps through a program sees the same few again."""


class ArgumentsSection(Section):
    """Rows for the input ports of one item; made anew for other kinds of ports, else only updated."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No item yet."""
        super().__init__("Arguments", parent)
        self._session, self._theme = session, theme
        self._item: ItemId | None = None
        self._others: tuple[ItemId, ...] = ()
        self._common: frozenset[str] | None = None
        self._shape: tuple[object, ...] | None = None
        self._forms: dict[tuple[object, ...], ArgumentForm] = {}
        self._form = ArgumentForm(self)
        self._why_not = ""
        self._drags = 0
        session.shown_store.refused.connect(self._on_store_refused)

    @property
    def editors(self) -> dict[str, ArgumentEditor]:
        """Those of the item that is shown, by path of their argument."""
        return self._form.editors

    def show_item(self, item: ItemId | None) -> None:
        """Show the arguments of an item as the graph has them now."""
        graph = self._session.shown_store.graph
        ports = self._ports(item)
        wires = [graph.wire_into(item, port.path) for port in ports] if item is not None else []
        shape = (
            *(self._devices(), graph.header.device, item if any(map(has_list_buttons, ports)) else None),
            *[self._shape_of(item, port, wire is not None) for port, wire in zip(ports, wires, strict=True)],
        )
        if item != self._item or shape != self._shape:
            self._show_form(item, ports, shape)
        for port, wire in zip(ports, wires, strict=True):
            if wire is not None:
                self._form.links[port.path].show_wire(wire, self._source_name(wire))
            elif (editor := self.editors.get(port.path)) is not None:
                editor.set_port(port)
        self.setVisible(bool(ports))

    def show_several(self, items: tuple[ItemId, ...]) -> None:
        """Show the arguments that several nodes have in common; what is changed is changed in all of them."""
        self._others, self._common = items[1:], recipes.common_arguments(self._session.shown_store.graph, items)
        self.show_item(items[0] if items and self._common else None)
        if self._common and len(items) > 1:
            self._show_differences(items)

    def _show_differences(self, items: tuple[ItemId, ...]) -> None:
        """Under each field that stands for several values: which."""
        nodes = self._session.shown_store.graph.nodes
        for path, editor in self.editors.items():
            values = dict.fromkeys(nodes[item].literals.get(path, "") or "default" for item in items if item in nodes)
            editor.show_mixed(tuple(values) if len(values) > 1 else ())

    def _ports(self, item: ItemId | None) -> tuple[Port, ...]:
        """The input ports of an item that have a row."""
        graph = self._session.shown_store.graph
        ports = input_ports(graph, item) if item is not None and item in graph else ()
        if item is not None and is_code_at(graph, item):
            ports = tuple(port for port in ports if port.path != "code")  # its lines stand by themselves
        return ports if self._common is None else tuple(port for port in ports if port.path in self._common)

    def set_theme(self, theme: Theme) -> None:
        """Build anew in another theme."""
        self._theme, self._shape = theme, None
        for form in self._forms.values():
            self._discard(form)
        self._forms.clear()

    def _shape_of(self, item: ItemId | None, port: Port, is_wired: bool) -> tuple[object, ...]:
        """What decides which widgets a row needs, and what they say beside the literal."""
        takes = (port.path, port.label, port.parameter, port.required, port.grows)
        return (*takes, is_wired, self._sizes(item, port))

    def _show_form(self, item: ItemId | None, ports: tuple[Port, ...], shape: tuple[object, ...]) -> None:
        """Show the rows of an item: those of the last one with the same arguments, else new ones."""
        focused = QApplication.focusWidget()
        if focused is not None and self._form.isAncestorOf(focused):
            self._form.hide()  # what was typed is taken up, for the item it was typed for
        self._item, self._shape = item, shape
        form = self._forms.pop(shape, None)
        if form is None:
            form = self._made_form(ports)
        else:
            for port in ports:
                if (editor := form.editors.get(port.path)) is not None:
                    editor.begin(port)
        if form is not self._form:
            self._form.hide()
        self._form = self._forms[shape] = form
        form.show()
        if len(self._forms) > MOST_FORMS:
            self._discard(self._forms.pop(next(iter(self._forms))))

    def _made_form(self, ports: tuple[Port, ...]) -> ArgumentForm:
        form = ArgumentForm(self)
        for port in ports:
            field = self._with_places(port, self._field(form, port))
            form.add(field_row(port.label, field, partial(self._told, port.parameter)))
        self.add(form)
        return form

    def _discard(self, form: ArgumentForm) -> None:
        self.column.removeWidget(form)
        form.hide()
        form.deleteLater()

    def _told(self, parameter: Parameter) -> str:
        """What an argument takes, in torch's words where these are here."""
        key = described_by(self._session.shown_store.graph, self._item) if self._item is not None else ""
        return parameter_text(parameter, self._session.pages, key)

    def _with_places(self, port: Port, field: QWidget) -> QWidget:
        """An element of a list with its buttons; a whole list with the one that splits it."""
        store, item = self._session.shown_store, self._item
        if item is None:
            return field
        buttons = list_buttons(store, self._theme, item, port, self)
        return with_buttons(field, buttons) if buttons else field

    def _field(self, form: ArgumentForm, port: Port) -> QWidget:
        graph = self._session.shown_store.graph
        if self._item is not None and graph.wire_into(self._item, port.path) is not None:
            link = form.links[port.path] = WireLink(self._theme, self._reveal, self._cut)
            return link
        editor = make_editor(port, partial(self._offers, port))
        if editor is None:
            return self._waiting(port)
        editor.committed.connect(lambda text, path=port.path: self._on_editor_committed(path, text))
        editor.slid.connect(lambda text, path=port.path: self._on_editor_slid(path, text))
        editor.slider.grabbed.connect(self._on_slider_grabbed)
        editor.wire_names = lambda text, path=port.path: self._wire_names(path, text)
        form.editors[port.path] = editor
        return editor

    def _reveal(self, wire: Wire) -> None:
        self._session.attention.reveal(wire.source)

    def _cut(self, wire: Wire) -> None:
        self._session.shown_store.attempt(recipes.disconnect, "Take wire away", wire)

    def _waiting(self, port: Port) -> QLabel:
        if port.required:
            words = "needs a wire"
        elif port.grows:
            words = "a wire adds one"
        else:
            words = hint_of(port)
        made = label(words, "warning" if port.required else "dim", wrap=True)
        made.setContentsMargins(8, 5, 0, 0)
        made.setToolTip(port.parameter.hint)
        return made

    def _source_name(self, wire: Wire) -> str:
        return source_words(self._session.shown_store.graph, wire.source, wire.output)

    def _offers(self, port: Port) -> tuple[LiteralChoice, ...]:
        graph = self._session.shown_store.graph
        return choices_for(
            port.parameter, required=port.required, devices=self._devices(),
            document_device=graph.header.device, sizes=self._sizes(self._item, port),
        )  # fmt: skip

    def _sizes(self, item: ItemId | None, port: Port) -> tuple[int, ...] | None:
        """Sizes of the dimensions that the argument counts, when they are known."""
        if item is None or port.parameter.name not in DIMENSIONS:
            return None
        return sizes_of(self._session.shown_store.graph, self._session.results, item)

    def _wire_names(self, path: str, text: str) -> str:
        """Wire what a text names; why not, or ""."""
        if self._item is None:
            return "Nothing is selected any more."
        store = self._session.shown_store
        try:
            edits = recipes.set_value(store.graph, self._item, path, text)
        except Refused as refusal:
            return str(refusal)
        store.submit(edits, f"Change {path}")
        return ""

    def _devices(self) -> tuple[str, ...]:
        return tuple(device.name for device in self._session.engine.devices)

    def _on_editor_committed(self, path: str, text: str) -> None:
        if self._item is None:
            return
        store = self._session.shown_store
        if not store.attempt(recipes.set_literals, f"Change {path}", (self._item, *self._others), path, text):
            self.editors[path].show_value()
            self.editors[path].say(self._why_not)

    def _on_slider_grabbed(self) -> None:
        self._drags += 1

    def _on_editor_slid(self, path: str, text: str) -> None:
        """One undo step a drag; the run is repeated with the newest value."""
        if self._item is None:
            return
        try:
            edits = recipes.set_literals(self._session.shown_store.graph, (self._item, *self._others), path, text)
        except Refused as refusal:
            self.editors[path].say(str(refusal))
            return
        self._session.run.follow(edits, f"Slide {path}", f"slide {self._item} {path} {self._drags}")

    def _on_store_refused(self, words: object) -> None:
        self._why_not = str(words)
