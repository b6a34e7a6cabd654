"""Checkpoints that come by themselves while a loop trains: whoever is killed goes on from the last, to the last bit."""

from collections.abc import Iterator

import pytest
import torch
from safetensors.torch import load as load_bytes
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.turns import sampled_loop, turn_sampling
from gradstudio.engine.turns.checkpoints import file_checkpoints
from gradstudio.engine.turns.checkpoints.checkpoint_file import copy_checkpoint
from gradstudio.engine.turns.checkpoints.name_flow import names_in_definitions
from gradstudio.program.compile import compile_graph
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.forms.training.training_options import TrainingOptions
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.progress import CheckpointKept, Turned
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench
from tests.engine.test_epoch_scripts import ADDED
from tests.engine.turns.checkpoints.test_going_back import (
    CARRIED,
    DROPOUT,
    LOADER,
    OWN_GENERATOR,
    Clock,
    assert_same,
    values,
)

HEAD = """import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(0)
"""
LARGEST = 1 << 24
EARLY_STOP = """
x = torch.randn(60, 4)
t = torch.randint(0, 3, (60,))
data = torch.utils.data.TensorDataset(x, t)
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3))
opt = optim.Adam(net.parameters(), lr=0.01)
best = 1000.0
waited = 0
ema = torch.zeros(3)
history = {"loss": [], "accuracy": []}
for epoch in range(30):
    net.train()
    total = 0.0
    for xb, tb in loader:
        opt.zero_grad()
        loss = F.cross_entropy(net(xb), tb)
        loss.backward()
        opt.step()
        total += loss.item()
        ema.mul_(0.9).add_(net[3].bias.detach())
    net.eval()
    with torch.no_grad():
        accuracy = (net(x).argmax(1) == t).float().mean()
    history["loss"].append(total)
    history["accuracy"].append(accuracy.item())
    if total < best:
        best = total
        waited = 0
    else:
        waited += 1
"""
COUNTED = EARLY_STOP.replace("for xb, tb in loader", "for number, (xb, tb) in enumerate(loader, 1)").replace(
    "total += loss.item()", "total += loss.item() * number"
)
OVER_BATCHES = """
data = torch.utils.data.TensorDataset(torch.randn(400, 4), torch.randn(400))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
w = torch.zeros(4, requires_grad=True)
opt = optim.SGD([w], lr=0.01, momentum=0.9)
losses = []
for xb, yb in loader:
    opt.zero_grad()
    loss = ((xb + 0.1 * torch.randn_like(xb)) @ w - yb).square().mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
"""
SPARSE = """
table = nn.Embedding(50, 3, sparse=True)
opt = optim.SGD(table.parameters(), lr=0.05)
rows = torch.randint(0, 50, (40,))
for k in range(200):
    loss = (table(rows[k % 40 : k % 40 + 3]) - 1).square().sum()
    loss.backward()
    opt.step()
    if k % 3 == 0:
        opt.zero_grad()
"""
CARRIED_IN_PART = """
w = torch.zeros(2, requires_grad=True)
for k in range(200):
    loss = (w - 1).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
    if k < 200:
        last = [torch.ones(2) * k, iter([1])]
"""
SPARSE_LEAF = """
w = torch.zeros(4, 4).to_sparse().requires_grad_()
for k in range(200):
    loss = (w.to_dense() - 1).square().sum()
    loss.backward()
"""
ITERATOR = """
w = torch.zeros(2, requires_grad=True)
rows = iter([torch.ones(2) * k for k in range(200)])
for k in range(200):
    loss = (w - next(rows)).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
"""
PROGRAMS = {
    "dropout, batch norm, Adam, schedule": DROPOUT,
    "shuffled loader, counted": LOADER,
    "shuffled loader": LOADER.replace("number, pair in enumerate(loader)", "pair in loader"),
    "generator of its own": OWN_GENERATOR.replace("number, pair in enumerate(loader)", "pair in loader"),
    "carried values": CARRIED,
    "early stop": EARLY_STOP,
    "early stop, counted": COUNTED,
    "counted by a name": COUNTED.replace(
        "    for number, (xb, tb) in enumerate(loader, 1):",
        "    batches = enumerate(loader, 1)\n    for number, (xb, tb) in batches:",
    ),
    "places of a list, counted": EARLY_STOP.replace(
        "    for xb, tb in loader:",
        "    for number, k in enumerate(places):\n        xb, tb = x[k : k + 30], t[k : k + 30]",
    ).replace("for epoch", "places = [0, 15, 30]\nfor epoch", 1),
    "one epoch": OVER_BATCHES,
    "a sparse gradient that turns add to": SPARSE,
}
WITHIN = (
    "shuffled loader", "shuffled loader, counted", "generator of its own", "early stop", "early stop, counted",
    "counted by a name", "places of a list, counted",
)  # fmt: skip
"""Those that are kept within an epoch, too."""


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A checkpoint at each turn that is looked at; one thread, since others wait where the machine is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for name in ("FIRST_S", "EVERY_S", "PATIENT_S"):
        monkeypatch.setattr(file_checkpoints, name, 0.0)
    monkeypatch.setattr(file_checkpoints, "SHARE", float("inf"))
    clock = Clock()
    monkeypatch.setattr(file_checkpoints, "time", clock)
    monkeypatch.setattr(turn_sampling, "time", clock)
    yield
    torch.set_num_threads(threads)


