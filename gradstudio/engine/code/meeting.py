"""Where the ranks of a program meet, each time it begins from nothing."""

import os
from typing import Final

import torch.distributed


class Meeting:
    """The process group of a program's own.

    Attributes:
        port: where the ranks of the next run meet; 0: this process is alone, or was told by its environment.
    """

    port = 0

    def begin_anew(self) -> None:
        """What an older run has joined is left, and the next one meets elsewhere: a port is free again only later."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        if self.port:
            os.environ["MASTER_PORT"] = str(self.port)


meeting: Final = Meeting()
