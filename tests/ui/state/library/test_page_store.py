"""Pages are asked for once, kept while torch is the same, and asked again of the next engine."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.events import Hello
from gradstudio.protocol.messages.requests import Request
from gradstudio.protocol.messages.torch_docs import Describe, Described, Passage
from gradstudio.ui.state.library.page_store import WAITING, PageStore
from gradstudio.ui.state.run.engine_client import EngineClient

TEXT = "abs(input) -> Tensor\n\nThe absolute value. More words.\n\nArgs:\n    input (Tensor): the input tensor.\n"


class Engine(EngineClient):
    """An engine that only notes what it is asked."""

    def __init__(self) -> None:
        super().__init__(spare=False)
        self.asked: list[Describe] = []
        self.is_ready = False

    @property
    def ready(self) -> bool:
        return self.is_ready

    def send(self, request: Request) -> None:
        assert isinstance(request, Describe)
        self.asked.append(request)

    def begin(self, torch: str = "2.13") -> None:
        """Become ready."""
        self.is_ready = True
        self.received.emit(Hello(protocol=PROTOCOL_VERSION, ready=True, pid=1, torch=torch))

    def answer(self) -> None:
        """Answer the last question."""
        last = self.asked[-1]
        self.received.emit(
            Described(
                request=last.request, operator=last.operator, passages=(Passage("torch.abs", TEXT),), torch="2.13"
            )
        )


@pytest.fixture
def engine(qtbot: QtBot) -> Engine:
    return Engine()


def test_a_page_is_asked_for_once_and_kept(engine: Engine) -> None:
    store, arrived = PageStore(engine), []
    store.arrived.connect(arrived.append)
    engine.begin()
    assert store.ask("torch.abs") is None and store.ask("torch.abs") is None
    assert [request.operator for request in engine.asked] == ["torch.abs"]
    engine.answer()
    assert arrived == ["torch.abs"] and store.ask("torch.abs") is not None and len(engine.asked) == 1


def test_what_is_asked_while_torch_starts_is_sent_when_it_has(engine: Engine) -> None:
    store = PageStore(engine)
    assert store.ask("torch.abs") is None and engine.asked == []
    assert store.waiting_words == WAITING["starting"]
    engine.begin()
    assert len(engine.asked) == 1


def test_what_a_dead_engine_did_not_answer_is_asked_of_the_next(engine: Engine) -> None:
    store = PageStore(engine)
    engine.begin()
    store.ask("torch.abs")
    engine.begin()
    assert [request.operator for request in engine.asked] == ["torch.abs", "torch.abs"]
    engine.answer()
    assert store.ask("torch.abs") is not None


def test_another_torch_is_asked_anew(engine: Engine) -> None:
    store = PageStore(engine)
    engine.begin("2.13")
    store.ask("torch.abs")
    engine.answer()
    engine.begin("2.13")
    assert store.ask("torch.abs") is not None
    engine.begin("2.14")
    assert store.ask("torch.abs") is None


def test_tooltips_get_their_words_once_the_page_is_here(engine: Engine) -> None:
    store = PageStore(engine)
    engine.begin()
    assert store.first_sentence("torch.abs") == "" and store.argument_words("torch.abs", "input") == ""
    engine.answer()
    assert store.first_sentence("torch.abs") == "The absolute value."
    assert store.argument_words("torch.abs", "input") == "the input tensor."
    assert store.argument_words("torch.abs", "out") == ""
