"""Gestures as pure functions: each reads a graph and returns the edits, or refuses in words."""

from gradstudio.graph.recipes.blocks import move_into, unwrap, wrap
from gradstudio.graph.recipes.drafts import Draft
from gradstudio.graph.recipes.nodes import (
    add_operator,
    move,
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
from gradstudio.graph.recipes.repairs import (
    add_identity,
    clone_before_write,
    feed,
    functional_key,
    in_turn,
    insert,
    move_behind,
    out_of_place,
    replace_operator,
    statement_before,
)
from gradstudio.graph.recipes.statements import append_backward, earlier, later
from gradstudio.graph.recipes.wires import (
    connect,
    disconnect,
    disconnect_all,
    insert_on_wire,
    join_list,
    replace_target,
    split_list,
)

__all__ = [
    "Draft",
    "add_identity",
    "add_operator",
    "append_backward",
    "clone_before_write",
    "connect",
    "delete",
    "disconnect",
    "disconnect_all",
    "earlier",
    "feed",
    "functional_key",
    "in_turn",
    "insert",
    "insert_on_wire",
    "join_list",
    "later",
    "move",
    "move_behind",
    "move_into",
    "out_of_place",
    "remove_block",
    "rename",
    "replace_operator",
    "replace_target",
    "set_bypassed",
    "set_document_device_port",
    "set_header",
    "set_literal",
    "set_mark",
    "set_muted",
    "set_note",
    "split_list",
    "statement_before",
    "unwrap",
    "wrap",
]
