"""*Add* in the canvas's context menu: the search, what usually follows, favourites, what was used last."""

from functools import partial
from typing import Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from gradstudio.operators.catalogue.loader import load
from gradstudio.scene.edit.card_drop import body_at
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
from gradstudio.ui.widgets.menu_keys import with_keys
from gradstudio.ui.widgets.operator_text import home_of

MOST: Final = 10
STARTERS: Final = ("torch.tensor", "torch.randn", "torch.nn.Linear", "operator.matmul", "python.for")


def fill_add(menu: QMenu, before: QAction, canvas: MenuCanvas, x: float, y: float) -> None:
    """Put the submenu before another entry; what is chosen stands at the scene point."""
    add = QMenu("Add", menu)
    menu.insertMenu(before, add)
    add.addAction(with_keys("Search…\tcanvas.search", canvas.keys_of)).triggered.connect(
        lambda: canvas.searching.open(x, y)
    )
    shelf = canvas.shelf
    shown: set[str] = set()
    for title, keys in (("Favourites", shelf.favourites), ("Used last", shelf.recent), ("Often used", STARTERS)):
        rows = [(key, row) for key in keys if key not in shown and (row := load().entry(key)) is not None][:MOST]
        if rows:
            add.addSection(title)
        for key, row in rows:
            shown.add(key)
            add.addAction(f"{row.title}\t{home_of(row)}").triggered.connect(partial(_add, canvas, key, x, y))


def _add(canvas: MenuCanvas, key: str, x: float, y: float, _checked: bool = False) -> None:
    canvas.operator_commands.add_operator(key, x, y, body_at(canvas.scene, x, y), aside=True)