def compiled(text: str) -> Program:
    return compile_graph(read_script(HEAD + text).graph)


def train(bench: Bench, text: str) -> list[CheckpointKept]:
    bench.load(compiled(text))
    assert bench.engine.do(Do(verb="run", samples_turns=True, keeps_bytes=LARGEST)).outcome == "done"
    return [event for event in bench.events if isinstance(event, CheckpointKept) and not event.figure]


def go_on(bench: Bench, text: str, kept: CheckpointKept) -> None:
    bench.load(compiled(text))
    torch.manual_seed(99)
    bench.events.clear()
    paused = bench.engine.do(Do(verb="continue", checkpoint=kept.data, samples_turns=True))
    assert (paused.outcome, paused.reason) == ("done", "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_that_goes_on_ends_as_plain_python_does(name: str, bench: Bench) -> None:
    text = PROGRAMS[name]
    kept = train(bench, text)
    whole = values(bench)
    plain: dict[str, object] = {}
    exec(HEAD + text, plain)
    assert torch.equal(whole["drawn next"], torch.get_rng_state())  # type: ignore[arg-type]
    assert not [one.error for one in kept if one.error] and len(kept) > 1
    inside = [one for one in kept if b"training.inside" in one.data]
    assert bool(inside) == (name in WITHIN)
    for one in (kept[0], kept[len(kept) // 2], kept[-1], *inside[1:2]):
        go_on(bench, text, one)
        after = values(bench)
        assert_same(after, whole)
        for key, value in after.items():
            if isinstance(value, torch.Tensor) and key in plain:
                assert torch.equal(value, plain[key]), key  # type: ignore[arg-type]


def test_turns_that_nobody_records_for_long_are_kept_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where recording an epoch costs much, the next that is recorded is far away: the training may be killed before."""
    monkeypatch.setattr(sampled_loop, "SHARE", 1e-9)
    monkeypatch.setattr(file_checkpoints, "EVERY_S", 0.5)
    monkeypatch.setattr(freedom, "is_for_code", True)
    epochs = sampled_loop.WHOLE + 6
    options = TrainingOptions(epochs=epochs, batch=16, accumulate=2, patience=epochs, is_mixed=True)
    text = with_training(read_script(ADDED).graph, lambda _: None, options).text
    program = compile_graph(read_script(text, keeps_code=True).graph)
    with freedom.given(program):
        bench.load(program)
        assert bench.engine.do(Do(verb="run", samples_turns=True, keeps_bytes=LARGEST)).outcome == "done"
        every = [event for event in bench.events if isinstance(event, CheckpointKept)]
        whole, kept = values(bench), [one for one in every if not one.figure]
        middle = [one for one in kept if 30 < one.turns < epochs - 1]
        assert middle and not [one.error for one in kept if one.error]
        assert [one for one in every if one.figure], "the best of a training that is killed is kept, too"
        bench.load(program)
        torch.manual_seed(99)
        assert bench.engine.do(Do(verb="continue", checkpoint=middle[0].data, samples_turns=True)).outcome == "done"
        assert_same(values(bench), whole)
    plain: dict[str, object] = {}
    exec(text, plain)
    assert whole["loss_test"] == plain["loss_test"]


@pytest.mark.parametrize("name", ["carried values", "early stop"])
def test_turns_are_numbered_on_from_the_checkpoint(name: str, bench: Bench) -> None:
    kept = train(bench, PROGRAMS[name])
    ends = {event.loop: event.number for event in bench.events if isinstance(event, Turned) and event.curves}
    middle = kept[len(kept) // 2]
    go_on(bench, PROGRAMS[name], middle)
    told: dict[str, int] = {}
    for event in bench.events:
        if isinstance(event, Turned):
            for curve in event.curves:
                first = event.number - len(curve.data) // 8
                assert first == told.get(event.loop, middle.counts[event.loop])
            if event.curves:
                told[event.loop] = event.number
    assert told and all(ends[loop] == number for loop, number in told.items())


def test_what_no_file_keeps_is_said_once(bench: Bench) -> None:
    (only,) = train(bench, ITERATOR)
    assert not only.data and "hands on what no checkpoint keeps: list_iterator" in only.error


def test_what_cannot_be_kept_leaves_nothing_of_itself_in_the_file(bench: Bench) -> None:
    """A list whose last element no file keeps, read by no turn that comes: its first elements are not kept either."""
    kept = train(bench, CARRIED_IN_PART)[-1]
    assert kept.data and not kept.error
    assert not [name for name in load_bytes(kept.data) if name.startswith("value.")]


def test_a_sparse_leaf_is_refused_in_words_and_the_run_goes_on(bench: Bench) -> None:
    (only,) = train(bench, SPARSE_LEAF)
    assert not only.data and only.error == "'w' is torch.sparse_coo, which no file keeps."


def test_the_text_of_the_program_is_read_once_for_all_checkpoints(bench: Bench) -> None:
    names_in_definitions.cache_clear()
    assert len(train(bench, DROPOUT)) > 1
    assert names_in_definitions.cache_info().misses == 1


def test_none_is_sent_that_is_too_large_or_not_asked_for(bench: Bench) -> None:
    bench.load(compiled(DROPOUT))
    bench.engine.do(Do(verb="run", samples_turns=True, keeps_bytes=100))
    (only,) = [event for event in bench.events if isinstance(event, CheckpointKept)]
    assert "more than 0 MB" in only.error
    bench.events.clear()
    bench.engine.do(Do(verb="run", restart=True, samples_turns=True))
    assert not [event for event in bench.events if isinstance(event, CheckpointKept)]


def test_what_lies_in_parts_in_several_processes_is_refused_in_words(bench: Bench) -> None:
    train(bench, PROGRAMS["early stop"])
    live = bench.engine.live
    assert live is not None
    live.namespace["other"], live.binder["other"] = torch.nn.Linear(2, 2), live.binder["net"]
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        fully_shard(live.namespace["net"], mesh=init_device_mesh("cpu", (1,)))
        live.namespace["net"].unshard()
        gathered = live.namespace["net"][0].weight
        with pytest.raises(VerbRefused, match="'net' is a module of FSDP2, whose parts lie in several processes"):
            copy_checkpoint(live)
        assert live.namespace["net"][0].weight is gathered, "the next collective is that of the other ranks"
        parallelize_module(live.namespace["other"], init_device_mesh("cpu", (1,)), ColwiseParallel())
        del live.namespace["net"]
        with pytest.raises(VerbRefused, match=r"'other\.weight' is a DTensor"):
            copy_checkpoint(live)
    finally:
        torch.distributed.destroy_process_group()


def test_what_torch_says_to_a_copy_does_not_end_the_training(bench: Bench) -> None:
    train(bench, PROGRAMS["early stop"])
    live = bench.engine.live
    assert live is not None
    net = live.namespace["net"]

    def refuse(*_: object) -> None:
        raise RuntimeError("nothing is lent")

    hook = net.register_state_dict_pre_hook(refuse)
    with pytest.raises(VerbRefused, match="It cannot be copied: nothing is lent"):
        copy_checkpoint(live)
    hook.remove()
    net[0].weight.data.untyped_storage().resize_(0)  # as FSDP2 frees what it has gathered
    with pytest.raises(VerbRefused, match=r"The memory of 'net\.0\.weight' was freed"):
        copy_checkpoint(live)
