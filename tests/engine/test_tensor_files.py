"""Stored tensors of a document as the engine reads them."""

import torch
from safetensors.torch import save

from gradstudio.engine.tensor_files import ALIGNMENT, StoredTensors


def test_a_stored_tensor_begins_where_torch_would_begin_it() -> None:
    """Libraries below torch may add up in another order elsewhere, and the last bits would be others."""
    stored = StoredTensors()
    tensors = {f"{size}": torch.randn(size) for size in range(1, 40)}
    stored.add({name: save({"data": tensor}) for name, tensor in tensors.items()})
    for name, tensor in tensors.items():
        read = stored.load_file(f"program.tensors/{name}.safetensors")["data"]
        assert torch.equal(read, tensor)
        assert read.data_ptr() % ALIGNMENT == 0
