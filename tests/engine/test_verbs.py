"""Run, Forward, Backward, Step and Zero grad, each from where and until where."""

import pytest
import torch

from gradstudio.engine.live.live_state import Loaded
from tests.engine.build import node, program
from tests.engine.conftest import Bench

SQUARE = """
x = torch.tensor(2.0, requires_grad=True)
y = x ** 2
y.backward()
"""
TRAINING = """
w = torch.tensor([1.0, 2.0], requires_grad=True)
opt = optim.SGD([w], lr=0.1)
for t in range(3):
    loss = (w * w).sum()
    loss.backward()
    opt.step()
    opt.zero_grad()
"""


def x_grad(bench: Bench) -> float | None:
    x = bench["x"]
    assert isinstance(x, torch.Tensor)
    return None if x.grad is None else x.grad.item()


def test_run_goes_to_the_end(bench: Bench) -> None:
    paused = bench.run(SQUARE)
    assert (paused.outcome, paused.at_end, paused.next_node, paused.pass_number) == ("done", True, "", 1)
    assert x_grad(bench) == 4


def test_forward_stops_before_the_backward_and_backward_behind_it(bench: Bench) -> None:
    paused = bench.run(SQUARE, "forward")
    assert (paused.next_node, paused.at_end, x_grad(bench)) == (node(3), False, None)
    paused = bench.do("backward")
    assert (paused.next_node, paused.at_end, x_grad(bench)) == ("", True, 4)


def test_forward_backward_twice_accumulates_4_then_8(bench: Bench) -> None:
    bench.run(SQUARE, "forward", "backward")
    assert x_grad(bench) == 4
    paused = bench.do("forward", "backward")
    assert (x_grad(bench), paused.pass_number) == (8, 2)
    assert bench.state(1) == "accumulated"
    assert [part.pass_number for part in bench.grad(1).parts] == [1, 2]


def test_zero_grad_between_gives_4_and_4_and_says_so(bench: Bench) -> None:
    bench.run(SQUARE, "forward", "backward")
    paused = bench.do("zero_grad")
    assert paused.changed_by_hand
    assert (x_grad(bench), bench.state(1)) == (None, "not_run")
    bench.do("forward", "backward")
    assert (x_grad(bench), bench.state(1)) == (4, "value")


def test_a_second_backward_says_torchs_own_words_and_the_next_pass_goes_on(bench: Bench) -> None:
    paused = bench.run(SQUARE, "forward", "backward", "backward")
    assert (paused.outcome, paused.at_end) == ("failed", True)
    assert "backward through the graph a second time" in bench.failed().message
    assert bench.failed().node == node(3)
    bench.do("forward", "backward")
    assert x_grad(bench) == 8


def test_a_second_backward_that_torch_allows_is_run_again(bench: Bench) -> None:
    text = "x = torch.tensor(2.0, requires_grad=True)\ny = x + 1\ny.backward()"
    assert bench.run(text, "run", "backward").outcome == "done"
    assert x_grad(bench) == 2


def test_backward_without_a_backward_statement_is_refused_with_the_reason(bench: Bench) -> None:
    paused = bench.run("x = torch.ones(2)\ny = x * 2", "backward")
    assert paused.outcome == "refused"
    assert "nothing here requires grad" in paused.reason


def test_step_goes_on_by_one_node_and_is_refused_at_the_end(bench: Bench) -> None:
    bench.load(SQUARE)
    assert [bench.do("step").next_node for _ in range(3)] == [node(2), node(3), ""]
    assert bench.do("step").outcome == "refused"
    assert x_grad(bench) == 4


def test_run_goes_on_when_paused_by_step_and_restart_does_not(bench: Bench) -> None:
    bench.run(SQUARE, "step")
    x = bench["x"]
    bench.do("run")
    assert bench["x"] is x
    bench.do("run")
    assert bench["x"] is not x
    bench.do("run", "step")
    paused = bench.do("run", restart=True)
    assert (paused.pass_number, x_grad(bench)) == (1, 4)


def test_a_training_loop_is_walked_backward_by_backward(bench: Bench) -> None:
    paused = bench.run(TRAINING, "forward")
    assert paused.next_node == node(5)
    paused = bench.do("backward")
    assert paused.next_node == node(6)
    for _ in range(2):
        assert bench.do("forward").next_node == node(5)
        bench.do("backward")
    assert bench.do("forward").at_end
    w = torch.tensor([1.0, 2.0])
    for _ in range(3):
        w = w - 0.1 * (w + w)
    assert torch.equal(bench["w"], w)  # type: ignore[arg-type]


def test_a_new_pass_keeps_trained_weights_and_forgets_the_rest(bench: Bench) -> None:
    bench.run(TRAINING)
    trained = bench["w"].detach().clone()  # type: ignore[attr-defined]
    paused = bench.do("forward")
    assert (paused.pass_number, paused.next_node) == (2, node(5))
    assert torch.equal(bench["w"], trained)  # type: ignore[arg-type]
    assert "t" in bench
    assert bench["t"] == 0


