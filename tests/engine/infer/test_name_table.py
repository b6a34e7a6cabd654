"""What else changes when one value of a pass does: the rules of aliases, without a program."""

import torch
from torch import nn

from gradstudio.engine.infer.name_table import NameTable
from gradstudio.engine.meta.inference_results import UNKNOWN

KEY = ("written",)


def test_a_write_is_seen_through_a_list_that_holds_the_tensor() -> None:
    old, new = torch.zeros(2, device="meta"), torch.zeros(2, device="meta", requires_grad=True)
    table = NameTable({"x": old, "pair": [old, 1], "other": torch.zeros(3)})
    table.write("x", new, KEY)
    assert table.values["x"] is new
    assert table.values["pair"][0] is new
    assert set(table.keys) == {"x", "pair"}


def test_numbers_of_a_view_are_not_relied_on_after_a_write() -> None:
    base = torch.zeros(4)
    table = NameTable({"base": base, "view": base[:2], "apart": torch.ones(4)})
    table.write("base", torch.zeros(4), KEY)
    assert table.values["view"].is_meta
    assert not table.values["apart"].is_meta


def test_an_array_is_unknown_after_a_tensor_was_written() -> None:
    base = torch.zeros(4)
    table = NameTable({"base": base, "array": base.numpy()})
    table.write("base", torch.zeros(4), KEY)
    assert table.values["array"] is UNKNOWN


def test_training_leaves_no_numbers_in_what_may_be_a_parameter() -> None:
    weight = torch.ones(2, requires_grad=True)
    table = NameTable({"weight": weight, "data": torch.ones(2)})
    table.train()
    assert table.values["weight"].is_meta
    assert not table.values["data"].is_meta


def test_a_changed_layer_changes_the_module_that_holds_it_and_where_it_is() -> None:
    layer = nn.Linear(2, 2)
    table = NameTable({"layer": layer, "model": nn.Sequential(layer), "other": nn.Linear(2, 2)})
    table.change_modules(["layer"], KEY, moved="cuda")
    assert id(table.values["model"]) in table.changed_modules
    assert table.devices == {"layer": "cuda", "model": "cuda"}
    assert "other" not in table.keys
