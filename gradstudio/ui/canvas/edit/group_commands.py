"""What can be done with groups on the canvas: stepping into one and out, its cards of inputs and outputs."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS, INPUTS_CARD, output_names
from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups import definitions
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.names import check
from gradstudio.graph.operator_rows import GROUP, class_name
from gradstudio.scene.card.card_layout import HEADER, ROW
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.in_place_editing import InPlaceEditing
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.document.group_scope import Path
from gradstudio.ui.state.library.user_groups import MINE, add_own


class GroupCommands(QObject):
    """Steps into groups and out, makes and renames them, and changes what flows in and out.

    Attributes:
        cameras_of_scopes: zoom and middle of the view in which each scope was left.
    """

    def __init__(
        self, canvas: CanvasContext, selection: CanvasSelection, navigation: Viewport, in_place: InPlaceEditing
    ) -> None:
        """Groups of the program that this canvas shows; follow what is shown of it."""
        super().__init__(canvas.widget)
        self._canvas = canvas
        self._selection = selection
        self._navigation = navigation
        self._in_place = in_place
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention
        self._scope = canvas.session.scope
        self.cameras_of_scopes: dict[Path, tuple[float, float, float]] = {}
        self._scope.leaving.connect(self._on_scope_leaving)
        self._scope.forgotten.connect(self.cameras_of_scopes.clear)
        self._scope.changed.connect(self._on_scope_changed)

    # -------------------------------------------------------------- stepping in and out

    def group_of(self, item: ItemId | None) -> ItemId | None:
        """The node of a card that stands for a group; None when it stands for anything else."""
        if item is None:
            return None
        for one in (item, self._scene.state.card_groups.modules.get(item, item)):
            node = self._scene.graph.nodes.get(one)
            if node is not None and node.operator.startswith(GROUP):
                return one
        return None

    def has_group(self) -> bool:
        """Whether the current card stands for a group."""
        return self.group_of(self._attention.current) is not None

    def way_in(self, item: ItemId | None) -> ItemId | None:
        """What is stepped into at a card: its group, or its call of a module that a group makes; None: nothing."""
        if item is None:
            return None
        return self.group_of(item) or (item if definitions.group_of(self._scene.graph, item) else None)

    def can_step_in(self) -> bool:
        """Whether the current card stands for a group, or calls a module that is one."""
        return self.way_in(self._attention.current) is not None

    def step_in(self, item: ItemId | None = None) -> bool:
        """Show the inside of a group: of the current card's, or of that item's."""
        call = self.way_in(item if item is not None else self._attention.current)
        if call is None:
            self._canvas.refuse("Select a group first: Ctrl+G makes one of the selection.")
            return False
        if not self._scope.enter(call):
            name = definitions.group_of(self._scene.graph, call)
            self._canvas.refuse(f"There is no group '{name}' any more, so there is nothing inside.")
            return False
        return True

    def can_step_out(self) -> bool:
        """Whether the inside of a group is shown."""
        return bool(self._scope.path)

    def step_out(self, depth: int = -1) -> None:
        """Show what is around the group, or the scope of that depth (0: the program), with its call selected."""
        path = self._scope.path
        if not path:
            return
        self._scope.leave(depth)
        left = path[len(self._scope.path)]
        if left in self._scene.graph:
            self._selection.select(frozenset({left}))

    def _on_scope_leaving(self) -> None:
        self._canvas.close_editor()
        self.cameras_of_scopes[self._scope.path] = self._navigation.view_state()
        self._attention.select(())

    def _on_scope_changed(self) -> None:
        known = self.cameras_of_scopes.get(self._scope.path)
        if known is not None:
            self._navigation.restore_view(*known)
        elif self._scope.path and self._canvas.viewport().isVisible():
            self._navigation.open_inside()

    # -------------------------------------------------------------- making and taking apart

    def can_make_group(self) -> bool:
        """Whether something is selected that can be a group."""
        return bool(self._attention.selection - CARDS)

    def make_group(self) -> None:
        """Ask for a name where the selection stands, and make a group of it."""
        from gradstudio.graph.recipes.grouping.definition_copies import class_words, proposed_name

        items = sorted(self._selection.chosen() - CARDS)
        box = self._scene.placement.extent(items)
        if not items or box is None:
            self._canvas.refuse("Select the statements that shall be a group first.")
            return
        left, top = self._canvas.camera.to_scene(
            8, 8
        )  # the name can be typed where the selection begins outside of the view
        strip = Box(max(box.x, left), max(box.y - 34, top), 200, 26)
        proposal = proposed_name(self._scene.graph, frozenset(items))
        self._in_place.ask(strip, proposal, lambda name: self._make_group(items, name), "Name of the group", fresh=True)
        words = class_words(self._scene.graph, items) or "Name of the group: Enter makes it"
        x, y = self._canvas.camera.to_view(strip.x, strip.y + strip.height)
        self._canvas.bubble.say(words, QPoint(round(x) - 12, round(y) - 6), role="info", stays=True)

    def _make_group(self, items: list[ItemId], name: str) -> str:
        from gradstudio.graph.recipes.grouping import group_creation as recipes_of_groups
        from gradstudio.graph.recipes.grouping.definition_copies import class_words

        graph, why = self._scene.graph, class_words(self._scene.graph, items)
        before = set(graph.nodes)
        try:
            if name.strip() in graph.definitions:
                raise Refused(f"There is a group '{name.strip()}' already. Choose another name.")
            edits = recipes_of_groups.make_group(graph, items, name.strip())
        except Refused as refusal:
            return str(refusal)
        self._store.submit(edits, f"Make group {name.strip()}")
        made = (one for one in graph.nodes if one not in before and graph.nodes[one].operator.startswith(GROUP))
        self._selection.select(frozenset(made))
        self._canvas.bubble.hide()
        if why:
            self._canvas.said.emit(f"{class_name(name.strip())}: {why}")
        return ""

    def ungroup(self) -> None:
        """Put what the selected groups hold in their place; of a block, take the block away."""
        from gradstudio.graph.recipes.grouping import ungrouping

        calls = [call for item in sorted(self._attention.selection) if (call := self.group_of(item)) is not None]
        if not calls:
            self.unwrap_around()
        for call in dict.fromkeys(calls):
            before = set(self._scene.graph.nodes) | set(self._scene.graph.blocks)
            if self._store.attempt(ungrouping.ungroup, "Ungroup", call):
                graph = self._scene.graph
                self._selection.select(frozenset(one for one in (*graph.nodes, *graph.blocks) if one not in before))

    def can_ungroup(self) -> bool:
        """Whether `ungroup` has something to take apart."""
        return self.has_group() or self.block_around() is not None

    def block_around(self) -> ItemId | None:
        """The selected block, else the innermost around the current item."""
        graph, current = self._scene.graph, self._attention.current
        if current is None or current not in graph:
            return None
        return current if current in graph.blocks else ItemId(graph.parents[current]) or None

    def unwrap_around(self) -> None:
        """Take the block away that is selected, or that holds the selection; what it holds stays."""
        block = self.block_around()
        if block is not None:
            self._store.attempt(recipes.unwrap, "Unwrap", block)

    def rename_group(self, item: ItemId | None = None) -> None:
        """Call a group otherwise, in its definition and at every call."""
        call = self.group_of(item if item is not None else self._attention.current)
        box = self._scene.placement.box(call) if call is not None else None
        if call is None or box is None:
            self._canvas.refuse("Select a group first.")
            return
        name = self._scene.graph.nodes[call].operator.removeprefix(GROUP)
        strip = Box(box.x + 6, box.y + 3, max(box.width - 12, 140), HEADER - 6)
        self._in_place.ask(strip, name, lambda text: self._rename_group(name, text), "Name of the group")

    def _rename_group(self, old: str, name: str) -> str:
        from gradstudio.graph.recipes.grouping.definition_copies import renamed_group

        root = self._canvas.session.shown_store.root
        try:
            edits = renamed_group(root.graph, old, name.strip())
        except Refused as refusal:
            return str(refusal)
        root.submit(edits, f"Rename {old} to {name.strip()}")
        return ""

    def make_unique(self, item: ItemId | None = None) -> None:
        """Give the current call a copy of its group."""
        from gradstudio.graph.recipes.grouping.definition_copies import unique_copy

        call = self.group_of(item if item is not None else self._attention.current)
        if call is not None:
            self._store.attempt(unique_copy, "Make unique copy", call)

    # -------------------------------------------------------------- using again

    def add_own_group(
        self, key: str, x: float | None, y: float | None, body: BodyId | None, *, aside: bool = False
    ) -> ItemId | None:
        """Add a call of a group of the document, or of a published one; select it. `aside`: as `add_operator`."""
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap

        if x is None or y is None:
            x, y = self._navigation.free_place("")
        published, inside = self._canvas.shelf.published, self._scope.name
        try:
            edits, item = add_own(self._scene.graph, key, published, round(x), round(y), body or ROOT, inside)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return None
        edits = avoid_overlap(self._scene, edits, body or ROOT) if aside else edits
        self._store.submit(edits, f"Add {key.partition(':')[2]}")
        self._selection.select(frozenset({item}))
        return item

    def publish(self, item: ItemId | None = None) -> None:
        """Write the current card's group into the person's own library."""
        call = self.group_of(item if item is not None else self._attention.current)
        published = self._canvas.shelf.published
        if call is None or published is None:
            self._canvas.refuse("Select the card of a group to publish it.")
            return
        name = self._scene.graph.nodes[call].operator.removeprefix(GROUP)
        try:
            published.publish(self._canvas.session.shown_store.root.graph, name)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return
        self._canvas.said.emit(f"'{name}' stands under {MINE} in the Library now, for every document.")

    # -------------------------------------------------------------- inputs and outputs

    def edit_ports(self, item: ItemId, y: float | None = None) -> None:
        """Edit the name at that height of the card where it stands, or all of them in the header."""
        box, layout = self._scene.placement.box(item), self._scene.placement.layout(item)
        if box is None or layout is None:
            return
        rows = [row.y for row in (layout.outputs if item == INPUTS_CARD else layout.inputs)]
        names = self.ports_of_card(item)
        at = (k for k, row in enumerate(rows) if y is not None and abs(box.y + row - y) <= ROW / 2)
        number = next(at, None)
        if number is None:
            strip = Box(box.x + 6, box.y + 3, box.width - 12, HEADER - 6)
            self._in_place.ask(strip, ", ".join(names), lambda text: self.name_ports(item, _parts(text)), "Names")
        elif number == len(names):
            self.add_port(item)
        else:
            strip = Box(box.x + 12, box.y + rows[number] - ROW / 2 + 1, box.width - 24, ROW - 2)
            self._in_place.ask(strip, names[number], lambda text: self.rename_port(item, number, text), "Name")

    def rename_port(self, item: ItemId, number: int, name: str) -> str:
        """Call an input or output otherwise; why not, or ""."""
        old = self.ports_of_card(item)
        kept = tuple((name.strip() if k == number else one, k) for k, one in enumerate(old))
        return self._rearrange(item, kept, f"Rename {old[number]}")

    def remove_port(self, item: ItemId, number: int) -> None:
        """Take an input or output away, with its wires inside and at every call."""
        old = self.ports_of_card(item)
        self._say(
            self._rearrange(item, tuple((n, k) for k, n in enumerate(old) if k != number), f"Remove {old[number]}")
        )

    def move_port(self, item: ItemId, number: int, by: int) -> None:
        """Move an input or output up or down; wires go along."""
        old = self.ports_of_card(item)
        if not 0 <= number + by < len(old):
            return
        order = list(enumerate(old))
        order.insert(number + by, order.pop(number))
        definition = self._scope.definition
        if item == INPUTS_CARD and definition is not None:
            moved = tuple(name for _, name in order)
            if late := definitions.late_input(moved, definition.defaults, definition.settings):
                self._say(f"Python takes no input without a default, as '{late}', behind one that has one.")
                return
        self._say(self._rearrange(item, tuple((name, k) for k, name in order), f"Move {old[number]}"))

    def add_port(self, item: ItemId) -> None:
        """One input or output more, with a free name."""
        old = self.ports_of_card(item)
        name = base = "x" if item == INPUTS_CARD else "out"
        taken = {*old, *(name for node in self._scene.graph.nodes.values() for name in node.names)}
        number = 1
        while name in taken:
            number += 1
            name = f"{base}{number}"
        self._say(self._rearrange(item, (*((one, k) for k, one in enumerate(old)), (name, -1)), "Add input or output"))

    def name_ports(self, item: ItemId, names: tuple[str, ...]) -> str:
        """Call all inputs or outputs otherwise: more names make more of them, fewer take the last away."""
        return self._rearrange(item, tuple((name, k) for k, name in enumerate(names)), "Rename inputs and outputs")

    def ports_of_card(self, item: ItemId) -> tuple[str, ...]:
        """The names on the card of inputs or outputs."""
        node = self._scene.graph.nodes[item]
        return node.names if item == INPUTS_CARD else output_names(node)

    def _rearrange(self, item: ItemId, kept: tuple[tuple[str, int], ...], text: str) -> str:
        from gradstudio.graph.groups.group_view import rearrange_inputs, rearrange_outputs

        recipe: Callable[[Graph, tuple[tuple[str, int], ...]], Edits]
        recipe = rearrange_inputs if item == INPUTS_CARD else rearrange_outputs
        try:
            checked = tuple((check(name), k) for name, k in kept)
            if len({name for name, _ in checked}) != len(checked):
                raise Refused("The names must differ from one another.")
            taken = {n for one in self._scene.graph.nodes.values() if one.id not in CARDS for n in one.names}
            fresh = {name for name, _ in checked} - set(self.ports_of_card(item))
            if item == INPUTS_CARD and (clash := sorted(fresh & taken)):
                raise Refused(f"'{clash[0]}' is the name of a value inside the group already.")
        except Refused as refusal:
            return str(refusal)
        self._store.submit(recipe(self._scene.graph, checked), text)
        return ""

    def _say(self, refusal: str) -> None:
        if refusal:
            self._canvas.refuse(refusal)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
