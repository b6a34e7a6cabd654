"""Each known error is provoked in the installed torch, and must be recognised."""

import sys

import pytest

from gradstudio.advice.explanation import explain, explain_words
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.advice.rules.process_errors import OUTSIDE_MESH
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed
from tests.helpers.laws import check_each
from tests.helpers.seeds import seed_torch


def test_torch_still_says_what_the_rule_expects() -> None:
    check_each(((rule.name, rule) for rule in RULES), is_said_by_torch)


def test_a_module_that_is_shared_out_over_a_mesh_without_this_rank_is_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # a process group puts its own there, and leaves it
    with pytest.raises(IndexError) as raised:
        exec(OUTSIDE_MESH.example, {})
    text = "import torch\nnet = torch.nn.Linear(2, 2)\ntorch.distributed.fsdp.fully_shard(net)\n"
    graph = read_script(text, keeps_code=True).graph
    (node,) = [item for item, one in graph.nodes.items() if one.operator == "torch.distributed.fsdp.fully_shard"]
    failed = Failed(revision=1, node=node, address="", line=3, type_name="IndexError", message=str(raised.value))
    assert explain(failed, graph).explanation.startswith("The mesh is smaller than the number of processes")


def is_said_by_torch(rule) -> None:
    seed_torch(0)
    with pytest.raises(Exception) as raised:
        exec(rule.example, {})
    kind, words = type(raised.value).__name__, str(raised.value)
    assert rule.match(kind, words) is not None, f"{kind}: {words}"
    assert explain_words(kind, words) == rule.match(kind, words)
