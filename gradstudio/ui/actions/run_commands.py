"""The Run menu: the verbs, moving in time, breakpoints, gradcheck, and where programs run."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Log
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.state.engines.device_choices import DeviceChoice, choices_of, text_there
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_state import Command

if TYPE_CHECKING:
    from gradstudio.protocol.hosts.host_book import Host, HostBook
    from gradstudio.protocol.messages.events import Device
    from gradstudio.ui.state.engines.rank_child import RankGroup
    from gradstudio.ui.state.run.engine_client import MakeEngine
    from gradstudio.ui.state.run.engine_exchange import EngineLeft

AWAY = "Run/Other machines"
LEFT = "It goes on on “{host}”: Run ▸ Other machines ▸ Running on hosts… takes it up."
ADDED = "“{host}” was added. Something runs, so nothing was switched: choose it beside the device."
PAUSES = "Pausing at the end of this turn. Stop (Shift+F5) does not wait for it."
TOOLTIPS: dict[Command, str] = {
    "run": "The program as written, from nothing; paused, it goes on, in a backward's record too",
    "forward": "On to the next backward statement, or the end",
    "backward": "On through the next backward; appended when the program has none",
    "step": "One node on; looking back, one step of the timeline on; at the end, to its first step",
    "stop": "Stop between two nodes, or end the engine when it does not answer; else a training elsewhere",
    "pause": "Pause a loop behind the turn it is in, elsewhere between two nodes; Run (F5) goes on",
    "zero_grad": "Set .grad = None on every leaf of the run",
    "restart": "Run the program from nothing",
    "step_back": "One step of the timeline back",
    "step_over": "One node on, a block or a backward at once",
    "step_into": "Into the selected call or code, else one node on, and into a group that it calls",
    "step_out": "On to behind the innermost block, or the call of the group that the run is inside of",
    "to_start": "Look at the first step of the timeline",
    "to_now": "Back to now: the end of all that ran",
    "run_to": "Run to behind the selected node",
    "check": "Compare the gradients of the selected nodes with finite differences, in float64",
}


class DebugCommands:
    """Acts on the run, its recorded timeline and the breakpoints."""

    def __init__(self, context: Context) -> None:
        """Work on the context's session."""
        session = context.session
        self._store, self._attention, self._debug = session.shown_store, session.attention, session.debug
        self.run, self.player, self._settings = session.run, session.player, context.settings
        self.run.questions.computes_small = context.settings.preferences.run_small

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
        self.run.questions.check(self.nodes())

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
        self.run.questions.computes_small = not self.run.questions.computes_small
        self._settings.change(run_small=self.run.questions.computes_small)

    def computes_small(self) -> bool:
        """Whether small values are computed while inferring."""
        return self.run.questions.computes_small

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


