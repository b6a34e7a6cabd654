"""Transforms of `torch.func`, a call each: what a function does inside of one are numbers of no value that is there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch._functorch import apis, eager_transforms

from gradstudio.engine.bring.value_literals import NotWritable, literal

INNER = "torch._functorch."


class Whole(Protocol):
    """Runs something as one call of that path, which is given these."""

    def __call__(self, path: str, run: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What it gave."""


@contextmanager
def watched_transforms(whole: Whole) -> Iterator[None]:
    """Hand each outermost call of `grad`, `grad_and_value`, `vmap`, `vjp` and `jvp` to `whole`.

    `jacrev`, `jacfwd` and `hessian` are made of these; what `vjp` gives to be called is a call by itself.
    """

    def graded(name: str, plain: Any) -> Any:
        def call(function: Any, argnums: Any, has_aux: Any, args: Any, kwargs: Any) -> Any:
            path = f"torch.func.{name}({_words(function, argnums=(argnums, 0), has_aux=(has_aux, False))})"
            return whole(path, lambda: plain(function, argnums, has_aux, args, kwargs), tuple(args), kwargs)

        return call

    def mapped(name: str, plain: Any) -> Any:
        def call(function: Any, ins: Any, outs: Any, randomness: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
            given = _words(
                function,
                in_dims=(ins, 0),
                out_dims=(outs, 0),
                randomness=(randomness, "error"),
                chunk_size=(size, None),
            )
            run = _later(plain, function, ins, outs, randomness, size, *args, **kwargs)
            return whole(f"torch.func.{name}({given})", run, args, kwargs)

        return call

    def direct(name: str, plain: Any) -> Any:
        def call(function: Any, *args: Any, **kwargs: Any) -> Any:
            given = args if name == "vjp" else args[:2]
            return whole(f"torch.func.{name}", _later(plain, function, *args, **kwargs), (function, *given), {})

        return call

    def pulled(name: str, plain: Any) -> Any:
        def call(outputs: Any, inputs: Any, grads: Any = None, *args: Any, **kwargs: Any) -> Any:
            return whole(name, _later(plain, outputs, inputs, grads, *args, **kwargs), tuple(grads or ()), {})

        return call

    entries: list[tuple[Any, str, Callable[[str, Any], Any], str]] = [
        (eager_transforms, "grad_impl", graded, "grad"),
        (eager_transforms, "grad_and_value_impl", graded, "grad_and_value"),
        (apis, "vmap_impl", mapped, "vmap"),
        (eager_transforms, "_vjp_with_argnums", direct, "vjp"),
        (eager_transforms, "_jvp_with_argnums", direct, "jvp"),
        (eager_transforms, "_autograd_grad", pulled, "vjp_fn"),
    ]
    undo = [(owner, entry, getattr(owner, entry)) for owner, entry, _, _ in entries]
    for (owner, entry, plain), (_, _, wrap, name) in zip(undo, entries, strict=True):
        setattr(owner, entry, wrap(name, plain))
    try:
        yield
    finally:
        for owner, entry, plain in undo:
            setattr(owner, entry, plain)


def function_words(function: Any) -> str:
    """A function as it may be typed: ``loss``, ``torch.sin``, ``torch.func.grad(loss)``; "" of one without a name."""
    name = str(getattr(function, "__name__", ""))
    inner, code = getattr(function, "__wrapped__", None), getattr(function, "__code__", None)
    if inner is not None and code is not None and str(function.__globals__["__name__"]).startswith(INNER):
        return f"torch.func.{code.co_qualname.partition('.')[0]}({function_words(inner) or '...'})"
    if getattr(torch, name, None) is function:
        return f"torch.{name}"
    return name if name.isidentifier() else ""


def _words(function: Any, **options: tuple[Any, Any]) -> str:
    """The function, and what else is not as it is when nothing is said."""
    found = [function_words(function) or "..."]
    for word, (value, usual) in options.items():
        if value is not usual and value != usual:
            try:
                found.append(f"{word}={literal(value)}")
            except NotWritable:
                found.append(f"{word}=...")
    return ", ".join(found)


def _later(plain: Any, *args: Any, **kwargs: Any) -> Callable[[], Any]:
    return lambda: plain(*args, **kwargs)
