"""The value of a module in the Inspector is that of the moment that is looked at."""

from gradstudio.protocol.messages.events import ModeState, Row
from gradstudio.protocol.messages.records import ModuleRecord
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add


def test_the_mode_is_that_of_the_moment(inspector: InspectorPanel, session: Session, add: Add) -> None:
    net, other = add("torch.nn.Dropout"), add("torch.tensor", data="1.0")
    session.results.tables.add_rows(
        [
            Row(step=1, node=net, outputs=(ModuleRecord(class_name="Dropout"),)),
            Row(step=2, node=other, outputs=(), modes=(ModeState(net, 0, training=False),)),
        ]
    )
    session.attention.select([net])
    section = inspector.details.values

    def mode() -> object:
        subject = section._subjects_of(net)[0]
        assert isinstance(subject.record, ModuleRecord)
        return subject.record.training

    assert mode() is False
    session.attention.look_at(0)
    assert mode() is True
    session.attention.look_at(1)
    assert mode() is False
