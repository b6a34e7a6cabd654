"""Steps of many kinds, recorded: the values are those of the script's own variables, and nothing is drawn twice."""

import copy
import re
import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gradstudio
from gradstudio.document.file import load
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.errors import GradStudioError
from gradstudio.graph.text.code_records import CODE
from gradstudio.headless import recorded_or_traced
from gradstudio.program.compile import compile_graph
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from gradstudio.protocol.record_file import program_digest
from tests.engine.record.test_step_record import Recorded


def recorded(tmp_path: Path, run: Callable[[Path], None]) -> Recorded:
    torch.manual_seed(5)
    run(tmp_path / "step.gsg")
    return Recorded(tmp_path / "step.gsg")


def compare(found: Recorded, names: dict[str, Any], *, gradients: tuple[str, ...] = ()) -> None:
    """Each of the script's tensors has its summary in the record, and its gradient."""
    for name, tensor in names.items():
        assert found.value(name).summary == summarise(tensor), name
    for name in gradients:
        row = found.gradients[found.node(name)]
        assert (row.state, row.grad) == ("value", summarise(names[name].grad)), name
    told = {row.node for row in found.rows}
    assert [node.operator for node in found.graph.nodes.values() if node.id not in told] == []


def test_two_networks_that_learn_against_each_other(tmp_path: Path) -> None:
    names: dict[str, Any] = {}

    def run(path: Path) -> None:
        maker, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 5), nn.LeakyReLU(0.2), nn.Linear(5, 1))
        first, second = torch.optim.SGD(judge.parameters(), 0.1), torch.optim.Adam(maker.parameters())
        real, criterion = torch.randn(6, 4), nn.BCEWithLogitsLoss()
        with gradstudio.record(path):
            noise = torch.randn(6, 3)
            fake = maker(noise)
            fake.retain_grad()
            judged = criterion(judge(real), torch.ones(6, 1)) + criterion(judge(fake.detach()), torch.zeros(6, 1))
            judged.backward()
            first.step()
            first.zero_grad()
            fooled = criterion(judge(fake), torch.ones(6, 1))
            fooled.backward()
            second.step()
        names.update(noise=noise, fake=fake, judged=judged, fooled=fooled, real=real)

    found = recorded(tmp_path, run)
    compare(found, names, gradients=("fake",))
    assert len(found.backwards) == 2
    assert [backward.backward for backward in found.backwards] == [1, 2]


def test_weights_that_are_trained_by_hand_and_values_that_are_written_into(tmp_path: Path) -> None:
    names: dict[str, Any] = {}

    def run(path: Path) -> None:
        w = torch.randn(3, 40, requires_grad=True)
        x = torch.randn(4, 3)
        before = w.detach().clone()
        with gradstudio.record(path):
            y = x @ w
            y.retain_grad()
            kept = y.detach().clone()
            z = y * 2
            made = z.detach().clone()
            z += 1
            loss = z.sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
        names.update(w=before, y=y, kept=kept, loss=loss, z=made)

    found = recorded(tmp_path, run)
    compare(found, names)
    assert found.gradients[found.node("y")].grad == summarise(names["y"].grad)
    now = [value for event in found.record.events for value in getattr(event, "written", ())]
    assert [value.node for value in now] == [found.node("w")]


def test_lists_tuples_views_and_functions_of_several_results(tmp_path: Path) -> None:
    names: dict[str, Any] = {}

    def run(path: Path) -> None:
        rnn, head = nn.LSTM(4, 5, num_layers=2, batch_first=True), nn.Linear(5, 2)
        x = torch.randn(2, 6, 4)
        with gradstudio.record(path):
            out, (h, c) = rnn(x)
            a, b = out.chunk(2, dim=1)
            both = torch.cat([a, b], dim=1)
            most, where = torch.max(both, dim=1)
            product = torch.einsum("ij,kj->ik", most, most)
            logits = head(h[-1])
            loss = F.cross_entropy(logits, torch.tensor([0, 1])) + product.mean()
            loss.backward()
        names.update(x=x, out=out, h=h, c=c, both=both, most=most, where=where, product=product, logits=logits)

    compare(recorded(tmp_path, run), names)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        return 2 * ctx.saved_tensors[0] * grad


