"""Where a wire may go or come from: every port, those that fit first."""

from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.wire_candidates import candidates_from, candidates_into, refusal_of
from tests.graph.recipes.wiring.test_rewiring import TEXT, at, program

LOOP = TEXT + "for i in range(3):\n    k = torch.tanh(d)\n"


def test_legal_inputs_come_first_and_say_what_they_would_replace() -> None:
    graph = program(LOOP)
    chosen = candidates_from(graph, at(graph, "a"), 0)
    legal = [choice.legal for choice in chosen]
    assert legal == sorted(legal, reverse=True)
    assert {True, False} == set(legal)
    notes = {choice.words: choice.note for choice in chosen}
    assert notes["c.input"] == "wired already"
    assert notes["c.other"] == "instead of b"
    assert notes["e.other"] == ""
    assert notes["f.+"] == ""
    assert notes["for i.turns"] == ""
    assert chosen[0].words == "f.+"


def test_every_choice_from_begins_at_the_output_and_never_ends_at_its_own_node() -> None:
    graph = program(LOOP)
    c = at(graph, "c")
    chosen = candidates_from(graph, c, 0)
    assert {(choice.source, choice.output) for choice in chosen} == {(c, 0)}
    assert c not in {choice.target for choice in chosen}
    ends = [(choice.target, choice.port) for choice in chosen]
    assert len(ends) == len(set(ends))


def test_a_reason_is_given_just_for_what_may_not_be_drawn() -> None:
    graph = program(LOOP)
    for choice in candidates_from(graph, at(graph, "a"), 0):
        assert bool(refusal_of(graph, choice)) is not choice.legal
    for choice in candidates_into(graph, at(graph, "c"), "input"):
        assert bool(refusal_of(graph, choice)) is not choice.legal


def test_outputs_for_an_input_the_nearest_before_it_first() -> None:
    graph = program(LOOP)
    chosen = candidates_into(graph, at(graph, "c"), "input")
    assert [choice.words for choice in chosen if choice.legal] == ["b", "a", "d", "f", "g", "h", "k"]
    assert [choice.words for choice in chosen if not choice.legal] == ["c", "e", "i"]
    assert [choice.note for choice in chosen[:2]] == ["instead of a", "wired already"]
    reasons = {choice.words: refusal_of(graph, choice) for choice in chosen}
    assert reasons["c"] == "c cannot feed itself."
    assert reasons["e"].startswith("This would close a loop: c → e → c.")


def test_an_output_without_a_name_is_told_by_its_number() -> None:
    graph = program("a = torch.ones(2, 3)\nc = torch.relu(a)\ntorch.tanh(a)\n")
    words = [choice.words for choice in candidates_into(graph, at(graph, "c"), "input")]
    assert words == ["a", "tanh, result 0", "c"]


def test_the_port_that_joins_a_call_with_its_module_is_not_offered() -> None:
    graph = program("from torch import nn\nm = nn.Linear(2, 3)\na = torch.ones(1, 2)\ny = m(a)\n")
    y = at(graph, "y")
    ports = {choice.port for choice in candidates_from(graph, at(graph, "a"), 0) if choice.target == y}
    called = {wire.port for wire in graph.wires_to(y) if wire.source == at(graph, "m")}
    assert called
    assert ports
    assert not called & ports


def test_an_item_that_is_not_there_is_behind_all_others() -> None:
    graph = program()
    words = [choice.words for choice in candidates_into(graph, ItemId("nobody"), "input")]
    assert sorted(words) == sorted(["h", "g", "f", "e", "d", "c", "b", "a"])
    assert words[-1] == "a"


def test_a_discarded_result_is_told_by_its_number() -> None:
    graph = program("a = torch.ones(2, 3)\n_, n = torch.max(a, dim=0)\nc = torch.relu(n)\n")
    words = [choice.words for choice in candidates_into(graph, at(graph, "c"), "input")]
    assert words == ["n, result 0", "n", "a", "c"]
