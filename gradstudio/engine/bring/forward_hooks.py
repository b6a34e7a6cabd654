"""The hooks that follow a module's forward, called apart from it, so that what they do is noted for itself."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torch import nn


def called_alone(
    plain: Callable[..., Any], module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a module by a plain call of modules, as if no hook followed its forward."""
    hooks, module._forward_hooks = module._forward_hooks, OrderedDict()
    try:
        return plain(module, *args, **kwargs)
    finally:
        module._forward_hooks = hooks


def after_hooks(module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object], result: Any) -> Any:
    """What its hooks make of what its forward gave: each is called as `torch.nn.Module.__call__` calls it."""
    for number, hook in list(module._forward_hooks.items()):
        changed = (
            hook(module, args, kwargs, result)
            if number in module._forward_hooks_with_kwargs
            else hook(module, args, result)
        )
        result = changed if changed is not None else result
    return result
