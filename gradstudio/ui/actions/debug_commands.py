"""The part of the Run menu that debugs: moving in time, breakpoints, gradcheck."""

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.state.run.run_controller import Command


class DebugCommands:
    """Acts on the run, its recorded timeline and the breakpoints."""

    def __init__(self, context: Context) -> None:
        """Work on the context's session."""
        session = context.session
        self._store, self._attention, self._debug = session.shown_store, session.attention, session.debug
        self.run, self.player, self._settings = session.run, session.player, context.settings
        self.run.computes_small = context.settings.preferences.run_small

    def can(self, command: Command) -> bool:
        """Whether the run can do that now."""
        return self.run.can(command)

    def can_run_to(self) -> bool:
        """Whether a node is selected to which the program can run."""
        return self.node() is not None and self.run.can("run_to")

    def run_to(self) -> None:
        """Run to behind the selected node."""
        node = self.node()
        if node is not None:
            self.run.run_to(node)

    def can_check(self) -> bool:
        """Whether nodes are selected that can be checked."""
        return bool(self.nodes()) and self.run.can("check")

    def check(self) -> None:
        """Gradcheck of the selected nodes as one function."""
        self.run.check(self.nodes())

    def toggle_breakpoint(self) -> None:
        """A plain breakpoint before the selected node, or none."""
        for node in self.nodes():
            self._debug.toggle(node)

    def toggle_not_finite(self) -> None:
        """Pause at the first NaN or infinity, or no longer."""
        self._debug.break_on_not_finite(not self._debug.breaks_on_not_finite)

    def breaks_on_not_finite(self) -> bool:
        """Whether the run pauses at the first NaN or infinity."""
        return self._debug.breaks_on_not_finite

    def toggle_small(self) -> None:
        """Compute small values while inferring, or no longer."""
        self.run.computes_small = not self.run.computes_small
        self._settings.change(run_small=self.run.computes_small)

    def computes_small(self) -> bool:
        """Whether small values are computed while inferring."""
        return self.run.computes_small

    def unfold(self) -> None:
        """Step by autograd nodes, or by nodes of the canvas."""
        self._attention.unfold(not self._attention.unfolded)

    def is_unfolded(self) -> bool:
        """Whether the timeline steps by autograd nodes."""
        return self._attention.unfolded

    def has_nodes(self) -> bool:
        """Whether a node is selected."""
        return bool(self.nodes())

    def node(self) -> ItemId | None:
        """The node that is selected alone or last."""
        current = self._attention.current
        return current if current in self._store.graph.nodes and current not in CARDS else None

    def nodes(self) -> tuple[ItemId, ...]:
        """The selected nodes in the order of the program."""
        graph, chosen = self._store.graph, self._attention.selection - CARDS
        return tuple(node for node in graph.nodes if node in chosen)
