"""Where the ranks of a program meet, each time it begins from nothing."""

import os
from typing import Any, Final

import torch.distributed


class Meeting:
    """The process group of a program's own.

    Attributes:
        port: where the ranks of the next run meet; 0: this process is alone, or was told by its environment.
    """

    port = 0
    _count = 0

    def begin_anew(self) -> None:
        """What an older run has joined is left, and the next one meets elsewhere: a port is free again only later."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        self._count = 0
        if self.port:
            os.environ["MASTER_PORT"] = str(self.port)

    def has_met(self) -> bool:
        """Whether ranks have done something together (by the default group) since this was last asked."""
        group: Any = torch.distributed.group.WORLD if self.port and torch.distributed.is_initialized() else None
        if group is None:
            return False
        before, self._count = self._count, group._get_sequence_number_for_group()
        return self._count > before


meeting: Final = Meeting()
