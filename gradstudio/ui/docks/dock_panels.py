"""The panels that one document has in the docks: each is built when it is first seen, or first asked for."""

from collections.abc import Callable, Iterator, Mapping

from PySide6.QtWidgets import QWidget

Build = Callable[[], QWidget]


class DockPanels(Mapping[str, QWidget]):
    """Panels by dock; to look one up builds it, to go over the docks does not.

    Attributes:
        built: those that there are by now.
        added: told of each as soon as it is built.
    """

    def __init__(self, builders: Mapping[str, Build]) -> None:
        """Nothing is built yet."""
        self._builders = dict(builders)
        self.built: dict[str, QWidget] = {}
        self.added: Callable[[str, QWidget], None] = _nowhere

    def __getitem__(self, key: str) -> QWidget:
        """The panel in a dock."""
        if key not in self.built:
            self.built[key] = panel = self._builders[key]()
            self.added(key, panel)
        return self.built[key]

    def __iter__(self) -> Iterator[str]:
        """The docks that this document has a panel for."""
        return iter(self._builders)

    def __len__(self) -> int:
        """How many they are."""
        return len(self._builders)


def _nowhere(_key: str, _panel: QWidget) -> None:
    """Nobody shows them yet."""