def test_an_autograd_function_of_ones_own_is_a_card_of_code_in_the_way_of_the_gradient(tmp_path: Path) -> None:
    names: dict[str, Any] = {}

    def run(path: Path) -> None:
        x = torch.randn(30, requires_grad=True)
        with gradstudio.record(path):
            y = Square.apply(x)
            y.retain_grad()
            loss = y.sum()
            loss.backward()
        names.update(x=x, y=y, loss=loss)

    found = recorded(tmp_path, run)
    compare(found, names, gradients=("x", "y"))
    assert found.graph.nodes[found.node("y")].operator == CODE
    assert "SquareBackward" in [row.autograd for row in found.backwards[0].rows]


def test_a_gradient_of_a_gradient(tmp_path: Path) -> None:
    names: dict[str, Any] = {}

    def run(path: Path) -> None:
        x = torch.randn(30, requires_grad=True)
        with gradstudio.record(path):
            y = (x**3).sum()
            (g,) = torch.autograd.grad(y, x, create_graph=True)
            penalty = g.pow(2).sum()
            torch.autograd.backward(penalty)
        names.update(x=x, y=y, g=g, penalty=penalty)

    found = recorded(tmp_path, run)
    compare(found, names, gradients=("x",))
    assert {row.order for row in found.backwards[1].rows} == {1, 2}


def test_helpers_of_torch_schedulers_and_transforms_are_one_statement_each(tmp_path: Path) -> None:
    def run(path: Path) -> None:
        net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        with gradstudio.record(path):
            for _ in range(2):
                optimizer.zero_grad()
                loss = net(torch.ones(2, 4)).sum()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                schedule.step()
            torch.func.grad(lambda w: (w**2).sum())(torch.ones(3))

    found = recorded(tmp_path, run)
    codes = [node.literals["code"] for node in found.graph.nodes.values() if node.operator == CODE]
    assert codes[:2] == ['"nn.utils.clip_grad_norm_(net.parameters(), 1.0)"'] * 2
    assert codes[2:] == ['"grad = torch.func.grad(...)(ones3)"']
    steps = [node for node in found.graph.nodes.values() if node.operator == "torch.optim.Optimizer.step"]
    assert len(steps) == 2
    modules = [row.outputs[0] for row in found.rows if row.outputs and isinstance(row.outputs[0], ModuleRecord)]
    assert [record.class_name for record in modules] == ["Linear", "Dropout"]


def test_what_ran_before_an_error_is_recorded_and_the_error_is_the_scripts(tmp_path: Path) -> None:
    def run(path: Path) -> None:
        x = torch.randn(3)
        with gradstudio.record(path):
            y = x * 2
            y @ torch.ones(4)

    with pytest.raises(RuntimeError, match="size"):
        recorded(tmp_path, run)
    found = Recorded(tmp_path / "step.gsg")
    assert isinstance(found.value("y"), TensorRecord)


def test_a_name_that_is_no_document_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match=r"must end in \.gsg"):
        gradstudio.record("step.txt")


def test_the_example_of_the_page_records_its_third_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scripts.md").read_text()
    (script,) = [part for part in page.split("```python\n") if "class Net" in part.partition("```")[0]]
    (tmp_path / "train.py").write_text(script.partition("```")[0])
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path("train.py")
    found = Recorded(tmp_path / "step.gsg")
    assert found.record.head.title == "train.py"
    assert found.value("x").summary.shape == (32, 1, 28, 28)
    assert {frame.title for frame in found.graph.blocks.values()} == {"Before the step", "net (Net)"}
    assert names["number"] == 4


def test_a_record_is_drawn_without_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(path: Path) -> None:
        x = torch.full((2,), 3.0, requires_grad=True)
        with gradstudio.record(path):
            loss = (Square.apply(x) * 2).sum()
            loss.backward()

    recorded(tmp_path, run)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # no engine can be started
    path = tmp_path / "step.gsg"
    events = recorded_or_traced(str(path), load(path))
    assert [type(event).__name__ for event in events] == ["Traced", "BackwardTraced", "Traced", "Gradients"]
    path.with_suffix(".record").unlink()
    with pytest.raises(GradStudioError):
        recorded_or_traced(str(path), load(path))