def test_a_buffer_that_acquired_a_grad_fn_is_made_anew_with_its_views(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = torch.zeros(2)
    view = out[0:1]
    keep = torch.ones(2)
    out[0] = x[0] * 3
    loss = out.sum() + view.sum()
    loss.backward()
    """
    bench.run(text)
    out, keep = bench["out"], bench["keep"]
    bench.do("forward", "backward")
    assert bench["out"] is not out
    assert bench["keep"] is keep
    assert torch.equal(bench["x"].grad, torch.tensor([12.0, 0.0]))  # type: ignore[attr-defined]


def test_a_list_that_was_appended_to_is_made_anew(bench: Bench) -> None:
    text = """
    x = torch.tensor(2.0, requires_grad=True)
    xs = []
    for t in range(3):
        xs.append(x * t)
    loss = torch.stack(xs).sum()
    loss.backward()
    """
    bench.run(text, "run", "forward")
    assert len(bench["xs"]) == 3  # type: ignore[arg-type]
    assert bench.do("backward").outcome == "done"
    assert x_grad(bench) == 6


def test_a_name_that_setup_binds_twice_is_what_the_text_says_in_every_pass(bench: Bench) -> None:
    text = """
    W = torch.ones(2, requires_grad=True)
    h = torch.zeros(2)
    y = (W * h).sum()
    h = torch.ones(2)
    z = (W * h).sum()
    z.backward()
    """
    bench.run(text, "run", "forward")
    assert (bench["y"].item(), bench["z"].item()) == (0, 2)  # type: ignore[attr-defined]


def test_a_failure_keeps_the_counter_and_what_was_bound(bench: Bench) -> None:
    text = "x = torch.ones(2)\ny = x.reshape(3)\nz = x + 1"
    paused = bench.run(text)
    assert (paused.outcome, paused.next_node) == ("failed", node(2))
    assert "x" in bench
    assert "z" not in bench
    assert bench.do("step").outcome == "failed"
    fixed = "x = torch.ones(2)\ny = x.reshape(2)\nz = x + 1"
    x = bench["x"]
    assert bench.load(fixed) == (False, True)
    assert bench.do("step").outcome == "done"
    assert bench["x"] is x


def test_an_edit_ahead_of_the_counter_keeps_the_state(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\ny = x ** 2")
    x = bench["x"]
    assert bench.load(SQUARE) == (False, True)
    bench.do("backward")
    assert bench["x"] is x
    assert x_grad(bench) == 4


def test_any_other_edit_is_stale_until_undo_brings_the_program_back(bench: Bench) -> None:
    bench.run(SQUARE)
    assert bench.load(SQUARE.replace("2.0", "3.0")) == (True, True)
    assert bench.do("zero_grad").outcome == "refused"
    assert bench.load(SQUARE) == (False, True)
    bench.load(SQUARE.replace("2.0", "3.0"))
    bench.do("forward", "backward")
    assert x_grad(bench) == 6


def test_renaming_and_notes_never_make_it_stale(bench: Bench) -> None:
    bench.run(SQUARE, "forward")
    renamed = SQUARE.replace("y", "square").replace("x = t", "# a note above\nx = t")
    built_lines = renamed.replace("# a note above\n", "")
    assert bench.load(built_lines) == (False, True)
    assert "square" in bench
    assert "y" not in bench
    bench.do("backward")
    assert x_grad(bench) == 4


def test_swapped_names_are_swapped(bench: Bench) -> None:
    bench.run("a = torch.ones(1)\nb = torch.zeros(1)")
    assert bench.load("b = torch.ones(1)\na = torch.zeros(1)\nc = b - a") == (False, True)
    assert bench.do("step").outcome == "done"
    assert bench["c"].item() == 1  # type: ignore[attr-defined]


def test_swapped_operands_are_an_edit_though_the_names_are_the_same(bench: Bench) -> None:
    bench.run("a = torch.ones(1)\nb = torch.zeros(1)\nc = a - b")
    assert bench.load("a = torch.ones(1)\nb = torch.zeros(1)\nc = b - a") == (True, True)


def test_a_header_with_another_seed_is_stale(bench: Bench) -> None:
    bench.run(SQUARE)
    assert bench.load(SQUARE, seed=1) == (True, True)


def test_an_edit_in_a_loop_that_has_turned_is_stale(bench: Bench) -> None:
    bench.run(TRAINING, "forward", "backward", "forward")
    assert bench.load(TRAINING.replace("opt.zero_grad()", "w.grad = None")) == (True, True)


def test_another_document_begins_from_nothing(bench: Bench) -> None:
    bench.run(SQUARE)
    from gradstudio.engine.live.live_state import Loaded

    other = program(SQUARE)
    assert bench.engine.load(Loaded("another", 1, other)) == (False, False)
    assert bench.do("zero_grad").outcome == "refused"
    assert bench.do("forward").pass_number == 1


def test_stop_inside_a_loop_pauses_and_run_goes_on(bench: Bench) -> None:
    bench.load("x = torch.zeros(1)\nfor t in range(100):\n    x = x + 1")
    bench.stop_after = 11
    paused = bench.do("run")
    assert (paused.outcome, paused.next_node) == ("stopped", node(3))
    assert bench["x"].item() == 10  # type: ignore[attr-defined]
    bench.stop_after = None
    bench.do("run")
    assert bench["x"].item() == 100  # type: ignore[attr-defined]


def test_pausing_inside_no_grad_leaves_the_engines_own_mode_alone(bench: Bench) -> None:
    text = "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n    z = y * 2\nw = x * 3"
    bench.load(text)
    bench.do("step", "step")
    assert not torch.is_grad_enabled()
    bench.load(text.replace("w = x * 3", "w = x * 4"))
    bench.do("step", "step")
    assert torch.is_grad_enabled()
    assert bench["w"].requires_grad  # type: ignore[attr-defined]
    assert not bench["z"].requires_grad  # type: ignore[attr-defined]


def test_begin_from_nothing_leaves_blocks_that_were_entered(bench: Bench) -> None:
    text = "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n    z = y * 2"
    bench.run(text, "step", "step")
    bench.do("run", restart=True)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("trace", [True, False])
def test_without_a_seed_one_is_drawn_and_reported_by_which_the_run_repeats(bench: Bench, trace: bool) -> None:
    bench.run("x = torch.randn(3)", seed=None, trace=trace)
    started = next(e for e in bench.events if type(e).__name__ == "Started")
    torch.manual_seed(started.seed)  # type: ignore[attr-defined]
    assert torch.equal(bench["x"], torch.randn(3))  # type: ignore[arg-type]


def test_later_passes_go_on_with_the_stream(bench: Bench) -> None:
    bench.run("W = torch.ones(3, requires_grad=True)\nz = W * torch.rand_like(W)\nz.sum().backward()", "run", "forward")
    torch.manual_seed(0)
    torch.rand(3)
    assert torch.equal(bench["z"].detach(), torch.rand(3))  # type: ignore[attr-defined]


def test_after_a_plain_run_the_next_pass_goes_on_from_it(bench: Bench) -> None:
    bench.run(SQUARE, trace=False)
    paused = bench.do("forward", "backward")
    assert (paused.pass_number, x_grad(bench), bench.state(1)) == (2, 8, "accumulated")


def test_after_a_plain_run_backward_runs_the_last_one_again(bench: Bench) -> None:
    bench.run(SQUARE, trace=False)
    assert bench.do("backward").outcome == "failed"
    assert "a second time" in bench.failed().message


def test_after_a_plain_run_an_edit_ahead_keeps_the_state(bench: Bench) -> None:
    bench.run(SQUARE, trace=False)
    x = bench["x"]
    assert bench.load(SQUARE + "z = x * 5") == (False, True)
    bench.do("step")
    assert bench["x"] is x
    assert bench["z"].item() == 10  # type: ignore[attr-defined]


def test_a_plain_run_that_lost_a_set_up_name_is_followed_by_a_start_from_nothing(bench: Bench) -> None:
    bench.run("h = torch.zeros(2)\nh = torch.ones(2)\nW = torch.ones(2, requires_grad=True)\ny = W * h", trace=False)
    assert bench.do("forward").pass_number == 1


def test_a_set_up_part_is_made_once_and_read_in_every_pass(bench: Bench) -> None:
    import msgspec

    text = "W = torch.ones(2, requires_grad=True)\nnoise = torch.randn(2)\ny = (W * noise).sum()\ny.backward()"
    whole = program(text)
    part, user = whole.statements[1], whole.statements[2]
    changed = (
        whole.statements[0],
        msgspec.structs.replace(part, is_part=True),
        msgspec.structs.replace(user, drops=("noise",)),
        whole.statements[3],
    )
    bench.run(msgspec.structs.replace(whole, statements=changed), "run")
    first = bench["y"].item()  # type: ignore[attr-defined]
    bench.do("forward", "backward")
    assert bench["y"].item() == first  # type: ignore[attr-defined]
    assert "noise" not in bench


def test_another_document_lets_go_of_what_the_last_one_made(bench: Bench) -> None:
    bench.run("x = torch.ones(1000)")
    assert bench.engine.live is not None
    assert bench.engine.loaded is not None
    ours = bench.engine.loaded
    assert bench.engine.load(Loaded("another", ours.revision, ours.program)) == (False, False)
    assert bench.engine.live is None
    assert bench.engine.memory.total == 0
