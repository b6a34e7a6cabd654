"""Modules as they stand now: their parameters and buffers change after the moment at which they were made."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import ModuleNow
from gradstudio.protocol.messages.records import ModuleRecord
from gradstudio.ui.state.results.event_buffer import HeldBack, waits

if TYPE_CHECKING:
    from gradstudio.protocol.messages.events import Row


class ModulesNow(HeldBack):
    """Methods of `ResultStore` about modules that something wrote to since they were made."""

    if TYPE_CHECKING:

        @property
        def looking_back(self) -> bool: ...
        def row(self, node: ItemId) -> Row | None: ...
        def _announce(self, node: ItemId) -> None: ...

    _modules: Mapping[ItemId, ModuleNow] = MappingProxyType({})

    def module_now(self, node: ItemId) -> ModuleRecord | None:
        """A module as it stands now, where that is another than when it was made; None while looking back."""
        told = self._modules.get(node)
        if told is None or self.looking_back:
            return None
        row = self.row(node)
        return told.record if row is not None and row.step == told.step else None

    @waits
    def set_modules(self, modules: Iterable[ModuleNow]) -> None:
        """Every module that is another now than when it was made."""
        old, self._modules = self._modules, {told.node: told for told in modules}
        for node in old.keys() | self._modules.keys():
            if old.get(node) != self._modules.get(node):
                self._announce(node)
