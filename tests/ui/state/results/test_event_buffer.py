"""What is told while a run is not shown yet."""

from gradstudio.ui.state.results.event_buffer import EventBuffer, defer


class Listener:
    def __init__(self) -> None:
        self.buffer, self.heard = EventBuffer(), list[str]()

    @defer
    def hear(self, word: str) -> None:
        self.heard.append(word)


def test_what_is_told_is_heard_at_once_until_it_is_held_back() -> None:
    one = Listener()
    one.hear("a")
    one.buffer.hold()
    one.hear("b")
    one.hear("c")
    assert one.heard == ["a"] and one.buffer.holds
    one.buffer.take_up()
    assert one.heard == ["a", "b", "c"] and not one.buffer.holds


def test_what_is_forgotten_is_never_heard() -> None:
    one = Listener()
    one.buffer.hold()
    one.hear("a")
    one.buffer.forget()
    one.hear("b")
    assert one.heard == ["b"]
