"""Mistakes that torch runs without a word: seen in the graph and the known shapes, before a run and after.

A look is a row of `LOOKS`; what is inside functions and classes of the program is looked at in each of their calls.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from gradstudio.advice.diagnosis.data import argument_values, turn_slips, value_scales
from gradstudio.advice.diagnosis.data.batch_mixing import MIXING, mixed_examples
from gradstudio.advice.diagnosis.data.row_origins import RowOrigins
from gradstudio.advice.diagnosis.data.split_slips import split_slips
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes import (
    activation_mistakes,
    constant_terms,
    copy_mistakes,
    layer_mistakes,
    leaked_data,
    loop_mistakes,
    loss_mistakes,
    lost_terms,
    optimizer_mistakes,
    recurrent_mistakes,
    shape_mistakes,
    target_mistakes,
)
from gradstudio.advice.diagnosis.mistakes.remade_models import remade_models
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.diagnosis.slips import (
    attribute_slips,
    class_counts,
    code_order_slips,
    code_slips,
    cut_choices,
    data_scales,
    data_slips,
    mask_slips,
    model_slips,
    sequence_slips,
    similarity_slips,
    training_slips,
)
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.slices import AT_ONCE, Slices, stop_if, work_through
from gradstudio.graph.text.code_records import CODE, FREE_METHOD

NODES_AT_ONCE: Final = 100
"""Of a long program so many are looked at between two stops."""
Look = Callable[[ProgramView, ItemId, str, Lookup], Iterator[Finding]]
CHANCES_COMPARED = frozenset({"binary_cross_entropy", "BCELoss"})
EVERY_LOSS = loss_mistakes.CROSS | loss_mistakes.ELEMENTWISE | loss_mistakes.LOGITS | CHANCES_COMPARED
COMPARING = EVERY_LOSS | loss_mistakes.DIFFERENCES
LOOKS: dict[str, tuple[Look, ...]] = {}
"""By the word of an operator, or of the class of a layer that is called or made."""
for _words, _look in (
    (loss_mistakes.COMPARISONS, loss_mistakes.broadcasts),
    (loss_mistakes.CROSS, loss_mistakes.twice_softmax),
    (loss_mistakes.LOGITS, loss_mistakes.twice_sigmoid),
    (activation_mistakes.DOUBLED, activation_mistakes.doubled),
    (loss_mistakes.CHANCES, activation_mistakes.unscaled_scores),
    (loss_mistakes.CHANCES | loss_mistakes.LOGARITHMS, activation_mistakes.masked_with_zero),
    (constant_terms.GRADIENTS, constant_terms.constant_penalty),
    (copy_mistakes.LOADS, copy_mistakes.kept_reference),
    (copy_mistakes.SECOND_NAMES, copy_mistakes.second_name),
    (copy_mistakes.MAKES, copy_mistakes.lost_fractions),
    (lost_terms.NUMBERS, lost_terms.lost_term),
    (lost_terms.STEPPED, lost_terms.flat_term),
    (lost_terms.CUTS, lost_terms.constant_penalty),
    (frozenset({"getitem"}), recurrent_mistakes.exchanged_time),
    (loss_mistakes.CROSS | loss_mistakes.LOGITS, loss_mistakes.cut_scores),
    (loss_mistakes.NLL | loss_mistakes.DIVERGENCES, loss_mistakes.no_logarithm),
    (loss_mistakes.CROSS | loss_mistakes.ELEMENTWISE | loss_mistakes.LOGITS, loss_mistakes.shuffled_apart),
    (loss_mistakes.CROSS | loss_mistakes.LOGITS | CHANCES_COMPARED, target_mistakes.swapped),
    (loss_mistakes.CROSS, target_mistakes.no_chances),
    (loss_mistakes.CROSS, target_mistakes.one_class),
    (loss_mistakes.ELEMENTWISE | loss_mistakes.DIFFERENCES, target_mistakes.out_of_reach),
    (loss_mistakes.LOGITS | CHANCES_COMPARED, target_mistakes.beyond_chances),
    (COMPARING, target_mistakes.shuffled_inputs),
    (EVERY_LOSS, target_mistakes.leaked_target),
    (shape_mistakes.FLOORS, shape_mistakes.rounds_down),
    (shape_mistakes.DIVISIONS, shape_mistakes.mixed_dimensions),
    (shape_mistakes.VIEWS, shape_mistakes.view_for_transpose),
    (shape_mistakes.SOFTMAXES, shape_mistakes.batch_softmax),
    (shape_mistakes.SOFTMAXES | {"Sequential"}, shape_mistakes.single_softmax),
    (frozenset({"Sequential"}), shape_mistakes.batch_softmax_inside),
    (frozenset({"Sequential"}), layer_mistakes.linear_upon_linear),
    (frozenset({"Sequential", "ModuleList"}), layer_mistakes.shared_layers),
    (layer_mistakes.DROPOUTS, layer_mistakes.always_drops),
    (layer_mistakes.DROPPING | {"Sequential"}, layer_mistakes.drops_all),
    (loss_mistakes.CROSS | loss_mistakes.LOGITS | loss_mistakes.ELEMENTWISE, layer_mistakes.drops_scores),
    (loss_mistakes.RECTIFIERS | {"clamp", "clip"}, target_mistakes.hinge_of_chances),
    (data_slips.SEEDS, data_slips.seed_each_turn),
    (data_slips.WRAPPING, data_slips.wraps_around),
    (loss_mistakes.CROSS | loss_mistakes.NLL, data_slips.counted_padding),
    (loss_mistakes.CROSS | loss_mistakes.NLL, class_counts.missing_classes),
    (mask_slips.ATTENTION, mask_slips.turned_mask),
    (mask_slips.FILLS, mask_slips.masked_behind_softmax),
    (mask_slips.FILLS | {"where"}, mask_slips.turned_fill),
    (loss_mistakes.CROSS, sequence_slips.copied_input),
    (loss_mistakes.CROSS, similarity_slips.narrow_scores),
    (loss_mistakes.CROSS, similarity_slips.scores_of_itself),
    (recurrent_mistakes.RECURRENT, recurrent_mistakes.read_padding),
    (mask_slips.FILLS | {"where"}, mask_slips.hidden_tokens),
    (data_scales.CONVOLUTIONS | {"Sequential"}, data_scales.bytes_as_they_are),
    (data_scales.CONVOLUTIONS | {"Sequential"}, data_scales.channels_last),
    (cut_choices.LOOKUPS, cut_choices.untaught_encoder),
    (cut_choices.SAMPLES, cut_choices.draw_without_graph),
    (EVERY_LOSS, lost_terms.constant_loss),
    (CHANCES_COMPARED, target_mistakes.scores_for_chances),
    (model_slips.LINEAR, model_slips.linear_of_linear),
    (frozenset({"list"}), model_slips.one_layer_repeated),
    (model_slips.PARAMETER, model_slips.computed_parameter),
    (frozenset({"add"}), model_slips.added_along_the_batch),
    (frozenset({"add"}), loss_mistakes.column_added),
    (training_slips.CLIPS, training_slips.scaled_clip),
    (training_slips.CHOOSING, training_slips.wrong_choice),
    (attribute_slips.WRITES, attribute_slips.unknown_attribute),
    (frozenset(argument_values.SIGNED), argument_values.signed_target),
    (frozenset({"getitem"}), argument_values.places_for_mask),
    (mask_slips.FILLS | {"where"}, argument_values.filled_with_zero),
    (argument_values.CUTTING, argument_values.nothing_left),
    (argument_values.WEIGHED, argument_values.weighs_the_frequent),
    (frozenset({"truediv", "div"}), turn_slips.wrong_share),
    (argument_values.GUARDS, argument_values.lost_guard),
    (loss_mistakes.LOGITS, value_scales.bound_for_chances),
    (frozenset(value_scales.IN_ORDER), value_scales.crossed_names),
):
    for _word in _words:
        LOOKS[_word] = (*LOOKS.get(_word, ()), _look)


class _Noted(NamedTuple):
    """What is looked at once more when all are known: calls, and what mixes rows, writes in place or compares."""

    calls: list[ItemId]
    mixing: list[ItemId]
    writes: list[ItemId]
    comparing: list[ItemId]


def silent_mistakes(graph: Graph, lookup: Lookup) -> tuple[Finding, ...]:
    """All of them, in program order.

    Args:
        lookup: what is known of a value: its record, or what inference expects.
    """
    return work_through(silent_slices(graph, lookup))


def silent_slices(graph: Graph, lookup: Lookup) -> Slices[tuple[Finding, ...]]:
    """The same in slices; the graph stays as it is meanwhile."""
    found, noted = list[Finding](), _Noted([], [], [], [])
    view = ProgramView(graph)
    keys = {node.operator for node in written_nodes(graph)}
    if any(map(_may_be_one, keys)):
        found += yield from _of_nodes(view, lookup, noted)
    for look in _of_programs(view, lookup, noted):
        yield from stop_if(graph.nodes)
        found += look()
    if graph.definitions and any(map(optimizer_mistakes.makes_optimizer, keys)):
        found += optimizer_mistakes.steps_in_functions(view)
    if training_slips.DETACH in keys:
        found += training_slips.praised_fakes(view)
    if CODE in keys:
        found += [*leaked_data.uncalled_acts(graph), *leaked_data.whole_programs(graph)]
        found += [*code_slips.of_code(graph), *attribute_slips.of_code(graph), *code_order_slips.of_order(graph)]
    return tuple({(one.kind, one.title, path_of(one.node)[-1]): one for one in reversed(found)}.values())[::-1]


def _of_nodes(view: ProgramView, lookup: Lookup, noted: _Noted) -> Slices[list[Finding]]:
    """What is wrong at single nodes; what is looked at later is noted."""
    found, is_long = list[Finding](), len(view.graph.nodes) > AT_ONCE
    for number, (full, inner, item) in enumerate(view.insides(), start=1):
        if is_long and not number % NODES_AT_ONCE:
            yield
        node = inner.nodes.get(item)
        if node is None or node.bypassed or node.muted or not _may_be_one(node.operator):
            continue
        word = view.word(full)
        if word in MIXING:
            noted.mixing.append(full)
        if word in COMPARING:
            noted.comparing.append(full)
        if turn_slips.writes_in_place(node.operator):
            noted.writes.append(full)
        for look in LOOKS.get(word, ()):
            found += look(view, full, word, lookup)
        if node.operator == CALL:
            noted.calls.append(full)
            found += leaked_data.trained_on_test(view, full, word, lookup)
            found += data_scales.other_scale(view, full, word, lookup)
    return found


def _of_programs(view: ProgramView, lookup: Lookup, noted: _Noted) -> tuple[Callable[[], Iterable[Finding]], ...]:
    """Looks at what was noted, and at the whole."""
    origins, graph = RowOrigins(view, lookup), view.graph
    return (
        lambda: split_slips(view, lookup, origins, noted.calls),
        lambda: mixed_examples(view, lookup, origins, noted.mixing),
        lambda: value_scales.other_scale_of_targets(view, lookup, origins, noted.comparing),
        lambda: value_scales.two_orders(view, origins, noted.comparing),
        lambda: turn_slips.mixed_with_itself(view, noted.writes, lookup),
        lambda: turn_slips.written_data(view, noted.writes, lookup, origins),
        lambda: remade_models(view),
        lambda: loop_mistakes.of_loops(graph),
        lambda: optimizer_mistakes.of_optimizers(graph, lookup),
    )


def _may_be_one(key: str) -> bool:
    """Whether a node of an operator is looked at; of a called module, its class decides."""
    word = key.partition(":")[0].rpartition(".")[2]
    return (
        key in (CALL, FREE_METHOD)
        or word in LOOKS
        or word in MIXING
        or word.rstrip("_") in LOOKS
        or turn_slips.writes_in_place(key)
    )
