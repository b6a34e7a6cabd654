"""Where the run stands, told to whoever listens."""

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Paused
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import RunStatus


def test_a_change_keeps_the_other_fields_and_is_announced() -> None:
    status, heard = RunStatus(), list[RunState]()
    status.changed.connect(heard.append)
    status.set(busy=True, verb="run")
    status.set(busy=False)
    assert heard == [RunState(busy=True, verb="run"), RunState(verb="run")]
    status.reset()
    assert status.state == heard[-1] == RunState()


def test_what_is_kept_of_a_run_whose_processes_were_ended_is_said() -> None:
    status = RunStatus()
    lost = Paused(
        revision=1, verb="run", outcome="stopped", next_node=ItemId("n"), at_end=False, pass_number=1,
        reason="Ranks did not stop.", is_lost=True,
    )  # fmt: skip
    status.set(busy=True, live=True)
    status.pause(lost, 0)
    assert (status.state.live, status.state.next_node, status.state.outcome) == (False, "", "stopped")
    assert (
        status.state.reason
        == "Ranks did not stop; what it held is lost; the document is not, and what was recorded stays."
    )
    status.kept_turns = lambda: 4
    status.set(busy=True, live=True)
    status.pause(lost, 0)
    assert status.state.reason.endswith("; what it learnt up to turn 4 is kept: Continue in Runs.")
