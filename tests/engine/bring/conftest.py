"""Brings a model in this process and puts back what that changes of it."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from gradstudio.engine.bring.bring_module import bring
from gradstudio.protocol.messages.module_import import BringModule, Brought, NotBrought

MODELS = Path(__file__).with_name("models.py")
Bringer = Callable[..., Brought | NotBrought]


@pytest.fixture
def ask() -> Iterator[Bringer]:
    """Ask for a module of `models.py`, or of another file."""
    folder, path, modules, stdin = Path.cwd(), list(sys.path), set(sys.modules), sys.stdin
    generator, dtype = torch.get_rng_state(), torch.get_default_dtype()

    def asked(name: str, *inputs: str, path: Path = MODELS, **more: object) -> Brought | NotBrought:
        return bring(BringModule(path=str(path), name=name, inputs=inputs, stem="model", **more))

    yield asked
    os.chdir(folder)
    sys.path[:], sys.stdin = path, stdin
    for name in set(sys.modules) - modules:
        if name.startswith("_brought_"):
            del sys.modules[name]
    torch.set_rng_state(generator)
    torch.set_default_dtype(dtype)
