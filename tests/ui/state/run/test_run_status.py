"""Where the run stands, told to whoever listens."""

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
