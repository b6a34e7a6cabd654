"""Distribute: what several processes need stands in the text as ordinary lines, and the rest stays as it was."""

import pytest

from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.forms.training.distributed_training import Way, distributed
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write

HEAD = """import torch
from torch import nn, optim

torch.manual_seed(0)
"""
EPOCHS = f"""{HEAD}x = torch.randn(40, 3)
y = torch.randn(40, 2)
model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=5, shuffle=True)
opt = optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    model.train()
    for xb, yb in loader:
        loss = (model(xb) - yb).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        whole = model(x)
    print("loss", loss.item())
    print(whole.shape)
print("done")
"""
SAVES = EPOCHS.replace('print("done")\n', 'torch.save(model.state_dict(), "model.pt")\n')


def lines_of(text: str, way: Way = "ddp") -> list[str]:
    graph = read_script(text, keeps_code=True).graph
    return distributed(graph, way).splitlines()


def test_what_is_put_in_and_nothing_else_is_another() -> None:
    before, after = EPOCHS.splitlines(), lines_of(EPOCHS)
    new = [line for line in after if line not in before]
    assert new == [
        'torch.distributed.init_process_group("gloo")',
        "rank = torch.distributed.get_rank()",
        "sampler = torch.utils.data.DistributedSampler(data, shuffle=True)",
        "share = max(1, 5 // torch.distributed.get_world_size())",
        "loader = torch.utils.data.DataLoader(data, batch_size=share, sampler=sampler)",
        "replica = nn.parallel.DistributedDataParallel(model)",
        "for epoch in range(3):",
        "    sampler.set_epoch(epoch)",
        "        loss = (replica(xb) - yb).square().mean()",
        "    if rank == 0:",
        '        print("loss", loss.item())',
        "        print(whole.shape)",
        "if rank == 0:",
        '    print("done")',
        "torch.distributed.destroy_process_group()",
    ]
    assert "        whole = model(x)" in after, "what learns nothing goes past the wrapper, which would meet the others"


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
@pytest.mark.parametrize("text", [EPOCHS, EPOCHS.replace("Linear(3, 4)", "Linear(3, 4, bias=False)")])
def test_the_canvas_prints_it_as_it_was_read(text: str, way: Way) -> None:
    code = "\n".join(lines_of(text, way)) + "\n"
    printed = write(read_script(code, keeps_code=True).graph).code
    assert [line for line in printed.splitlines() if line] == [line for line in code.splitlines() if line]
    assert write(read_script(printed, keeps_code=True).graph).code == printed


def test_what_a_loader_goes_over_is_written_once() -> None:
    made = "torch.utils.data.TensorDataset(x, y)"
    text = EPOCHS.replace(f"data = {made}\n", "").replace("DataLoader(data,", f"DataLoader({made},")
    after = lines_of(text)
    place = after.index(f"dataset = {made}")
    assert "\n".join(after).count("TensorDataset") == 1
    assert after[place + 1] == "sampler = torch.utils.data.DistributedSampler(dataset, shuffle=True)"
    assert "DataLoader(dataset, batch_size=share, sampler=sampler)" in after[place + 3]


@pytest.mark.parametrize(
    ("loader", "lines"),
    [
        ("data, 8, True", ("(data, shuffle=True)", "max(1, 8 //", "(data, share, sampler=sampler)")),
        ("dataset=data, batch_size=len(x) // 4, drop_last=True", (
            "(data, shuffle=False, drop_last=True)", "max(1, (len(x) // 4) //",
            "(dataset=data, batch_size=share, drop_last=True, sampler=sampler)")),
        ("data", ("(data, shuffle=False)", "(data, sampler=sampler)")),
    ],
)  # fmt: skip
def test_a_loader_is_shared_out_however_it_is_written(loader: str, lines: tuple[str, ...]) -> None:
    after = lines_of(EPOCHS.replace("data, batch_size=5, shuffle=True", loader))
    place = next(number for number, line in enumerate(after) if line.startswith("sampler = "))
    for line, words in zip(after[place:], lines, strict=False):
        assert words in line
    assert after[place + len(lines)].startswith("replica")


def test_with_fsdp_parameters_are_shared_out_before_the_optimizer_reads_them() -> None:
    after = lines_of(EPOCHS, "fsdp")
    assert after.index("torch.distributed.fsdp.fully_shard(model)") + 1 == after.index(
        "opt = optim.Adam(model.parameters(), lr=0.01)"
    )
    assert after.index("import torch.distributed.fsdp") < after.index("torch.distributed.fsdp.fully_shard(model)")
    assert "        loss = (model(xb) - yb).square().mean()" in after


def test_one_process_alone_saves() -> None:
    assert lines_of(SAVES)[-3:] == [
        "if rank == 0:",
        '    torch.save(model.state_dict(), "model.pt")',
        "torch.distributed.destroy_process_group()",
    ]
    with pytest.raises(NoForm, match="would save the part of one process"):
        lines_of(SAVES, "fsdp")


def test_a_text_over_several_lines_is_printed_as_it_was() -> None:
    text = EPOCHS.replace('print("done")', 'import sys\n\nprint("""all\n  done""", file=sys.stderr)')
    assert lines_of(text)[-4:] == [
        "if rank == 0:",
        '    print("""all',
        '  done""", file=sys.stderr)',
        "torch.distributed.destroy_process_group()",
    ]


def test_a_training_that_was_added_is_distributed() -> None:
    data = "X = torch.randn(64, 2)\ny = torch.randn(64, 1)\n"
    text = f"{HEAD}{data}net = nn.Linear(2, 1)\nloss = (net(X) - y).pow(2).mean()\n"
    added = with_training(read_script(text).graph, lambda _value: None).text
    after = lines_of(added)
    assert "replica = nn.parallel.DistributedDataParallel(net)" in after
    assert "        loss = (replica(X_batch) - y_batch).pow(2).mean()" in after
    assert "    sampler.set_epoch(epoch)" in after
    assert sum("sampler" in line for line in after) == 3, "the rows to test are measured whole by each"


def test_several_modules_are_wrapped_each() -> None:
    text = f"""{HEAD}x = torch.randn(8, 3)
first = nn.Linear(3, 4)
last = nn.Linear(4, 1)
opt = optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
for step in range(4):
    loss = last(first(x)).mean()
    loss.backward()
    opt.step()
"""
    after = lines_of(text)
    assert "first_replica = nn.parallel.DistributedDataParallel(first)" in after
    assert "    loss = last_replica(first_replica(x)).mean()" in after


def test_on_cuda_each_process_has_its_own_device() -> None:
    text = EPOCHS.replace("torch.manual_seed(0)\n", 'torch.manual_seed(0)\ndevice = "cuda"\n')
    after = lines_of(text)
    place = after.index('torch.distributed.init_process_group("nccl")')
    assert after[place + 1] == "torch.cuda.set_device(torch.distributed.get_node_local_rank())"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}x = torch.ones(3)\n", "no backward in a loop"),
        (EPOCHS.replace("optim.Adam(model.parameters(), lr=0.01)", "optim.Adam([x], lr=0.01)"), "whose parameters are"),
        (EPOCHS.replace("shuffle=True", "sampler=torch.utils.data.RandomSampler(data)"), "'loader' has a sampler"),
        (EPOCHS.replace("(model(xb) - yb)", "(model(xb) - yb + model[0].forward(xb).mean())"), "goes past the call"),
        ("\n".join(lines_of(EPOCHS)), "joins several processes already"),
    ],
)
def test_what_cannot_be_shared_out_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(NoForm, match=words):
        lines_of(text)
