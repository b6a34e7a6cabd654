"""The context menu of a card or a frame: what is done every day first, the rest in submenus by subject."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import BlockKind, ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.recipes.effect_statements import BACKWARD
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.graph.text.drawn_bodies import bodies_in
from gradstudio.layout.placement.alignment import Side
from gradstudio.operators.calls.equivalent_calls import as_written, spellings
from gradstudio.operators.model import Face
from gradstudio.program.code_cards import can_split, next_card
from gradstudio.program.merging.whole_merge import draw_code
from gradstudio.ui.canvas.menus.card_display_menu import display_rows, part_rows
from gradstudio.ui.canvas.menus.debug_menu import node_rows
from gradstudio.ui.canvas.menus.group_menu import card_rows, group_rows, step_rows
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
from gradstudio.ui.canvas.menus.menu_rows import AnyRow, Below, Row
from gradstudio.ui.canvas.menus.module_menu import initialiser_rows, module_rows

if TYPE_CHECKING:
    from gradstudio.document.python.wrap_edits import TypedBlock

BLOCKS: Final[tuple[tuple[BlockKind, str], ...]] = (
    ("no_grad", "no_grad\tgraph.wrap"),
    ("enable_grad", "enable_grad"),
    ("inference_mode", "inference_mode"),
    ("set_grad_enabled", "set_grad_enabled"),
    ("set_detect_anomaly", "set_detect_anomaly"),
    ("autocast", "autocast"),
    ("for", "for"),
    ("if", "if (prints or code)"),
    ("group", "group"),
)
TYPED_BLOCKS: "Final[tuple[tuple[TypedBlock, str], ...]]" = (("while", "while"), ("try", "try"))
SIDES: Final[tuple[tuple[Side, str], ...]] = (
    ("left", "Align left edges\tedit.align_left"),
    ("right", "Align right edges\tedit.align_right"),
    ("top", "Align upper edges\tedit.align_top"),
    ("bottom", "Align lower edges\tedit.align_bottom"),
    ("center", "Align centres\tedit.align_center"),
    ("middle", "Align middles\tedit.align_middle"),
)
LOSSES: Final = "Losses"
TRAINING = (BACKWARD, "torch.optim.")
"""Cards whose menu leads to what is done with a training as a whole."""


def item_rows(canvas: MenuCanvas, item: ItemId, leaf: str = "") -> Iterator[AnyRow]:
    """All that can be done with a node or a block; `leaf` is the parameter of a module that was clicked."""
    graph = canvas.scene.graph
    node = graph.nodes.get(item)
    if canvas.scene.results.failure(item) is not None:
        yield "Show the error", lambda: canvas.show_problem(item)
        yield None
    if item in CARDS:
        yield from card_rows(canvas, item)
        return
    yield from step_rows(canvas, item)
    if recipes.has_names(graph, item):
        yield "Rename…\tgraph.rename", canvas.field_commands.rename_current
    if node is None:
        yield "Remove block, keep its contents", canvas.selection_commands.unwrap_selection
    if recipes.replaceable_node(graph, item) is not None:
        yield "Replace…\tgraph.replace", lambda: canvas.searching.open_replace(item)
    yield from _code_rows(canvas, item)
    if _can_be_learnt(canvas, item):
        yield "Add training\tgraph.training", partial(canvas.command_requested.emit, "graph.training")
        yield "Add training with…\tgraph.ask_training", partial(canvas.command_requested.emit, "graph.ask_training")
    if node is not None and node.operator.startswith(TRAINING):
        yield "Distribute…\tgraph.distribute", partial(canvas.command_requested.emit, "graph.distribute")
    yield "Edit note…\tgraph.note", lambda: canvas.note_commands.edit_note(item)
    yield "Duplicate\tedit.duplicate", canvas.selection_commands.duplicate_selection
    yield "Delete\tedit.delete", canvas.selection_commands.delete_selection
    yield None
    yield from part_rows(canvas, item)
    yield None
    yield Below("Edit", _edit_rows(canvas, item))
    yield Below("Look", display_rows(canvas))
    yield Below("Arrange", _arrange_rows(canvas))
    yield Below("Wires", _wire_rows(canvas, item))
    yield Below("Group", _group_rows(canvas, item))
    if node is not None:
        yield Below("Module", _module_rows(canvas, item, leaf))
        yield Below("Debug", node_rows(canvas, item))


def _can_be_learnt(canvas: MenuCanvas, item: ItemId) -> bool:
    """Whether a card is a loss, or what a backward would begin with, and no loop goes over it yet."""
    graph, operator = canvas.scene.graph, operator_of(canvas.scene.graph, item)
    if operator is None or canvas.session.scope.path or graph.loop_around(item) is not None:
        return False
    is_loss = operator.category == LOSSES and operator.face is not Face.CONSTRUCTOR
    return is_loss or analyse(graph).root == item


def _code_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[AnyRow]:
    """Undrawn Python on more cards, or on fewer."""
    if can_split(canvas.scene.graph, item):
        yield "Split\tgraph.split_code", partial(canvas.command_requested.emit, "graph.split_code")
    if is_code_at(canvas.scene.graph, item):
        yield Below("Wrap in", block_rows(canvas))
    if next_card(canvas.scene.graph, item) is not None:
        yield "Merge with next\tgraph.merge_code", partial(canvas.command_requested.emit, "graph.merge_code")
    graph = canvas.scene.graph
    bodies = bodies_in(graph.nodes[item]) if item in graph.nodes else ()
    for name in bodies:
        if name in graph.definitions:
            yield f"Look into {name}", partial(canvas.session.scope.look_into, name)
    if not canvas.session.scope.path and is_code_at(canvas.scene.graph, item) and draw_code(canvas.scene.graph, item):
        yield "Draw\tgraph.draw_code", partial(canvas.command_requested.emit, "graph.draw_code")


def _edit_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[AnyRow]:
    """The clipboard, deleting with reconnect, defaults, other spellings."""
    yield "Cut\tedit.cut", canvas.clipboard_commands.cut
    yield "Copy\tedit.copy", canvas.clipboard_commands.copy
    yield "Copy as Python\tedit.copy_python", canvas.clipboard_commands.copy_python
    yield "Duplicate with inputs\tedit.duplicate_wired", canvas.selection_commands.duplicate_wired
    yield "Delete and reconnect\tedit.delete_reconnect", canvas.card_arrangement.delete_and_reconnect
    yield None
    differing = recipes.changed_arguments(canvas.scene.graph, item)
    if differing:
        words = (
            "Reset its value to the default" if len(differing) == 1 else f"Reset {len(differing)} values to defaults"
        )
        yield words, lambda: canvas.field_commands.reset_ports(differing)
    yield Below("Write as", _spelling_rows(canvas, item))


def _spelling_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """The same computation in other words; wires and literals stay."""
    operator = operator_of(canvas.scene.graph, item)
    for other in spellings(operator) if operator is not None else ():
        words = as_written(other)
        yield words, partial(canvas.store.attempt, recipes.replace_operator, f"Write as {words}", item, other.key)


def _arrange_rows(canvas: MenuCanvas) -> Iterator[Row]:
    """Earlier and later in the program; edges of several on one line."""
    yield "Earlier\tgraph.earlier", canvas.selection_commands.move_earlier
    yield "Later\tgraph.later", canvas.selection_commands.move_later
    yield None
    yield "Tidy\tgraph.tidy", partial(canvas.command_requested.emit, "graph.tidy")
    if len(canvas.attention.selection) > 1:
        yield None
        for side, words in SIDES:
            yield words, partial(canvas.card_arrangement.align_selection, side)
        yield (
            "Equal gaps across\tedit.distribute_across",
            partial(canvas.card_arrangement.distribute_selection, "across"),
        )
        yield "Equal gaps down\tedit.distribute_down", partial(canvas.card_arrangement.distribute_selection, "down")


def _wire_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """What feeds it and follows it, and where backward begins."""
    graph = canvas.scene.graph
    node = graph.nodes.get(item)
    if node is not None and canvas.wire_commands.can_connect():
        yield "Connect…\tgraph.connect", canvas.wire_commands.connect_selected
    if node is not None and recipes.swappable_operands(graph, item) is not None:
        yield "Swap inputs\tgraph.swap_inputs", canvas.wire_commands.swap_inputs
    yield None
    yield "Select what feeds it\tselect.feeding", canvas.wire_commands.select_feeding
    yield "Select what follows it\tselect.following", canvas.wire_commands.select_following
    yield (
        f"{'No longer trace' if canvas.wire_commands.is_tracing() else 'Trace'} its wires\tview.trace",
        canvas.wire_commands.toggle_trace,
    )
    yield None
    if node is not None and node.names and "root" not in node.marks:
        yield "Start backward here (root)", lambda: canvas.selection_commands.mark_root(item, True)
    elif node is not None and "root" in node.marks:
        yield "Do not start backward here", lambda: canvas.selection_commands.mark_root(item, False)


def _group_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[AnyRow]:
    """Making a group or a block of the selection, and what is done with one that is there."""
    yield from group_rows(canvas, item)
    yield Below("Wrap in", block_rows(canvas))


def block_rows(canvas: MenuCanvas) -> Iterator[Row]:
    """The blocks that the selection may be put into; those that are typed around lines, in the program alone."""
    kinds = BLOCKS if canvas.session.scope.path else (*BLOCKS, *TYPED_BLOCKS)
    for kind, text in kinds:
        yield text, partial(canvas.selection_commands.wrap_selection, kind)


def _module_rows(canvas: MenuCanvas, item: ItemId, leaf: str) -> Iterator[AnyRow]:
    """What is done with a layer: another call, its mode, how its parameters begin."""
    yield from module_rows(canvas, item)
    yield from initialiser_rows(canvas, item, leaf)
