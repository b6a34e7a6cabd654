"""Where processes meet: torchrun's line for each machine, and what is wrong with a field."""

import shlex

import pytest

from gradstudio.protocol.torchrun.rendezvous import Rendezvous, endpoint_problem, nodes_problem, per_node_problem


def test_every_machine_has_one_line() -> None:
    meeting = Rendezvous("2", "4", "gpu1:29400", key="k")
    line = "torchrun --nnodes 2 --nproc-per-node 4 --rdzv-id k --rdzv-backend c10d --rdzv-endpoint gpu1:29400"
    line += " net.py --lr 1"
    assert meeting.commands("net.py", "--lr 1") == [line, line]


def test_with_static_each_is_told_its_number() -> None:
    lines = Rendezvous("2", "1", "[fe80::1]:1", "static").commands("a net.py")
    assert [shlex.split(line)[-3:] for line in lines] == [
        ["--node-rank", "0", "a net.py"],
        ["--node-rank", "1", "a net.py"],
    ]
    assert list(Rendezvous("1:2", "1", "a:1", "static").problems()) == ["nodes"]


@pytest.mark.parametrize(
    "text", ["", "gpu1", "gpu1:", ":29400", "a b:1", "-x:1", "gpu1:0", "gpu1:65536", "gpu1:9999999999"]
)
def test_no_endpoint_is_said(text: str) -> None:
    assert endpoint_problem(text)
    assert Rendezvous(endpoint=text).problems() == {"endpoint": endpoint_problem(text)}


@pytest.mark.parametrize("text", ["gpu1:29400", "10.0.0.1:1", "[::1]:65535", "a.b-c.de:80"])
def test_an_endpoint_is_a_host_and_a_port(text: str) -> None:
    assert not endpoint_problem(text)


def test_machines_are_a_number_or_two() -> None:
    assert not [text for text in ("1", "1:4", "10000") if nodes_problem(text)]
    assert [text for text in ("0", "4:1", "x", "1:2:3", "", "10001", "-1") if not nodes_problem(text)] == []


@pytest.mark.parametrize(("text", "is_one"), [("1", True), ("gpu", True), ("0", False), ("-1", False), ("two", False)])
def test_processes_are_a_number_or_what_torchrun_counts(text: str, is_one: bool) -> None:
    assert (not per_node_problem(text)) is is_one
