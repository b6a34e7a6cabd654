"""What is told of modules without running anything, against torch: whether they may have parameters."""

import warnings
from typing import Any

import torch

from gradstudio.graph.analysis import module_modes
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Kind
from tests.helpers.laws import check_each
from tests.program.sketch import Sketch

CHILDREN = frozenset({Kind.MODULE, Kind.MODULES})


def test_a_module_said_to_have_no_parameters_has_none() -> None:
    from torch.testing._internal.common_modules import module_db  # takes two seconds: not while tests are collected

    known = [info for info in module_db if f"torch.nn.{info.module_cls.__name__}" in load()]
    check_each(((info.module_cls.__name__, info) for info in known), has_parameters_as_is_said)


def has_parameters_as_is_said(info: Any) -> None:
    key = f"torch.nn.{info.module_cls.__name__}"
    sketch = Sketch()
    module = sketch.node(key, "m")
    if any(parameter.kind in CHILDREN for parameter in load()[key].parameters):
        return  # it has those of what it is given
    if module_modes.has_parameters(sketch.graph, module):
        assert "device" in {parameter.name for parameter in load()[key].parameters}
        return
    samples = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [info.module_cls(*s.constructor_input.args, **s.constructor_input.kwargs) for s in samples]
    assert made
    assert not any(list(one.parameters()) for one in made)


def test_most_activations_and_losses_have_none() -> None:
    sketch = Sketch()
    for key in ("ReLU", "Dropout", "MSELoss", "MaxPool2d", "Flatten", "CrossEntropyLoss"):
        assert not module_modes.has_parameters(sketch.graph, sketch.node(f"torch.nn.{key}"))
    for key in ("Linear", "Conv2d", "PReLU", "LayerNorm", "LSTM"):
        assert module_modes.has_parameters(sketch.graph, sketch.node(f"torch.nn.{key}"))
