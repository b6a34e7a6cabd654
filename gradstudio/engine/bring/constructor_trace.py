"""How parameters, buffers and constants came about: the calls of the constructor that led to each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from torch import Tensor, nn

from gradstudio.engine.bring.call_text import is_in_catalogue, speller, statement_of
from gradstudio.engine.bring.forward_recorder import MOST_CALLS, Call, Recorder, tensors_in
from gradstudio.engine.bring.user_file import UsersFile
from gradstudio.engine.bring.value_literals import NotWritable

LONGEST_CHAIN = 16
"""Calls; what took more is stored as a value."""
INDENT = "    "


class SetUp(Recorder):
    """Notes calls while the user's file is imported and its module constructed; stock layers note themselves."""

    def __init__(self, file: UsersFile) -> None:
        """Nothing is called yet."""
        super().__init__(nn.Module(), file, [])

    def silence(self) -> AbstractContextManager[None]:
        """What runs in this context is not noted."""
        return self._silenced()

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        self._silent += 1
        try:
            yield
        finally:
            self._silent -= 1

    def _meet(self, tensor: Tensor, line: Any) -> None:
        """Whatever it is given, it may have come from anywhere."""

    def _is_full(self) -> bool:
        return len(self.calls) >= MOST_CALLS


class Chain:
    """The calls that led to one tensor, as lines."""

    def __init__(
        self, calls: list[Call], tensor: Tensor, wrap: Callable[[str], str], fresh: Callable[[str], str]
    ) -> None:
        """Take them from all calls of set-up.

        Args:
            calls: all of them, in order.
            tensor: what they led to.
            wrap: gives the expression of the leaf by that of its data: ``nn.Parameter(data)``.
            fresh: gives a free name.
        """
        self._tensor, self._wrap, self._fresh = tensor, wrap, fresh
        self._calls = _led_to(calls, tensor)
        self._names: dict[int, str] = {}
        self._bound = False

    @property
    def draws(self) -> bool:
        """Whether random numbers were drawn."""
        return any(call.draws for call in self._calls)

    def lines(self, name: str) -> list[str] | None:
        """The lines that make the tensor under this name; None when they cannot be written, or are too many."""
        if not 0 < len(self._calls) <= LONGEST_CHAIN:
            return None
        lines: list[str] = []
        try:
            for call in self._calls:
                lines += self._line(call, name)
        except NotWritable:
            return None
        bound = self._bind(name)
        return None if bound is None else lines + bound

    def _line(self, call: Call, name: str) -> list[str]:
        before: list[str] = []
        if any(tensor is self._tensor for tensor in tensors_in((call.arguments, call.keywords))):
            bound = self._bind(name)
            if bound is None:
                raise NotWritable("a tensor from nowhere")
            before = bound
        text, whole = statement_of(call.path, call.arguments, call.keywords, speller(self._name_of))
        if not is_in_catalogue(call.path) or not (whole or isinstance(call.result, Tensor)):
            raise NotWritable(call.path)
        if not whole and id(call.result) not in self._names:
            word = call.path.removesuffix(".__get__").rpartition(".")[2].strip("_")
            target = name if call.result is self._tensor else self._fresh(f"{name}_{word}")
            self._names[id(call.result)] = target
            text = f"{target} = {text}"
        for around in call.around:
            text = f"with {around}:\n{INDENT}{text}"
        return [*before, text]

    def _bind(self, name: str) -> list[str] | None:
        """The line that makes the leaf of the newest tensor that shares its memory."""
        if id(self._tensor) in self._names:
            made = self._names[id(self._tensor)]
            return [] if made == name else [f"{name} = {made}"]
        for call in reversed(self._calls):
            data = call.result
            if isinstance(data, Tensor) and id(data) in self._names and _is_same_memory(data, self._tensor):
                self._names[id(self._tensor)] = name
                return [f"{name} = {self._wrap(self._names[id(data)])}"]
        return None

    def _name_of(self, tensor: Tensor) -> str:
        if id(tensor) not in self._names:
            raise NotWritable("a tensor from nowhere")
        return self._names[id(tensor)]


def _led_to(calls: list[Call], tensor: Tensor) -> list[Call]:
    wanted, found = {_memory(tensor)}, list[Call]()
    for call in reversed(calls):
        writes = call.path.endswith(("__setitem__", "__set__")) and call.arguments
        results = tensors_in(call.arguments[0] if writes else call.result)
        if any(_memory(result) in wanted for result in results):
            found.append(call)
            wanted |= {_memory(given) for given in tensors_in((call.arguments, call.keywords))}
    return found[::-1]


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _is_same_memory(one: Tensor, other: Tensor) -> bool:
    """Whether a parameter may have been made of this very tensor."""
    same = one.data_ptr() == other.data_ptr() and one.shape == other.shape and one.stride() == other.stride()
    return same and one.dtype == other.dtype
