"""A training put around a loss: the text is drawn, runs as Python, learns, and leaves the rest as it was."""

from typing import Any

import msgspec
import pytest

from gradstudio.document.python.merge_edits import merge
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.forms.training.training_forms import write_training
from gradstudio.program.forms.training.training_options import TrainingOptions
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write

CLASSES = """import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

# two classes
X = torch.randn(200, 2)
Y = (X[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(2, 16), nn.Dropout(0.1), nn.Linear(16, 2))
logits = net(X)
loss = F.cross_entropy(logits, Y)
"""
LEAVES = """import torch

X = torch.randn(100, 3)
y = X @ torch.tensor([1.0, 2.0, 3.0])
w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
pred = X @ w + b
loss = ((pred - y) ** 2).mean()
loss.backward()
print(w.grad)
"""
BARE = """import torch
from torch import nn

X = torch.randn(40, 2)
Y = torch.arange(40) % 2
fc = nn.Linear(2, 2)
criterion = nn.CrossEntropyLoss()
scores = fc(X)
criterion(scores, Y)
"""
POINT = """import torch

x = torch.tensor(3.0, requires_grad=True)
y = (x - 1) ** 2
"""


def trained(text: str, shape: tuple[int, ...] | None = None) -> tuple[str, dict[str, Any]]:
    """The text with a training, and what Python makes of it."""
    import torch  # takes seconds: not where tests are collected

    new = with_training(read_script(text).graph, lambda _: shape).text
    names: dict[str, Any] = {}
    torch.manual_seed(0)
    exec(new, names)
    return new, names


@pytest.mark.parametrize("text", [CLASSES, LEAVES, BARE, POINT])
def test_what_is_written_is_drawn_as_it_stands(text: str) -> None:
    new, _ = trained(text, (200,))
    assert write(read_script(new).graph).code.replace("optim.", "torch.optim.").count("torch.optim.Adam") == 1
    printed = {line.strip() for line in write(read_script(new).graph).code.split("\n")}
    lost = {line.strip() for line in new.split("\n") if "optim" not in line and "import" not in line} - printed
    assert not lost


def test_classes_are_learnt_and_tested_on_data_that_nobody_learnt_from() -> None:
    new, names = trained(CLASSES)
    assert names["accuracy"] > 0.9 and names["loss_test"].item() < 0.3
    assert len(names["train_data"]) == 160 and len(names["test_data"]) == 40
    assert not names["net"].training
    assert "# two classes\n" in new and new.index("net.train()") < new.index("X_batch, Y_batch in loader")
    assert new.index("net.eval()") < new.index("logits_test = net(X_test)")


def test_leaves_are_learnt_and_what_came_behind_stays_behind() -> None:
    new, names = trained(LEAVES)
    assert "optimizer = torch.optim.Adam([w, b], lr=0.01)\n" in new and new.endswith("\nprint(w.grad)\n")
    assert new.count("backward()") == 1
    assert names["loss_test"].item() < ((names["X"] @ names["torch"].tensor([1.0, 2.0, 3.0])) ** 2).mean().item()


def test_a_loss_without_a_name_gets_one() -> None:
    new, names = trained(BARE)
    assert "        loss = criterion(scores, Y_batch)\n" in new
    assert "optimizer = torch.optim.Adam(fc.parameters(), lr=0.01)\n" in new and "criterion.train()" not in new
    assert "accuracy" in names


def test_without_rows_all_is_learnt_at_once() -> None:
    new, names = trained(POINT)
    assert "for step in range(100):\n" in new and "DataLoader" not in new
    assert 1 < names["x"].item() < 3


def test_names_that_are_taken_are_left_alone() -> None:
    new, names = trained(CLASSES.replace("# two classes", "data = torch.zeros(3)\nloader = 2"))
    assert "data_2 = torch.utils.data.TensorDataset(X, Y)\n" in new and names["loader"] == 2


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (CLASSES + "loss.backward()\nfor k in range(3):\n    print(k)\n", ""),
        ("import torch\nx = torch.randn(3)\ny = x.sum()\n", "nothing to train"),
        (BARE.replace("criterion(scores, Y)", "criterion(scores, Y).backward()"), "Give it a name"),
    ],
)
def test_what_cannot_be_trained_is_said(text: str, word: str) -> None:
    graph = read_script(text).graph
    if not word:
        assert "for k in range(3):" in with_training(graph, lambda _: None).text
        return
    with pytest.raises(NoForm, match=word):
        with_training(graph, lambda _: None)


