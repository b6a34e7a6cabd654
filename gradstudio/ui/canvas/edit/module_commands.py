"""What menus and switches ask of the canvas about modules; each is one undo entry, refused in words."""

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import makes_module
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection


class ModuleCommands:
    """Changes modules, their modes and their children."""

    def __init__(self, canvas: CanvasContext, selection: CanvasSelection) -> None:
        """Modules of this canvas; what is made is selected."""
        self._canvas, self._selection = canvas, selection
        self._scene, self._store = canvas.scene, canvas.store

    def module_of(self, item: ItemId) -> ItemId | None:
        """The module that an item's card is about; None when it is about none."""
        module = self._scene.state.card_groups.modules.get(item, item)
        return module if makes_module(operator_of(self._scene.graph, module)) else None

    def toggle_training(self, item: ItemId) -> None:
        """Write ``eval()`` behind the module of a card, or take it away."""
        module = self.module_of(item)
        if module is not None:
            training = not module_modes.is_training(self._scene.graph, module)
            self._store.attempt(recipes.set_training, "Train" if training else "Evaluate", (module,), training)

    def toggle_frozen(self, item: ItemId) -> None:
        """Let nothing of a module learn, or all of it again."""
        module = self.module_of(item)
        if module is not None:
            frozen = not module_modes.is_frozen(self._scene.graph, module)
            self._store.attempt(recipes.set_frozen, "Freeze" if frozen else "Unfreeze", (module,), frozen)

    def call_again(self, item: ItemId) -> None:
        """One more call of a module: both share its weights."""
        module = self.module_of(item)
        if module is not None:
            edits, call = recipes.call_again(self._scene.graph, module)
            self._store.submit(edits, "Call again")
            self._selection.select(frozenset({call}))

    def initialise(self, item: ItemId, path: str, key: str) -> None:
        """Fill a parameter by an initialiser, behind its module."""
        module = self.module_of(item)
        if module is not None:
            self._store.attempt(recipes.initialise, f"Initialise {path}", module, path, key)

    def move_child(self, container: ItemId, path: str, by: int) -> None:
        """Let a child of a container change places with its neighbour."""
        self._store.attempt(recipes.move_child, "Move layer", container, path, by)

    def add_child(self, container: ItemId, key: str) -> bool:
        """Put a fresh layer into a container; False when it takes none."""
        try:
            edits, layer = recipes.add_child(self._scene.graph, container, key)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return False
        self._store.submit(edits, f"Add {key.rsplit('.', 1)[-1]}")
        self._selection.select(frozenset({layer}))
        return True

    def container_at(self, item: ItemId | None, key: str) -> ItemId | None:
        """The container on an item's card that takes what an operator makes as its next child."""
        if item is None or not makes_module(load().get(key)):
            return None
        module = self.module_of(item)
        takes = module is not None and recipes.free_child_port(self._scene.graph, module) is not None
        return module if takes else None
