"""Scripts run without GradStudio, and what they bind."""

import contextlib
import hashlib
import io
from pathlib import Path
from typing import Any

import torch


def digests(namespace: dict[str, Any]) -> dict[str, str]:
    """The bytes of every tensor a namespace binds, and of every parameter and buffer of its modules."""
    found = {name: value for name, value in namespace.items() if isinstance(value, torch.Tensor)}
    for name, value in namespace.items():
        if isinstance(value, torch.nn.Module):
            found |= {f"{name}.{path}": tensor for path, tensor in value.state_dict().items()}
    return {name: _digest(tensor) for name, tensor in found.items()}


def all_of(folder: str) -> dict[str, dict[str, str]]:
    """Run every script of a folder from nothing."""
    found = {}
    for path in Path(folder).glob("*.py"):
        namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
        torch.set_default_dtype(torch.float32)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(path.read_text(), str(path), "exec"), namespace)
        found[path.name] = digests(namespace)
    return found


def _digest(tensor: torch.Tensor) -> str:
    data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return f"{tensor.dtype} {tuple(tensor.shape)} {hashlib.sha256(data).hexdigest()[:16]}"