def test_a_training_is_not_put_into_a_training() -> None:
    new, _ = trained(CLASSES)
    with pytest.raises(NoForm, match="trains already"):
        with_training(read_script(new).graph, lambda _: None)


def test_nodes_that_move_into_the_loop_are_the_same_nodes() -> None:
    graph: Graph = read_script(CLASSES).graph
    before = {node.names[0]: node.id for node in graph.nodes.values() if node.names}
    apply_all(graph, merge(graph, with_training(graph, lambda _: None).text, anew=True))
    after = {node.names[0]: node.id for node in graph.nodes.values() if node.names}
    assert {name: after[name] for name in before} == before
    assert graph.parents[before["loss"]] in graph.blocks and before["X"] in graph.bodies[""]  # type: ignore[index]


def test_rows_that_are_kept_apart_are_the_test() -> None:
    apart = "X_val = torch.arange(100.0).reshape(50, 2)\nY_val = (X_val[:, 0] > 50).long()\n"
    text = with_training(read_script(CLASSES.replace("net = ", f"{apart}net = ", 1)).graph, lambda _value: None).text
    names: dict[str, Any] = {}
    exec(text, names)
    for data, wanted in (("train_data", ("X", "Y")), ("test_data", ("X_val", "Y_val"))):
        assert all(
            names["torch"].equal(one, names[name]) for one, name in zip(names[data].tensors, wanted, strict=True)
        )
    behind = with_training(read_script(CLASSES + apart).graph, lambda _value: None).text
    one = read_script(CLASSES.replace("net = ", f"{apart.splitlines()[0]}\nnet = ", 1)).graph
    assert "random_split" in behind and "random_split" in with_training(one, lambda _value: None).text


def test_figures_of_the_test_are_those_of_all_its_rows() -> None:
    """More of them than a batch to learn from has, and not a whole number of any."""
    rows = CLASSES.replace("200", "700")
    apart = "X_val = torch.randn(2100, 2)\nY_val = (X_val[:, 0] + X_val[:, 1] > 0).long()\n"
    _, names = trained(rows.replace("net = ", f"{apart}net = ", 1))
    import torch
    import torch.nn.functional as F

    scores = names["net"].eval()(names["X_val"]).detach()
    assert torch.equal(names["accuracy"], (scores.argmax(1) == names["Y_val"]).float().mean())
    torch.testing.assert_close(names["loss_test"], F.cross_entropy(scores, names["Y_val"]))
    parts = names["Y_val"].split(128)
    costs = [F.cross_entropy(*part) * len(part[0]) for part in zip(scores.split(128), parts, strict=True)]
    torch.testing.assert_close(names["loss_test"], sum(costs) / 2100, rtol=1e-6, atol=0)
    assert names["test_loader"].batch_size == 128, "not all at once"


@pytest.mark.parametrize("shape", [(200, 3), None])
def test_of_several_classes_a_row_the_share_of_all_is_told(shape: tuple[int, ...] | None) -> None:
    text = CLASSES.replace("nn.Linear(16, 2))", "nn.Linear(16, 6), nn.Unflatten(1, (2, 3)))").replace("Y)", "Z)")
    text = text.replace("logits =", "Z = Y.unsqueeze(1).expand(200, 3)\nlogits =")
    new = with_training(read_script(text).graph, lambda _: shape).text
    names: dict[str, Any] = {}
    exec(new, names)
    assert 0.8 < names["accuracy"] <= 1
    assert " * len(" in new and "_test.numel()" in new


def test_of_one_class_a_row_what_is_right_is_counted() -> None:
    new = with_training(read_script(CLASSES).graph, lambda _: (200,)).text
    assert "            right = (logits_test.argmax(1) == Y_test).sum()\n" in new


