"""Ways out as edits: each rule names kinds, and a kind with the graph and the failure makes one undo step."""

from collections.abc import Callable, Iterator

from gradstudio.advice import fix_arguments, fix_dims, fix_gradients, fix_layers, fix_shapes, fix_values
from gradstudio.advice.case import Case, Lookup, Offer
from gradstudio.advice.errors import failed_of, of_operator
from gradstudio.advice.model import Fix, FixKind, Rule
from gradstudio.advice.rules import RULES
from gradstudio.advice.rules_warnings import WARNINGS
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import EditError, Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.inference import PortInference
from gradstudio.protocol.messages import Failed, Warned
from gradstudio.protocol.records import Record

Maker = Callable[[Case, FixKind], Iterator[Offer]]
MAKERS: dict[str, Maker] = {
    "absolute": fix_shapes.absolute,
    "allowed": fix_arguments.allowed,
    "as_tensor": fix_values.as_tensor,
    "batch": fix_shapes.batch,
    "behind_backward": fix_gradients.behind_backward,
    "cast": fix_values.cast,
    "cast_all": fix_values.cast_all,
    "cast_floating": fix_arguments.cast_floating,
    "cast_named": fix_values.cast_named,
    "cast_to": fix_values.cast_to,
    "classes_second": fix_layers.classes_second,
    "clamp_any": fix_dims.clamp_any,
    "clamp_index": fix_shapes.clamp_index,
    "clamp_unit": fix_dims.clamp_unit,
    "clone": fix_gradients.clone,
    "clone_base": fix_gradients.clone_base,
    "clone_inference": fix_gradients.clone_inference,
    "create_graph": fix_gradients.create_graph,
    "device_cpu": fix_values.device_cpu,
    "dim": fix_shapes.choose_dim,
    "document_device": fix_values.document_device,
    "each_rank": fix_dims.each_rank,
    "even_parts": fix_layers.even_parts,
    "exchange": fix_dims.exchange,
    "fewer_indices": fix_shapes.fewer_indices,
    "flatten_input": fix_arguments.flatten_input,
    "heads": fix_layers.heads,
    "identity": fix_values.identity,
    "infer_size": fix_shapes.infer_size,
    "insert": fix_values.insert_port,
    "insert_first": fix_values.insert_port,
    "join_dim": fix_shapes.join_dim,
    "keepdim": fix_shapes.keepdim,
    "largest_count": fix_arguments.largest_count,
    "last_index": fix_shapes.last_index,
    "lead_sizes": fix_dims.lead_sizes,
    "module_literal": fix_shapes.module_literal,
    "no_grad": fix_gradients.no_grad,
    "not_inference": fix_gradients.not_inference,
    "one_turn": fix_shapes.one_turn,
    "one_unknown": fix_dims.one_unknown,
    "ones": fix_gradients.ones,
    "out_of_place": fix_gradients.out_of_place,
    "outputs_for_classes": fix_layers.outputs_for_classes,
    "permute_channels": fix_shapes.permute_channels,
    "point": fix_values.point,
    "rank": fix_arguments.rank,
    "rank_alike": fix_arguments.rank_alike,
    "reduce": fix_gradients.reduce_root,
    "replace": fix_values.replace,
    "replace_if": fix_dims.replace_if,
    "require_inputs": fix_gradients.require_inputs,
    "require_leaf": fix_gradients.require_leaf,
    "require_own_leaf": fix_gradients.require_own_leaf,
    "reshape_target": fix_shapes.reshape_target,
    "retain_grad": fix_gradients.retain_grad,
    "retain_graph": fix_gradients.retain_graph,
    "reverse_dims": fix_dims.reverse_dims,
    "set": fix_values.set_text,
    "shorter": fix_arguments.shorter,
    "softmax_first": fix_dims.softmax_first,
    "squeeze_target": fix_shapes.squeeze_target,
    "stay": fix_values.stay,
    "subscripts": fix_shapes.subscripts,
    "swap": fix_arguments.swap,
    "to_device": fix_values.to_device,
    "transpose": fix_shapes.transpose,
    "transpose_any": fix_dims.transpose_any,
    "transpose_mask": fix_dims.transpose_mask,
    "uncall": fix_values.uncall,
    "uncut": fix_gradients.uncut,
    "unique_dims": fix_arguments.unique_dims,
    "unsqueeze": fix_shapes.unsqueeze,
    "unsqueeze_index": fix_shapes.unsqueeze_index,
    "whole": fix_values.whole,
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
    for rule in (*of_operator(graph, failed.node), *RULES):
        groups = rule.groups(failed.type_name, failed.message)
        if groups is not None:
            return _fixes(rule, Case(graph, failed, groups, lookup))
    return ()


def fixes_for_warning(warned: Warned, graph: Graph, lookup: Lookup = _unknown) -> tuple[Fix, ...]:
    """The ways out of what torch warns of: none where the warning is not known."""
    for rule in WARNINGS:
        groups = rule.groups(warned.category, warned.message)
        if groups is not None:
            failed = failed_of(PortInference(node=warned.node, refusal=warned.message), graph, lookup)
            return _fixes(rule, Case(graph, failed, groups, lookup))
    return ()


def _fixes(rule: Rule, case: Case) -> tuple[Fix, ...]:
    found: dict[str, Fix] = {}
    said: set[int] = set()
    for kind in rule.kinds if case.item in case.graph else ():
        for title, recipe in MAKERS[kind.maker](case, kind):
            edits = _tried(case.graph, recipe)
            if edits and title not in found and len(found) < MAX_FIXES:
                found[title] = Fix(title, edits)
                said.add(kind.words)
    words = (Fix(text) for k, text in enumerate(rule.fixes) if k not in said)
    return (*found.values(), *words)


def _tried(graph: Graph, recipe: Callable[[Graph], Edits]) -> Edits:
    """The recipe's edits, when it does not refuse and they apply; else none."""
    try:
        edits = recipe(graph)
        apply_all(graph.copy(), edits)
    except (Refused, EditError):
        return ()
    return edits
