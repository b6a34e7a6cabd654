"""Gestures as pure functions: each reads a graph and returns the edits, or refuses in words.

A recipe's module is imported when the recipe is first asked for: a window needs none of them before its first picture.
"""

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gradstudio.graph.recipes.defaults import changed_arguments, default_of, is_changed, reset
    from gradstudio.graph.recipes.draft import Draft
    from gradstudio.graph.recipes.effect_statements import append_backward, move_earlier, move_later
    from gradstudio.graph.recipes.fitting_sizes import connect_fitting
    from gradstudio.graph.recipes.grouping.block_wrapping import add_block, move_into, unwrap, wrap
    from gradstudio.graph.recipes.grouping.loop_carry import carriable_wires, carry
    from gradstudio.graph.recipes.modules import (
        add_child,
        call_again,
        connect_leaf,
        free_child_port,
        initialise,
        move_child,
        read_leaf,
        set_frozen,
        set_training,
    )
    from gradstudio.graph.recipes.nodes import (
        add_operator,
        has_names,
        move,
        note_refusal,
        rename,
        set_bypassed,
        set_document_device_port,
        set_header,
        set_literal,
        set_mark,
        set_muted,
        set_note,
    )
    from gradstudio.graph.recipes.removal import delete, remove_block
    from gradstudio.graph.recipes.reordering import put_at
    from gradstudio.graph.recipes.repairs import (
        add_identity,
        clone_before_write,
        combine_steps,
        feed,
        functional_key,
        insert,
        move_behind,
        out_of_place,
        replace_operator,
        statement_before,
    )
    from gradstudio.graph.recipes.replacement import Replacement, replace, replaceable_node
    from gradstudio.graph.recipes.several_nodes import common_arguments, set_literals
    from gradstudio.graph.recipes.value_entry import set_value
    from gradstudio.graph.recipes.wiring.connection import (
        connect,
        disconnect,
        disconnect_all,
        insert_on_wire,
        replace_target,
    )
    from gradstudio.graph.recipes.wiring.dots import add_dot, branch, remove_dots, without_dots
    from gradstudio.graph.recipes.wiring.insertion import insert_existing, is_idle
    from gradstudio.graph.recipes.wiring.list_ports import join_list, move_element, remove_element, split_list
    from gradstudio.graph.recipes.wiring.muting import mute_wires, unmute_wires
    from gradstudio.graph.recipes.wiring.reconnection import Reconnection, delete_and_reconnect, shake_off
    from gradstudio.graph.recipes.wiring.rewiring import move_wires, set_links, swap_inputs, swappable_operands

__all__ = [
    "Draft",
    "Reconnection",
    "Replacement",
    "add_block",
    "add_child",
    "add_dot",
    "add_identity",
    "add_operator",
    "append_backward",
    "branch",
    "call_again",
    "carriable_wires",
    "carry",
    "changed_arguments",
    "clone_before_write",
    "combine_steps",
    "common_arguments",
    "connect",
    "connect_fitting",
    "connect_leaf",
    "default_of",
    "delete",
    "delete_and_reconnect",
    "disconnect",
    "disconnect_all",
    "feed",
    "free_child_port",
    "functional_key",
    "has_names",
    "initialise",
    "insert",
    "insert_existing",
    "insert_on_wire",
    "is_changed",
    "is_idle",
    "join_list",
    "move",
    "move_behind",
    "move_child",
    "move_earlier",
    "move_element",
    "move_into",
    "move_later",
    "move_wires",
    "mute_wires",
    "note_refusal",
    "out_of_place",
    "put_at",
    "read_leaf",
    "remove_block",
    "remove_dots",
    "remove_element",
    "rename",
    "replace",
    "replace_operator",
    "replace_target",
    "replaceable_node",
    "reset",
    "set_bypassed",
    "set_document_device_port",
    "set_frozen",
    "set_header",
    "set_links",
    "set_literal",
    "set_literals",
    "set_mark",
    "set_muted",
    "set_note",
    "set_training",
    "set_value",
    "shake_off",
    "split_list",
    "statement_before",
    "swap_inputs",
    "swappable_operands",
    "unmute_wires",
    "unwrap",
    "without_dots",
    "wrap",
]

_HOMES: Final = {
    "defaults": "changed_arguments default_of is_changed reset",
    "draft": "Draft",
    "fitting_sizes": "connect_fitting",
    "effect_statements": "append_backward move_earlier move_later",
    "grouping.block_wrapping": "add_block move_into unwrap wrap",
    "grouping.loop_carry": "carriable_wires carry",
    "modules": "add_child call_again connect_leaf free_child_port "
    "initialise move_child read_leaf set_frozen set_training",
    "nodes": "add_operator has_names move note_refusal rename set_bypassed set_document_device_port "
    "set_header set_literal set_mark set_muted set_note",
    "removal": "delete remove_block",
    "reordering": "put_at",
    "repairs": "add_identity clone_before_write combine_steps feed functional_key "
    "insert move_behind out_of_place replace_operator statement_before",
    "replacement": "Replacement replace replaceable_node",
    "several_nodes": "common_arguments set_literals",
    "value_entry": "set_value",
    "wiring.connection": "connect disconnect disconnect_all insert_on_wire replace_target",
    "wiring.dots": "add_dot branch remove_dots without_dots",
    "wiring.insertion": "insert_existing is_idle",
    "wiring.list_ports": "join_list move_element remove_element split_list",
    "wiring.muting": "mute_wires unmute_wires",
    "wiring.reconnection": "Reconnection delete_and_reconnect shake_off",
    "wiring.rewiring": "move_wires set_links swap_inputs swappable_operands",
}
"""The recipes of each module of this package, in one string."""


def __getattr__(name: str) -> object:
    """The recipe of that name; Python asks here only for what is not imported yet."""
    for home, names in _HOMES.items():
        if name in names.split():
            module = importlib.import_module(f"{__name__}.{home}")
            globals().update({known: getattr(module, known) for known in names.split()})
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