def test_a_loss_that_adds_up_is_tested_in_one_batch() -> None:
    text = CLASSES.replace("F.cross_entropy(logits, Y)", 'F.cross_entropy(logits, Y, reduction="sum")')
    _, names = trained(text)
    assert names["test_loader"].batch_size == 40
    assert names["loss_test"] == names["cost"]


def test_a_seed_between_data_and_model_stays_where_it_was() -> None:
    seed = "torch.manual_seed(7)\n"
    new, names = trained(CLASSES.replace("net =", f"{seed}net ="))
    assert new.index("Y = (X") < new.index(seed) < new.index("net = nn") < new.index("for epoch")
    assert new.count(seed) == 1 and names["accuracy"] > 0.9


ALL_SWITCHES = TrainingOptions(
    epochs=3, batch=16, optimizer="SGD", rate="0.05", schedule="cosine", clip="0.5", accumulate=4, is_mixed=True
)
EACH = [
    TrainingOptions(epochs=3, optimizer="AdamW", schedule="steps", clip="1.0"),
    TrainingOptions(epochs=3, accumulate=2),
    TrainingOptions(epochs=3, is_mixed=True),
    ALL_SWITCHES,
]


@pytest.mark.parametrize("options", EACH)
@pytest.mark.parametrize("text", [CLASSES, LEAVES, POINT])
def test_with_switches_it_is_drawn_without_code_and_runs(text: str, options: TrainingOptions) -> None:
    new = with_training(read_script(text).graph, lambda _: None, options).text
    drawn = read_script(new).graph
    assert not compile_graph(drawn).codes and not compile_graph(drawn).incomplete
    import torch

    losses = []
    for program in (new, write(drawn).code):
        names: dict[str, Any] = {}
        torch.manual_seed(5)
        exec(program, names)
        losses.append(str(names["loss" if "loss" in names else "y"]))
    assert losses[0] == losses[1], "the drawing computes what the text does"


SINGLE = [
    TrainingOptions(epochs=3),
    TrainingOptions(epochs=3, optimizer="AdamW", rate="0.002"),
    TrainingOptions(epochs=3, optimizer="SGD"),
    TrainingOptions(epochs=3, schedule="cosine"),
    TrainingOptions(epochs=3, schedule="steps"),
    TrainingOptions(epochs=3, clip="0.1"),
    TrainingOptions(epochs=3, batch=16, accumulate=4),
    TrainingOptions(epochs=3, is_mixed=True),
    TrainingOptions(epochs=3, optimizer="SGD", rate="0.5", patience=1),
]
RATES = {"Adam": 0.01, "AdamW": 0.01, "SGD": 0.1}


@pytest.mark.parametrize("options", [*SINGLE, ALL_SWITCHES])
def test_each_switch_learns_what_a_loop_of_the_tutorials_learns(options: TrainingOptions) -> None:
    names: dict[str, Any] = {}
    exec(with_training(read_script(CLASSES).graph, lambda _: None, options).text, names)
    learnt = by_hand(options).parameters()
    assert all(names["torch"].equal(*pair) for pair in zip(learnt, names["net"].parameters(), strict=True))


