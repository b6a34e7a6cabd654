"""What `.grad` of a tensor is before a run: a tensor like it, once a backward came by, until it is taken away."""

from typing import Any, Final

import torch
from torch import Tensor

from gradstudio.engine.infer.code_inference import is_free
from gradstudio.engine.meta.inference_results import UNKNOWN, StatementResult
from gradstudio.engine.meta.meta_tensors import META
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.program.model import Program, Statement

READ: Final = "torch.Tensor.grad"
WRITE: Final = "torch.Tensor.grad="
ZERO: Final = ".zero_grad"


class LeafGradients:
    """Follows a pass over a program, the calls in it too.

    Attributes:
        are_there: leaves have a gradient at this place, as far as that can be told without a run.
    """

    def __init__(self, program: Program) -> None:
        """No backward came by; where one keeps its graph, a gradient may require one itself, which only a run tells."""
        self.are_there = False
        self._may_require = "create_graph" in program.code

    def follow(self, statement: Statement) -> None:
        """Another statement of the pass."""
        if statement.backward:
            self.are_there = True
        elif statement.operator == WRITE or statement.operator.endswith(ZERO) or is_free(statement):
            self.are_there = False

    def known(self, step: Step, values: dict[str, Any], devices: dict[str, str], key: int) -> StatementResult | None:
        """What a statement with this `key` gives that reads a gradient or sets one; None for any other."""
        if step.statement.operator == WRITE:
            return StatementResult([], {}, False, "", made_by=key)  # the tensor itself stays as it is
        if step.statement.operator != READ:
            return None
        name = next(iter(step.source.reads), "")
        value: Any = values.get(name)
        made_by = hash((key, self.are_there))
        if not self.are_there or self._may_require or not _has_gradient(value):
            return StatementResult(UNKNOWN, {}, False, "", made_by=made_by)
        twin = torch.empty(value.shape, dtype=value.dtype, device=META)
        return StatementResult([twin], {}, False, devices.get(name, ""), made_by=made_by)


def _has_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad and is_leaf(value) and value.layout is torch.strided
