"""A backward of a recorded step: hooks on autograd's nodes while it runs, and its record."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from gradstudio.engine.backward.backward_recording import Recording
from gradstudio.engine.backward.backward_seeds import Seed
from gradstudio.engine.backward.bucket_reductions import Reductions
from gradstudio.engine.bring.forward_recorder import tensors_in
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.wire_edges import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced


class Values(Protocol):
    """What was made before a backward, and who hears of its record; `StepValues` is one."""

    @property
    def gradients(self) -> Gradients:
        """Of all values."""

    def source_of(self, tensor: Tensor) -> Source | None:
        """Who gave a tensor."""

    def look_at_leaves(self) -> None:
        """See what was done to `.grad` since."""

    def traced(self, backward: BackwardTraced) -> None:
        """A backward was recorded."""


def watched_backward(
    values: Values,
    node: ItemId,
    path: str,
    args: Any,
    kwargs: dict[str, Any],
    run: Callable[[], Any],
    reductions: Reductions | None = None,
) -> Any:
    """Run it and note its record, also when it fails; with what ranks do together in it.

    Raises:
        Exception: whatever it raises.
    """
    gradients = values.gradients
    roots = tensors_in(args[0] if args else kwargs.get("tensors", kwargs.get("outputs", ())))
    grads = _given_gradients(path, args, kwargs)
    with clean_modes():
        values.look_at_leaves()
        gradients.given_back.clear()
        seeds = [seed for root, grad in zip(roots, grads, strict=False) for seed in _seed(values, root, grad)]
    returns = path.endswith(".grad") or kwargs.get("inputs") is not None
    is_given = any(isinstance(grad, Tensor) for grad in grads)
    recording = Recording(
        gradients, roots, gradients.backwards + 1, seeds, returns=returns, shared=is_given, reductions=reductions
    )
    done, began = False, time.monotonic()
    try:
        with recording:
            result = run()
        done = True
    finally:
        with clean_modes():
            if done and path.endswith(".grad"):
                _give_back(values, args, kwargs, result)
            gradients.backward_ran(recording.leaves, done or bool(recording.rows))
        values.traced(
            BackwardTraced(
                revision=0,
                rows=tuple(recording.rows),
                wires=tuple(recording.wires),
                backward=recording.number,
                statement=node,
                retained=recording.retained,
                at_s=began,
            )
        )
    return result


def _given_gradients(path: str, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The gradients it is given to begin with, as many as there are roots."""
    roots = tensors_in(args[0] if args else kwargs.get("tensors", kwargs.get("outputs", ())))
    place, word = {"backward": (1, "grad_tensors"), "grad": (2, "grad_outputs")}[path.rpartition(".")[2]]
    word = "gradient" if path.startswith("torch.Tensor.") else word
    grads = args[place] if len(args) > place else kwargs.get(word)
    listed = list(grads) if isinstance(grads, list | tuple) else [grads]
    return (listed + [None] * len(roots))[: len(roots)]


def _seed(values: Values, root: Tensor, grad: Any) -> list[Seed]:
    if not isinstance(grad, Tensor) and not (root.requires_grad and root.numel() == 1):
        return []
    begins = grad.detach() if isinstance(grad, Tensor) else torch.ones_like(root)
    return [Seed(values.source_of(root), root, begins, ())]


def _give_back(values: Values, args: Any, kwargs: dict[str, Any], result: Any) -> None:
    """What `torch.autograd.grad` returned belongs to what it differentiated by."""
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
    for tensor, grad in zip(inputs if isinstance(inputs, list | tuple) else (inputs,), result, strict=False):
        if isinstance(tensor, Tensor) and isinstance(grad, Tensor):
            values.gradients.returned(tensor, grad)
