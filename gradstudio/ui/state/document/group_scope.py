"""Which group's inside is shown, and the store through which it is read and edited like a program.

Everything is held by the root store: what is done inside a group is one entry of the document's history.
"""

from PySide6.QtCore import QObject, Signal

from gradstudio.graph.boundary_cards import INPUTS_CARD
from gradstudio.graph.edits import (
    AddNode,
    Edit,
    Edits,
    RemoveNode,
    ReplaceNode,
    SetDefinition,
    SetHeader,
    apply_all,
)
from gradstudio.graph.graph_index import index_of, nodes_of
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.groups.definitions import group_of, uncalled
from gradstudio.graph.model import Definition, Graph, ItemId
from gradstudio.graph.names import bound_names
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.code_records import is_code
from gradstudio.graph.text.drawn_bodies import bound_around, is_body
from gradstudio.ui.state.document.graph_store import GraphStore

Path = tuple[ItemId, ...]
PROGRAM = "Program"


class Scope(QObject):
    """The calls that were stepped into, the outermost first; none: the program itself.

    Of a group that nothing calls, and that was looked into, its key stands for the call.

    Signals:
        leaving(): another scope is about to be shown; what is kept of this one can be noted.
        forgotten(): another document is there; what was kept of scopes of the old one means nothing any more.
        changed(): another scope is shown.
    """

    leaving = Signal()
    forgotten = Signal()
    changed = Signal()

    def __init__(self, root: GraphStore, parent: QObject | None = None) -> None:
        """Show the program."""
        super().__init__(parent)
        self._root = root
        self.path: Path = ()

    @property
    def name(self) -> str:
        """The group whose inside is shown; "" for the program."""
        return self.names()[-1] if self.path else ""

    def names(self) -> tuple[str, ...]:
        """The groups along the path."""
        return self._names(self.path)

    @property
    def root(self) -> GraphStore:
        """The store of the program."""
        return self._root

    @property
    def definition(self) -> Definition | None:
        """The definition whose inside is shown; None for the program."""
        return self._root.graph.definitions.get(self.name) if self.path else None

    def titles(self) -> tuple[str, ...]:
        """What the path is called, the program first."""
        return PROGRAM, *self.names()

    def enter(self, call: ItemId) -> bool:
        """Show the inside of what a node calls; whether it calls a group."""
        path = (*self.path, call)
        if len(self._names(path)) != len(path):
            return False
        self.show(path)
        return True

    def defined(self) -> tuple[str, ...]:
        """The groups that no node leads to."""
        return uncalled(self._root.graph)

    def beside(self) -> tuple[str, ...]:
        """Those of them that can be looked into from what is shown: from the program, and from one another."""
        is_apart = len(self.path) > 1 or (self.path and not self.path[0].startswith(GROUP))
        return () if is_apart else tuple(name for name in self.defined() if name != self.name)

    def look_into(self, name: str) -> None:
        """Show the inside of a group without any call of it."""
        self.show((ItemId(GROUP + name),))

    def leave(self, depth: int = -1) -> None:
        """Show what is around, or the scope of that depth: 0 is the program."""
        self.show(self.path[:depth])

    def show(self, path: Path) -> None:
        """Show the scope of this path, or the innermost of it that there is."""
        path = path[: len(self._names(path))]
        if path != self.path:
            self.leaving.emit()
            self.path = path
            self.changed.emit()

    def forget(self) -> None:
        """Another document is there: show its program; where that draws nothing the last module, else what is last."""
        graph, defined = self._root.graph, self.defined()
        modules = [name for name in defined if graph.definitions[name].is_module]
        draws_nothing = bool(defined) and all(map(is_code, graph.nodes.values()))
        self.path = (ItemId(GROUP + (modules or defined)[-1]),) if draws_nothing else ()
        self.forgotten.emit()
        self.changed.emit()

    def follow(self, item: ItemId) -> bool:
        """Show the inside of the call that an item of a run is in, the program where it is in none; whether it is."""
        path = path_of(code.card if (code := code_call(item)) is not None else item)[:-1]
        self.show(path)
        return self.path == path

    def find(self, item: ItemId) -> Path | None:
        """The path to the scope that holds an item; None when no reachable one does."""
        alone = [(ItemId(GROUP + name),) for name in self.defined()]
        waiting = [(path, self._graph(path)) for path in (self.path, (), *alone)]
        seen: set[str] = set()
        while waiting:
            path, graph = waiting.pop(0)
            if item in graph:
                return path
            for node in graph.nodes.values():
                name = node.operator.removeprefix(GROUP)
                if node.operator.startswith(GROUP) and name not in seen and name in self._root.graph.definitions:
                    seen.add(name)
                    waiting.append(((*path, node.id), self._root.graph.definitions[name].graph))
        return None

    def outermost(self, item: ItemId | None) -> ItemId | None:
        """What stands for an item in the program: itself, or the call through which it is shown."""
        return self.path[0] if self.path and item not in self._root.graph else item

    def _graph(self, path: Path) -> Graph:
        names = self._names(path)
        return self._root.graph.definitions[names[-1]].graph if names else self._root.graph

    def _names(self, path: Path) -> tuple[str, ...]:
        """The groups along a path, as far as it leads."""
        graph, found = self._root.graph, list[str]()
        for call in path:
            name = call.removeprefix(GROUP) if call.startswith(GROUP) else group_of(graph, call)
            if not name or name not in self._root.graph.definitions:
                break
            found.append(name)
            graph = self._root.graph.definitions[name].graph
        return tuple(found)


