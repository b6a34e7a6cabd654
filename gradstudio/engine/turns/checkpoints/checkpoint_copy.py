"""What a checkpoint's file is to hold, copied where the run stands: the run may go on before it is written."""

import json
from typing import Final, NamedTuple

import torch
from safetensors.torch import save
from torch import Tensor

from gradstudio.engine.errors import VerbRefused

NO_TENSORS: Final = "What learns here is more than tensors and numbers: {why}"
_REFUSED: Final = (TypeError, AttributeError, ValueError)


class CheckpointCopy(NamedTuple):
    """Tensors and words that nothing else writes into.

    Attributes:
        tensors: by the names of the file; `about` what it says beside them.
        turns: how many of the loop that trains are done.
    """

    tensors: dict[str, Tensor]
    about: dict[str, str]
    turns: int

    @classmethod
    def of(cls, tensors: dict[str, Tensor], about: dict[str, object], title: str, turns: int) -> "CheckpointCopy":
        """A copy; `about` is said as JSON under `title`.

        Raises:
            VerbRefused: it is more than tensors and what JSON says.
        """
        try:
            apart = {
                name: one.detach().cpu().clone(memory_format=torch.contiguous_format) for name, one in tensors.items()
            }
            return cls(apart, {title: json.dumps(about)}, turns)
        except _REFUSED as error:
            raise VerbRefused(NO_TENSORS.format(why=error)) from error

    def data(self) -> bytes:
        """The file.

        Raises:
            VerbRefused: it holds what no file keeps.
        """
        try:
            data: bytes = save(self.tensors, self.about)
        except _REFUSED as error:
            raise VerbRefused(NO_TENSORS.format(why=error)) from error
        return data
