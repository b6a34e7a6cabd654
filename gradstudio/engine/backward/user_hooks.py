"""A program's own hooks in a backward: which ran at an autograd node, and what they made of its gradient.

They stay in torch's dictionaries, in their order; while a backward is recorded each is called by way of a look at
what it is given and what it leaves.
"""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.utils.hooks import BackwardHook

from gradstudio.engine.backward.backward_reachability import Grads, GraphNode
from gradstudio.engine.backward.node_hooks import KEY, Entered
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.tensor_watch import Key, Value
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.protocol.messages.backward_trace import HookKind, HookRun
from gradstudio.protocol.messages.records import Summary

Table = MutableMapping[Any, Callable[..., Any]]
MOST_LETTERS = 200


class UserHooks:
    """The hooks of one backward.

    Attributes:
        runs: by number of an autograd node, those that ran, in order.
    """

    def __init__(self, max_values: int) -> None:
        """None is looked at yet; of up to so many elements exact values are told."""
        self.runs: dict[int, list[HookRun]] = {}
        self._max_values = max_values
        self._undo: list[tuple[Table, Any, Callable[..., Any], Callable[..., Any]]] = []

    def watch(self, nodes: Sequence[GraphNode], values: Mapping[Key, Value], of_nodes: Iterable[Entered]) -> None:
        """Look at the hooks of leaves and values, and at those `of_nodes`, by number of the autograd node."""
        for number, hooks in of_nodes:
            self._wrap(hooks, "node", number, 0, self._of_node)
        for seen in nodes:
            if seen.leaf is not None:
                self._watch_tensor(seen.id, seen.leaf)
                continue
            for key, serial, _, _ in seen.marks.values if seen.marks is not None else ():
                value = values.get(key)
                if value is not None and value.serial == serial and value.tensor is not None:
                    self._watch_tensor(seen.id, value.tensor)

    def _watch_tensor(self, number: int, tensor: Tensor) -> None:
        if tensor._backward_hooks:
            index = 0 if tensor.grad_fn is None else tensor.output_nr
            self._wrap(tensor._backward_hooks, "tensor", number, index, self._of_tensor)
        if tensor._post_accumulate_grad_hooks:
            self._wrap(tensor._post_accumulate_grad_hooks, "accumulated", number, 0, self._of_leaf)

    def remove(self) -> None:
        """Put every hook back, but those that were removed meanwhile."""
        for table, key, plain, looking in self._undo:
            if table.get(key) is looking:
                table[key] = plain
        self._undo.clear()

    def _wrap(self, table: Any, kind: HookKind, number: int, index: int, run: Callable[..., Any]) -> None:
        for key, plain in list(table.items()):
            if key != KEY and not _only_notes(plain):
                runs = self.runs.setdefault(number, [])
                table[key] = looking = functools.partial(run, plain, _named(plain, kind, index), runs)
                self._undo.append((table, key, plain, looking))

    def _of_tensor(self, plain: Callable[..., Any], about: HookRun, runs: list[HookRun], grad: Tensor) -> Any:
        before, version = self._figures(grad), grad._version
        given = plain(grad)
        after = given if isinstance(given, Tensor) else grad
        self._note(runs, about, before, after, changed=after is not grad or grad._version != version)
        return given

    def _of_leaf(self, plain: Callable[..., Any], about: HookRun, runs: list[HookRun], leaf: Tensor) -> None:
        grad = leaf.grad
        before, version = self._figures(grad), grad._version if grad is not None else 0
        plain(leaf)
        now = leaf.grad
        changed = now is not grad or (now is not None and now._version != version)
        self._note(runs, about, before, now, changed=changed)

    def _of_node(
        self, plain: Callable[..., Any], about: HookRun, runs: list[HookRun], outgoing: Grads, incoming: Grads
    ) -> Any:
        versions = [grad._version if grad is not None else 0 for grad in outgoing]
        before = [self._figures(grad) for grad in outgoing]
        given = plain(outgoing, incoming)
        now = outgoing
        if given is not None:
            now = given if isinstance(given, tuple) else (given,)
        different = (
            place
            for place, (old, new, version) in enumerate(zip(outgoing, now, versions, strict=False))
            if new is not old or (new is not None and new._version != version)
        )
        there = (place for place, grad in enumerate(outgoing) if grad is not None)
        changed = next(different, None)
        place = changed if changed is not None else next(there, None)
        if place is not None:
            about = replace(about, index=place)
            self._note(runs, about, before[place], now[place], changed=changed is not None)
        return given

    def _note(
        self,
        runs: list[HookRun],
        about: HookRun,
        before: Summary | None,
        after: Tensor | None,
        *,
        changed: bool,
    ) -> None:
        runs.append(replace(about, before=before, after=self._figures(after), changed=changed))

    def _figures(self, grad: Tensor | None) -> Summary | None:
        if grad is None:
            return None
        with clean_modes(), torch._C.DisableTorchFunction():
            return summarise(grad.detach(), self._max_values)


def _named(hook: Callable[..., Any], kind: HookKind, index: int) -> HookRun:
    """What a hook is called, and where it stands; of a module's its hooks, by the class of the module."""
    module = next(_module_hooks(hook), None)
    functions = [*module.user_hooks] if module is not None else [hook]
    function = _plain(functions[0] if functions else hook)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    file = os.path.basename(code.co_filename) if code is not None else ""
    return HookRun(
        kind="module" if module is not None else kind,
        name=", ".join(map(_words, functions))[:MOST_LETTERS],
        file="" if file.startswith("<") else file[:MOST_LETTERS],
        line=code.co_firstlineno if code is not None else 0,
        index=index,
    )


def _only_notes(hook: Callable[..., Any]) -> bool:
    """Whether it notes what came to a module whose hooks are called where the gradient leaves the module."""
    module = next(_module_hooks(hook), None)
    is_of_output = BackwardHook.setup_output_hook.__name__ in getattr(hook, "__qualname__", "")
    return module is not None and is_of_output and module.input_tensors_index is not None


def _plain(function: Any) -> Any:
    """What is called in the end, behind arguments that were given before and what is looked into in its place."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.unwrap(function) if callable(function) else function


def _words(function: Any) -> str:
    function = _plain(function)
    name = str(getattr(function, "__name__", type(function).__name__))
    return "lambda" if name == "<lambda>" else name


def _module_hooks(hook: Any) -> Iterator[BackwardHook]:
    """What torch has made of `register_full_backward_hook`: it keeps the module's hooks."""
    if getattr(hook, "__module__", "") == BackwardHook.__module__:
        for cell in getattr(hook, "__closure__", None) or ():
            if isinstance(cell.cell_contents, BackwardHook):
                yield cell.cell_contents
