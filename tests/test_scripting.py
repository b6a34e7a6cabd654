"""What a person's own script asks for: `import gradstudio` is cheap, `draw` gives what a notebook shows."""

import copy
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch import nn

import gradstudio
from gradstudio.document.errors import CannotSave
from gradstudio.document.file import load
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.events import Gradients
from gradstudio.protocol.record_file import program_digest, read_record, record_beside

ASK = """
import sys, gradstudio
print(*sorted({"torch", "PySide6", "msgspec", "numpy"} & set(sys.modules)))
gradstudio.draw
print(*sorted({"torch", "PySide6"} & set(sys.modules)))
"""


def test_the_import_loads_nothing_and_draw_itself_no_torch() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert done.stdout == "\n\n"


def test_a_name_that_is_none_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="'gradstudio' has no attribute 'drow'"):
        gradstudio.drow  # noqa: B018


def test_a_notebook_shows_the_picture_and_a_file_holds_it(tmp_path: Path) -> None:
    picture = gradstudio.draw(nn.Linear(3, 2), torch.ones(1, 3))
    assert picture._repr_svg_() in picture._repr_html_()
    picture.save(tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert "AddmmBackward0  →  result" in [
        "".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert repr(picture) == "<autograd's graph: 5 nodes.>"


def test_a_picture_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    picture = gradstudio.draw(torch.ones(1, requires_grad=True) * 2)
    with pytest.raises(ValueError, match=r"must end in \.svg"):
        picture.save(tmp_path / "a.png")
    with pytest.raises(CannotSave):
        picture.save(tmp_path / "none" / "a.svg")


def test_names_of_leaves_may_be_given() -> None:
    w = torch.ones(1, requires_grad=True)
    for params in ({"w": w}, [("w", w)]):
        assert next(node.title for node in gradstudio.draw(w * 2, params=params).sketch.nodes) == "w"


@pytest.mark.parametrize(
    ("what", "inputs", "options", "words"),
    [
        (torch.ones(1), (), {"theme": "blue"}, "theme='blue'"),
        (torch.ones(1), (), {"limit": 0}, "limit=0"),
        (torch.ones(1), (torch.ones(1),), {}, "takes inputs"),
    ],
)
def test_wrong_arguments_are_told(what, inputs, options, words) -> None:
    with pytest.raises(ValueError, match=words):
        gradstudio.draw(what, *inputs, **options)


def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A program in Python's place that notes what it is called with."""
    program, notes = tmp_path / "python", tmp_path / "notes"
    launch = f'if [ "$1" = "-c" ]; then exec {sys.executable} "$@"; fi'
    os.mkfifo(notes)
    program.write_text(f'#!/bin/sh\n{launch}\necho "$@" > {notes}\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return notes


def words_in(notes: Path) -> list[str]:
    return notes.read_text().split()  # waits until somebody has written


def test_show_opens_a_window_on_a_forward_and_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notes = opened(monkeypatch, tmp_path)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    drawn, before = torch.get_rng_state(), copy.deepcopy(model.state_dict())
    path = gradstudio.show(model, torch.ones(2, 3))
    assert words_in(notes) == ["-m", "gradstudio", str(path)]
    assert "A forward of test_scripting.py, as it ran: values are in the record" in compile_graph(load(path)).code
    operators = [node.operator for node in load(path).nodes.values()]
    assert operators == [
        *("torch.ones", "torch.nn.Linear", "python.call", "torch.nn.BatchNorm1d", "python.call"),
        *("torch.nn.Dropout", "python.call"),
    ]
    assert torch.equal(drawn, torch.get_rng_state())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_show_opens_a_window_on_what_autograd_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notes = opened(monkeypatch, tmp_path)
    w = torch.ones(3, requires_grad=True)
    loss = (w * 2).sum()
    loss.backward(retain_graph=True)
    path = gradstudio.show(loss, params={"w": w})
    assert words_in(notes)[-1] == str(path)
    graph = load(path)
    assert [(node.operator, node.names) for node in graph.nodes.values()] == [
        ("autograd.AccumulateGrad", ("w",)),
        ("autograd.MulBackward0", ("mul",)),
        ("autograd.SumBackward0", ("result",)),
    ]
    program = compile_graph(graph)
    assert program.code == "# w = AccumulateGrad()\n# mul = MulBackward0(w)\n# result = SumBackward0(mul)\n"
    assert (program.statements, program.incomplete) == ((), ())
    record = read_record(record_beside(path))
    assert record.head.program == program_digest(program)
    (gradients,) = [event for event in record.events if isinstance(event, Gradients)]
    assert [(row.node, row.state, row.grad) for row in gradients.rows] == [
        ("n1", "value", summarise(w.grad)),
        ("n2", "not_retained", None),
        ("n3", "not_retained", None),
    ]


def test_variables_around_name_what_show_opens_and_a_function_with_several_results_has_several_wires(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes = opened(monkeypatch, tmp_path)
    x = torch.arange(4.0)
    w = torch.ones(4, requires_grad=True)
    left, right = (w * x).chunk(2)
    loss = (left * right.exp()).sum()
    path = gradstudio.show(loss, params={"w": w, "x": x, "loss": loss})
    words_in(notes)
    assert compile_graph(load(path)).code.splitlines() == [
        "# w = AccumulateGrad()",
        "# x = constant()",
        "# mul = MulBackward0(x, w)",
        "# split, split2 = SplitBackward0(mul)",
        "# exp = ExpBackward0(split2)",
        "# mul2 = MulBackward0(split, exp)",
        "# loss = SumBackward0(mul2)",
    ]


def test_show_refuses_inputs_for_a_tensor() -> None:
    with pytest.raises(ValueError, match="Only a module"):
        gradstudio.show(torch.ones(1), torch.ones(1))


NOTEBOOK = """
import torch
from torch import nn
import gradstudio

model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
w = torch.ones(2, requires_grad=True)
more = [torch.ones(2, requires_grad=True), w]
_, hidden = 0, torch.ones(2, requires_grad=True)
loss = (model(torch.ones(3)) * w + more[0] + hidden + torch.zeros(2, requires_grad=True)).sum()
before = dict(globals())
picture = gradstudio.draw(loss)
named = gradstudio.draw(loss, params={"weights": w})
"""


def test_leaves_are_called_as_the_variables_around_the_call() -> None:
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(NOTEBOOK, names)
    leaves = {node.title for node in names["picture"].sketch.nodes if node.kind == "leaf"}
    assert leaves == {"model.0.weight", "model.0.bias", "w", "more[0]", "hidden", "leaf"}
    assert {node.title for node in names["named"].sketch.nodes if node.kind == "leaf"} == {"weights", "leaf"}
    assert all(names[name] is value for name, value in names.pop("before").items())
