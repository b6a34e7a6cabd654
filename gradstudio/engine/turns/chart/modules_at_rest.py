"""Modules set to evaluation for a while, with buffers of their own, beside a program that goes on training them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torch import nn

from gradstudio.engine.script.generator_states import GeneratorStates


@contextmanager
def modules_at_rest(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Evaluation within; behind it modes, buffers and generators are what they were, and no version is another."""
    every = list(dict.fromkeys(inner for module in modules for inner in module.modules()))
    modes = [(module, module.training) for module in every]
    buffers = [(module, dict(module._buffers)) for module in every if module._buffers]
    generators = GeneratorStates()
    try:
        for module in every:
            module.training = False
        for module, held in buffers:
            module._buffers.update({name: one.clone() for name, one in held.items() if one is not None})
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        for module, held in buffers:
            module._buffers.clear()
            module._buffers.update(held)
        generators.restore()
