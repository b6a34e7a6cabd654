"""The memory samples: a ring a device, marks numbered over the life of the window."""

from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages.events import Memory
from gradstudio.ui.state.results import memory_store
from gradstudio.ui.state.results.memory_store import MemoryStore


def sample(seconds: float, device: str = "cpu", mark: str = "", **series: int) -> Memory:
    return Memory(time_s=seconds, device=device, series=series or {"tensors": 1}, mark=mark)


def test_samples_of_two_devices_do_not_disturb_one_another(qtbot: QtBot) -> None:
    store = MemoryStore()
    for k in range(3):
        store.add(sample(k, process=7))
        store.add(sample(k, "cuda:0", allocated=5))
    assert (store.device, store.names, len(store.times_s)) == ("cpu", ("process",), 3)
    store.prefer("cuda:0")
    assert (store.device, store.names, len(store.times_s)) == ("cuda:0", ("allocated",), 3)


def test_auto_shows_the_accelerator_once_it_tells_something(qtbot: QtBot) -> None:
    store = MemoryStore()
    store.prefer("auto")
    store.add(sample(0))
    assert store.device == "cpu"
    store.add(sample(0, "cuda:0", allocated=5))
    assert store.device == "cuda:0"


def test_marks_are_numbered_by_kind_also_after_a_new_engine(qtbot: QtBot) -> None:
    store = MemoryStore()
    for seconds, mark in ((1, "Run"), (2, "Backward"), (3, "Run")):
        store.add(sample(seconds, mark=mark))
    assert [text for _, text in store.marks] == ["Run 1", "Backward 1", "Run 2"]


def test_the_oldest_samples_go_first(qtbot: QtBot) -> None:
    store = MemoryStore()
    for k in range(memory_store.CAPACITY + 10):
        store.add(sample(k, tensors=k))
    assert store.newest("tensors") == memory_store.CAPACITY + 9
    assert len(store.times_s) < memory_store.CAPACITY
    assert store.times_s[0] > 0


def test_what_stays_the_same_is_said_once_and_its_end_moves_on(qtbot: QtBot) -> None:
    store = MemoryStore()
    for k in range(100):
        store.add(sample(k, tensors=5))
    with qtbot.waitSignal(store.changed):
        store.add(sample(100, tensors=6))
    assert len(store.times_s) < 10 and store.times_s[-2] == 99
    for k in range(101, 105):
        store.add(sample(k, tensors=6))
    with qtbot.waitSignal(store.changed):
        pass
    with qtbot.assertNotEmitted(store.changed, wait=300):
        for k in range(105, 200):
            store.add(sample(k, tensors=6))
    assert store.times_s[-1] == 199
    store.add(sample(200, mark="Run", tensors=6))
    assert store.marks == [(200, "Run 1")] and store.times_s[-2] == 199
