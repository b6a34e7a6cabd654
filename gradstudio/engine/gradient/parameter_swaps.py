"""Modules whose parameters are others than when they were made: `fully_shard` puts distributed ones in their place."""

from typing import TYPE_CHECKING

from torch import nn

from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.leaf_writes import LeafWrite
from gradstudio.engine.gradient.module_watch import ModuleWatch
from gradstudio.engine.gradient.tensor_watch import lives_in_storage
from gradstudio.engine.value.lazy_modules import parameters_of
from gradstudio.engine.value.tensor_shards import distributed
from gradstudio.engine.value.value_records import serial_of
from gradstudio.engine.value.view_state import grad_fn_of

if TYPE_CHECKING:
    from gradstudio.engine.script.compiled_steps import Step


def may_swap(step: "Step", namespace: dict[str, object]) -> bool:
    """Whether a statement was given a module to work on; a call of one swaps nothing in it."""
    if step.statement.operator == "python.call":
        return False
    return any(isinstance(namespace.get(name), nn.Module) for name in step.source.operands)


def take_up_swaps(gradients: Gradients, modules: ModuleWatch) -> tuple[LeafWrite, ...]:
    """Watch the parameters that modules have now in the place of those they had; which, and where those lived."""
    found = list[LeafWrite]()
    for (node, output), (module, _) in modules.places.items():
        for path, parameter in parameters_of(module):
            key = (node, output, path)
            known = gradients.values.get(key)
            if known is None or known.tensor is parameter:
                continue
            before = known.tensor
            if before is not None and distributed(before) is not None and distributed(parameter) is None:
                continue  # gathered for a forward and its backward: its gradient comes to the part
            value = gradients.note(
                key, parameter, known.turns, parameter.requires_grad, grad_fn_of(parameter), parameter._version, None
            )
            value.cut = known.cut
            if before is not None and lives_in_storage(before):
                found.append(LeafWrite(parameter, serial_of(before.untyped_storage())))
    return tuple(found)
