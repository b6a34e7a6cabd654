"""What the debugger adds to a card: what a What if changed, what the node costs, and what gradcheck found."""

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import CheckRow, Difference, NodeMemory
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene.card.debug_sections import BAND_EDGE, BAND_LINE, FOOT, NoExperiments, debug_sections
from gradstudio.scene.results import NoResults

NODE = ItemId("n1")


def number(value: float) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, value=value)


MANY = Summary(dtype="float32", shape=(4, 4), minimum=-1.0, maximum=1.0, rms=0.5)


class Tried(NoExperiments):
    """Experiments put in by hand."""

    def __init__(self, *found: Difference | CheckRow) -> None:
        self._found = found

    def difference(self, node: ItemId, output: int = 0, grad: bool = False, path: str = "") -> Difference | None:
        changed = (one for one in self._found if isinstance(one, Difference))
        return next((one for one in changed if (one.node, one.output, one.grad) == (node, output, grad)), None)

    def check_rows(self, node: ItemId) -> tuple[CheckRow, ...]:
        return tuple(one for one in self._found if isinstance(one, CheckRow) and one.node == node)


class Costs(NoResults):
    """Times and bytes of one node."""

    def __init__(self, memory: NodeMemory | None) -> None:
        self._memory = memory

    def seconds(self, node: ItemId) -> tuple[float, float]:
        return 1.25e-3, 0.0

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        return self._memory

    def saved_bytes(self, node: ItemId) -> int:
        return 2048


def test_a_card_without_experiments_says_nothing_and_needs_no_room() -> None:
    sections = debug_sections(NoResults(), NoExperiments(), NODE, with_cost=False)
    assert (sections.changes, sections.cost, sections.check, sections.numbers) == ((), (), None, "")
    assert sections.height == 0


@pytest.mark.parametrize(("late_s", "words"), [(0.8, "rank 3: 0.8 s late"), (0.12, "rank 3: 0.12 s late"), (0.05, "")])
def test_a_rank_that_others_waited_for_is_named_on_the_card(late_s: float, words: str) -> None:
    came = Range(5.0, 0, 5.0 + late_s, 3)
    sections = debug_sections(NoResults(), NoExperiments(), NODE, with_cost=False, came=came)
    assert sections.late == words and sections.height == (FOOT if words else 0.0)


def test_what_a_what_if_changed_is_said_of_the_value_and_of_its_gradient() -> None:
    value = Difference(node=NODE, before=number(3.0), after=number(5.0), largest=2.0)
    grad = Difference(node=NODE, grad=True, before=number(1.0), after=number(0.5), largest=0.5)
    sections = debug_sections(NoResults(), Tried(value, grad), NODE, with_cost=False)
    assert [(one.sign, one.words) for one in sections.changes] == [("", "3 → 5"), ("∇", "1 → 0.5")]
    assert sections.changes[0].by == "+2"
    assert sections.changes[1].by.lstrip("-−") == "0.5"
    assert sections.changes[1].by[0] in "-−"
    assert sections.height == 2 * BAND_LINE + BAND_EDGE


def test_of_many_numbers_the_norms_and_the_largest_change_are_said_and_none_of_what_was_not_there() -> None:
    many = Difference(node=NODE, before=MANY, after=MANY, largest=0.25)
    appeared = Difference(node=NODE, output=1, before=None, after=number(1.0))
    sections = debug_sections(NoResults(), Tried(many, appeared), NODE, with_cost=False)
    assert sections.changes[0].words == "‖·‖ 2 → ‖·‖ 2"
    assert sections.changes[0].by == "max 0.25"
    assert (sections.changes[1].words, sections.changes[1].by) == ("none → 1", "")


def test_the_cost_is_said_when_asked_for_and_freed_memory_as_freed() -> None:
    alive = NodeMemory(node=NODE, alive_bytes=4096)
    freed = NodeMemory(node=NODE, alive_bytes=0, freed_step=7)
    costs = [
        debug_sections(Costs(memory), NoExperiments(), NODE, with_cost=True).cost for memory in (alive, freed, None)
    ]
    assert [cost[0] for cost in costs] == ["1.25 ms"] * 3
    assert [cost[1] for cost in costs] == [""] * 3
    assert [cost[2] for cost in costs] == ["4 KiB", "freed", ""]
    assert costs[0][3] == "2 KiB"
    assert debug_sections(Costs(alive), NoExperiments(), NODE, with_cost=True).height == FOOT


def test_gradcheck_says_both_numbers_of_the_element_that_differs_most() -> None:
    fine = CheckRow(name="x", node=NODE, analytical=1.0, numerical=1.0)
    near = CheckRow(name="x", node=NODE, ok=False, analytical=1.0, numerical=1.5)
    far = CheckRow(name="w", node=NODE, ok=False, analytical=2.0, numerical=7.0)
    agreed = debug_sections(NoResults(), Tried(fine), NODE, with_cost=False)
    assert (agreed.check, agreed.numbers) == (True, "")
    differs = debug_sections(NoResults(), Tried(fine, near, far), NODE, with_cost=False)
    assert (differs.check, differs.numbers) == (False, "autograd 2, differences 7")
    assert differs.height == FOOT
