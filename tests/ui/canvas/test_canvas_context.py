"""The parts of a canvas do their work on a context that is no canvas."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.model import ItemId
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.canvas_context import CanvasContext, DragOptions
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.card_arrangement import CardArrangement
from gradstudio.ui.canvas.edit.module_commands import ModuleCommands
from gradstudio.ui.canvas.edit.wire_commands import WireCommands
from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme


class Bench(CanvasContext):
    """A graph, its scene and what is selected of it; what is refused is kept."""

    def __init__(self, session: Session, theme: Theme, port: QWidget) -> None:
        self.session, self.store, self.attention = session, session.shown_store, session.attention
        self.style, self.lit, self.drag_options = CanvasStyle(theme), OverlayState(), DragOptions()
        self.scene = Scene(self.store.graph, session.results, Shown(), self.style.meter)
        self.store.edited.connect(self.scene.apply)
        self.refused: list[str] = []
        self._port = port

    def viewport(self) -> QWidget:
        return self._port

    def refuse(self, words: str) -> None:
        self.refused.append(words)

    def add(self, key: str, x: float) -> ItemId:
        edits, item = recipes.add_operator(self.store.graph, key, x, 0)
        self.store.submit(edits, "Add")
        return item


@pytest.fixture
def bench(qtbot: QtBot, session: Session, dark: Theme) -> Bench:
    port = QWidget()
    qtbot.addWidget(port)
    return Bench(session, dark, port)


def test_a_module_and_its_call_are_chosen_together(bench: Bench) -> None:
    selection, layer = CanvasSelection(bench), bench.add("torch.nn.Linear", 0)
    home = bench.scene.state.card_groups.home(layer)
    selection.select(frozenset({layer}))
    assert bench.attention.selection == {home} and selection.chosen() == bench.scene.state.card_groups.whole((home,))
    assert selection.is_selected(layer) and selection.has_statements()
    selection.clear()
    assert not selection.chosen() and not selection.can_delete()


def test_a_module_is_put_into_evaluation_and_back(bench: Bench) -> None:
    commands, layer = ModuleCommands(bench, CanvasSelection(bench)), bench.add("torch.nn.Linear", 0)
    module = commands.module_of(layer)
    assert module is not None and module_modes.is_training(bench.store.graph, module)
    commands.toggle_training(layer)
    assert not module_modes.is_training(bench.store.graph, module)
    commands.toggle_training(layer)
    assert module_modes.is_training(bench.store.graph, module)


def test_wires_are_muted_and_taken_back_by_the_same_command(bench: Bench) -> None:
    commands = WireCommands(bench, CanvasSelection(bench))
    commands.toggle_wires_muted()
    assert bench.refused and "Click on a wire first" in bench.refused[0]
    source, target = bench.add("torch.randn", 0), bench.add("torch.relu", 400)
    assert bench.store.attempt(recipes.connect, "Wire", source, 0, target, "input")
    wires = tuple(bench.store.graph.wires.values())
    commands.toggle_wires_muted(wires)
    assert bench.scene.wiring.muted == set(wires)
    commands.toggle_wires_muted(wires)
    assert not bench.scene.wiring.muted


def test_cards_are_brought_into_line(bench: Bench) -> None:
    selection = CanvasSelection(bench)
    commands = CardArrangement(bench, selection)
    first, second = bench.add("torch.randn", 0), bench.add("torch.relu", 400)
    selection.select(frozenset({first}))
    commands.align_selection("left")
    assert bench.refused
    selection.select(frozenset({first, second}))
    commands.align_selection("left")
    places = bench.store.graph.places
    assert places[first].x == places[second].x
