"""What looking over a whole run, or a whole graph, brings to light."""

from typing import Literal as OneOf
from typing import NamedTuple

from gradstudio.graph.model import ItemId

FindingKind = OneOf[
    "not_finite",
    "backward_not_finite",
    "vanishing",
    "exploding",
    "dead",
    "saturated",
    "no_gradient",
    "accumulates",
    "unordered_write",
    "broadcasts",
    "twice_softmax",
    "twice_sigmoid",
    "cut_scores",
    "shuffled_apart",
    "no_logarithm",
    "frozen_parameter",
    "left_out",
    "no_zero_grad",
    "idle_step",
    "late_step",
    "step_behind_loop",
    "wiped_gradients",
    "idle_clip",
    "old_loss",
    "no_step",
    "no_rate",
    "growth",
    "diverges",
    "rises",
    "growing_graph",
    "kept_graph",
    "batch_softmax",
    "rounds_down",
    "view_for_transpose",
    "always_drops",
    "wrong_mode",
    "made_each_turn",
    "unused_batch",
    "no_turns",
    "no_rows",
    "swapped_target",
    "no_chances",
    "out_of_reach",
    "leaked_target",
    "lost_term",
    "one_class",
    "missing_classes",
    "mixed_dimensions",
    "linear_upon_linear",
    "equal_units",
    "strong_decay",
    "leaked_test",
    "not_called",
    "shared_layer",
    "kept_reference",
    "summed_means",
    "masked_with_zero",
    "whole_code",
    "masked_behind_softmax",
    "turned_mask",
    "seed_each_turn",
    "wraps_around",
    "counted_padding",
    "computed_parameter",
    "added_along_the_batch",
    "scaled_clip",
    "wrong_choice",
    "same_label",
    "lost_gradient",
    "unknown_attribute",
    "undetached",
    "no_shift",
    "sees_future",
    "unscaled",
    "channels_last",
    "cut_code",
    "unsigned_target",
    "places_for_mask",
    "weighs_the_frequent",
    "forgotten_turns",
    "written_data",
    "wrong_share",
    "unmixed_batches",
    "constant_inputs",
    "lost_guard",
]
Severity = OneOf["error", "warning", "info"]


class Finding(NamedTuple):
    """One thing worth telling, at one node.

    Attributes:
        severity: "error": numbers are spoilt; "warning": they are probably not what was meant; "info": a note.
        node: as a run speaks of it: what is inside a call by its id there (`graph.groups.call_ids`).
        title: the cause in one sentence; `explanation` says why, with the figures and what to do.
        path: the nodes the trouble went through, the first one where it began; the node itself is among them.
        backward: in which backward it was seen; 0: in the forward, or in the graph alone.
        place: index among that backward's rows, to look at that moment; -1: it stands from the backward's end on.
        line: of the undrawn Python that the node is, counted from 1; 0: the node as a whole.
    """

    kind: FindingKind
    severity: Severity
    node: ItemId
    title: str
    explanation: str
    path: tuple[ItemId, ...] = ()
    backward: int = 0
    place: int = -1
    line: int = 0


WEIGHT: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}
"""The worst first."""
