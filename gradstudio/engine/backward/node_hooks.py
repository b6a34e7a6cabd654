"""Hooks on many autograd nodes at once, and their removal: nothing of them stays behind.

torch makes a handle with two weak references for each hook, which costs as much as the hook's whole work. Here
the entry goes into the same dictionary of the node, under a key of our own, and is taken out by that key.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import cache
from typing import Any

from torch.autograd.function import _HookMixin
from torch.autograd.graph import Node

KEY = "gradstudio"
Hook = Callable[[Any, Any], None]
Entered = tuple[int, MutableMapping[Any, Callable[..., Any]]]
"""By number of a node the hooks that torch calls behind it, those of the program among them."""


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
        _install()
        entries = self._entries.append
        _ENTERING.ours = True
        try:
            for node, hook in hooks:
                entries(node.register_hook(hook))
        finally:
            _ENTERING.ours = False

    def others(self, count: int) -> Iterator[Entered]:
        """Of the nodes that were entered last, so many: by place all hooks of those that have more than ours."""
        for place, entry in enumerate(self._entries[len(self._entries) - count :]):
            if type(entry) is OrderedDict and len(entry) > 1:
                yield place, entry

    def remove(self) -> None:
        """Take them out."""
        for entry in self._entries:
            if type(entry) is dict or type(entry) is OrderedDict:
                entry.pop(KEY, None)
            else:
                entry.remove()
        self._entries.clear()


class _Entering:
    """Whether hooks that are entered now are ours."""

    __slots__ = ("ours",)

    def __init__(self) -> None:
        self.ours = False


@cache
def _install() -> None:
    """Have torch ask `_entered`; where this torch enters hooks otherwise nothing is changed, and handles are torch's.

    It stays: setting an attribute of a class with hundreds of subclasses takes longer than a small backward.
    """
    if "_register_hook" in vars(_HookMixin):
        _HookMixin._register_hook = staticmethod(_entered)  # type: ignore[method-assign]  # the same for others' hooks


def _entered(entries: Any, hook: Any) -> Any:
    """The node's hooks with another one, and the handle: of ours, the same hooks."""
    if not _ENTERING.ours:
        return _torchs(entries, hook)
    found = {} if entries is None else entries
    found[KEY] = hook
    return found, found


_ENTERING = _Entering()
_torchs: Callable[[Any, Any], Any] = getattr(_HookMixin, "_register_hook", _entered)
