"""Literals changed while a run stands in a loop: from the next turn on, as a person would do it by hand."""

from collections.abc import Callable

import pytest
import torch
from torch import nn, optim

from gradstudio.engine.turns import sampled_loop
from gradstudio.protocol.messages.events import Gradients, Loaded
from gradstudio.protocol.messages.records import OptimizerRecord
from gradstudio.protocol.messages.requests import Do, Load
from tests.engine.build import node, program
from tests.engine.conftest import Bench

TEXT = """
x = torch.linspace(-1, 1, 12).reshape(6, 2)
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1))
drop = nn.Dropout(0.25)
opt = optim.Adam(net.parameters(), lr=0.01)
for k in range(8):
    loss = (drop(net(x)) * 1.5).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
OPT, LOSS, DROP = 5, 7, 4


def by_hand(change: Callable[[optim.Optimizer, nn.Dropout], float], turns: int) -> tuple[list[float], torch.Tensor]:
    """The same in plain torch; `change` is made behind so many turns and gives the factor in the loss since."""
    torch.manual_seed(0)
    x = torch.linspace(-1, 1, 12).reshape(6, 2)
    torch.manual_seed(3)
    net, drop, factor = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1)), nn.Dropout(0.25), 1.5
    opt, losses = optim.Adam(net.parameters(), lr=0.01), []
    for k in range(8):
        if k == turns:
            factor = change(opt, drop)
        loss = (drop(net(x)) * factor).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, torch.cat([one.detach().reshape(-1) for one in net.parameters()])


def pause_behind(bench: Bench, text: str, turns: int) -> None:
    """Behind the last statement of a turn."""
    bench.load(text)
    for _ in range(turns):
        bench.engine.do(Do(verb="run", until=node(10)))


def rate(opt: optim.Optimizer, drop: nn.Dropout) -> float:
    for group in opt.param_groups:
        group["lr"] = 0.5
    return 1.5


def dropout(opt: optim.Optimizer, drop: nn.Dropout) -> float:
    drop.p = 0.75
    return 1.5


def factor(opt: optim.Optimizer, drop: nn.Dropout) -> float:
    return -3.0


@pytest.mark.parametrize(
    ("before", "after", "line", "words", "change"),
    [
        ("lr=0.01", "lr=0.5", OPT, "lr 0.01 → 0.5", rate),
        ("Dropout(0.25)", "Dropout(0.75)", DROP, "p 0.25 → 0.75", dropout),
        ("* 1.5", "* -3.0", LOSS, "1.5 → -3.0", factor),
    ],
)
def test_the_rest_of_the_run_is_what_the_change_by_hand_gives(
    bench: Bench, before: str, after: str, line: int, words: str, change: Callable[[optim.Optimizer, nn.Dropout], float]
) -> None:
    pause_behind(bench, TEXT, 3)
    assert bench.load(TEXT.replace(before, after)) == (False, True)
    live = bench.engine.live
    assert live is not None and [(one.node, one.words) for one in live.changes] == [(node(line), words)]
    paused = bench.engine.do(Do(verb="run"))
    assert paused.outcome == "done" and paused.changed_by_hand
    losses, weights = by_hand(change, 3)
    net = bench["net"]
    assert isinstance(net, nn.Module)
    assert torch.equal(torch.cat([one.detach().reshape(-1) for one in net.parameters()]), weights)
    assert bench["loss"].item() == losses[-1]  # type: ignore[attr-defined]


def test_the_card_of_the_optimizer_says_the_new_rate_and_until_then_what_it_was_made_with(bench: Bench) -> None:
    pause_behind(bench, TEXT, 2)
    bench.events.clear()
    bench.engine.do(Do(verb="step"))
    assert not rates(bench)
    bench.load(TEXT.replace("lr=0.01", "lr=0.5"))
    bench.engine.do(Do(verb="step"))
    assert rates(bench) == [0.5]


def rates(bench: Bench) -> list[float]:
    """Of optimizers, what is told at the end of a verb to be another now."""
    told = [one.record for event in bench.events if isinstance(event, Gradients) for one in event.written]
    return [dict(group)["lr"] for one in told if isinstance(one, OptimizerRecord) for group in one.groups]


def test_taken_back_at_once_the_run_is_as_if_nothing_had_been(bench: Bench) -> None:
    pause_behind(bench, TEXT, 3)
    bench.load(TEXT.replace("lr=0.01", "lr=0.5"))
    assert bench.load(TEXT) == (False, True)
    bench.engine.do(Do(verb="run"))
    assert bench["loss"].item() == by_hand(lambda opt, drop: 1.5, 3)[0][-1]  # type: ignore[attr-defined]


def test_a_rate_that_a_schedule_moves_keeps_its_share_of_the_new_one(bench: Bench) -> None:
    text = (
        TEXT.replace("for k", "plan = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.1)\nfor k")
        + "    plan.step()"
    )
    bench.load(text)
    for _ in range(3):
        bench.engine.do(Do(verb="run", until=node(12)))
    bench.load(text.replace("lr=0.01", "lr=0.5"))
    plan, opt = bench["plan"], bench["opt"]
    assert isinstance(plan, optim.lr_scheduler.LRScheduler) and isinstance(opt, optim.Adam)
    assert opt.param_groups[0]["lr"] == pytest.approx(0.05) and plan.base_lrs == [0.5]
    bench.engine.do(Do(verb="run"))
    assert opt.param_groups[0]["lr"] == pytest.approx(0.5 * 0.1**4)
    assert len(opt.state) == 4  # what it has learnt is there


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Linear(4, 1)", "Linear(4, 2)"),
        ("manual_seed(3)", "manual_seed(4)"),
        ("lr=0.01", "lr=0.01, amsgrad=True"),
        ("linspace(-1,", "linspace(-2,"),
        (".square()", ".abs()"),
        ("range(8)", "range(9)"),
    ],
)
def test_what_would_have_to_be_made_anew_is_stale_as_ever(bench: Bench, before: str, after: str) -> None:
    pause_behind(bench, TEXT, 3)
    assert bench.load(TEXT.replace(before, after))[0]
    opt = bench["opt"]
    assert isinstance(opt, optim.Adam) and not opt.defaults["amsgrad"]


def test_behind_the_loop_nothing_holds_on(bench: Bench) -> None:
    bench.run(TEXT)
    assert bench.load(TEXT.replace("lr=0.01", "lr=0.5"))[0]


def send_at(bench: Bench, text: str, turns: int) -> None:
    """A program that comes while the loop runs, when so many of its turns are over."""
    sampling = bench.engine.runner.sampling
    load = Load(document="document", revision=bench.revision + 1, program=program(text), tensors={})
    sampling.updates.newest = lambda: load if sampling.curves.count(node(6)) >= turns else None


def loaded(bench: Bench) -> list[Loaded]:
    return [event for event in bench.events if isinstance(event, Loaded)]


@pytest.mark.parametrize("whole", [64, 1], ids=["recorded whole", "by sample"])
@pytest.mark.parametrize(
    ("before", "after", "line", "words", "change"),
    [
        ("lr=0.01", "lr=0.5", OPT, "lr 0.01 → 0.5", rate),
        ("Dropout(0.25)", "Dropout(0.75)", DROP, "p 0.25 → 0.75", dropout),
        ("* 1.5", "* -3.0", LOSS, "1.5 → -3.0", factor),
    ],
)
def test_changed_while_the_loop_runs_it_holds_from_the_next_turn_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, whole: int, before: str, after: str, line: int, words: str,
    change: Callable[[optim.Optimizer, nn.Dropout], float],
) -> None:  # fmt: skip
    monkeypatch.setattr(sampled_loop, "WHOLE", whole)
    monkeypatch.setattr(sampled_loop, "TELL_S", 0.0)
    bench.load(TEXT)
    send_at(bench, TEXT.replace(before, after), 4)
    paused = bench.engine.do(Do(verb="run", samples_turns=True))
    assert paused.outcome == "done" and paused.changed_by_hand
    (told,) = loaded(bench)
    assert [(one.node, one.words) for one in told.changes] == [(node(line), words)]
    losses, weights = by_hand(change, told.turns[node(6)])
    net = bench["net"]
    assert isinstance(net, nn.Module) and 4 <= told.turns[node(6)] < 8
    assert torch.equal(torch.cat([one.detach().reshape(-1) for one in net.parameters()]), weights)
    assert bench["loss"].item() == losses[-1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("before", "after"), [("Linear(4, 1)", "Linear(4, 2)"), ("range(8)", "range(9)")])
def test_what_cannot_hold_in_the_middle_is_said_once_and_the_run_goes_on_as_it_is(
    bench: Bench, before: str, after: str
) -> None:
    bench.load(TEXT)
    send_at(bench, TEXT.replace(before, after), 2)
    paused = bench.engine.do(Do(verb="run", samples_turns=True))
    assert paused.outcome == "done" and not paused.changed_by_hand
    assert [(one.waits, one.changes) for one in loaded(bench)] == [(True, ())]
    assert bench["loss"].item() == by_hand(lambda opt, drop: 1.5, 8)[0][-1]  # type: ignore[attr-defined]


def test_a_run_that_is_repeated_changes_nothing_meanwhile(bench: Bench) -> None:
    pause_behind(bench, TEXT, 3)
    send_at(bench, TEXT.replace("lr=0.01", "lr=0.5"), 1)
    bench.engine.do(Do(verb="repeat", samples_turns=True))
    assert not loaded(bench)
