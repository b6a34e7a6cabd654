"""What a drawn program may read, call and write: a list; everything else is refused where it stands."""

import contextlib
import types
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gradstudio.engine import access
from gradstudio.engine.access_types import attributes_of, built_in_functions, methods_of
from gradstudio.engine.errors import AccessRefused
from gradstudio.operators.catalogue.loader import load
from tests.engine import operator_calls
from tests.engine.operator_calls_processes import NEEDS_ANOTHER_PROCESS

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nimport numpy as np\nimport math\n"


def names_after(text: str, **names: object) -> dict[str, Any]:
    access.execute(access.statements(HEAD + text), names)
    return names


def refusal(text: str, **names: object) -> str:
    with pytest.raises(AccessRefused) as caught:
        names_after(text, **names)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "y = (lambda: 1)()", "y = [v for v in range(3)]", "y = {v for v in range(3)}", "y = (v for v in range(3))",
        "y = __import__('os')", "y = __builtins__", "import os", "from os import path", "from . import x",
        "y = torch.load", "y = torch.ops.aten", "y = np.lib", "y = math.__loader__", "global y",
        "y = F.relu.__globals__", "y = nn.Module.__subclasses__()", "try:\n    y = 1\nfinally:\n    y = 2",
    ],
)  # fmt: skip
def test_what_no_drawing_is_made_of_is_refused(text: str) -> None:
    assert refusal(text)


@pytest.mark.parametrize("word", ["open", "eval", "exec", "getattr", "vars", "globals", "compile", "input", "object"])
def test_built_ins_that_are_not_in_the_catalogue_are_not_there(word: str) -> None:
    with pytest.raises(NameError, match=f"'{word}' is not defined"):
        names_after(f"y = {word}('x')")


@pytest.mark.parametrize("value", [exec, open, __import__, type, object, str.join, "".join, torch.load, lambda: 1])
def test_what_a_value_gave_is_not_called(value: object) -> None:
    assert "calls modules and definitions" in refusal("y = f(1)", f=value)


def test_modules_definitions_and_built_in_functions_are_called() -> None:
    text = "def f(a):\n    return a + 1\n\n\nfc = nn.Linear(2, 2)\ny = fc(torch.ones(2))\nz = f(1)\nn = len([1, 2])\n"
    names = names_after(text + "c = nn.ReLU\nr = c()\ns = r(torch.ones(2))\n")
    assert (names["z"], names["n"], names["s"].tolist()) == (2, 2, [1.0, 1.0])


def test_python_and_torch_say_themselves_what_is_not_there() -> None:
    for value, words in ((None, "'NoneType' object has no attribute 'sum'"), ([1], "'list' object has no attribute")):
        with pytest.raises(AttributeError, match=words):
            names_after("y = x.sum()", x=value)
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wieght'"):
        names_after("y = nn.Linear(2, 2).wieght")
    with pytest.raises(TypeError, match="'Tensor' object is not callable"):
        names_after("y = torch.ones(2)(1)")


def test_the_type_of_a_value_is_a_name_and_makes_none() -> None:
    assert names_after("y = type(1).__name__\nz = isinstance(2, type(1))")["y"] == "int"
    with pytest.raises(TypeError, match=r"type\(\) takes 1 positional argument but 3 were given"):
        names_after("y = type('A', (), {})")
    assert "calls modules and definitions" in refusal("t = type(type(1))\ny = t('A', (), {})")


def test_a_text_is_formatted_with_what_may_be_read() -> None:
    names = names_after("y = '{0.shape[0]}: {1:.2f} {n!r}'.format(torch.ones(3, 2), 0.5, n='a')")
    assert names["y"] == "3: 0.50 'a'"
    assert "'.forward'" in refusal("y = '{0.forward.__globals__}'.format(nn.ReLU())")


def test_a_module_has_what_was_put_into_it() -> None:
    text = "net = nn.TransformerEncoderLayer(4, 2)\na = net.linear1.weight.shape\nb = net.self_attn.num_heads\n"
    names = names_after(text + "net.scale = torch.ones(1)\nc = net.scale\nnet.norm1.weight.grad = None\n")
    assert (tuple(names["a"]), names["b"], names["c"].item()) == ((2048, 4), 2, 1.0)
    for attribute in ("activation", "forward", "_parameters", "__dict__", "register_forward_hook", "apply"):
        assert f"'.{attribute}'" in refusal(f"y = net.{attribute}", net=names["net"])


@pytest.mark.parametrize("target", ["net.forward", "net._parameters", "net.__class__", "x.__class__", "x.backward"])
def test_methods_are_not_bound_anew(target: str) -> None:
    assert "may write" in refusal(f"net = nn.ReLU()\nx = torch.ones(1)\n{target} = 1")


def test_a_name_that_torch_does_not_know_is_taken_as_python_takes_it() -> None:
    text = "p = nn.Linear(2, 2).weight\nfor k in range(2):\n    p.require_grad, p.scale, opt.lr = False, k, k\n"
    opt = torch.optim.SGD([torch.ones(1)])
    names = names_after(f"{text}a, b = p.scale, opt.lr\n", opt=opt)
    assert (names["p"].require_grad, names["p"].requires_grad, names["a"], names["b"]) == (False, True, 1, 1)
    assert "may write" in refusal("p._backward_hooks = 1", p=torch.ones(1))
    assert "may write" in refusal("opt.found_inf = torch.ones(0)", opt=opt)
    p = torch.ones(1)
    p.act = print
    assert "may use" in refusal("y = p.act", p=p)


