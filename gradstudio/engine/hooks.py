"""Hooks on many autograd nodes at once, and their removal: nothing of them stays behind.

torch makes a handle with two weak references for each hook, which costs as much as the hook's whole work. Here
the entry goes into the same dictionary of the node, under a key of our own, and is taken out by that key.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from torch.autograd import Function
from torch.autograd.graph import Node

KEY = "gradstudio"
Hook = Callable[[Any, Any], None]


class Hooks:
    """The hooks of one backward."""

    def __init__(self) -> None:
        """None yet."""
        self._entries: list[Any] = []

    def add_before(self, node: Node, hook: Callable[[Any], None]) -> None:
        """Have `hook` called with what comes in, before the node runs."""
        self._entries.append(node.register_prehook(hook))

    def add(self, hooks: Iterable[tuple[Node, Hook]]) -> None:
        """Have each hook called with what goes out and what came in, behind its node."""
        entries = self._entries.append
        known = _own_registrar()
        try:
            for node, hook in hooks:
                entries(node.register_hook(hook))
        finally:
            if known:
                del Function._register_hook

    def remove(self) -> None:
        """Take them out."""
        for entry in self._entries:
            if type(entry) is dict or type(entry) is OrderedDict:
                entry.pop(KEY, None)
            else:
                entry.remove()
        self._entries.clear()


def _own_registrar() -> bool:
    """Have torch ask us for the entry of a new hook; False when this torch does it otherwise."""
    if "_register_hook" in vars(Function) or not hasattr(Function, "_register_hook"):
        return False
    Function._register_hook = staticmethod(_entered)  # type: ignore[method-assign]  # deleted by `add`
    return True


def _entered(entries: dict[object, object] | None, hook: Hook) -> tuple[dict[object, object], dict[object, object]]:
    """The node's hooks with another one, and what torch returns as the handle: the same."""
    found = {} if entries is None else entries
    found[KEY] = hook
    return found, found