class ShownStore(GraphStore):
    """The graph that is shown: the program's, or the inside of a group with cards for its inputs and outputs."""

    def __init__(self, root: GraphStore, scope: Scope, parent: QObject | None = None) -> None:
        """Show what the scope says, and follow the root store."""
        QObject.__init__(self, parent)
        self.root, self.scope = root, scope
        self.graph, self.undo_stack = root.graph, root.undo_stack
        self._own: Edits | None = None
        root.changing.connect(self.changing)
        root.edited.connect(self._on_root_edited)
        root.submitted.connect(self._on_root_submitted)
        root.replaced.connect(self._on_root_replaced)
        root.clean_changed.connect(self.clean_changed)
        root.history_changed.connect(self.history_changed)
        root.refused.connect(self.refused)
        scope.changed.connect(self._on_scope_changed)

    def submit(self, edits: Edits, text: str, merge_key: str = "") -> None:
        """Apply edits to what is shown, as one undo entry of the document.

        Raises:
            EditError: they do not fit; nothing is changed.
        """
        from gradstudio.graph.groups.group_view import boundary_edits, close_group

        if not self.scope.path:
            self.root.submit(edits, text, merge_key)
            return
        draft = self.try_out(edits) if edits else None
        if draft is None:
            return
        name = self.scope.name
        more = boundary_edits(draft)
        apply_all(draft, more)
        if is_body(name) and (reason := self._reason_against(name, draft)):
            self.refused.emit(reason)
            return
        self._own = (*edits, *more)
        try:
            words = f"{text}, inside {name}"
            self.root.submit(close_group(self.root.graph, name, draft), words, merge_key and f"{name}/{merge_key}")
        finally:
            self._own = None

    def _reason_against(self, name: str, draft: Graph) -> str:
        """Why a part of code cannot be as it is in a draft; "" when it can."""
        if draft.nodes[INPUTS_CARD].names != self.root.graph.definitions[name].inputs:
            return f"What {name} takes stands in its head, in the code around it: change it there."
        binds = bound_around(self.root.graph.nodes.values()).get(name, ())
        bound = frozenset(bound_names(draft))
        lost = next((one for one in binds if one not in bound), "")
        return f"The code around {name} may read '{lost[:60]}': change the name in the text." if lost else ""

    def accompany(self, edits: Edits) -> None:
        """Apply edits to what is shown that follow from the newest change of the document."""
        from gradstudio.graph.groups.group_view import close_group

        if not self.scope.path:
            self.root.accompany(edits)
            return
        draft = self.graph.copy()
        apply_all(draft, edits)
        self._own = edits
        try:
            self.root.accompany(close_group(self.root.graph, self.scope.name, draft))
        finally:
            self._own = None

    def settle(self) -> bool:
        """Let whoever is being typed into keep it or give it up; whether that edited."""
        return self.root.settle()

    def load(self, graph: Graph) -> None:
        """Put another document in place of this one."""
        self.root.load(graph)

    def set_clean(self) -> None:
        """The document as it stands was saved."""
        self.root.set_clean()

    def _on_root_edited(self, edits: object) -> None:
        from gradstudio.graph.difference import edits_between

        assert isinstance(edits, tuple)
        self.scope.show(self.scope.path)  # what was undone may have taken away what is shown
        if not self.scope.path:
            self.edited.emit((*edits, *_calls_again(self.graph, edits)))
        elif self._own is not None:
            self._follow(self._own)
            definition = self.root.graph.definitions[self.scope.name]
            in_order = self.graph.nodes[INPUTS_CARD].names == definition.inputs  # those with a default stand behind
            if definition.is_module or not in_order:  # what makes layers moved to the beginning of a module
                self._follow(edits_between(self.graph, self._target()))
        else:
            self._follow((*edits_between(self.graph, self._target()), *_calls_again(self.graph, edits)))

    def _on_root_submitted(self, edits: object) -> None:
        self.submitted.emit(self._own if self._own is not None else edits)

    def _follow(self, edits: Edits) -> None:
        self._take_surroundings()
        apply_all(self.graph, edits)
        self.edited.emit(edits)

    def _target(self) -> Graph:
        from gradstudio.graph.groups.group_view import open_group

        return open_group(self.root.graph, self.scope.name)

    def _take_surroundings(self) -> None:
        root = self.root.graph
        if self.graph.header != root.header:
            apply_all(self.graph, (SetHeader(root.header),))
        self.graph.definitions = dict(root.definitions)
        self.graph.revision += 1

    def _on_root_replaced(self) -> None:
        self.scope.forget()

    def _on_scope_changed(self) -> None:
        self.graph = self._target() if self.scope.path else self.root.graph
        self.replaced.emit()


def _calls_again(graph: Graph, edits: Edits) -> tuple[Edit, ...]:
    """Calls of definitions that changed, or are used more or less often, look otherwise: the same nodes again."""
    changed = {GROUP + edit.name for edit in edits if isinstance(edit, SetDefinition)}
    changed |= {edit.node.operator for edit in edits if isinstance(edit, AddNode)}
    if not any(key.startswith(GROUP) for key in changed) and not any(isinstance(edit, RemoveNode) for edit in edits):
        return ()
    called = [key for key in index_of(graph).by_operator if key.startswith(GROUP)]
    return tuple(ReplaceNode(node) for node in nodes_of(graph, called))
