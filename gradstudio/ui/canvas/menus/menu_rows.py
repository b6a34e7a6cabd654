"""Rows of context menus: text and method, a line, or a submenu of such rows; filled into a menu here.

Behind a tab in a text stands the id of the command of the same effect: the menu shows the keys which that has now.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from PySide6.QtWidgets import QMenu

from gradstudio.ui.widgets.menu_keys import KeysOf, with_keys


class Below(NamedTuple):
    """A submenu; one without rows is left out."""

    text: str
    rows: "Iterable[AnyRow]"


Row = tuple[str, Callable[[], object]] | None
"""Text and what it does; None is a line."""
AnyRow = Row | Below


def fill(menu: QMenu, rows: Iterable[AnyRow], keys_of: KeysOf) -> None:
    """Add rows to a menu; lines only between what there is."""
    line = False
    for row in rows:
        if row is None:
            line = bool(menu.actions())
            continue
        found = list(row.rows) if isinstance(row, Below) else []
        if isinstance(row, Below) and not any(found):
            continue
        if line:
            menu.addSeparator()
            line = False
        if isinstance(row, Below):
            fill(menu.addMenu(row.text), found, keys_of)
        else:
            text, does = row
            menu.addAction(with_keys(text, keys_of)).triggered.connect(lambda _checked=False, does=does: does())