def by_hand(options: TrainingOptions, figures: list[float] | None = None) -> Any:
    """The model as torch alone trains it with these switches, on the CPU; `figures` takes the losses of its tests."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(0)
    x = torch.randn(200, 2)
    y = (x[:, 0] > 0).long()
    net = nn.Sequential(nn.Linear(2, 16), nn.Dropout(0.1), nn.Linear(16, 2))
    train, test = torch.utils.data.random_split(torch.utils.data.TensorDataset(x, y), [0.8, 0.2])
    rate = float(options.rate or RATES[options.optimizer])
    more = {"momentum": 0.9} if options.optimizer == "SGD" else {}
    optimizer = getattr(torch.optim, options.optimizer)(net.parameters(), lr=rate, **more)
    falls = {
        "": lambda: None,
        "cosine": lambda: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3),
        "steps": lambda: torch.optim.lr_scheduler.StepLR(optimizer, step_size=1),
    }
    scheduler = falls[options.schedule]()
    loader = torch.utils.data.DataLoader(train, batch_size=options.batch, shuffle=True)
    test_loader = torch.utils.data.DataLoader(test, batch_size=1024)
    found: list[float] = []
    for _ in range(options.epochs):
        net.train()
        for number, (xb, yb) in enumerate(loader, 1):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.is_mixed):
                loss = F.cross_entropy(net(xb), yb)
            (loss / options.accumulate).backward()
            if number % options.accumulate == 0 or number == len(loader):
                if options.clip:
                    nn.utils.clip_grad_norm_(net.parameters(), float(options.clip))
                optimizer.step()
                optimizer.zero_grad()
        if scheduler is not None:
            scheduler.step()
        net.eval()
        with torch.no_grad():
            found += [F.cross_entropy(net(xb), yb).item() for xb, yb in test_loader]
        before, last = found[: -options.patience], found[-options.patience :]
        if options.patience and before and min(last) >= min(before):
            break
    if figures is not None:
        figures += found
    return net


def test_on_an_accelerator_losses_are_scaled() -> None:
    options = TrainingOptions(is_mixed=True, clip="1.0", device="cuda:1")
    lines = [one.strip() for one in with_training(read_script(CLASSES).graph, lambda _: None, options).text.split("\n")]
    first = lines.index("scaler.scale(loss).backward()")
    assert lines[first + 1 : first + 5] == [
        "scaler.unscale_(optimizer)",
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
        "scaler.step(optimizer)",
        "scaler.update()",
    ]
    assert 'with torch.autocast("cuda", dtype=torch.float16):' in lines


def test_what_learns_its_own_input_takes_it_out_of_the_batch() -> None:
    text = CLASSES.replace("F.cross_entropy(logits, Y)", "F.mse_loss(logits, X)")
    new = with_training(read_script(text.replace("Y = (X[:, 0] > 0).long()\n", "")).graph, lambda _: (200, 2)).text
    names: dict[str, Any] = {}
    exec(new, names)
    assert names["loss_test"].item() < 1 and not compile_graph(read_script(new).graph).codes


def test_what_is_computed_from_a_prediction_between_it_and_the_loss_goes_into_the_loop() -> None:
    text = (
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
        "X = torch.randn(40, 3)\ny = (X[:, 0] > 0).long()\nnet = nn.Linear(3, 2)\nlogits = net(X)\n"
        "share = (logits.argmax(1) == y).float().mean()\ndoubled = share * 2\nloss = F.cross_entropy(logits, y)\n"
    )
    trained = with_training(read_script(text).graph, lambda _: None).text
    values: dict[str, object] = {}
    exec(trained, values)
    lines = trained.splitlines()
    assert "        share = (logits.argmax(1) == y_batch).float().mean()" in lines
    assert lines.index("        doubled = share * 2") < lines.index("        loss.backward()")
    assert trained.count("share = ") == 1 and values["doubled"] == values["share"] * 2  # type: ignore[operator]


def drawn_with_code(options: TrainingOptions, text: str = CLASSES) -> Graph:
    return read_script(with_training(read_script(text).graph, lambda _: None, options).text, keeps_code=True).graph


PATIENT = TrainingOptions(optimizer="SGD", rate="2.0", patience=3)


def test_an_early_stop_and_a_compiled_model_are_code_and_nothing_else_is() -> None:
    graph = drawn_with_code(msgspec.structs.replace(PATIENT, is_compiled=True))
    codes = [one.text for one in compile_graph(graph).codes]
    assert codes == ["net.compile()", "if waited >= 3:\n    break"]
    assert not compile_graph(graph).incomplete
    assert "    waited = 0 if loss_test < best else waited + 1\n" in write(graph).code


def test_an_early_stop_ends_where_one_by_hand_does() -> None:
    names: dict[str, Any] = {}
    exec(with_training(read_script(CLASSES).graph, lambda _: None, PATIENT).text, names)
    figures: list[float] = []
    learnt = by_hand(msgspec.structs.replace(PATIENT, epochs=20), figures)
    assert names["epoch"] + 1 == len(figures) < 20
    assert min(figures) not in figures[-3:] and names["best"] == pytest.approx(min(figures))
    assert all(names["torch"].equal(*pair) for pair in zip(learnt.parameters(), names["net"].parameters(), strict=True))


def test_data_that_are_learnt_at_once_are_judged_by_their_loss() -> None:
    options = TrainingOptions(rate="1.0", patience=1)
    text = with_training(read_script(POINT).graph, lambda _: None, options).text
    names: dict[str, Any] = {}
    exec(text, names)
    assert "if waited >= 5:" in text and "waited = 0 if y < best else waited + 1" in text
    assert names["step"] < 99 and names["waited"] == 5


def test_where_only_tensors_learn_nothing_is_compiled() -> None:
    with pytest.raises(NoForm, match="no module to compile"):
        with_training(read_script(LEAVES).graph, lambda _: None, TrainingOptions(is_compiled=True))


@pytest.mark.parametrize("way", ["\n    if loss > 9:\n        break\n", "\n    if loss > 9: continue\n    print(1)\n"])
def test_other_code_that_leaves_a_loop_is_no_training_script(way: str) -> None:
    loop = "for k in range(9):\n    loss = (x - 1) ** 2\n    loss.backward()"
    text = f"import torch\nx = torch.tensor(3.0, requires_grad=True)\n{loop}{way}"
    with pytest.raises(NoForm, match="leaves a loop in a way"):
        write_training(read_script(text, keeps_code=True).graph, stem="left")


DROPOUT = """import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
X = torch.randn(64, 4)
Y = (X[:, 0] > 0).long()
fc = nn.Linear(4, 8)
hidden = fc(X)
drop = nn.Dropout(0.5)
dropped = drop(hidden)
fc2 = nn.Linear(8, 2)
scores = fc2(dropped)
loss = F.cross_entropy(scores, Y)
"""


def test_layers_made_behind_a_dropout_are_made_before_the_loop_and_that_is_said() -> None:
    """One that draws its first numbers behind what dropout draws: the numbers are those of layers made first."""
    import torch

    added = with_training(read_script(DROPOUT).graph, lambda _: None)
    assert added.note == "“fc2” is made before the loop now, so it begins with other random numbers than before."
    names: dict[str, Any] = {}
    exec(added.text, names)
    torch.manual_seed(0)
    inputs = torch.randn(64, 4)
    targets = (inputs[:, 0] > 0).long()
    first, drop, last = torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)
    parts = torch.utils.data.random_split(torch.utils.data.TensorDataset(inputs, targets), [0.8, 0.2])
    loader = torch.utils.data.DataLoader(parts[0], batch_size=32, shuffle=True)
    test_loader = torch.utils.data.DataLoader(parts[1], batch_size=128)
    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=0.01)
    for _ in range(20):
        drop.train()
        for rows, classes in loader:
            loss = torch.nn.functional.cross_entropy(last(drop(first(rows))), classes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        drop.eval()
        with torch.no_grad():
            for rows, classes in test_loader:  # it draws a seed for its workers, each time
                tested = torch.nn.functional.cross_entropy(last(drop(first(rows))), classes)
    assert torch.equal(names["loss"], loss) and torch.equal(names["fc2"].weight, last.weight)
    assert names["loss_test"].item() == pytest.approx(tested.item(), rel=1e-6)


def test_of_what_is_made_first_only_what_draws_other_numbers_is_named() -> None:
    layers = "a = nn.Linear(8, 8)\nb = nn.Linear(8, 8)\nfc2 = nn.Sequential(a, nn.ReLU(), b, nn.Linear(8, 2))\n"
    several = DROPOUT.replace("fc2 = nn.Linear(8, 2)\n", layers) + "noise = torch.randn(3)\n"
    note = with_training(read_script(several).graph, lambda _: None).note
    words = "are made before the loop now, so they begin with other random numbers than before."
    assert note == f"“a”, “b” and “fc2” {words}", "the noise stays behind the training"
    assert with_training(read_script(CLASSES).graph, lambda _: None).note == ""
