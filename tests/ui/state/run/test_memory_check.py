"""The question before a program that needs more memory than there is."""

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import Need
from gradstudio.ui.state.run.memory_check import MemoryCheck

NEED = Need(device="cpu", bytes=41 << 30, free_bytes=19 << 30, node=ItemId("n"))


def test_a_program_that_fits_is_not_asked_about() -> None:
    check = MemoryCheck(confirm_size=lambda _need: pytest.fail("asked"))  # type: ignore[arg-type]  # it never returns
    assert check.may_allocate("run")


@pytest.mark.parametrize("verb", ["run", "forward", "backward"])
def test_it_is_asked_until_a_person_says_yes_and_then_never_again(verb: str) -> None:
    answers, asked = [False, True], list[Need]()
    check = MemoryCheck(confirm_size=lambda need: asked.append(need) or answers.pop(0))  # type: ignore[func-returns-value]  # None or
    check.take_needs((NEED,))
    assert [check.may_allocate(verb) for _ in range(4)] == [False, True, True, True]  # type: ignore[arg-type]  # a verb
    assert asked == [NEED, NEED]


def test_a_step_is_never_held_up() -> None:
    check = MemoryCheck(confirm_size=lambda _need: False)
    check.take_needs((NEED,))
    assert check.may_allocate("step")


def test_other_needs_are_told_once() -> None:
    check, told = MemoryCheck(confirm_size=lambda _need: True), list[int]()
    check.sized.connect(lambda: told.append(1))
    for needs in ((NEED,), (NEED,), ()):
        check.take_needs(needs)
    assert told == [1, 1]