class HostCommands:
    """Where programs run: the devices here and on hosts, and the way to them."""

    def __init__(self, context: Context, set_device: Callable[[str], None], show_dock: Callable[[str], None]) -> None:
        """Work on the context's session; `set_device` changes the document's header, `show_dock` takes a key."""
        self._session, self._window, self._folder = context.session, context.window, context.settings.folder
        self._context, self._show_dock = context, show_dock
        self._set_device = set_device
        self._here: tuple[Device, ...] = ()

    @property
    def place(self) -> str:
        """The name of the host on which programs run; "": this machine."""
        return self._session.engine.place

    @property
    def ranks(self) -> "RankGroup | None":
        """The processes that run a program together; None: it is one."""
        return self._session.engine.client.exchange.ranks

    def choices(self) -> tuple[DeviceChoice, ...]:
        """Every device that can be chosen, those of this machine first."""
        engine, wanted = self._session.engine, self._session.graph_store.graph.header.device
        if not self.place and engine.devices:
            self._here = engine.devices
        names = {device.name: device.title for device in self._here} or {"cpu": "cpu"}
        rows = {"auto": "cuda where there is one, else the CPU", **names}
        if not self.place:
            rows.setdefault(wanted, wanted)
        found = [DeviceChoice(name, "", name, tip) for name, tip in rows.items()]
        if self.ranks is not None:
            found.append(DeviceChoice(self.current(), self.place, "", "This machine, in several processes"))
        for host in self._hosts():
            found += choices_of(engine, host, wanted)
        return tuple(found)

    def current(self) -> str:
        """The text of the choice that stands."""
        wanted = self._session.graph_store.graph.header.device
        return text_there(self.place, wanted) if self.place else wanted

    def choose(self, choice: DeviceChoice) -> None:
        """Run where that device is, from now on, and create there."""
        if choice.place != self.place:
            self._move_to(choice.place)
            if choice.place != self.place:
                return
        if choice.device and choice.device != self._session.graph_store.graph.header.device:
            self._set_device(choice.device)

    def is_away(self) -> bool:
        """Whether programs run on a host."""
        return bool(self.place)

    def come_back(self) -> None:
        """Run on this machine again."""
        self._move_to("")

    def keeps_running(self) -> bool:
        """Whether what runs on the host goes on when the line breaks."""
        return self._session.engine.client.keeps_running

    def keep_running(self) -> None:
        """Have what runs on hosts go on when the line breaks, or end with it."""
        client = self._session.engine.client
        client.keep_running("" if client.keeps_running else self._session.title or "a program")
        self._session.run.away.keep()

    def can_take_up(self) -> bool:
        """Whether something goes on on a host since the line broke."""
        return self._session.engine.client.goes_on

    def take_up(self) -> None:
        """Connect to what goes on on a host."""
        self._session.engine.client.take_up()

    def has_hosts(self) -> bool:
        """Whether there are hosts."""
        return (self._folder / "hosts.json").is_file()

    def show_running(self) -> None:
        """List what goes on on hosts, whoever began it, and take up what is chosen."""
        from gradstudio.ui.dialogs.away_questions import chosen_running

        if (chosen := chosen_running(self._hosts(), self._folder, self._window)) is not None:
            self._move_to(*chosen)

    def ask_processes(self) -> None:
        """Ask on which processes programs run or train, and begin there."""
        from gradstudio.ui.dialogs.processes.processes_start import ProcessesStart

        ProcessesStart(self._context, self._show_dock).ask(self.ranks, self._hosts(), self._switch)

    def add(self) -> None:
        """Ask for a host, look what is there, and run there, where nothing runs yet."""
        self._show_dialog(None)

    def look(self) -> None:
        """Look what is on the host on which programs run, and connect anew."""
        self._show_dialog(self._find(self.place))

    def _show_dialog(self, known: "Host | None") -> None:
        from gradstudio.ui.dialogs.away_questions import chosen_host

        if (name := chosen_host(self._book(), known, self._window)) is not None:
            if known is None and self._is_busy:
                self._session.run.status.noted.emit(ADDED.format(host=name))
            else:
                self._move_to(name)

    def _find(self, place: str) -> "Host | None":
        return next((host for host in self._hosts() if host.name == place), None)

    def _move_to(self, place: str, joins: "EngineLeft | None" = None) -> None:
        if (host := self._find(place)) is None:
            self._switch("", None)
            return
        from gradstudio.ui.state.engines.far_child import make_far

        self._switch(place, partial(make_far, host, self._may_send), joins)

    @property
    def _is_busy(self) -> bool:
        """Whether something runs, be it of another document."""
        return self._session.engine.state == "busy" or self._session.engine.catches_up

    def _switch(
        self,
        place: str,
        make: "MakeEngine | None",
        joins: "EngineLeft | None" = None,
        ranks: "RankGroup | None" = None,
    ) -> None:
        """Have engines there, once a person has said what becomes of what runs where it is now."""
        before, how = self.place if self.ranks is None else "", ""
        if self._is_busy:
            from gradstudio.ui.dialogs.away_questions import how_to_leave

            how = how_to_leave(before, self._window)
        if how == "cancel":
            return
        client, keeps = self._session.engine.client, self.keeps_running()
        if how == "keep" and not keeps:
            self.keep_running()
        self._session.engine.move_to(place, make, joins, ranks, leaves=how == "keep")
        if how == "keep" and not keeps and joins is None:
            client.keep_running("")  # that one, and none to come
        if how == "keep":
            self._session.run.status.noted.emit(LEFT.format(host=before))

    def _may_send(self, question: str) -> bool:
        from gradstudio.ui.dialogs.send_dialog import may_send

        return may_send(question, self._window)

    def _hosts(self) -> "tuple[Host, ...]":
        """Those there are; a file that is not read has none, which the log tells."""
        if not self.has_hosts():
            return ()
        from gradstudio.protocol.errors import BadHost

        try:
            return self._book().hosts()
        except BadHost as error:
            self._session.engine.tell(Log(level="warning", text=str(error)))
            return ()

    def _book(self) -> "HostBook":
        from gradstudio.protocol.hosts.host_book import HostBook

        return HostBook(self._folder)


def run_rows(run: RunController, debug: DebugCommands, hosts: HostCommands, turns: tuple[Row, ...]) -> tuple[Row, ...]:
    """All of the Run menu; `turns`: what it does with turns of loops."""
    moving = (*_verb_rows(run), *_moment_rows(debug), *turns)
    return (*moving, *_breakpoint_rows(debug), *_engine_rows(run, debug, hosts), *_host_rows(hosts))


def _host_rows(hosts: HostCommands) -> tuple[Row, ...]:
    add, back = "Run programs on another machine: by ssh, in a container, in a job", "Run on this machine again"
    keep = "What runs on a host goes on when the line breaks, and can be taken up again"
    join = "Connect again to what went on on the host when the line broke"
    running = "List what goes on on hosts, and take it up here, whoever began it"
    look = "Say what is on the host on which programs run, send it an engine, connect anew"
    return (
        ActionRow("run.add_host", "Add host…", AWAY, 6, hosts.add, (), "add", None, None, add),
        ActionRow("run.host", "Host…", AWAY, 6, hosts.look, (), "", hosts.is_away, None, look),
        ActionRow(
            "run.keep", "Keep running", AWAY, 6, hosts.keep_running, (), "", hosts.is_away, hosts.keeps_running, keep
        ),
        ActionRow("run.take_up", "Take up again", AWAY, 6, hosts.take_up, (), "", hosts.can_take_up, None, join),
        ActionRow(
            "run.running", "Running on hosts…", AWAY, 6, hosts.show_running, (), "", hosts.has_hosts, None, running
        ),
        ActionRow("run.here", "This machine", AWAY, 6, hosts.come_back, (), "device", hosts.is_away, None, back),
    )


