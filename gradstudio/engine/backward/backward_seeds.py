"""The gradients that a backward begins with, given or torch's own, and which wires brought its roots."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from gradstudio.engine.gradient.wire_edges import Source, Turns
from gradstudio.engine.value.value_records import tensors_in

if TYPE_CHECKING:
    from gradstudio.engine.live.live_state import Live
    from gradstudio.engine.script.compiled_steps import Step


class Seed(NamedTuple):
    """What one root begins with; `source` is where its wire into the backward begins, `turns` the backward's.

    Attributes:
        given: the gradient that the statement gives; None where torch begins with a one of its own.
    """

    source: Source | None
    root: Tensor
    given: Tensor | None
    turns: Turns

    @property
    def grad(self) -> Tensor:
        """The gradient itself; ask for it outside the program's modes."""
        return torch.ones_like(self.root) if self.given is None else self.given


def seed_gradients(live: "Live", step: "Step") -> list[Tensor | None]:
    """The gradients that the statement gives to its roots, None for torch's own; [] when it gives none."""
    if step.source.seeds is None:
        return []
    from gradstudio.engine import access

    grads: Any = access.evaluate(step.source.seeds, live.namespace)
    if grads is None or isinstance(grads, Tensor):
        return [] if grads is None else [grads]
    return [grad if isinstance(grad, Tensor) else None for grad in grads]


def seeds_of(live: "Live", step: "Step", roots: object, grads: list[Tensor | None]) -> list[Seed]:
    """Each root with what it begins with; call it outside the program's modes."""
    wires = [(name, source or live.binder.get(name)) for _, name, source in step.wires]
    seeds: list[Seed] = []
    for place, root in enumerate(tensors_in([roots])):
        grad = grads[place] if place < len(grads) else None
        if grad is None and not (root.requires_grad and root.numel() == 1):
            continue
        at = next((i for i, (name, _) in enumerate(wires) if live.namespace.get(name) is root), None)
        source = None if at is None else wires.pop(at)[1]
        seeds.append(Seed(source, root, None if grad is None else grad.detach(), live.cursor.turns))
    return seeds
