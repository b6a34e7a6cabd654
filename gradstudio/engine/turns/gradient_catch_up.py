"""What is known of gradients behind turns that nobody recorded."""

from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.gradient_states import NOBODY
from gradstudio.engine.gradient.tensor_watch import Leaf, glance
from gradstudio.protocol.messages.events import GradPart


def catch_up(gradients: Gradients, backwards: int) -> None:
    """So many backwards have run without a record: look at every leaf as it is now."""
    gradients.backwards += backwards
    if backwards:
        gradients.last_backward = gradients.backwards
    for leaf in gradients.leaves.values():
        _look_at(leaf, gradients, backwards)


def _look_at(leaf: Leaf, gradients: Gradients, backwards: int) -> None:
    now = glance(leaf.tensor.grad)
    leaf.summary = None  # another `.grad` may lie where the last one did
    leaf.returned = leaf.refused = False
    if now is None:
        if leaf.seen is not None and leaf.emptied_by is None:
            leaf.emptied_by = NOBODY
        leaf.parts, leaf.cleared_at = [], gradients.backwards
    elif backwards:
        sums_up = len(leaf.parts) > 1 or (bool(leaf.parts) and leaf.seen is None)
        part = GradPart(gradients.pass_number, gradients.backwards)
        leaf.parts = [*leaf.parts, part] if sums_up else [part]
    leaf.seen = now
