"""The seven states of a gradient, each with its sentence: the first that holds (semantics §7). Pure."""

from gradstudio.engine.gradient.tensor_watch import Cut, Leaf, Value
from gradstudio.graph.model import ItemId
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.records import GradState

NOBODY = ItemId("")


def cut_here(node: ItemId, operator: str, block: ItemId | None, dtype: str, differentiable: bool) -> Cut:
    """The cut at a statement whose input requires grad and whose result does not.

    Args:
        node, operator: of the statement.
        block: the block around it that switches gradients off, if there is one.
        dtype: of the result; `differentiable` when it is floating or complex.
    """
    name = operator.rpartition(".")[2]
    if block is not None:
        return Cut(True, block, "Cut here: the block around it switches gradients off.")
    if not differentiable:
        return Cut(True, node, f"Cut here: {name} gives {dtype}, which has no gradient.")
    return Cut(True, node, f"Cut here: {name} gives a tensor that does not require grad.")


def inherit_cut(cut: Cut) -> Cut:
    """What a cut further up means for a value made from the one that was cut."""
    reason = cut.reason.replace("Cut here:", "It does not require grad; cut further up:") if cut.here else cut.reason
    return Cut(False, cut.node, reason)


def state_of_value(value: Value, backwards: int) -> tuple[GradState, str, ItemId]:
    """State, sentence and the node it names, of a tensor that is no leaf that requires grad."""
    if value.requires_grad and backwards <= value.made_at:
        return "not_run", words.NOT_RUN, NOBODY
    if not value.requires_grad:
        return _not_required(value.cut)
    if value.summary is not None and value.grad is not None:
        if value.after_write and value.written is not None:
            return "value", words.value_after(value.written.last[1]), NOBODY
        return "value", words.VALUE, NOBODY
    if value.summary is not None:
        return "not_retained", "It had to make room; only its summary was kept.", NOBODY
    if not value.recorded:
        return "not_retained", "The run was not traced, so the gradients of non-leaves were not kept.", NOBODY
    return ("not_reached", *(value.unreached or (words.NOT_REACHED, NOBODY)))


def state_of_leaf(leaf: Leaf, backwards: int, last_backward: int | None, pass_number: int) -> tuple[GradState, str]:
    """State and sentence of a leaf that requires grad, or still has a `.grad`."""
    if not leaf.tensor.requires_grad:
        return _state_of_frozen(leaf, last_backward, pass_number)
    if backwards <= leaf.cleared_at and leaf.tensor.grad is not None:
        return "value", words.UNWATCHED
    if backwards <= leaf.cleared_at:
        return "not_run", words.NOT_RUN if leaf.emptied_by is None else words.EMPTIED
    if leaf.tensor.grad is None:
        if leaf.refused:
            return "not_retained", "It was computed, but the backward ended in an error before anybody had it."
        if leaf.returned:
            return "not_retained", "torch.autograd.grad returned its gradient and left .grad alone."
        return "not_reached", words.NOT_REACHED
    return _state_of_grad(leaf, last_backward, pass_number)


def _state_of_frozen(leaf: Leaf, last_backward: int | None, pass_number: int) -> tuple[GradState, str]:
    """Of one whose `.grad` outlived `requires_grad`."""
    state, reason = _state_of_grad(leaf, last_backward, pass_number)
    return state, f"{reason if leaf.parts else words.BY_HAND} {words.FROZEN_NOW}"


def _state_of_grad(leaf: Leaf, last_backward: int | None, pass_number: int) -> tuple[GradState, str]:
    """Of one whose `.grad` is there."""
    older = [part for part in leaf.parts if part.backward != last_backward]
    if not older:
        return "value", words.LEAF_VALUE
    if words.is_untouched(leaf.parts, pass_number):
        return "value", words.untouched_sentence(leaf.parts[0])
    return "accumulated", words.accumulation_sentence(leaf.parts, pass_number)


def _not_required(cut: Cut | None) -> tuple[GradState, str, ItemId]:
    if cut is None:
        return "not_required", words.NOT_REQUIRED, NOBODY
    return ("cut" if cut.here else "not_required"), cut.reason, cut.node
