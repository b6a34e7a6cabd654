"""What may be another after a module was made, so that two modules, or one at two times, can be told apart."""

from collections.abc import Iterable

from torch import nn
from torch.nn.parameter import is_lazy


def module_state(module: nn.Module) -> tuple[object, ...] | None:
    """Classes, modes and what parameters and buffers are like, numbers aside; None while one is not initialised."""
    state: list[object] = []
    for part in module.modules():
        state.append((type(part).__name__, part.training))
        for held in (*vars(part)["_parameters"].items(), *vars(part)["_buffers"].items()):
            name, tensor = held
            if tensor is None:
                state.append(name)
            elif is_lazy(tensor):
                return None
            else:
                state.append((name, tensor.shape, tensor.dtype, tensor.requires_grad))
    return tuple(state)


def module_states(values: Iterable[object]) -> list[object]:
    """The states of the modules among the values."""
    return [module_state(value) for value in values if isinstance(value, nn.Module)]