def _verb_rows(run: RunController) -> tuple[Row, ...]:
    return (
        _row("run.run", "Run", 1, run.run, "run", run, ("F5", "Ctrl+Return")),
        _row("run.forward", "Forward", 1, run.forward, "forward", run, ("F7",)),
        _row("run.backward", "Backward", 1, run.backward, "backward", run, ("F6",)),
        _row("run.again", "Run from nothing", 1, run.restart, "restart", run, ("Ctrl+Shift+F5",), "rerun"),
        _row("run.stop", "Stop", 1, run.stop, "stop", run, ("Shift+F5",)),
        _row("run.pause", "Pause at end of turn", 1, partial(_pause, run), "pause", run, ("Pause",)),
        _row("run.zero_grad", "Zero grad", 1, run.zero_grad, "zero_grad", run, ()),
    )


def _pause(run: RunController) -> None:
    run.stop(behind_turn=True)
    if run.state.busy:
        run.status.noted.emit(PAUSES)


def _moment_rows(debug: DebugCommands) -> tuple[Row, ...]:
    run, player = debug.run, debug.player
    here, play = TOOLTIPS["run_to"], "Play the recorded timeline, or stand still"
    unfolded = debug.is_unfolded
    nodes = "Show and step the autograd nodes of a backward one by one, instead of the nodes of the canvas"
    return (
        _row("run.step", "Step", 2, run.stepper.step, "step", run, ("F10",)),
        _row("run.step_back", "Step back", 2, run.stepper.step_back, "step_back", run, ("Shift+F10",)),
        _row("run.step_over", "Step over", 2, run.stepper.step_over, "step_over", run, ("Alt+F10",)),
        _row("run.step_into", "Step into", 2, run.stepper.step_into, "step_into", run, ("F11",)),
        _row("run.step_out", "Step out", 2, run.stepper.step_out, "step_out", run, ("Shift+F11",)),
        ActionRow(
            "run.run_to", "Run to here", "Run", 2, debug.run_to, ("Ctrl+F10",), "run_to", debug.can_run_to, None, here
        ),
        _row("run.to_start", "To start", 3, run.stepper.to_start, "to_start", run, ("Ctrl+Home",)),
        ActionRow("run.play", "Play", "Run", 3, player.toggle, ("F8",), "play", player.can_play, None, play),
        _row("run.to_now", "To now", 3, run.stepper.to_now, "to_now", run, ("Ctrl+End",)),
        ActionRow(
            "run.unfold", "Autograd nodes", "Run", 3, debug.unfold, ("F12",), "autograd_nodes", None, unfolded, nodes
        ),
    )


def _breakpoint_rows(debug: DebugCommands) -> tuple[Row, ...]:
    toggle = "Pause before the selected node, or no longer"
    check, has, flip = TOOLTIPS["check"], debug.has_nodes, debug.toggle_breakpoint
    odd = "Pause at the first NaN or infinity in a value or a gradient"
    breaks, turn = debug.breaks_on_not_finite, debug.toggle_not_finite
    title, icon = "Gradcheck selection", "check"
    return (
        ActionRow("run.breakpoint", "Toggle breakpoint", "Run", 4, flip, ("F9",), "breakpoint", has, None, toggle),
        ActionRow("run.not_finite", "Break on NaN or inf", "Run", 4, turn, (), "not_finite", None, breaks, odd),
        ActionRow("run.check", title, "Run", 4, debug.check, ("Ctrl+K",), icon, debug.can_check, None, check),
    )


def _engine_rows(run: RunController, debug: DebugCommands, hosts: HostCommands) -> tuple[Row, ...]:
    many = "Run programs in several processes here, train on hosts, at any rendezvous of torchrun, or by Slurm"
    small = "Shapes before a run: compute small values, too; without it on stand-ins without data only"
    title, flip, is_on = "Compute small values while inferring", debug.toggle_small, debug.computes_small
    return (
        ActionRow("run.small", title, "Run", 5, flip, (), "", None, is_on, small),
        ActionRow("run.restart", "Restart engine", "Run", 5, run.restart_engine, (), "restart"),
        ActionRow("run.processes", "On several processes…", "Run", 5, hosts.ask_processes, (), "", None, None, many),
    )


def _row(
    key: str,
    text: str,
    group: int,
    handler: Callable[[], object],
    command: Command,
    run: RunController,
    keys: tuple[str, ...],
    icon: str = "",
) -> ActionRow:
    """A row of a command whose own test says when it is enabled."""
    when, why = partial(run.can, command), partial(run.why_not, command)
    return ActionRow(key, text, "Run", group, handler, keys, icon or command, when, None, TOOLTIPS[command], why=why)
