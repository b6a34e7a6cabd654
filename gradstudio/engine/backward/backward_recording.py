"""One real backward, recorded by hooks on the autograd nodes (engine spike §4, way iii).

Every handle is removed when the backward is over: one forgotten on AccumulateGrad deadlocked the
next. Hooks only look and hold; torch's own numbers are never touched. What they held is summarised
when the backward is over, or earlier when it is much. A gradient that a leaf without `.grad` is
about to take over is not held, or torch would copy it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import partial
from operator import attrgetter

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from gradstudio.engine.backward import partial_backward
from gradstudio.engine.backward.backward_reachability import Edge, Grads, GraphNode, Reach
from gradstudio.engine.backward.backward_seeds import Seed
from gradstudio.engine.backward.bucket_reductions import LocalGrads, Reductions
from gradstudio.engine.backward.node_hooks import Hooks
from gradstudio.engine.backward.reduction_rows import reduction_rows
from gradstudio.engine.backward.saved_tensors import is_released
from gradstudio.engine.backward.user_hooks import UserHooks
from gradstudio.engine.backward.wire_gradients import wire_gradients
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.wire_edges import MARK, Marks, Turns, marks_of
from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.summary_batches import summarise_alike
from gradstudio.engine.value.tensor_summary import figures_shared, outline, summarise
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.engine.value.view_state import grad_fn_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, WireGrad
from gradstudio.protocol.messages.records import Summary

_parts_of = attrgetter("parts")
HOLD_ELEMENTS = 1 << 24
"""Elements of gradients that are held during a backward before they are summarised."""


class Recording:
    """Hooks on everything a backward from `roots` can reach, and what they saw.

    Attributes:
        rows: autograd nodes in the order torch executed them; `wires` what went back along each; both behind the end.
        leaves: by identity of a leaf tensor, what arrived there.
        retained: the graph was kept; `number` of this backward.
    """

    def __init__(
        self,
        gradients: Gradients,
        roots: Iterable[object],
        number: int,
        seeds: Sequence[Seed] = (),
        *,
        returns: bool = False,
        shared: bool = False,
        reductions: Reductions | None = None,
    ) -> None:
        """Look at the graph behind the roots.

        Args:
            gradients: of all values.
            roots: tensors and lists of them.
            number: counts backwards.
            seeds: what the roots begin with.
            shared: the program gave gradients that it may still hold: torch may hand them, or views of them, to a
                leaf, which would be seen in the program; so nothing may keep torch from that.
            returns: gradients may be returned instead of reaching a leaf (`autograd.grad`, `inputs=`).
            reductions: what ranks do together in it.
        """
        self.rows: list[AutogradRow] = []
        self.wires: list[WireGrad] = []
        self.leaves: dict[int, Summary | None] = {}
        self.retained = False
        self.number = number
        self._gradients = gradients
        self._returns = returns
        self._seeds = seeds
        self._shared = shared
        self._reductions, self._local = reductions, dict[int, Tensor]()
        self._reach = Reach(gradients, tensors_in(list(roots)))
        self._events: list[GraphNode] = []
        self._summarised, self._held, self._last = 0, 0, 0.0
        self._visible = gradients.visible
        self._before: dict[int, Summary | None] = {}
        self._known: dict[int, Summary | None] = {}
        self._grows = False
        self._hooks, self._user_hooks = Hooks(), UserHooks(gradients.max_values)

    def __enter__(self) -> "Recording":
        """Attach the hooks."""
        seens = self._reach.seen
        with clean_modes():
            self._look_at_leaves()
        for seen in seens:
            if isinstance(seen.node, BackwardCFunction):  # Python's own may write into what comes
                self._hooks.add_before(seen.node, self._before_python)
        saw, freely = self._saw, self._saw_freely()
        self._hooks.add([(seen.node, partial(saw if self._shared or seen.drops else freely, seen)) for seen in seens])
        with clean_modes():
            self._user_hooks.watch(seens, self._gradients.values, self._hooks.others(len(seens)))
        if self._reductions is not None:
            self._reductions.begin()
        self._last = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the hooks and make the record; of one that failed also what had come where nothing ran any more."""
        self._hooks.remove()
        self._user_hooks.remove()
        if self._reductions is not None:
            self._reductions.end()
            self._local = self._reductions.local()
        with clean_modes():
            self._put_back_local()
            waiting = partial_backward.waiting_nodes(self._reach, self._sent(), self._seeds) if kind is not None else []
            self._finish()
            partial_backward.note_arrivals(self._gradients, waiting)
        first = next((seen for seen in self._events if seen.saved), None)
        self.retained = first is not None and not is_released(first.node, first.saved[0].name)

    @property
    def complete(self) -> bool:
        """Whether every gradient was summarised."""
        return self._visible is None

    def finish_later(self) -> None:
        """Summarise what was only outlined; call it before any of those tensors can be overwritten."""
        self._visible, self._summarised = None, 0
        for sending in self._reach.sendings:
            sending.forget()
        self._finish()

    def _sent(self) -> list[tuple[Edge, Tensor | None]]:
        """What has left every node so far, as far as it is held: where to, and the gradient."""
        return [pair for seen in self._events for pair in zip(seen.next, seen.outgoing, strict=False)]

    def _finish(self) -> None:
        self._settle()
        seeds = self._seeds if self._events else ()
        self.wires = wire_gradients(self._reach, self._ran(), seeds, self._gradients.max_values)
        self.rows = list(map(self._row, self._events))
        if self._reductions is not None:
            self.rows += reduction_rows(self._reductions, self._reach, self._gradients, self.number, self.leaves)

    def _put_back_local(self) -> None:
        """Gradients are those of this rank: into what a leaf took over, and views of it, the mean was written since."""
        events, own = self._events[self._summarised :], LocalGrads()
        for seen in events:
            local = self._local.get(id(seen.leaf))
            if local is not None and seen.id not in self._before and seen.incoming and seen.incoming[0] is not None:
                own.note(seen.incoming[0], local)
                seen.incoming = (local,)
        for seen in events if self._local else ():
            seen.incoming, seen.outgoing = own.of(seen.incoming), own.of(seen.outgoing)

    def _ran(self) -> dict[tuple[ItemId, Turns], int]:
        """Of each call, where its last autograd node has its row; not asked for where every wire was sent something."""
        if all(map(_parts_of, self._reach.sendings)):
            return {}
        calls = ((seen.call, place) for place, seen in enumerate(self._events))
        return {(call.node, call.turns): place for call, place in calls if call is not None}

    # -------------------------------------------------------------- hooks

    def _saw_freely(self) -> Callable[[GraphNode, Grads, Grads], None]:
        """What torch calls behind an autograd node of whose gradients nothing is let go at once."""
        events, clock = self._events, time.perf_counter

        def saw(seen: GraphNode, outgoing: Grads, incoming: Grads) -> None:
            now = clock()
            for grad in outgoing:
                if grad is not None:
                    self._held += grad.numel()
            if seen.place >= 0:
                seen = copy(seen)
            place = seen.place = len(events)
            seen.incoming, seen.outgoing, seen.seconds = incoming, outgoing, now - self._last
            events.append(seen)
            if self._held > HOLD_ELEMENTS or not place:
                self._look_up(place)
            self._last = clock()

        return saw

    def _look_up(self, place: int) -> None:
        """Whether the backward makes a graph of its own, and whether much is held."""
        if not place:
            self._grows = torch.is_grad_enabled()
        if self._held > HOLD_ELEMENTS:
            self._visible = None  # what is let go cannot be summarised later
            with clean_modes():
                self._settle()

    def _saw(self, seen: GraphNode, outgoing: Grads, incoming: Grads) -> None:
        """An autograd node has run."""
        now = time.perf_counter()
        if seen.drops:
            outgoing = tuple([None if index in seen.drops else grad for index, grad in enumerate(outgoing)])
        if self._shared and not torch.is_grad_enabled():
            incoming, outgoing = _aliases(incoming), _aliases(outgoing)
        for grad in outgoing:
            if grad is not None:
                self._held += grad.numel()
        if seen.place >= 0:
            seen = copy(seen)
        place = seen.place = len(self._events)
        seen.incoming, seen.outgoing, seen.seconds = incoming, outgoing, now - self._last
        self._events.append(seen)
        self._look_up(place)
        self._last = time.perf_counter()

    def _before_python(self, _: Grads) -> None:
        self._visible = None
        with clean_modes():
            self._settle()

    def _look_at_leaves(self) -> None:
        for seen in self._reach.leaves:
            if seen.leaf is not None and seen.leaf.grad is not None:
                self._before[seen.id] = self._gradients.summary_of_grad(seen.leaf)
        if self._returns:
            return
        for seen, index, to in self._reach.to_leaves:
            if to.users == 1 and to.leaf is not None and to.leaf.grad is None and not _has_hooks(to.leaf):
                seen.drops = (*seen.drops, index)
                to.giver = (seen, index)

    # -------------------------------------------------------------- summaries

    def _settle(self) -> None:
        """Summarise what is held, in the order it was seen, and let it go."""
        visible, events, grows = self._visible, self._events, self._grows
        news = events[self._summarised :] if self._summarised else list(events)
        known = self._known = self._summaries(news)
        values, arrived, summary_of = self._gradients.values, self._gradients.arrived, known.__getitem__
        for place, seen in enumerate(news, self._summarised):
            incoming = seen.incoming
            came = seen.came = tuple(map(summary_of, map(identity, incoming)))
            seen.went = tuple(map(summary_of, map(identity, seen.outgoing)))
            if grows:
                self._note_what_grew(seen)
            if seen.leaf is not None:
                self._reach_leaf(seen, seen.leaf)
            elif seen.marks is not None:
                for key, serial, output, turns in seen.marks.values:
                    value = values.get(key)
                    if value is None or output >= len(incoming):
                        continue
                    if value.serial != serial:
                        value.has_row = value.has_row and value.turns != turns
                        continue
                    grad, summary = incoming[output], came[output]
                    if grad is not None and summary is not None:
                        arrived(value, grad.detach() if grad.requires_grad else grad, summary, in_record=True)
            if seen.sends or seen.leaf is not None:
                self._send(seen, place)
        for seen in news if visible is None else ():
            seen.incoming = seen.outgoing = ()
        self._known = {}
        self._summarised, self._held = len(events), 0

    def _summaries(self, events: list[GraphNode]) -> dict[int, Summary | None]:
        """The summaries of gradients by identity, made once however many rows show them; out of view outlines.

        None where torch gave none.
        """
        visible, max_values = self._visible, self._gradients.max_values
        grads: dict[int, Tensor] = {}
        unseen: dict[int, Tensor] = {}
        for seen in events:
            some = grads if visible is None or seen.owner in visible else unseen
            for grad in seen.incoming:
                if grad is not None:
                    some[identity(grad)] = grad
            for grad in seen.outgoing:
                if grad is not None:
                    some[identity(grad)] = grad
        together = summarise_alike(list(grads.values()), max_values)
        known: dict[int, Summary | None] = dict(zip(unseen, map(outline, unseen.values()), strict=True))
        known[identity(None)] = None
        with figures_shared():
            for (number, grad), summary in zip(grads.items(), together, strict=True):
                known[number] = summarise(grad, max_values) if summary is None else summary
        return known

    def _of(self, grad: Tensor) -> Summary:
        """The summary, made once for a tensor however many rows show it."""
        summary = self._known.get(identity(grad))
        if summary is None:
            summary = self._known[identity(grad)] = summarise(grad, self._gradients.max_values)
        return summary

    def _reach_leaf(self, seen: GraphNode, leaf: Tensor) -> None:
        came = seen.came[0] if seen.came else None
        self.leaves[identity(leaf)] = came
        if leaf.grad is not None:
            fresh = seen.id not in self._before and not _has_hooks(leaf)
            at_once = self._visible is None or seen.owner in self._visible
            local = self._local.get(id(leaf))
            if local is not None:
                seen.after = came if fresh else self._of(local)
                return
            if fresh:
                seen.after = came
            else:
                seen.after = self._of(leaf.grad) if at_once else outline(leaf.grad)
            if seen.after is not None and at_once:
                self._gradients.note_grad(leaf, seen.after)

    def _send(self, seen: GraphNode, place: int) -> None:
        outgoing, went = seen.outgoing, seen.went
        for index, sending in seen.sends:
            grad = outgoing[index] if index < len(outgoing) else None
            if grad is not None:
                sending.add(grad, place)
                sending.summary = went[index]
        if seen.leaf is not None and seen.incoming and seen.incoming[0] is not None:
            self._hand_over(seen, seen.incoming[0])

    def _hand_over(self, seen: GraphNode, grad: Tensor) -> None:
        """What the leaf took over is what a node before it had sent."""
        if seen.giver is None or seen.giver[0].place < 0:
            return
        earlier, index = seen.giver
        went = list(earlier.went)
        went[index] = seen.came[0]
        earlier.went = tuple(went)
        for at, sending in earlier.sends:
            if at == index:
                sending.add(grad, earlier.place)
                sending.summary = seen.came[0]

    def _note_what_grew(self, seen: GraphNode) -> None:
        """Nodes that the backward itself made (create_graph) belong to the node whose gradient they compute."""
        todo = [node for grad in (*seen.incoming, *seen.outgoing) if grad is not None if (node := grad_fn_of(grad))]
        if seen.leaf is not None and seen.leaf.grad is not None and (node := grad_fn_of(seen.leaf.grad)):
            todo.append(node)
        while todo:
            node = todo.pop()
            if hasattr(node, "variable") or self._reach.of(node) is not None:
                continue
            known: Marks | None = node.metadata.get(MARK)  # type: ignore[attr-defined]  # a dict, typed as a method
            if known is not None:
                continue
            marks = marks_of(node)
            marks.owner, marks.order, marks.call = (seen.owner, seen.turns), seen.order + 1, seen.call
            todo += [following for following, _ in node.next_functions if following is not None]

    # -------------------------------------------------------------- the record

    def _row(self, seen: GraphNode) -> AutogradRow:
        return AutogradRow(
            backward=self.number,
            autograd=type(seen.node).__name__,
            node=seen.owner,
            turns=seen.turns,
            incoming=seen.came,
            outgoing=() if seen.leaf is not None else seen.went,
            id=seen.id,
            next=seen.next,
            values=seen.values,
            saved=seen.saved,
            order=seen.order,
            seconds=seen.seconds,
            before=self._before.get(seen.id),
            after=seen.after,
            hooks=tuple(self._user_hooks.runs.get(seen.id, ())),
        )


def _has_hooks(leaf: Tensor) -> bool:
    """Whether a program's own hooks may make another gradient of what comes to a leaf, or of its `.grad`."""
    return bool(leaf._backward_hooks or leaf._post_accumulate_grad_hooks)


def _aliases(grads: Grads) -> Grads:
    """Other tensors over the same memory: torch counts who holds a tensor."""
    return tuple([None if grad is None else grad.detach() for grad in grads])
