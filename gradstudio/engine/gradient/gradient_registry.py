"""Which gradients are there and which of the seven states each is in (semantics §7).

Values are noted when they are made; what reaches them is reported by `backward_recording.Recording`; the
`.grad` of leaves is watched between statements. Nothing here computes but summaries.
"""

from collections.abc import Callable, Iterable

from torch import Tensor, nn
from torch.autograd.graph import Node

from gradstudio.engine.gradient.gradient_states import NOBODY, state_of_leaf, state_of_value
from gradstudio.engine.gradient.kept_tensors import KeptTensors
from gradstudio.engine.gradient.pass_constants import PassConstants
from gradstudio.engine.gradient.tensor_watch import NEVER, Cut, Key, Leaf, Value, glance, watch
from gradstudio.engine.gradient.wire_edges import MARK, MAX_ITEMS, Call, Marks, aliases_of, attach, marks_of
from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.lazy_modules import parameters_of, waits
from gradstudio.engine.value.tensor_shards import held_part
from gradstudio.engine.value.tensor_summary import outline, summarise
from gradstudio.engine.value.view_state import grad_fn_of, is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.events import GradPart, GradRow
from gradstudio.protocol.messages.records import Summary


class Gradients:
    """All that is known of gradients since the start from nothing.

    Attributes:
        values: the latest of each key.
        backwards: how many backwards have run; `telling`: how often all states were told as a whole.
        last_backward: the last one of this pass, None when none has run in it.
        has_overwritten: something was written into since it was made, and its autograd edge is another.
        visible: nodes whose gradients are summarised at once; None: all.
        missed: values that the last backward did not reach, of which more is known than that.
        given_back: values whose gradient the last backward returned instead of keeping it.
        kept: the tensors that are held only for showing; `constants` what is told alike in each pass.
    """

    def __init__(self, budget: Callable[[], int], max_values: int = 64) -> None:
        """Nothing is known."""
        self.values: dict[Key, Value] = {}
        self._edgeless: dict[Key, Value] = {}
        self.leaves: dict[int, Leaf] = {}
        self.backwards, self.pass_number = 0, 1
        self.last_backward: int | None = None
        self.max_values = max_values
        self.visible: frozenset[ItemId] | None = None
        self.missed: list[Value] = []
        self.given_back: list[Value] = []
        self._serial = 0
        self._lazy: list[tuple[Key, nn.Module, tuple[int, ...], Callable[[Tensor], Cut | None]]] = []
        self.kept = KeptTensors(budget)
        self.has_overwritten = False
        self.telling = 0
        self.constants = PassConstants()

    # -------------------------------------------------------------- values

    def made(
        self,
        node: ItemId,
        turns: tuple[int, ...],
        outputs: Iterable[object],
        cut: Callable[[Tensor], Cut | None],
        first: int = 0,
        call: Call | None = None,
    ) -> list[Value]:
        """A statement has given `outputs`, the first of them its output `first`; what was entered.

        `cut` says why a tensor that does not require grad does not; `call` is what went into the statement.
        """
        made = self._made_meanwhile() if self._lazy else []
        for index, output in enumerate(outputs, first):
            if isinstance(output, Tensor):
                made.append(self._note((node, index, ""), output, turns, cut, call))
            elif isinstance(output, nn.Module):
                made.extend(self._note_module((node, index, ""), output, turns, cut))
            elif isinstance(output, list | tuple):
                for place, item in enumerate(output[:MAX_ITEMS]):
                    if isinstance(item, Tensor):
                        made.append(self._note((node, index, str(place)), item, turns, cut, call))
                    elif isinstance(item, nn.Module):
                        made.extend(self._note_module((node, index, f"{place}."), item, turns, cut))
        return made

    def note(
        self,
        key: Key,
        tensor: Tensor,
        turns: tuple[int, ...],
        requires: bool,
        grad_fn: Node | None,
        version: int | None,
        call: Call | None,
    ) -> Value:
        """A tensor was made, of which the caller knows this already; why it does not require grad he fills in."""
        serial = self._serial = self._serial + 1
        leaf = grad_fn is None and is_leaf(tensor)
        value = Value(key, serial, tensor, requires, leaf, self.backwards, turns, version)
        if not requires:
            pass
        elif leaf:
            watch = self._leaf(tensor)
            watch.users += 1
            if call is not None:
                passed = aliases_of(call, (edge for edge in call.edges if edge.node is tensor))
                watch.aliases.update({(alias.node, alias.port): alias for alias in passed})
        elif grad_fn is not None:
            number = tensor.output_nr
            metadata: dict[str, Marks] = grad_fn.metadata  # type: ignore[assignment]  # a dict, typed as a method
            marks = metadata.get(MARK)
            if marks is None:
                marks = metadata[MARK] = Marks([(key, serial, number, turns)])
            else:
                marks.values.append((key, serial, number, turns))
            if call is not None:
                attach(call, grad_fn, number, marks)
            self.kept.keep_tensor(value, tensor)
        known = self.values.get(key)
        if known is None:
            value.order = serial
        else:
            value.order = known.order
            self._replaced(known)
        self.values[key] = value
        if grad_fn is None:
            self._edgeless[key] = value
        return value

    def written(self, outputs: Iterable[object], call: Call) -> None:
        """A statement wrote into its result in place: where that is a view, its base has another edge as well."""
        for output in outputs:
            base = output._base if isinstance(output, Tensor) and not output.is_inference() else None
            node = grad_fn_of(base) if base is not None else None
            if base is not None and node is not None:
                attach(call, node, base.output_nr, marks_of(node))

    def places_of_leaves(self) -> set[tuple[ItemId, int]]:
        """Who gave a leaf that required grad."""
        return {key[:2] for key, value in self._edgeless.items() if value.was_leaf and value.requires_grad}

    def edgeless(self) -> list[Value]:
        """The values that no autograd node made, in the order of `values`."""
        return sorted(self._edgeless.values(), key=_order_of)

    def find(self, key: Key, serial: int) -> Value | None:
        """The value, when it is still the one of that serial number."""
        value = self.values.get(key)
        return value if value is not None and value.serial == serial else None

    def arrived(self, value: Value, grad: Tensor, summary: Summary, in_record: bool = False) -> None:
        """The gradient `grad` has come to the value's edge; `in_record`: the row of an autograd node says so."""
        value.grad, value.summary, value.told = grad, summary, None
        value.telling = self.telling if in_record else NEVER
        value.grad_version = None if grad.is_inference() else grad._version
        self.kept.keep_grad(value, grad)

    def returned(self, tensor: Tensor, grad: Tensor | None) -> None:
        """`torch.autograd.grad` gave `grad` for `tensor`."""
        if grad is None:
            return
        if is_leaf(tensor):
            self._leaf(tensor).returned = True
            return
        for value in self.values.values():
            if value.tensor is tensor:
                self.arrived(value, grad, summarise(grad, self.max_values))
                self.given_back.append(value)

    def refused(self, tensor: Tensor) -> None:
        """The leaf's gradient was computed in a backward that failed before it could be added or returned."""
        self._leaf(tensor).refused = True

    def new_pass(self, pass_number: int, stays: Callable[[ItemId], bool]) -> None:
        """Another pass begins: what the repeated part made is forgotten, `stays` keeps set-up's."""
        self.pass_number, self.last_backward = pass_number, None
        staying = {key: value for key, value in self.values.items() if stays(key[0])}
        self.kept.keep_only(staying.values())
        self.values = staying
        self._edgeless = {key: value for key, value in self._edgeless.items() if key in staying}
        used = {identity(value.tensor) for value in staying.values()}
        for number in [number for number in self.leaves if number not in used]:
            del self.leaves[number]

    def let_go(self) -> None:
        """Hold no value any more; a `.grad` with a graph of its own (`create_graph`) would hold its leaf for ever."""
        for leaf in self.leaves.values():
            if leaf.tensor.grad is not None and leaf.tensor.grad.requires_grad:
                leaf.tensor.grad = None
        self.new_pass(self.pass_number, lambda _: False)
        self.missed, self.given_back, self._lazy = [], [], []

    # -------------------------------------------------------------- leaves

    def watch_only(self, leaves: dict[int, Tensor]) -> None:
        """Of all leaves, watch these, given by identity; what was seen of them stays."""
        for number in [number for number in self.leaves if number not in leaves]:
            del self.leaves[number]
        for tensor in leaves.values():
            self._leaf(tensor)

    def has_news(self) -> bool:
        """Whether the `.grad` of a watched leaf is another than when it was last looked at."""
        return any(glance(leaf.tensor.grad) != leaf.seen for leaf in self.leaves.values())

    def observe(self, by: ItemId = NOBODY) -> list[Leaf]:
        """Look at every leaf after statement `by`, no backward: was `.grad` set, cleared, zeroed? Those changed."""
        changed: list[Leaf] = []
        for leaf in self.leaves.values():
            now = glance(leaf.tensor.grad)
            if now != leaf.seen:
                self._changed_by_hand(leaf, now, by)
                changed.append(leaf)
        return changed

    def distrust(self, program: Program) -> None:
        """Where code that nobody saw may have run, another `.grad` may lie where the last one did."""
        for leaf in self.leaves.values() if program.codes else ():
            leaf.summary = None

    def rows_of(self, leaves: Iterable[Leaf]) -> tuple[GradRow, ...]:
        """The state of the values that are one of these leaves; call it outside the program's modes."""
        wanted = set(map(identity, leaves))
        return tuple(self.row(value) for value in self.values.values() if identity(self.leaf_of(value)) in wanted)

    def backward_ran(self, parts: dict[int, Summary | None], counts: bool) -> None:
        """A backward is over.

        Args:
            parts: by identity of a leaf, what reached it as far as it was recorded.
            counts: False when it failed before anything was reached.
        """
        if counts:
            self.backwards += 1
            self.last_backward = self.backwards
        for number, leaf in self.leaves.items():
            now = glance(leaf.tensor.grad)
            if now is None or (now == leaf.seen and number not in parts):
                continue
            part = GradPart(self.pass_number, self.backwards, parts.get(number))
            leaf.parts = [part] if leaf.seen is None else [*leaf.parts, part]
            if leaf.seen is None and part.grad is not None and self.visible is None:
                leaf.summary = (now, part.grad)
            leaf.seen = now

    def summary_of_grad(self, tensor: Tensor) -> Summary | None:
        """Of a leaf's `.grad` as it stands now."""
        leaf = self.leaves.get(identity(tensor))
        if leaf is not None:
            return self._leaf_summary(leaf, None)
        return None if tensor.grad is None else summarise(tensor.grad, self.max_values)

    def note_grad(self, tensor: Tensor, summary: Summary) -> None:
        """`summary` is that of the leaf's `.grad` as it stands now."""
        leaf, now = self.leaves.get(identity(tensor)), glance(tensor.grad)
        if leaf is not None and now is not None:
            leaf.summary = (now, summary)

    def clear(self, tensor: Tensor) -> None:
        """`.grad` of the leaf is set to None."""
        tensor.grad = None
        leaf = self._leaf(tensor)
        leaf.parts, leaf.seen, leaf.cleared_at, leaf.emptied_by = [], None, self.backwards, NOBODY
        leaf.returned = leaf.refused = False

    # -------------------------------------------------------------- states

    def rows(self) -> tuple[GradRow, ...]:
        """The state of every tensor known; call it outside the program's modes."""
        return tuple(map(self.row, self.values.values()))

    def row(self, value: Value) -> GradRow:
        """The state of one."""
        leaf = self.leaf_of(value) if value.was_leaf else None
        node, output, path = value.key
        if leaf is None and value.is_frozen():
            return GradRow(node=node, output=output, path=path, state="not_required", reason=words.FROZEN)
        if leaf is None:
            return self._row_of_value(value)
        state, reason = state_of_leaf(leaf, self.backwards, self.last_backward, self.pass_number)
        grad = self._leaf_summary(leaf, node)
        parts = tuple(leaf.parts) if state == "accumulated" else ()
        cause = (leaf.emptied_by or NOBODY) if state == "not_run" else NOBODY
        return GradRow(
            node=node, output=output, path=path, state=state, reason=reason, cause=cause, grad=grad, parts=parts
        )

    def row_of_unwatched(self, key: Key, tensor: Tensor) -> GradRow | None:
        """The state of a leaf that no value is, so that only its `.grad` itself tells of it; None without one."""
        if not is_leaf(tensor) or tensor.grad is None:
            return None
        node, output, path = key
        grad = summarise(tensor.grad, self.max_values)
        return GradRow(node=node, output=output, path=path, state="value", reason=words.UNWATCHED, grad=grad)

    def _row_of_value(self, value: Value) -> GradRow:
        """Of one that is no leaf; made anew only when something it is made from has changed."""
        told, is_behind = value.told, self.backwards > value.made_at
        if told is not None and value.told_behind is is_behind:
            return told
        node, output, path = value.key
        if value.requires_grad and not is_behind and value.summary is None:
            row = self.constants.not_run(value.key)
        else:
            state, reason, cause = state_of_value(value, self.backwards)
            row = GradRow(
                node=node, output=output, path=path, state=state, reason=reason, cause=cause, grad=value.summary
            )
        value.told, value.told_behind = row, is_behind
        return row

    def leaf_of(self, value: Value) -> Leaf | None:
        """The watch on a value that is a leaf which requires grad, or still has a `.grad`."""
        tensor = value.tensor
        if tensor is None or not value.was_leaf or not is_leaf(tensor):
            return None
        if tensor.requires_grad:
            return self._leaf(tensor)
        if tensor.grad is None:
            return None
        return self.leaves.get(identity(tensor)) or Leaf(tensor, self.backwards - 1)  # nobody would end a watch on it

    # -------------------------------------------------------------- private

    def _note(
        self,
        key: Key,
        tensor: Tensor,
        turns: tuple[int, ...],
        cut: Callable[[Tensor], Cut | None],
        call: Call | None = None,
    ) -> Value:
        version = None if tensor.is_inference() else tensor._version
        value = self.note(key, tensor, turns, tensor.requires_grad, grad_fn_of(tensor), version, call)
        if not value.requires_grad:
            value.cut = cut(tensor)
        return value

    def _note_module(
        self, key: Key, module: nn.Module, turns: tuple[int, ...], cut: Callable[[Tensor], Cut | None]
    ) -> list[Value]:
        """Note a module's parameters, their paths behind the key's; those its first call makes, behind that call."""
        if waits(module):
            self._lazy.append((key, module, turns, cut))
        node, output, within = key
        return [self._note((node, output, within + path), leaf, turns, cut) for path, leaf in parameters_of(module)]

    def _made_meanwhile(self) -> list[Value]:
        """Parameters of lazy modules that have had their first call."""
        lazy, self._lazy = self._lazy, []
        return [value for key, module, turns, cut in lazy for value in self._note_module(key, module, turns, cut)]

    def _replaced(self, value: Value) -> None:
        """Another value takes the place of this one: it is not kept, and a leaf nobody is any more is not watched."""
        self._edgeless.pop(value.key, None)
        if value.requires_grad:
            self.kept.drop(value)
        leaf = self.leaves.get(identity(value.tensor)) if value.was_leaf and value.requires_grad else None
        if leaf is not None:
            leaf.users -= 1
            if leaf.users == 0:
                del self.leaves[identity(leaf.tensor)]

    def _leaf(self, tensor: Tensor) -> Leaf:
        leaf = self.leaves.get(identity(tensor))
        if leaf is None:
            leaf = self.leaves[identity(tensor)] = watch(tensor, self.backwards)
        return leaf

    def _changed_by_hand(self, leaf: Leaf, now: tuple[int, int] | None, by: ItemId) -> None:
        grad = leaf.tensor.grad
        if now is None:
            leaf.cleared_at, leaf.emptied_by, leaf.parts = self.backwards, by, []
            leaf.returned = leaf.refused = False
        elif leaf.seen is None or leaf.seen[0] != now[0] or (grad is not None and not held_part(grad).detach().any()):
            leaf.parts = []
        leaf.seen = now

    def _leaf_summary(self, leaf: Leaf, node: ItemId | None) -> Summary | None:
        grad, now = leaf.tensor.grad, glance(leaf.tensor.grad)
        if grad is None or now is None:
            return None
        if leaf.summary is None or leaf.summary[0] != now:
            if node is not None and self.visible is not None and node not in self.visible:
                return outline(grad)
            leaf.summary = (now, summarise(grad, self.max_values))
        return leaf.summary[1]


def _order_of(value: Value) -> int:
    return value.order