def test_a_step_that_is_recorded_again_has_the_drawing_of_the_first_and_numbers_of_its_own(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    grads: list[list[float]] = []
    for number, rows in enumerate((20, 20, 30)):
        x = torch.randn(rows, 3)
        with gradstudio.record(tmp_path / f"step{number}.gsg"):
            optimizer.zero_grad()
            net(x).square().sum().backward()
            optimizer.step()
        assert net.bias.grad is not None
        grads.append(net.bias.grad.tolist())
    found = [Recorded(tmp_path / f"step{number}.gsg") for number in range(3)]
    texts = [re.sub("[0-9a-f]{64}", "", (tmp_path / f"step{number}.gsg").read_text()) for number in range(3)]
    assert texts[0] == texts[1] != texts[2]
    rows_told = [row for one in found for (_, path), row in one.leaf_gradients.items() if path == "bias"]
    assert [row.grad.value for row in rows_told if row.grad is not None] == grads
    assert [one.record.head.program for one in found] == [program_digest(compile_graph(one.graph)) for one in found]


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # what torch's own jvp loads
def test_transforms_of_functions_are_a_call_each_whatever_runs_inside(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    net = nn.Linear(3, 1)

    def wrong(params: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return F.mse_loss(torch.func.functional_call(net, params, (x,)), y)

    def run(path: Path) -> None:
        params = {name: value.detach() for name, value in net.named_parameters()}
        x, y = torch.randn(4, 3), torch.randn(4, 1)
        with gradstudio.record(path):
            grads = torch.func.grad(wrong)(params, x, y)
            slope = grads["weight"]
            each = torch.func.vmap(torch.func.grad(wrong), in_dims=(None, 0, 0))(params, x, y)
            slopes = each["weight"]
            jacobian = torch.func.jacrev(torch.sin)(x)
            out, tangent = torch.func.jvp(torch.cos, (x,), (torch.ones(4, 3),))
            sine, pull = torch.func.vjp(torch.sin, x)
            (pulled,) = pull(torch.ones(4, 3))
        names.update(slope=slope, slopes=slopes, jacobian=jacobian, tangent=tangent, out=out, sine=sine, pulled=pulled)
        assert torch.equal(jacobian.sum((2, 3)), x.cos())

    found = recorded(tmp_path, run)
    compare(found, names)
    text = write_script(found.graph)
    assert "torch.func.grad(wrong)(" in text
    assert "torch.func.vmap(torch.func.grad(wrong), in_dims=(None, 0, 0))(" in text
    assert "torch.func.jvp(torch.cos, " in text


def _doubles(_module: nn.Module, _inputs: Any, _named: Any, result: Tensor) -> Tensor:
    return result * 2


def test_a_layer_with_hooks_is_one_call_and_what_its_hooks_compute_follows(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    kept: list[Tensor] = []
    seen: list[Tensor] = []

    def run(path: Path) -> None:
        first, second, third = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(3, 2)
        x = torch.randn(5, 4)
        plain = [copy.deepcopy(layer) for layer in (first, second, third)]
        first.register_forward_hook(lambda _module, _inputs, result: kept.append(result.detach().exp()))
        second.register_forward_hook(_doubles, with_kwargs=True)
        third.register_full_backward_hook(lambda _module, _given, arrived: seen.append(arrived[0]))
        third.weight.register_hook(lambda grad: grad * 3)
        with gradstudio.record(path):
            y = first(x)
            z = second(y)
            out = third(z)
            loss = out.square().mean()
            loss.backward()
        one, two, three = plain
        doubled = two(one(x)) * 2
        made = three(doubled)
        made.square().mean().backward()
        for mine, other in zip((first, second, third), plain, strict=True):
            assert other.weight.grad is not None
            assert torch.equal(mine.weight.grad, other.weight.grad * (3 if mine is third else 1))
        names.update(y=y, z=z, out=out, loss=loss, weight=third.weight)
        assert torch.equal(z, doubled) and torch.equal(out, made)

    found = recorded(tmp_path, run)
    compare(found, {name: names[name] for name in ("y", "z", "out", "loss")})
    operators = [node.operator for node in found.graph.nodes.values()]
    assert [operators.count(one) for one in ("torch.nn.Linear", "python.call")] == [3, 3]
    assert {"torch.Tensor.exp", "operator.mul"} <= set(operators)
    assert not any("Function" in operator for operator in operators)
    assert len(kept) == len(seen) == 1
    gradients = [row.grad for (_, path), row in found.leaf_gradients.items() if path == "weight"]
    assert summarise(names["weight"].grad) in gradients


def test_a_layer_with_hooks_before_it_is_one_call_and_what_they_compute_stands_before_it(tmp_path: Path) -> None:
    names: dict[str, Any] = {}

    def run(path: Path) -> None:
        first, second, third = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(3, 2)
        x = torch.randn(5, 4)
        plain = [copy.deepcopy(layer) for layer in (first, second, third)]
        first.register_forward_pre_hook(lambda _module, given: given[0] + 1)
        second.register_forward_pre_hook(lambda _module, given, words: ((given[0] * 2,), words), with_kwargs=True)
        third.register_full_backward_pre_hook(lambda _module, arrived: (arrived[0] * 3,))
        with gradstudio.record(path):
            y = first(x)
            z = second(y)
            out = third(z)
            loss = out.square().mean()
            loss.backward()
        one, two, three = plain
        made = three(two(one(x + 1) * 2))
        made.register_hook(lambda grad: grad * 3)
        made.square().mean().backward()
        for mine, other in zip((first, second, third), plain, strict=True):
            assert torch.equal(mine.weight.grad, other.weight.grad)
        names.update(y=y, z=z, out=out, loss=loss)
        assert torch.equal(out, made)

    found = recorded(tmp_path, run)
    compare(found, {name: names[name] for name in ("y", "z", "loss")})
    operators = [node.operator for node in found.graph.nodes.values()]
    assert [operators.count(one) for one in ("torch.nn.Linear", "python.call")] == [3, 3]
    assert {"operator.add", "operator.mul"} <= set(operators)
    assert not any("Function" in operator for operator in operators)


def _doubled(grad: Tensor) -> Tensor:
    return grad * 2


def _tripled(grad: Tensor) -> None:
    grad.mul_(3)


def _clipped(leaf: Tensor) -> None:
    assert leaf.grad is not None
    leaf.grad.clamp_(-0.1, 0.1)


def _five_times(_module: nn.Module, sent: Any, _came: Any) -> tuple[Tensor, ...]:
    return tuple(grad * 5 for grad in sent)


def test_every_hook_that_changed_a_gradient_is_told_at_its_step_with_the_gradient_before_and_behind_it(
    tmp_path: Path,
) -> None:
    """Plain torch sends back what is computed here by hand, a hook after the other."""
    names: dict[str, Tensor] = {}

    def run(path: Path) -> None:
        net = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
        net[1].register_full_backward_hook(_five_times)
        net[0].bias.register_hook(partial(_doubled))
        net[0].bias.register_hook(_tripled)
        net[0].weight.register_post_accumulate_grad_hook(_clipped)
        x = torch.randn(4, 3)
        with gradstudio.record(path):
            h = net(x)
            h.register_hook(lambda grad: grad * 7)
            z = h * 2
            z.register_hook(lambda grad: None)
            loss = z.sum() + (h**2).sum()
            loss.backward()
        came = 2 * h.detach() + 2
        sent = came * 7 * (1 - h.detach() ** 2)
        names.update(came=came, h=came * 7, sent=sent, module=sent * 5, bias=(sent * 5).sum(0))
        names.update(weight=(sent * 5).T @ x, grad=net[0].weight.grad)
        assert list(net[0].bias._backward_hooks.values())[1] is _tripled

    found = recorded(tmp_path, run)
    told = {hook.name: hook for traced in found.backwards for row in traced.rows for hook in row.hooks if hook.changed}

    def figures(name: str) -> tuple[Any, Any]:
        hook = told[name]
        assert hook.before is not None and hook.after is not None
        assert hook.file == "test_recorded_programs.py"
        return torch.tensor(hook.before.value), torch.tensor(hook.after.value)

    expected = {
        "lambda": (names["came"], names["h"]),
        "_five_times": (names["sent"], names["module"]),
        "_doubled": (names["bias"], names["bias"] * 2),
        "_tripled": (names["bias"] * 2, names["bias"] * 6),
        "_clipped": (names["weight"], names["grad"]),
    }
    assert told.keys() == expected.keys()
    for name, (before, after) in expected.items():
        torch.testing.assert_close(figures(name), (before, after), rtol=1e-5, atol=1e-6)
    assert told["_doubled"].line == _doubled.__code__.co_firstlineno
    idle = [hook for traced in found.backwards for row in traced.rows for hook in row.hooks if not hook.changed]
    assert [hook.name for hook in idle] == ["lambda"]
    kinds = {told[name].kind for name in expected}
    assert kinds == {"tensor", "module", "accumulated"}
