"""Figures of matplotlib that a trusted program has drawn: told as pictures at the node that drew them last.

Nothing here is imported before the program imports matplotlib itself, and no window is opened.
"""

import sys
import time
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import count
from types import FrameType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from gradstudio.engine.code.figure_pictures import picture_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.drawn_figures import Figured

PYPLOT = "matplotlib.pyplot"
EVERY_S = 0.5
"""A figure that is drawn on and on is told so often."""
MOST = 32
"""Open figures that are told at one moment."""
CANNOT_SHOW = "non-interactive, and thus cannot be shown"
"""What matplotlib warns of where no window can be; the figures are shown all the same."""
Locate = Callable[[FrameType | None], tuple[ItemId, int]]


class Figures:
    """The figures of the programs of this process.

    Attributes:
        wanted: somebody looks at them; else nothing is painted.
        locate: the node, and the line, at which a stack of frames is.
    """

    def __init__(self, send: Callable[[Message], None]) -> None:
        """Pictures go to `send`."""
        self._send = send
        self.wanted = False
        self.locate: Locate = lambda _frame: (ItemId(""), 0)
        self._numbers: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        self._next = count(1)
        self._told_s = 0.0
        self._place: tuple[ItemId, int] = ItemId(""), 0
        self._drawn_at: WeakKeyDictionary[Any, tuple[ItemId, int]] = WeakKeyDictionary()

    def listen(self) -> None:
        """From now on `show` of pyplot, once it is there, tells the figures, and waits for nobody."""
        pyplot = sys.modules.get(PYPLOT)
        if pyplot is not None:
            self._take(pyplot)
        elif not any(isinstance(finder, _PyplotFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _PyplotFinder(self._take))

    def look(self, node: ItemId, line: int) -> None:
        """A statement that may have drawn has run."""
        if not self.wanted or PYPLOT not in sys.modules:
            return
        self._place = node, line
        self._note_changed()
        if self._drawn_at and time.monotonic() - self._told_s >= EVERY_S:
            self._tell()

    def finish(self) -> None:
        """The verb is over: all that is open is told as it is now."""
        if self.wanted and PYPLOT in sys.modules:
            self._note_changed()
            self._tell()

    def _note_changed(self) -> None:
        """What was drawn on since the last statement was so by this one; the next shall not be taken for it."""
        for figure in _changed():
            figure.stale = False
            self._drawn_at[figure] = self._place

    def _take(self, pyplot: ModuleType) -> None:
        def show(*_args: object, **_kwargs: object) -> None:
            """Show all open figures, as a window does that is closed at once."""
            node, line = self.locate(sys._getframe(1))
            self._place = (node, line) if node else self._place
            if self.wanted:
                self._drawn_at.update(dict.fromkeys(_open_figures(), self._place))
                self._tell()
            pyplot.close("all")

        setattr(pyplot, "show", show)  # noqa: B010 - a module is no class that could say so

    def _tell(self) -> None:
        """Tell of all figures that were drawn on and not told of since."""
        for figure, (node, line) in list(self._drawn_at.items())[:MOST]:
            number = self._numbers.get(figure) or self._numbers.setdefault(figure, next(self._next))
            picture = picture_of(figure)
            if picture is not None:
                title = _title_of(figure)
                self._send(Figured(node=node, line=line, figure=number, title=title, picture=picture))
        self._drawn_at.clear()
        self._told_s = time.monotonic()


class _PyplotFinder(MetaPathFinder):
    """Hears that pyplot was imported; finds nothing by itself."""

    def __init__(self, take: Callable[[ModuleType], None]) -> None:
        self._hear = take

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that Python finds itself, with a word behind the import."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == PYPLOT else None
        if spec is None or spec.loader is None:
            return None
        execute, hear = spec.loader.exec_module, self._hear

        def exec_module(module: ModuleType) -> None:
            execute(module)
            hear(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # of this loader alone
        return spec


def _open_figures() -> list[Any]:
    pyplot = sys.modules[PYPLOT]
    return [pyplot.figure(number) for number in pyplot.get_fignums()]


def _changed() -> list[Any]:
    """Open figures on which something was drawn since that was noted."""
    managers = sys.modules["matplotlib._pylab_helpers"].Gcf.get_all_fig_managers()
    figures = (manager.canvas.figure for manager in managers)
    return [figure for figure in figures if figure.stale and figure.axes]


def _title_of(figure: Any) -> str:
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    return next((str(title)[:200] for title in titles if title), "")
