"""Engines that are not at work: set aside with their documents, or left to go on alone."""

from typing import NamedTuple

from gradstudio.protocol.messages.events import Hello
from gradstudio.ui.state.engines.engine_child import EngineChild
from gradstudio.ui.state.run.engine_exchange import Seats


class EngineAside(NamedTuple):
    """An engine that waits, and who has it."""

    engine: EngineChild
    seats: Seats


class EngineLeft(NamedTuple):
    """An engine that goes on without us.

    Attributes:
        heard: how many of its messages came.
        hello: what it is; None where another window began it.
        title: what it is called there.
    """

    name: str
    heard: int = 0
    hello: Hello | None = None
    title: str = ""
