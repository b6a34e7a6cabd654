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
    "add_operator",
    "append_backward",
    "connect",
    "delete",
    "disconnect",
    "disconnect_all",
    "earlier",
    "insert_on_wire",
    "join_list",
    "later",
    "move",
    "move_into",
    "remove_block",
    "rename",
    "replace_target",
    "set_bypassed",
    "set_document_device_port",
    "set_header",
    "set_literal",
    "set_mark",
    "set_muted",
    "set_note",
    "split_list",
    "unwrap",
    "wrap",
]
