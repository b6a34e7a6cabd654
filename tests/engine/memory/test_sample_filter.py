"""Samples of memory that say the same are sent seldom; what changes is sent at once, behind the last that was alike."""

from gradstudio.engine.memory.sample_filter import SampleFilter
from gradstudio.protocol.messages.events import Memory


def sample(eighth: int, bytes_: int, mark: str = "") -> Memory:
    return Memory(time_s=eighth / 8, device="cpu", series={"tensors": bytes_}, mark=mark)


def sent(samples: list[Memory]) -> list[tuple[float, int]]:
    chosen = SampleFilter()
    return [(one.time_s, one.series["tensors"]) for given in samples for one in chosen.pass_on(given)]


def test_a_second_of_the_same_is_sent_in_few_samples() -> None:
    assert sent([sample(eighth, 5) for eighth in range(13)]) == [(0.0, 5), (0.125, 5), (0.25, 5), (0.75, 5), (1.25, 5)]


def test_what_changes_is_sent_at_once_behind_the_end_of_what_was() -> None:
    flat = [sample(eighth, 5) for eighth in range(5)]
    assert sent([*flat, sample(5, 8), sample(6, 8)])[2:] == [(0.25, 5), (0.5, 5), (0.625, 8), (0.75, 8)]


def test_a_mark_is_sent_though_nothing_changed() -> None:
    flat = [sample(eighth, 5) for eighth in range(5)]
    assert sent([*flat, sample(5, 5, "Run")])[-2:] == [(0.5, 5), (0.625, 5)]
