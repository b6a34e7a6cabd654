"""Ways out as edits: each rule names kinds, and a kind with the graph and the failure makes one undo step."""

from collections.abc import Callable, Iterator

import msgspec

from gradstudio.advice.cut_chains import Cut, cut_inside, find_cut
from gradstudio.advice.explanation import (
    failed_of,
    of_operator,
    stepped_between,
)
from gradstudio.advice.failure_case import Case, Lookup, Offer
from gradstudio.advice.failure_sentences import (
    LOSS_PORTS,
    carried_graph,
    made_before_loop,
    swapped_words,
    uncalled_layer,
)
from gradstudio.advice.fixes import (
    argument_fixes,
    dimension_fixes,
    gradient_fixes,
    layer_fixes,
    shape_fixes,
    value_fixes,
)
from gradstudio.advice.fixes.inside_calls import fixes_where, id_inside, lookup_item
from gradstudio.advice.fixes.recipe_trial import edits_of
from gradstudio.advice.model import Fix, FixKind, Rule
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.advice.rules.gradient_errors import CARRIED, CUT_OFF, STEPPED
from gradstudio.advice.rules.missing_packages import install_advice
from gradstudio.advice.rules.torch_warnings import WARNINGS
from gradstudio.advice.text_causes import cause_in_text
from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.events import Failed, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Record

Maker = Callable[[Case, FixKind], Iterator[Offer]]
MAKERS: dict[str, Maker] = {
    "absolute": shape_fixes.absolute,
    "allowed": argument_fixes.allowed,
    "as_tensor": value_fixes.as_tensor,
    "batch": shape_fixes.batch,
    "behind_backward": gradient_fixes.behind_backward,
    "cast": value_fixes.cast,
    "cast_all": value_fixes.cast_all,
    "cast_floating": argument_fixes.cast_floating,
    "cast_named": value_fixes.cast_named,
    "cast_to": value_fixes.cast_to,
    "classes_second": layer_fixes.classes_second,
    "clamp_any": dimension_fixes.clamp_any,
    "clamp_index": shape_fixes.clamp_index,
    "clamp_unit": dimension_fixes.clamp_unit,
    "clone": gradient_fixes.clone,
    "clone_base": gradient_fixes.clone_base,
    "clone_inference": gradient_fixes.clone_inference,
    "create_graph": gradient_fixes.create_graph,
    "detach_shared": gradient_fixes.detach_shared,
    "device_cpu": value_fixes.device_cpu,
    "detach_carried": gradient_fixes.detach_carried,
    "dim": shape_fixes.choose_dim,
    "document_device": value_fixes.document_device,
    "each_rank": dimension_fixes.each_rank,
    "even_parts": layer_fixes.even_parts,
    "exchange": dimension_fixes.exchange,
    "fewer_indices": shape_fixes.fewer_indices,
    "flatten_input": argument_fixes.flatten_input,
    "heads": layer_fixes.heads,
    "identity": value_fixes.identity,
    "infer_size": shape_fixes.infer_size,
    "insert": value_fixes.insert_port,
    "insert_first": value_fixes.insert_port,
    "join_dim": shape_fixes.join_dim,
    "keepdim": shape_fixes.keepdim,
    "largest_count": argument_fixes.largest_count,
    "last_index": shape_fixes.last_index,
    "lead_sizes": dimension_fixes.lead_sizes,
    "module_literal": shape_fixes.module_literal,
    "no_grad": gradient_fixes.no_grad,
    "not_inference": gradient_fixes.not_inference,
    "one_turn": shape_fixes.one_turn,
    "one_unknown": dimension_fixes.one_unknown,
    "ones": gradient_fixes.ones,
    "out_of_place": gradient_fixes.out_of_place,
    "outputs_for_classes": layer_fixes.outputs_for_classes,
    "permute_channels": shape_fixes.permute_channels,
    "point": value_fixes.point,
    "rank": argument_fixes.rank,
    "rank_alike": argument_fixes.rank_alike,
    "reduce": gradient_fixes.reduce_root,
    "replace": value_fixes.replace,
    "replace_if": dimension_fixes.replace_if,
    "require_inputs": gradient_fixes.require_inputs,
    "require_leaf": gradient_fixes.require_leaf,
    "require_own_leaf": gradient_fixes.require_own_leaf,
    "reshape_target": shape_fixes.reshape_target,
    "retain_grad": gradient_fixes.retain_grad,
    "retain_graph": gradient_fixes.retain_graph,
    "reverse_dims": dimension_fixes.reverse_dims,
    "set": value_fixes.set_text,
    "shorter": argument_fixes.shorter,
    "softmax_first": dimension_fixes.softmax_first,
    "squeeze_target": shape_fixes.squeeze_target,
    "step_behind": gradient_fixes.step_behind,
    "stay": value_fixes.stay,
    "subscripts": shape_fixes.subscripts,
    "swap": argument_fixes.swap,
    "to_device": value_fixes.to_device,
    "transpose": shape_fixes.transpose,
    "transpose_any": dimension_fixes.transpose_any,
    "transpose_mask": dimension_fixes.transpose_mask,
    "uncall": value_fixes.uncall,
    "uncut": gradient_fixes.uncut,
    "unique_dims": argument_fixes.unique_dims,
    "unsqueeze": shape_fixes.unsqueeze,
    "unsqueeze_index": shape_fixes.unsqueeze_index,
    "whole": value_fixes.whole,
}
"""What a `FixKind` names: from a case to titles and recipes; a recipe that refuses is not offered."""
MAX_FIXES = 6


