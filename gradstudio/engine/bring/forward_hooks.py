"""The hooks around a module's forward, called apart from it, so that what they do is noted for itself."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torch import nn


def with_hooks(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    call: Callable[[tuple[Any, ...], dict[str, Any]], Any],
) -> Any:
    """What a call of a module gives; `call` is what calls its forward alone."""
    args, kwargs = _before(module, args, kwargs)
    return _after(module, args, kwargs, call(args, kwargs))


def called_alone(
    plain: Callable[..., Any], module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a module by a plain call of modules, as if no hook stood around its forward."""
    before, after = module._forward_pre_hooks, module._forward_hooks
    module._forward_pre_hooks, module._forward_hooks = OrderedDict(), OrderedDict()
    try:
        return plain(module, *args, **kwargs)
    finally:
        module._forward_pre_hooks, module._forward_hooks = before, after


def _before(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What its hooks make of what it is given: each is called as `torch.nn.Module.__call__` calls it."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if number not in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
            continue
        both = hook(module, args, kwargs)
        if both is None:
            continue
        if not isinstance(both, tuple) or len(both) != 2:
            words = f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {both}."
            raise RuntimeError(words)  # torch's own sentence: the error is the script's
        args, kwargs = both
    return args, kwargs


def _after(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """What its hooks make of what its forward gave."""
    for number, hook in list(module._forward_hooks.items()):
        changed = (
            hook(module, args, kwargs, result)
            if number in module._forward_hooks_with_kwargs
            else hook(module, args, result)
        )
        result = changed if changed is not None else result
    return result
