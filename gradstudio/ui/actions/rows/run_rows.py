"""The rows of the Run menu: the verbs, moving in time, breakpoints, checks."""

from collections.abc import Callable
from functools import partial

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.debug_commands import DebugCommands
from gradstudio.ui.state.run.run_controller import Command, RunController

TOOLTIPS: dict[Command, str] = {
    "run": "The program as written, from nothing; paused, it goes on, in a backward's record too",
    "forward": "On to the next backward statement, or the end",
    "backward": "On through the next backward; appended when the program has none",
    "step": "One node on; looking back, one step of the timeline on; at the end, to its first step",
    "stop": "Stop between two nodes, or end the engine when it does not answer",
    "zero_grad": "Set .grad = None on every leaf of the run",
    "restart": "Run the program from nothing",
    "step_back": "One step of the timeline back",
    "step_over": "One node on, a block or a backward at once",
    "step_into": "One node on, and into a group that it calls: to its first node",
    "step_out": "On to behind the innermost block, or the call of the group that the run is inside of",
    "to_start": "Look at the first step of the timeline",
    "to_now": "Back to now: the end of all that ran",
    "run_to": "Run to behind the selected node",
    "check": "Compare the gradients of the selected nodes with finite differences, in float64",
}


def run_rows(run: RunController, debug: DebugCommands) -> tuple[Row, ...]:
    """All of the Run menu."""
    return (*_verb_rows(run), *_moment_rows(debug), *_breakpoint_rows(debug), *_engine_rows(run, debug))


def _verb_rows(run: RunController) -> tuple[Row, ...]:
    return (
        _row("run.run", "Run", 1, run.run, "run", run, ("F5", "Ctrl+Return")),
        _row("run.forward", "Forward", 1, run.forward, "forward", run, ("F7",)),
        _row("run.backward", "Backward", 1, run.backward, "backward", run, ("F6",)),
        _row("run.again", "Run from Nothing", 1, run.restart, "restart", run, ("Ctrl+Shift+F5",), "rerun"),
        _row("run.stop", "Stop", 1, run.stop, "stop", run, ("Shift+F5",)),
        _row("run.zero_grad", "Zero Grad", 1, run.zero_grad, "zero_grad", run, ()),
    )


def _moment_rows(debug: DebugCommands) -> tuple[Row, ...]:
    run, player = debug.run, debug.player
    nodes = "Show and step the autograd nodes of a backward one by one, instead of the nodes of the canvas"
    return (
        _row("run.step", "Step", 2, run.step, "step", run, ("F10",)),
        _row("run.step_back", "Step Back", 2, run.step_back, "step_back", run, ("Shift+F10",)),
        _row("run.step_over", "Step Over", 2, run.step_over, "step_over", run, ("Alt+F10",)),
        _row("run.step_into", "Step Into", 2, run.step_into, "step_into", run, ("F11",)),
        _row("run.step_out", "Step Out", 2, run.step_out, "step_out", run, ("Shift+F11",)),
        ActionRow(
            "run.run_to",
            "Run to Here",
            "Run",
            2,
            debug.run_to,
            ("Ctrl+F10",),
            "run_to",
            debug.can_run_to,
            None,
            TOOLTIPS["run_to"],
        ),
        _row("run.to_start", "To Start", 3, run.to_start, "to_start", run, ("Ctrl+Home",)),
        ActionRow(
            "run.play",
            "Play",
            "Run",
            3,
            player.toggle,
            ("F8",),
            "play",
            player.can_play,
            None,
            "Play the recorded timeline, or stand still",
        ),
        _row("run.to_now", "To Now", 3, run.to_now, "to_now", run, ("Ctrl+End",)),
        ActionRow(
            "run.unfold",
            "Autograd Nodes",
            "Run",
            3,
            debug.unfold,
            ("F12",),
            "autograd_nodes",
            None,
            debug.is_unfolded,
            nodes,
        ),
    )


def _breakpoint_rows(debug: DebugCommands) -> tuple[Row, ...]:
    toggle = "Pause before the selected node, or no longer"
    odd = "Pause at the first NaN or infinity in a value or a gradient"
    return (
        ActionRow(
            "run.breakpoint",
            "Toggle Breakpoint",
            "Run",
            4,
            debug.toggle_breakpoint,
            ("F9",),
            "breakpoint",
            debug.has_nodes,
            None,
            toggle,
        ),
        ActionRow(
            "run.not_finite",
            "Break on NaN or Inf",
            "Run",
            4,
            debug.toggle_not_finite,
            (),
            "not_finite",
            None,
            debug.breaks_on_not_finite,
            odd,
        ),
        ActionRow(
            "run.check",
            "Gradcheck Selection",
            "Run",
            4,
            debug.check,
            ("Ctrl+K",),
            "check",
            debug.can_check,
            None,
            TOOLTIPS["check"],
        ),
    )


def _engine_rows(run: RunController, debug: DebugCommands) -> tuple[Row, ...]:
    small = "Shapes before a run: compute small values, too; without it on stand-ins without data only"
    return (
        ActionRow(
            "run.small",
            "Compute Small Values While Inferring",
            "Run",
            5,
            debug.toggle_small,
            (),
            "",
            None,
            debug.computes_small,
            small,
        ),
        ActionRow("run.restart", "Restart Engine", "Run", 5, run.restart_engine, (), "restart"),
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