def _unknown(_item: ItemId, _output: int) -> Record | None:
    return None


def fixes_for(failed: Failed, graph: Graph, lookup: Lookup = _unknown) -> tuple[Fix, ...]:
    """The ways out of a failure: those that are edits and apply to this graph first, then those in words.

    Args:
        lookup: the newest record of an item's output, where the failure does not tell it.
    """
    here, inside = msgspec.structs.replace(failed, node=id_inside(failed.node)), _inside(failed.node, lookup)
    return fixes_where(graph, failed.node, lambda around: _fixes_in(here, around, inside))


def _inside(node: ItemId, lookup: Lookup) -> Lookup:
    """What is known of values beside a node of a run, by their ids there."""
    return lambda item, output: lookup(lookup_item(node, item), output)


def _fixes_in(failed: Failed, graph: Graph, lookup: Lookup) -> tuple[Fix, ...]:
    why = cause_in_text(failed, graph)
    if why is not None:
        return tuple(map(Fix, why.fixes))
    if ways := install_advice(failed.type_name, failed.message):
        return tuple(map(Fix, ways))
    if word := uncalled_layer(failed.message):
        return (Fix(f"Call the layer (nn.{word}()(x))"),)
    if name := made_before_loop(failed, graph):
        return (Fix(f"Compute {name} in the loop, from the inputs on, before its backward"),)
    if swapped_words(failed, graph) is not None:
        return _swap(failed.node, graph)
    is_cut = bool(CUT_OFF.match(failed.type_name, failed.message))
    match find_cut(failed.node, graph) if is_cut else None:
        case None if is_cut and cut_inside(failed.node, graph):
            return (Fix("Compute what is to learn where gradients are on"),)
        case Cut(why="late", leaf=leaf):
            return (Fix(f"Let {leaf} require grad where it is made"),)
        case Cut(why="frozen"):
            return (Fix("Freeze only what is not to learn"),)
        case Cut():
            return _fixes(CUT_OFF, Case(graph, failed, {}, lookup))
    if CARRIED.match(failed.type_name, failed.message) and carried_graph(graph, failed.node) is not None:
        return _fixes(CARRIED, Case(graph, failed, {}, lookup))
    rules = (STEPPED,) if stepped_between(failed, graph) else (*of_operator(graph, failed.node), *RULES)
    for rule in rules:
        groups = rule.groups(failed.type_name, failed.message)
        if groups is not None:
            return _fixes(rule, Case(graph, failed, groups, lookup))
    return ()


def fixes_for_warning(warned: Warned, graph: Graph, lookup: Lookup = _unknown) -> tuple[Fix, ...]:
    """The ways out of what torch warns of: none where the warning is not known."""
    node, inside = id_inside(warned.node), _inside(warned.node, lookup)
    return fixes_where(graph, warned.node, lambda around: _fixes_of_warning(warned, node, around, inside))


def _fixes_of_warning(warned: Warned, node: ItemId, graph: Graph, lookup: Lookup) -> tuple[Fix, ...]:
    for rule in WARNINGS:
        groups = rule.groups(warned.category, warned.message)
        if groups is not None:
            failed = failed_of(PortInference(node=node, refusal=warned.message), graph, lookup)
            return _fixes(rule, Case(graph, failed, groups, lookup))
    return ()


def _swap(loss: ItemId, graph: Graph) -> tuple[Fix, ...]:
    """The two arguments of a loss the other way round."""
    found = [graph.wire_into(loss, port) for ports in LOSS_PORTS for port in ports]
    first, second = [wire for wire in found if wire is not None]
    edits = edits_of(
        graph,
        lambda now: recipes.combine_steps(
            now,
            lambda one: recipes.connect(one, second.source, second.output, loss, first.port),
            lambda two: recipes.connect(two, first.source, first.output, loss, second.port),
        ),
    )
    return (Fix("Give the predictions first, the target second", edits),)


def _fixes(rule: Rule, case: Case) -> tuple[Fix, ...]:
    found: dict[str, Fix] = {}
    said: set[int] = set()
    for kind in rule.kinds if case.item in case.graph else ():
        for title, recipe in MAKERS[kind.maker](case, kind):
            edits = edits_of(case.graph, recipe)
            if edits and title not in found and len(found) < MAX_FIXES:
                found[title] = Fix(title, edits)
                said.add(kind.words)
    words = (Fix(text) for k, text in enumerate(rule.fixes) if k not in said)
    return (*found.values(), *words)