def test_several_attributes_are_written_at_once_as_each_alone() -> None:
    names = names_after("net = nn.ReLU()\nnet.a, b, net.c = torch.ones(1), 2, nn.Linear(1, 1)\n")
    assert (names["net"].a.item(), names["b"], list(names["net"].children())) == (1.0, 2, [names["net"].c])
    assert names_after("net.d, net.e = iter([3, 4])", **names)["net"].e == 4
    for text in (
        "net.forward, net.d = 1, 2",
        "net.d, net.e = f, 1",
        "net.d, net.e = iter([f, 1])",
        "net.d, super = 1, 2",
    ):
        assert refusal(text, f=open, **names)


def test_a_method_is_called_or_not_at_all() -> None:
    for text in ("r.normal", "r.normal.func_defaults", "r.normal.func_globals", "x.sum", "o.step", "p.gi_frame"):
        values = {"r": np.random.default_rng(0), "x": torch.ones(1), "p": nn.ReLU().parameters()}
        optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)])
        assert refusal(f"y = {text}", o=optimizer, **values)


def samples() -> list[object]:
    """A value of each type that a program can hold."""
    x = torch.ones(2, 2, requires_grad=True)
    optimizer = torch.optim.Adam([x])
    layer = nn.TransformerEncoderLayer(4, 2)
    return [
        x, x.sum().grad_fn, x.shape, x.dtype, x.device, x.max(dim=1), x.untyped_storage(), layer, nn.LSTM(2, 2),
        nn.BatchNorm1d(2), nn.ModuleList([layer]), optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1),
        torch.amp.GradScaler("cpu", enabled=False), torch.Generator(), torch.finfo(torch.float32), np.ones(2),
        np.float32(1),
        np.dtype("int8"), np.ones(1).flags, np.random.default_rng(0), np.random.RandomState(0), np.finfo("float32"),
        "text", [1], {"a": 1}, {1}, 1, 1.0, 1j, None, range(2), slice(1), int, torch.Tensor, layer.parameters(),
        iter([1]),
        zip([1], [2], strict=True), enumerate([1]), layer.state_dict(), torch.strided,
    ]  # fmt: skip


DOORS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, types.FrameType)
DOORS_TOO = (types.CodeType, types.TracebackType, types.MappingProxyType, types.GeneratorType)


@cache
def sampled() -> tuple[object, ...]:
    """What the sample call of every operator of the catalogue gives, and what it is given: one value of each type."""
    found: dict[type, object] = {}
    for operator in load():
        if operator.key in NEEDS_ANOTHER_PROCESS:
            continue
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = operator_calls.arguments(operator)
            for value in (*values.values(), operator_calls.call(operator, values)):
                for part in (value, *(value if isinstance(value, list | tuple) else ())):
                    found.setdefault(type(part), part)
    return tuple(found.values())


# Slow: thousands of names of some three hundred types.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch and numpy say of some names that they will go
def test_no_attribute_within_three_steps_of_any_value_is_a_door_to_python() -> None:
    found, seen, step = [], set[tuple[type, str]](), [*samples(), *sampled()]
    for _ in range(3):
        behind: list[object] = []
        for value in step:
            for name in all_names_of(value) - {"__class__"}:
                if (type(value), name) not in seen:
                    seen.add((type(value), name))
                    behind.extend(read(value, name))
        found += [value for value in behind if isinstance(value, (*DOORS, *DOORS_TOO)) or value is type]
        step = behind
    assert len(sampled()) > 100 and len(seen) > 1000
    assert found == []


@pytest.mark.filterwarnings("ignore")
def test_no_value_of_the_catalogue_is_called_but_modules_and_the_catalogues_functions() -> None:
    known = {id(function) for function in built_in_functions().values()}
    for value in (*samples(), *sampled()):
        if not callable(value) or isinstance(value, nn.Module) or id(value) in known:
            continue
        if isinstance(value, type) and issubclass(value, nn.Module):
            continue
        with pytest.raises(AccessRefused):
            names_after("y = f(1)", f=value)


def all_names_of(value: object) -> set[str]:
    """Every name that Python shows of a value, and those that are listed for its type."""
    try:
        shown = dir(value)
    except ValueError:  # a parameter without data yet
        shown = dir(type(value))
    return {*shown, *attributes_of(type(value))}


def read(value: object, name: str) -> list[object]:
    """What a program gets by reading it, and what that holds; nothing where it is refused, or torch refuses."""
    if not name.isidentifier():
        return []
    try:
        got = names_after(f"y = x.{name}", x=value)["y"]
    except (AccessRefused, AttributeError, RuntimeError, TypeError, ValueError, NotImplementedError, SyntaxError):
        return []
    return [got, *(got if isinstance(got, list | tuple) else got.values() if isinstance(got, dict) else ())]


def test_every_method_of_the_catalogue_can_be_asked_for() -> None:
    assert {"sum", "view", "backward"} <= methods_of(torch.Tensor)
    assert {"step", "zero_grad", "state_dict"} <= methods_of(torch.optim.Adam)
    assert {"normal", "integers"} <= methods_of(np.random.Generator)
    assert methods_of(types.FunctionType) == frozenset()
