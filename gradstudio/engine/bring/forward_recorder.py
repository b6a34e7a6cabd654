"""Recording one forward: every public call of torch with its arguments, and the submodule that made it."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_map

from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.layer_constructors import LayerConstructor, constructor_of
from gradstudio.engine.bring.user_file import UsersFile

MOST_CALLS = 20_000
Span = tuple[int, int, int, int]
_ASKS = frozenset("__bool__ __int__ __float__ __index__ __complex__ item tolist is_nonzero equal allclose".split())
"""The last words of calls that make of a tensor's values a plain one, on which what follows may depend."""


@dataclass(frozen=True)
class Line:
    """A line of the user's that is being executed; `frame` tells one call of a function from the next.

    Attributes:
        span: of the expression at work, where Python tells: (line, column, last line, end column) in bytes.
    """

    file: str = ""
    number: int = 0
    frame: int = 0
    span: Span | None = None


@dataclass(frozen=True)
class Visit:
    """One call of a submodule, which becomes a group."""

    number: int
    path: str
    title: str


@dataclass(frozen=True)
class Call:
    """A public call, or the call of a stock layer (`layer`, with its path).

    Attributes:
        path: Python's: ``torch.Tensor.view``, ``torch.Tensor.T.__get__``; of a layer "".
        inside: the submodules it stands in, outermost first.
        around: ``with`` lines in force, besides the usual mode.
        draws: it drew random numbers.
    """

    path: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any
    inside: tuple[Visit, ...]
    around: tuple[str, ...]
    line: Line
    draws: bool
    layer: nn.Module | None = None
    layer_path: str = ""


