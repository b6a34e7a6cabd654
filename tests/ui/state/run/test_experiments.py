"""What was tried on the side, and what makes it void."""

from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.protocol.messages.debugging import Change, Checked, CheckRow, Difference, LeftOut, WhatIfAnswered
from gradstudio.scene.card.debug_sections import debug_sections
from gradstudio.scene.results import NoResults
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.run.experiments import Experiments
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add

A, B, C = ItemId("a"), ItemId("b"), ItemId("c")
ANSWER = WhatIfAnswered(
    request=1,
    change=Change(node=A, index=(0,), value=3.0),
    differences=(
        Difference(node=A, largest=2.0),
        Difference(node=B, turns=(0,), largest=1.0),
        Difference(node=B, turns=(2,), largest=5.0),
        Difference(node=A, grad=True, largest=0.5),
    ),
)
CHECKED = Checked(request=2, nodes=(B, C), rows=(CheckRow(name="x", node=C), CheckRow(name="w", node=C, ok=False)))


def told(experiments: Experiments) -> list[frozenset[ItemId]]:
    heard: list[frozenset[ItemId]] = []
    experiments.changed.connect(heard.append)
    return heard


def test_differences_are_found_by_value_gradient_and_turn(qtbot: QtBot) -> None:
    experiments = Experiments(GraphStore())
    heard = told(experiments)
    experiments.set_what_if(ANSWER)
    assert experiments.what_if is ANSWER and heard == [frozenset({A, B})]
    assert experiments.difference(A) == ANSWER.differences[0]
    assert experiments.difference(A, grad=True) == ANSWER.differences[3]
    assert experiments.difference(B) == ANSWER.differences[2]
    assert experiments.difference(B, turns=(0,)) == ANSWER.differences[1]
    assert experiments.difference(B, turns=(1,)) is None
    assert experiments.difference(A, path="weight") is None and experiments.difference(C) is None


def test_another_answer_takes_the_place_of_the_last(qtbot: QtBot) -> None:
    experiments = Experiments(GraphStore())
    experiments.set_what_if(ANSWER)
    heard = told(experiments)
    refused = WhatIfAnswered(request=3, change=Change(node=C, value=1.0), error="no")
    experiments.set_what_if(refused)
    assert heard == [frozenset({A, B, C})]
    assert experiments.difference(A) is None and experiments.what_if is refused


def test_check_rows_stand_at_their_result(qtbot: QtBot) -> None:
    experiments = Experiments(GraphStore())
    heard = told(experiments)
    experiments.set_checked(CHECKED)
    assert experiments.check_rows(C) == CHECKED.rows and experiments.check_rows(B) == ()
    assert heard == [frozenset({B, C})]


def test_a_check_of_several_has_a_verdict_and_reasons(qtbot: QtBot) -> None:
    experiments = Experiments(GraphStore())
    assert experiments.verdict == ""
    rows = tuple(CheckRow(name="x", node=node, ok=node == B, analytical=0, numerical=2) for node in (B, C))
    left = (LeftOut(node=ItemId("a"), reason="`a` is an input."),)
    experiments.set_checked(Checked(request=1, nodes=(ItemId("a"), B, C), rows=rows, left_out=left))
    assert experiments.verdict == "Gradcheck: 1 agrees, 1 differs, 1 left out."
    assert experiments.left_out(ItemId("a")) == "`a` is an input."
    assert experiments.left_out(B) == ""
    shown = debug_sections(NoResults(), experiments, C, with_cost=False)
    assert (shown.check, shown.numbers) == (False, "autograd 0, differences 2")
    experiments.set_checked(Checked(request=2, nodes=(B,), error="It gives bool."))
    assert experiments.verdict == "Gradcheck: It gives bool."


def test_an_edit_makes_them_void_but_moving_a_card_does_not(qtbot: QtBot) -> None:
    store = GraphStore()
    experiments = Experiments(store)
    edits, item = recipes.add_operator(store.graph, "torch.randn", 0, 0)
    store.submit(edits, "Add randn")
    experiments.set_what_if(ANSWER)
    experiments.set_checked(CHECKED)
    heard = told(experiments)
    store.submit((SetPlaces({item: Place(5.0, 5.0)}),), "Move")
    assert experiments.what_if is ANSWER and heard == []
    store.submit(recipes.add_operator(store.graph, "torch.randn", 0, 0)[0], "Add randn")
    assert experiments.what_if is None and experiments.checked is None
    assert experiments.check_rows(C) == () and heard == [frozenset({A, B, C})]


def test_an_answer_to_a_question_before_an_edit_is_dropped(session: Session, add: Add) -> None:
    item = add("torch.ones", size="(2,)")
    requests = session.run._requests
    asked = requests.what_if(Change(node=item, value=1.0))
    checked = requests.check((item,))
    add("torch.zeros", size="(2,)")
    session.run.questions.answered.emit(WhatIfAnswered(request=asked, change=Change(node=item, value=1.0)))
    session.run.questions.answered.emit(Checked(request=checked, nodes=(item,)))
    assert session.experiments.what_if is None and session.experiments.checked is None
    newer = [requests.what_if(Change(node=item, value=value)) for value in (2.0, 3.0)]
    for request in reversed(newer):
        session.run.questions.answered.emit(
            WhatIfAnswered(request=request, change=Change(node=item, value=float(request)))
        )
    assert session.experiments.what_if is not None and session.experiments.what_if.request == newer[1]
    session.new()
    session.run.questions.answered.emit(WhatIfAnswered(request=newer[1], change=Change(node=item, value=3.0)))
    assert session.experiments.what_if is None
