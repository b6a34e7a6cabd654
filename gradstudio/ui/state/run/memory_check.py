"""Whether a program fits into memory: what inference said of it, and the question before it runs."""

from collections.abc import Callable

import msgspec
from PySide6.QtCore import SignalInstance

from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.inference import Need, PortInference

ASKS: frozenset[Verb] = frozenset({"run", "forward", "backward"})
"""Verbs that may go through much of a program; a single step is refused by the engine where it must be."""


def marked(ports: tuple[PortInference, ...], needs: tuple[Need, ...]) -> tuple[PortInference, ...]:
    """What is expected of each output, with the need noted where the memory is expected to run out."""
    found = {(port.node, port.output): port for port in ports}
    for need in reversed(needs):
        first = found.get((need.node, 0)) or PortInference(node=need.node)
        found[need.node, 0] = msgspec.structs.replace(first, need=need)
    return tuple(found.values())


class RunSize:
    """The part of `RunController` that knows of the program's size.

    Attributes:
        needs: devices whose memory is expected not to suffice for the program as it stands.
        confirm_size: asks a person whether it is to run all the same.
    """

    needs: tuple[Need, ...] = ()
    confirm_size: Callable[[Need], bool]
    _confirmed = False

    sized: SignalInstance

    def _take_needs(self, needs: tuple[Need, ...]) -> None:
        changed, self.needs = needs != self.needs, needs
        if changed:
            self.sized.emit()

    def _may_allocate(self, verb: Verb) -> bool:
        """Whether to go on; once a person said so, a program is not asked about again."""
        if verb not in ASKS or not self.needs or self._confirmed:
            return True
        self._confirmed = self.confirm_size(self.needs[0])
        return self._confirmed
