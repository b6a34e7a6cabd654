"""One real backward, recorded by hooks on the autograd nodes (engine spike §4, way iii).

Every handle is removed when the backward is over: one forgotten on AccumulateGrad deadlocked the
next. Hooks only look; torch's own numbers are never touched.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.autograd.graph import Node

from gradstudio.engine.gradients import Gradients, marks_of
from gradstudio.engine.history import grad_fn_of
from gradstudio.engine.neutral import neutral
from gradstudio.engine.summary import summarise
from gradstudio.engine.values import tensors_in
from gradstudio.graph.model import ItemId
from gradstudio.protocol.autograd import AutogradRow
from gradstudio.protocol.records import Summary

Grads = tuple[Tensor | None, ...]
Edge = tuple[Node, int]
Owner = tuple[ItemId, tuple[int, ...]]
NOBODY: Owner = (ItemId(""), ())


class Recording:
    """Hooks on everything a backward from `roots` can reach, and what they saw.

    Attributes:
        rows: autograd nodes in the order torch executed them.
        leaves: by identity of a leaf tensor, what arrived there.
    """

    def __init__(self, gradients: Gradients, roots: Iterable[object], number: int) -> None:
        """Look at the graph behind the roots; `number` counts backwards."""
        self.rows: list[AutogradRow] = []
        self.leaves: dict[int, Summary | None] = {}
        self._gradients, self._number = gradients, number
        self._owners: dict[Node, Owner] = {}
        self._contributors: Counter[Edge] = Counter()
        self._known: dict[Edge, Summary | None] = {}
        self._handles: list[Any] = []
        self._tensors = {id(value.tensor): value.key[0] for value in gradients.values.values() if value.was_leaf}
        self._walk(tensors_in(list(roots)))

    def __enter__(self) -> "Recording":
        """Attach the hooks."""
        for node in self._owners:
            if hasattr(node, "variable"):
                self._handles.append(node.register_prehook(_leaf_hook(self, node)))
            else:
                self._handles.append(node.register_hook(_hook(self, node)))
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them all."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def saw(self, node: Node, incoming: Grads, outgoing: Grads) -> None:
        """An autograd node has run: what came in, what went out."""
        with neutral():
            came = tuple(self._incoming(node, index, grad) for index, grad in enumerate(incoming))
            went = tuple(map(self._outgoing, node.next_functions, outgoing))
            self._reach(node, incoming, came)
        self._row(node, came, went)

    def saw_leaf(self, node: Node, incoming: Grads) -> None:
        """A leaf's AccumulateGrad is about to run."""
        leaf: Tensor = node.variable  # type: ignore[attr-defined]  # AccumulateGrad has it
        with neutral():
            came = tuple(self._incoming(node, index, grad) for index, grad in enumerate(incoming))
        self.leaves[id(leaf)] = came[0] if came else None
        self._row(node, came, ())

    def _walk(self, roots: list[Tensor]) -> None:
        todo: list[tuple[Node, Owner]] = []
        for root in roots:
            node = grad_fn_of(root)
            if node is not None:
                self._contributors[node, root.output_nr] += 1
                todo.append((node, NOBODY))
        while todo:
            node, user = todo.pop()
            if node in self._owners:
                continue
            owner = self._owners[node] = self._owner(node, user)
            for edge in node.next_functions:
                if edge[0] is not None:
                    self._contributors[edge] += 1  # type: ignore[index]  # its node is not None
                    todo.append((edge[0], owner))

    def _owner(self, node: Node, user: Owner) -> Owner:
        """The canvas node: of the value made at this edge, else of the operator it is a part of."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            return self._tensors.get(id(variable), NOBODY[0]), ()
        marks = marks_of(node)
        return (marks[0][0][0], marks[0][3]) if marks else user

    def _incoming(self, node: Node, index: int, grad: Tensor | None) -> Summary | None:
        if grad is None:
            return None
        edge = (node, index)
        if self._contributors[edge] == 1 and edge in self._known:
            return self._known.pop(edge)
        return summarise(grad, self._gradients.max_values)

    def _outgoing(self, edge: tuple[Node | None, int], grad: Tensor | None) -> Summary | None:
        if grad is None or edge[0] is None:
            return None
        summary = summarise(grad, self._gradients.max_values)
        if self._contributors[edge] == 1:  # type: ignore[index]  # its node is not None
            self._known[edge] = summary  # type: ignore[index]  # its node is not None
        return summary

    def _reach(self, node: Node, incoming: Grads, came: tuple[Summary | None, ...]) -> None:
        for key, serial, output, _ in marks_of(node):
            value = self._gradients.find(key, serial)
            grad = incoming[output] if output < len(incoming) else None
            summary = came[output] if output < len(came) else None
            if value is not None and grad is not None and summary is not None:
                self._gradients.arrived(value, grad.detach() if grad.requires_grad else grad, summary)

    def _row(self, node: Node, came: tuple[Summary | None, ...], went: tuple[Summary | None, ...]) -> None:
        owner, turns = self._owners[node]
        self.rows.append(
            AutogradRow(
                backward=self._number,
                autograd=type(node).__name__,
                node=owner,
                turns=turns,
                incoming=came,
                outgoing=went,
            )
        )


def _hook(recording: Recording, node: Node) -> Any:
    def hook(outgoing: Grads, incoming: Grads) -> None:
        recording.saw(node, incoming, outgoing)

    return hook


def _leaf_hook(recording: Recording, node: Node) -> Any:
    def hook(incoming: Grads) -> None:
        recording.saw_leaf(node, incoming)

    return hook
