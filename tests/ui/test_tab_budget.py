"""What a gesture may ask for each further document that is open: next to nothing, for those behind are not seen."""

from collections.abc import Callable
from tomllib import loads

import pytest
from PySide6.QtWidgets import QApplication

from gradstudio.graph import recipes
from gradstudio.ui.app.window.main_window import MainWindow
from tests.ui.gestures import Calls, counting
from tests.ui.test_gesture_budgets import BUDGETS_FILE

FEW, MANY = 4, 24
BUDGETS: dict[str, float] = loads(BUDGETS_FILE.read_text(encoding="utf-8"))["each tab"]


def drop(window: MainWindow) -> None:
    store = window.session.graph_store
    store.submit(recipes.add_operator(store.graph, "torch.randn", 0, 0)[0], "Add torch.randn")


def front(window: MainWindow) -> None:
    window.documents.step(1)


def opened(window: MainWindow, count: int) -> MainWindow:
    """So many documents with a node each, the last one in front and saved."""
    while len(window.documents.tabs) < count:
        drop(window)
        window.actions["file.new"].trigger()
    window.session.graph_store.set_clean()
    return window


def back(window: MainWindow) -> None:
    window.documents.step(-1)


def undo(window: MainWindow) -> None:
    window.session.graph_store.undo()


Act = Callable[[MainWindow], None]


def calls_of(window: MainWindow, gesture: Act, inverse: Act) -> Calls:
    """The second time, up to its picture, and nothing of what documents do at leisure."""
    for act in (gesture, inverse):
        act(window)
        window.canvas.viewport().repaint()
        QApplication.processEvents()
    with counting() as calls:
        gesture(window)
        window.canvas.viewport().repaint()
    return calls


@pytest.mark.parametrize(("name", "gesture", "inverse"), [("drop", drop, undo), ("tab change", front, back)])
def test_a_gesture_asks_next_to_nothing_of_documents_behind(
    window: MainWindow, name: str, gesture: Act, inverse: Act
) -> None:
    few = calls_of(opened(window, FEW), gesture, inverse)
    many = calls_of(opened(window, MANY), gesture, inverse)
    each = (many.total - few.total) / (MANY - FEW)
    print(f"{name} = {each}")
    assert each <= BUDGETS[name], f"{each} for each tab, few:\n{few.told()}\nmany:\n{many.told()}"
