"""Whether a program fits into memory: what inference said of it, and the question before it runs."""

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.inference import Need, PortInference

ASKS: frozenset[Verb] = frozenset({"run", "forward", "backward", "continue"})
"""Verbs that may go through much of a program; a single step is refused by the engine where it must be."""


def mark_needs(ports: tuple[PortInference, ...], needs: tuple[Need, ...]) -> tuple[PortInference, ...]:
    """What is expected of each output, with the need noted where the memory is expected to run out."""
    if not needs:
        return ports
    found = {(port.node, port.output): port for port in ports}
    for need in reversed(needs):
        first = found.get((need.node, 0)) or PortInference(node=need.node)
        found[need.node, 0] = msgspec.structs.replace(first, need=need)
    return tuple(found.values())


class MemoryCheck(QObject):
    """Knows which devices are too small for the program as it stands, and asks once before it runs.

    Attributes:
        needs: devices whose memory is expected not to suffice for the program as it stands.
        confirm_size: asks a person whether it is to run all the same.

    Signals:
        sized(): `needs` are others.
    """

    sized = Signal()

    def __init__(self, parent: QObject | None = None, confirm_size: Callable[[Need], bool] | None = None) -> None:
        """Nothing is known of the program; without `confirm_size` everybody says yes."""
        super().__init__(parent)
        self.needs: tuple[Need, ...] = ()
        self.confirm_size = confirm_size or (lambda _need: True)
        self._confirmed = False

    def program_changed(self) -> None:
        """It is another program: a person is asked anew."""
        self._confirmed = False

    def take_needs(self, needs: tuple[Need, ...]) -> None:
        """What inference said of the program as it stands."""
        changed, self.needs = needs != self.needs, needs
        if changed:
            self.sized.emit()

    def may_allocate(self, verb: Verb) -> bool:
        """Whether to go on; once a person said so, a program is not asked about again."""
        if verb not in ASKS or not self.needs or self._confirmed:
            return True
        self._confirmed = self.confirm_size(self.needs[0])
        return self._confirmed
