"""The run as the window sees it, against an engine that speaks the real codec."""

import sys
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Statement
from gradstudio.protocol.messages.debugging import Breakpoint, Change, Hit
from gradstudio.protocol.messages.events import Failed, Paused, Row, Traced
from gradstudio.protocol.messages.progress import Turned
from gradstudio.ui.state.results.result_tables import HELD_S
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session

Make = Callable[[str], Session]


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Make]:
    clients: list[EngineClient] = []

    def make(mode: str) -> Session:
        client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", mode], spare=False)
        clients.append(client)
        client.start()
        qtbot.waitUntil(lambda: client.ready)
        return Session(client)

    yield make
    for client in clients:
        client.close()


def add(session: Session, key: str, **literals: str) -> ItemId:
    edits, item = recipes.add_operator(session.graph_store.graph, key, 0, 0)
    session.graph_store.submit(edits, "Add")
    for path, text in literals.items():
        assert session.graph_store.attempt(recipes.set_literal, "Set", item, path, text)
    return item


def finish(qtbot: QtBot, session: Session) -> None:
    qtbot.waitUntil(lambda: not session.run.state.busy)


def test_a_run_fills_values_and_gradients(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    item = add(one, "torch.randn")
    one.run.run()
    assert one.run.state.busy
    finish(qtbot, one)
    outputs = one.results.outputs(item)
    assert outputs is not None and outputs[0].summary.value == 3.5  # type: ignore[union-attr]
    grad = one.results.grad(item)
    assert grad is not None and grad.state == "value"
    assert one.run.state.outcome == "done"


def test_what_ran_is_known_by_the_names_it_ran_with(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    name, text = one.results.tables.names.title(item), one.results.tables.names.text(item)
    assert text.startswith(f"{name} = ")
    assert one.graph_store.attempt(recipes.delete, "Delete", (item,))
    assert (one.results.tables.names.title(item), one.results.tables.names.text(item)) == (name, text)


def test_backward_without_a_backward_statement_appends_one(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    add(one, "torch.randn", requires_grad="True", size="()")
    one.run.backward()
    finish(qtbot, one)
    operators = [node.operator for node in one.graph_store.graph.nodes.values()]
    assert operators[-1] == "torch.Tensor.backward"
    assert one.graph_store.undo_stack.undoText() == "Append backward"


def test_backward_with_nothing_to_go_back_to_is_refused_in_words(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    add(one, "torch.randn")
    with qtbot.waitSignal(one.graph_store.refused) as refusal:
        one.run.backward()
    assert "requires grad" in refusal.args[0]
    assert not one.run.state.busy


def test_an_empty_canvas_says_what_to_do(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    with qtbot.waitSignal(one.run.status.refused) as refusal:
        one.run.run()
    assert "library" in refusal.args[0]


def test_a_failure_stands_at_its_node_with_our_explanation(qtbot: QtBot, session: Make) -> None:
    one = session("failing")
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    failure = one.results.failure(item)
    assert failure is not None
    assert failure.what.startswith("RuntimeError: grad can be")
    assert "one number" in failure.explanation and failure.fixes


def test_stop_replaces_an_engine_that_does_not_answer(qtbot: QtBot, session: Make) -> None:
    one = session("deaf")
    add(one, "torch.randn")
    one.run.run()
    qtbot.waitUntil(lambda: one.run.state.live)
    first = one.engine.pid
    one.run.stop()
    finish(qtbot, one)
    assert one.run.state.outcome == "stopped" and "document is not" in one.run.state.reason
    qtbot.waitUntil(lambda: one.engine.ready and one.engine.pid != first)
    assert one.graph_store.graph.nodes, "the document is untouched"


def test_an_engine_that_dies_in_a_run_is_replaced_and_the_next_run_can_begin(qtbot: QtBot, session: Make) -> None:
    one = session("dying")
    add(one, "torch.randn")
    with qtbot.waitSignal(one.engine.died):
        one.run.run()
    assert "died" in one.run.state.outcome and "document is not" in one.run.state.reason
    qtbot.waitUntil(lambda: one.engine.ready)
    assert one.run.can("run")


def test_of_a_run_that_is_lost_while_it_goes_back_no_progress_is_left(qtbot: QtBot, session: Make) -> None:
    one = session("dying")
    node = add(one, "torch.randn")
    tables = one.results.tables
    tables.begin(fresh=False, held=True)
    tables.add_turns(Turned(loop=node, turn=3, total=10))
    with qtbot.waitSignal(one.engine.died):
        one.run.run()
    assert one.results.loops == () and not tables.buffer.holds


def test_a_run_that_takes_long_on_its_way_to_a_turn_says_how_far_it_is_and_keeps_no_more_than_any_run(
    session: Make,
) -> None:
    one = session("fine")
    node = add(one, "torch.randn")
    tables = one.results.tables
    tables.begin(fresh=False, held=True, back_to=0)
    tables.add_turns(Turned(loop=node, turn=0, total=4000))
    tables.add_turns(Turned(loop=node, turn=100, total=4000, seconds=HELD_S / 2))
    assert tables.buffer.holds and one.results.loops == (), "what is short paints no half-done picture"
    tables.add_turns(Turned(loop=node, turn=200, total=4000, seconds=HELD_S))
    (loop,) = one.results.loops
    assert (loop.place, loop.rate) == ("turn 201 of 4,000", "400 a second")
    assert not tables.buffer.holds, "rows of turns are let go as the timeline does it"


@pytest.mark.parametrize("begin", ["anew", "another document"])
def test_what_begins_stands_in_no_loop_of_what_ran_before(session: Make, begin: str) -> None:
    """Else a number that is typed, or a pause that is asked for, before its loop is said to be in one."""
    one = session("fine")
    tables = one.results.tables
    tables.add_turns(Turned(loop=add(one, "torch.randn"), turn=3, total=10))
    tables.rest(is_inside=True)
    assert one.run.status.stands_in_loop()
    if begin == "anew":
        tables.begin(fresh=True)
    else:
        one.restore(one.graph_store.graph, None)
    assert not one.run.status.stands_in_loop() and one.results.loops == ()


def test_an_engine_that_talks_nonsense_is_replaced(qtbot: QtBot, session: Make) -> None:
    one = session("babbling")
    add(one, "torch.randn")
    with qtbot.waitSignal(one.engine.died):
        one.run.run()
    qtbot.waitUntil(lambda: one.engine.ready)


def test_results_of_an_older_program_are_stale_not_gone(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    assert not one.results.stale(item)
    assert one.graph_store.attempt(recipes.set_literal, "Set", item, "size", "(4,)")
    qtbot.waitUntil(lambda: one.results.stale(item))
    assert one.results.outputs(item) is not None


def test_moving_a_card_leaves_the_results_current(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    one.graph_store.submit(recipes.move(one.graph_store.graph, {item: (50.0, 50.0)}), "Move")
    one.run.forward()
    finish(qtbot, one)
    assert not one.results.stale(item)


def test_inference_arrives_after_an_edit(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    item = add(one, "torch.randn")
    qtbot.waitUntil(lambda: one.results.inference(item) is not None)


def test_a_run_asked_for_before_the_engine_is_started_is_carried_out(qtbot: QtBot) -> None:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "fine"], spare=False)
    one = Session(client)
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    assert one.results.outputs(item) is not None
    client.close()


def test_a_program_compiled_before_the_engine_came_is_sent_to_it(qtbot: QtBot) -> None:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "fine"], spare=False)
    one = Session(client)
    item = add(one, "torch.randn")
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    one.run.run()
    finish(qtbot, one)
    assert one.results.outputs(item) is not None
    client.close()


def test_a_failure_goes_with_the_statement_that_failed_and_comes_back_with_undo(qtbot: QtBot, session: Make) -> None:
    one = session("failing")
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    assert one.results.failure(item) is not None
    assert one.graph_store.attempt(recipes.set_literal, "Set", item, "size", "(4,)")
    qtbot.waitUntil(lambda: one.results.failure(item) is None)
    one.graph_store.undo_stack.undo()
    qtbot.waitUntil(lambda: one.results.failure(item) is not None)


def test_the_node_at_work_is_the_one_behind_the_last_that_finished(qtbot: QtBot, session: Make) -> None:
    one = session("deaf")
    item = add(one, "torch.randn")
    one.run.run()
    qtbot.waitUntil(lambda: one.results.running_node == item)


def test_values_of_a_run_that_was_lost_are_greyed_until_the_next(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    item = add(one, "torch.randn")
    one.run.run()
    finish(qtbot, one)
    one.run.restart_engine()
    qtbot.waitUntil(lambda: one.engine.ready)
    heard: list[object] = []
    one.engine.received.connect(heard.append)
    one.graph_store.attempt(recipes.set_note, "Note", item, "x")
    qtbot.waitUntil(lambda: any(type(event).__name__ == "Loaded" for event in heard))
    assert one.results.stale(item)


def traced(session: Make) -> tuple[Session, ItemId, ItemId]:
    """A leaf, a value and a backward on an engine that records one."""
    one = session("tracing")
    leaf = add(one, "torch.randn", size="()", requires_grad="True")
    edits, value = recipes.add_operator(one.graph_store.graph, "torch.exp", 0, 0)
    one.graph_store.submit(edits, "Add")
    one.graph_store.submit(recipes.connect(one.graph_store.graph, leaf, 0, value, "input"), "Wire")
    assert one.graph_store.attempt(recipes.append_backward, "Append backward", None)
    return one, leaf, value


def phases(session: Session) -> str:
    return "".join(tick.phase[0] for tick in session.results.timeline.ticks)


def test_a_run_is_a_timeline_with_the_backward_before_its_statement(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    assert phases(one) == "ffbbf"


def test_stepping_back_walks_the_record_and_executes_nothing(qtbot: QtBot, session: Make) -> None:
    one, leaf, value = traced(session)
    one.run.run()
    finish(qtbot, one)
    seen = []
    while one.run.can("step_back"):
        one.run.stepper.step_back()
        assert not one.run.state.busy
        active = one.results.active
        assert active is not None
        seen.append((active.phase, active.node))
    assert seen == [("backward", leaf), ("backward", value), ("forward", value), ("forward", leaf)]
    assert one.results.outputs(value) is None, "at the first step the second has not run"
    with qtbot.waitSignal(one.run.status.refused) as refusal:
        one.run.stepper.step_back()
    assert "no step before" in refusal.args[0]


def test_looking_back_a_step_goes_on_in_the_record_until_now(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    one.run.stepper.to_start()
    moments = []
    while one.results.looking_back:
        moments.append(one.results.moment)
        one.run.stepper.step()
        assert not one.run.state.busy
    assert moments == [0, 1, 2, 3]
    assert not one.run.can("step_out"), "the program is at its end"


def test_a_step_at_the_end_looks_at_the_first_step_and_executes_nothing(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    heard: list[object] = []
    one.engine.received.connect(heard.append)
    assert one.run.can("step")
    with qtbot.waitSignal(one.run.status.noted) as noted:
        one.run.stepper.step()
    assert (one.results.moment, one.run.state.busy, heard) == (0, False, [])
    assert "first step" in noted.args[0]


def test_a_step_that_runs_a_backward_shows_the_first_step_of_its_record(qtbot: QtBot, session: Make) -> None:
    one, _, value = traced(session)
    for _ in range(3):
        one.run.stepper.step()
        finish(qtbot, one)
    active = one.results.active
    assert active is not None and (active.phase, active.node) == ("backward", value)
    assert phases(one) == "ffbbf"


def test_a_verb_looks_at_now_first(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    one.run.stepper.to_start()
    one.run.run()
    assert not one.results.looking_back
    finish(qtbot, one)


def test_an_edit_while_looking_back_leaves_results_and_moment(qtbot: QtBot, session: Make) -> None:
    one, leaf, value = traced(session)
    one.run.run()
    finish(qtbot, one)
    one.attention.look_at(1)
    assert one.graph_store.attempt(recipes.set_literal, "Set", leaf, "size", "(4,)")
    assert one.results.moment == 1
    assert one.results.outputs(value) is not None


def test_another_document_has_no_history(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    one.attention.look_at(1)
    one.new()
    assert one.attention.moment is None
    assert not one.results.timeline.ticks


def test_a_slider_repeats_the_run_as_one_undo_step_and_infers_at_its_end(qtbot: QtBot, session: Make) -> None:
    one, leaf, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    verbs, count = list[str](), one.graph_store.undo_stack.count()
    one.engine.received.connect(lambda event: verbs.append(type(event).__name__ + getattr(event, "verb", "")))
    for size in ("(2,)", "(3,)", "(4,)", "(5,)"):
        one.run.follow(recipes.set_literal(one.graph_store.graph, leaf, "size", size), "Set size", "slide")
    finish(qtbot, one)
    assert one.graph_store.undo_stack.count() == count + 1
    qtbot.waitUntil(lambda: "Inferred" in verbs)
    assert verbs.count("Startedrepeat") == 2, "the first and the newest; those between are passed over"
    assert verbs.count("Inferred") == 1
    assert not one.results.tables.is_stale


def test_breakpoints_travel_with_each_verb_and_their_hits_come_back(qtbot: QtBot, session: Make) -> None:
    one, leaf, _ = traced(session)
    one.debug.add(Breakpoint(id="b", node=leaf, stops=False))
    one.run.run()
    finish(qtbot, one)
    hit = one.debug.last("b")
    assert hit is not None and hit.node == leaf


def test_questions_are_answered_under_their_number(qtbot: QtBot, session: Make) -> None:
    one, leaf, _ = traced(session)
    heard: list[object] = []
    one.run.questions.answered.connect(heard.append)
    numbers = one.run.questions.what_if(Change(node=leaf)), one.run.questions.check((leaf,))
    qtbot.waitUntil(lambda: len(heard) == 2)
    assert numbers == tuple(event.request for event in heard)  # type: ignore[attr-defined]
    one.run.run()
    finish(qtbot, one)
    with qtbot.waitSignal(one.run.questions.answered):
        one.run.questions.weigh_memory()
    memory = one.results.node_memory(ItemId("n"))
    assert memory is not None and memory.alive_bytes == 8


def test_a_question_on_an_empty_canvas_is_refused(qtbot: QtBot, session: Make) -> None:
    one = session("tracing")
    with qtbot.waitSignal(one.run.status.refused):
        assert one.run.questions.check((ItemId("n"),)) == 0


def test_stepping_over_and_out_in_the_record_passes_a_backward_at_once(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    for move in (one.run.stepper.step_over, one.run.stepper.step_out):
        one.attention.look_at(2)
        move()
        assert not one.results.looking_back, "behind the backward is the end"
    one.attention.look_at(0)
    one.run.stepper.step_over()
    assert one.results.moment == 1, "where no block begins it is a step"


def test_a_breakpoint_in_a_backward_is_looked_at_in_its_record(qtbot: QtBot, session: Make) -> None:
    one, leaf, _ = traced(session)
    one.debug.add(Breakpoint(id="b", node=leaf, phase="backward"))
    one.run.run()
    finish(qtbot, one)
    assert (one.run.state.outcome, one.run.state.hit) == ("breakpoint", "b")
    active = one.results.active
    assert active is not None and (active.phase, active.node) == ("backward", leaf)


def test_going_on_from_a_breakpoint_in_a_backward_walks_its_record_to_now(qtbot: QtBot, session: Make) -> None:
    one, leaf, value = traced(session)
    one.debug.add(Breakpoint(id="b", node=value, phase="backward"))
    one.debug.add(Breakpoint(id="c", node=leaf, phase="backward"))
    one.run.run()
    finish(qtbot, one)
    assert (one.run.state.in_backward, one.run.state.hit, one.results.moment) == (1, "b", 2)
    assert one.results.running_node == one.run.program.statements[-1].node  # type: ignore[union-attr]
    one.debug.add_hit(Hit(breakpoint="c", node=leaf, backward=1, place=1))
    one.run.run()
    assert (one.run.state.in_backward, one.run.state.hit, one.results.moment) == (1, "c", 3)
    with qtbot.waitSignal(one.run.status.noted) as noted:
        one.run.run()
    assert not one.run.state.busy and not one.results.looking_back and not one.run.state.in_backward
    assert "at its end" in noted.args[0] and not one.results.running_node
    one.run.run()
    assert one.run.state.busy, "at the end, looking at now, it begins from nothing"
    finish(qtbot, one)


def test_nothing_of_a_backward_is_at_work_at_a_step_before_it_also_while_a_run_waits(
    qtbot: QtBot, session: Make
) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    one.attention.look_at(2)
    assert one.results.running_node
    one.run.status.set(busy=True, waiting=True)
    one.attention.look_at(0)
    assert not one.results.running_node


def test_a_breakpoint_that_is_switched_off_does_not_hold_up_the_record(qtbot: QtBot, session: Make) -> None:
    one, leaf, value = traced(session)
    one.debug.add(Breakpoint(id="b", node=value, phase="backward"))
    one.debug.add(Breakpoint(id="c", node=leaf, phase="backward"))
    one.run.run()
    finish(qtbot, one)
    one.debug.add_hit(Hit(breakpoint="c", node=leaf, backward=1, place=1))
    one.debug.set_enabled("c", False)
    one.run.run()
    assert not one.results.looking_back and not one.run.state.busy


def test_what_is_asked_before_the_engine_is_ready_is_done_in_order(qtbot: QtBot) -> None:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "tracing"], spare=False)
    one = Session(client)
    leaf = add(one, "torch.randn", size="()", requires_grad="True")
    assert one.graph_store.attempt(recipes.append_backward, "Append backward", leaf)
    verbs: list[str] = []
    client.received.connect(lambda event: verbs.append(event.verb) if type(event).__name__ == "Paused" else None)
    one.run.forward()
    assert one.run.state.waiting and one.run.can("backward")
    with qtbot.waitSignal(one.run.status.noted) as noted:
        one.run.backward()
    assert noted.args[0] == "The engine is starting. Then: Forward, Backward."
    qtbot.waitUntil(lambda: len(verbs) == 2)
    assert verbs == ["forward", "backward"] and not one.run.state.busy
    client.close()


def test_stop_before_the_engine_is_ready_drops_what_waits_and_keeps_the_engine(qtbot: QtBot) -> None:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "tracing"], spare=False)
    one = Session(client)
    add(one, "torch.randn", size="()")
    one.run.run()
    pid = client.pid
    one.run.stop()
    assert not one.run.state.busy and one.run.state.outcome == "stopped"
    qtbot.waitUntil(lambda: client.ready)
    assert client.pid == pid and not one.run.state.busy
    client.close()


def test_an_engine_that_still_goes_on_is_given_time_to_answer_stop(qtbot: QtBot, session: Make) -> None:
    one = session("deaf")
    item = add(one, "torch.randn")
    one.run.run()
    pid = one.engine.pid
    one.run.stop()
    one.engine.received.emit(Traced(revision=0, rows=(Row(step=1, node=item, outputs=(), seconds=0.0),)))
    one.run._on_stop_timer_timeout()
    assert one.run.state.busy and one.engine.pid == pid, "its answer may lie behind what is still to be read"
    one.run._on_stop_timer_timeout()
    assert one.run.state.outcome == "stopped" and not one.run.state.busy


def test_a_step_does_not_run_a_failed_backward_a_second_time(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    one.run.run()
    finish(qtbot, one)
    statement = one.run.program.statements[-1]
    assert isinstance(statement, Statement)
    failed = Failed(
        revision=0, node=statement.node, address="", line=statement.line, type_name="RuntimeError", message="freed"
    )
    one.engine.received.emit(failed)
    one.engine.received.emit(
        Paused(revision=0, verb="step", outcome="failed", next_node=statement.node, at_end=False, pass_number=1)
    )
    with qtbot.waitSignal(one.run.status.refused) as refusal:
        one.run.stepper.step()
    assert "would fail again" in refusal.args[0] and not one.run.state.busy
    one.run.backward()
    assert one.run.state.busy
    finish(qtbot, one)


def test_why_a_command_cannot_be_carried_out_is_said_in_words(qtbot: QtBot, session: Make) -> None:
    one, _, _ = traced(session)
    assert "nothing was recorded" in one.run.why_not("step_back")
    assert "newest moment" in one.run.why_not("to_now")
    assert "Nothing is running" in one.run.why_not("stop")
    one.run.run()
    assert "under way" in one.run.why_not("restart")
    finish(qtbot, one)
    assert "at its end" in one.run.why_not("step_out")
    one.run.stepper.to_start()
    assert one.run.can("step_over") and one.run.can("to_now")


def test_a_turn_that_is_asked_for_before_the_engine_is_ready_is_gone_to(qtbot: QtBot) -> None:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "fine"], spare=False)
    one = Session(client)
    leaf = add(one, "torch.randn")
    loops, under_way = one.results.tables.loops, list[tuple[int, ...]]()
    one.turns.go_to(ItemId("loop"), leaf, (3,))
    assert one.run.state.waiting
    one.run.state_changed.connect(lambda state: under_way.append(loops.goal) if state.busy else None)
    finish(qtbot, one)
    assert under_way and all(goal == (3,) for goal in under_way) and not loops.goal
    client.close()
