"""Stored tensors of the document: bytes by digest, read where the script would read a file."""

from pathlib import Path

import torch
from safetensors.torch import load

from gradstudio.engine.errors import NotBound

ALIGNMENT = 64
"""Bytes; torch's CPU allocator begins every tensor at a multiple of it."""


class StoredTensors:
    """The safetensors files the engine was given, by the digest in their name."""

    def __init__(self) -> None:
        """None yet."""
        self._bytes: dict[str, bytes] = {}

    def add(self, tensors: dict[str, bytes]) -> None:
        """Take more of them; they are sent once."""
        self._bytes.update(tensors)

    def load_file(self, filename: str | Path, device: str | int = "cpu") -> dict[str, torch.Tensor]:
        """What `safetensors.torch.load_file` gives, from the bytes of the document.

        Raises:
            NotBound: the document did not send that tensor.
        """
        data = self._bytes.get(Path(filename).stem)
        if data is None:
            raise NotBound(f"The document has no stored tensor {Path(filename).name}.")
        return {name: _aligned(tensor).to(device) for name, tensor in load(data).items()}


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in memory of torch's own: libraries below torch may sum in another order where it begins elsewhere."""
    return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone()