class Recorder(TorchFunctionMode):
    """Notes calls while it is in force.

    Attributes:
        calls: what was called, in order.
        makers: by id of a layer, how it is made.
        constants: values of tensors that came from nowhere, as they were when they were first used.
        asked: the user's lines that made a plain value of a tensor's values: what follows may depend on them.
    """

    def __init__(self, root: nn.Module, file: UsersFile, inputs: list[Tensor]) -> None:
        """Record the forward of `root`, whose inputs are known."""
        super().__init__()
        self.calls: list[Call] = []
        self.makers: dict[int, LayerConstructor | None] = {}
        self.constants: dict[int, Tensor] = {}
        self.asked: dict[tuple[str, int], str] = {}
        self._file = file
        self._paths = {id(module): path for path, module in root.named_modules()}
        self._root, self._silent, self._visits = root, 0, 0
        self._inside: list[Visit] = []
        self._kept: list[Any] = []
        leaves = [*root.parameters(), *root.buffers(), *inputs]
        self._known = {id(leaf) for leaf in leaves}
        self._kept.extend(leaves)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call it, and note what it was given and gave."""
        kwargs = kwargs or {}
        if self._silent:
            return func(*args, **kwargs)
        given = tree_map(_same, (tuple(args), dict(kwargs)))
        before = torch.get_rng_state()
        result = func(*args, **kwargs)
        draws = not torch.equal(before, torch.get_rng_state())
        self._note(path_of(func), given[0], given[1], result, draws)
        return result

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Know which submodule is at work."""
        plain = nn.Module.__call__
        recorder = self

        @functools.wraps(plain)
        def called(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            return recorder._called(plain, module, args, kwargs)

        setattr(nn.Module, "__call__", called)  # noqa: B010 - mypy lets no method be assigned
        try:
            with self:
                yield
        finally:
            setattr(nn.Module, "__call__", plain)  # noqa: B010

    def _called(self, plain: Callable[..., Any], module: nn.Module, args: Any, kwargs: Any) -> Any:
        if self._silent:
            return plain(module, *args, **kwargs)
        path = self._paths.get(id(module))
        maker = self._maker(module) if path is not None else None
        if maker is not None and path is not None:
            return self._layer(plain, module, path, args, kwargs)
        if module is self._root:
            return plain(module, *args, **kwargs)
        self._visits += 1
        word = type(module).__name__
        title = plain_words(f"{path} ({word})" if path else word)
        self._inside.append(Visit(self._visits, path or "", title))
        try:
            return plain(module, *args, **kwargs)
        finally:
            self._inside.pop()

    def _layer(self, plain: Callable[..., Any], module: nn.Module, path: str, args: Any, kwargs: Any) -> Any:
        given = tree_map(_same, (tuple(args), dict(kwargs)))
        before = torch.get_rng_state()
        self._silent += 1
        try:
            result = plain(module, *args, **kwargs)
            draws = not torch.equal(before, torch.get_rng_state())
        finally:
            self._silent -= 1
        self._note("", given[0], given[1], result, draws, module, path)
        return result

    def take(self, output: Any) -> None:
        """What the module gave is used as well."""
        for tensor in tensors_in(output):
            self._meet(tensor, self.calls[-1].line if self.calls else Line())

    def _maker(self, module: nn.Module) -> LayerConstructor | None:
        if id(module) not in self.makers:
            self._silent += 1
            try:
                self.makers[id(module)] = constructor_of(module)
            finally:
                self._silent -= 1
        return self.makers[id(module)]

    def _note(
        self,
        path: str,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        result: Any,
        draws: bool,
        layer: nn.Module | None = None,
        layer_path: str = "",
    ) -> None:
        line = self._line()
        if self._is_full():
            return
        if len(self.calls) >= MOST_CALLS:
            words = (
                f"It makes more than {MOST_CALLS:,} calls of torch: bring a smaller input or fewer turns of its loops."
            )
            raise Inexpressible(words, *self._place(line))
        for tensor in tensors_in((arguments, keywords)):
            self._meet(tensor, line)
        asker = sys._getframe(2).f_code.co_filename
        if path.rpartition(".")[2] in _ASKS and self._file.is_theirs(asker):
            short, number, source = self._place(line)
            self.asked[short, number] = source
        self._kept.append(result)
        self._known.update(id(tensor) for tensor in tensors_in(result))
        inside, around = tuple(self._inside), modes_in_force()
        result = tree_map(_same, result) if isinstance(result, list | dict) else result
        self.calls.append(Call(path, arguments, keywords, result, inside, around, line, draws, layer, layer_path))

    def _meet(self, tensor: Tensor, line: Line) -> None:
        """A tensor is used; one that nothing recorded has made is kept as it is now."""
        own = isinstance(tensor.grad_fn, torch.autograd.function.BackwardCFunction)
        if id(tensor) in self._known and not own:
            return
        if tensor.grad_fn is not None:
            words = (
                f"A tensor comes out of {type(tensor.grad_fn).__name__.removesuffix('Backward')}, an autograd function "
                "with a backward of its own, which no canvas can draw"
            )
            raise Inexpressible(f"{words}.", *self._place(line))
        self._known.add(id(tensor))
        self._kept.append(tensor)
        self.constants[id(tensor)] = tensor.detach().clone()

    def _is_full(self) -> bool:
        """Whether what follows is not noted; a forward is noted whole, or refused."""
        return False

    def _place(self, line: Line) -> tuple[str, int, str]:
        return self._file.short(line.file), line.number, self._file.source(line.file, line.number)

    def _line(self) -> Line:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not self._file.is_theirs(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return Line()
        one = id(frame) ^ (len(self._inside) << 3) ^ self._visits
        return Line(frame.f_code.co_filename, frame.f_lineno, one, span_of(frame))


def calls_in_use(calls: list[Call], output: Any, buffers: set[int]) -> list[Call]:
    """The calls without those whose results nothing uses: what only decided a branch is not drawn."""
    used = {id(tensor) for tensor in tensors_in(output)}
    kept: list[Call] = []
    for call in reversed(calls):
        given = [id(tensor) for tensor in tensors_in((call.arguments, call.keywords))]
        made = [id(tensor) for tensor in tensors_in(call.result)]
        acts = call.layer is not None or call.draws or not made or bool(set(made) & set(given) | buffers & set(given))
        if acts or used.intersection(made):
            kept.append(call)
            if made or call.path.endswith(("__setitem__", "__set__", "backward")):
                used.update(given)
    return kept[::-1]


def tensors_in(value: Any) -> list[Tensor]:
    """All tensors in a nest of tuples, lists and dicts, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for item in value.values() for t in tensors_in(item)]
    if isinstance(value, list | tuple):
        return [t for item in value for t in tensors_in(item)]
    if isinstance(value, slice):
        return [t for item in (value.start, value.stop, value.step) for t in tensors_in(item)]
    return []


def plain_words(text: str) -> str:
    """A text without line breaks, as a comment can hold it."""
    return "".join(c if c.isprintable() else " " for c in text)[:200]


def _same(value: Any) -> Any:
    return value


def path_of(func: Any) -> str:
    """The path of what was called; a private one when it has no other."""
    path = resolve_name(func) or ""
    if path.startswith("torch.functional."):
        return path.replace("torch.functional.", "torch.", 1)
    if path:
        return path
    name, where = getattr(func, "__name__", str(func)), getattr(func, "__module__", "") or ""
    return f"{where or 'torch'}.{name}"


def span_of(frame: FrameType) -> Span | None:
    """The expression at which a frame is at work; None before Python 3.11, and where no text is known."""
    positions = getattr(frame.f_code, "co_positions", None)
    found = next(islice(positions(), frame.f_lasti // 2, None), None) if positions is not None else None
    if found is None or None in found:
        return None
    line, last, column, end = found
    return line, column, last, end


def modes_in_force() -> tuple[str, ...]:
    """The ``with`` lines that make the modes in force now."""
    found = []
    if torch.is_inference_mode_enabled():
        found.append("torch.inference_mode()")
    elif not torch.is_grad_enabled():
        found.append("torch.no_grad()")
    if torch.is_autocast_enabled("cpu"):
        found.append(f'torch.autocast("cpu", dtype={torch.get_autocast_dtype("cpu")})')
    return tuple(found)
