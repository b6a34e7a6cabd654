"""A plain run refuses, before any of it runs, the statement whose own results the device cannot hold."""

import pytest
import torch

from gradstudio.engine.infer import memory_forecast
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.memory import memory_estimate
from gradstudio.engine.memory.size_bound import plausible_elements
from gradstudio.protocol.messages.events import Failed, Log, Printed
from gradstudio.protocol.messages.inference import Need
from tests.engine.build import node, program
from tests.engine.conftest import Bench

MIB = 1 << 20


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Free bytes by device, as the edge of the system tells them."""
    told = {"cpu": 300 * MIB}
    monkeypatch.setattr(memory_forecast, "free_bytes", lambda device: told.get(str(device)))
    monkeypatch.setattr(memory_estimate, "_free", lambda device, _baseline: told.get(device))
    return told


def refused(bench: Bench, text: str) -> Failed:
    bench.events.clear()
    bench.load(text)
    assert bench.do("run", trace=False).outcome == "failed"
    failed = bench.failed()
    assert failed.type_name == "TooLarge", failed
    return failed


@pytest.mark.parametrize(
    ("text", "line", "mib"),
    [
        ("a = torch.ones(10000, 1)\nb = torch.ones(1, 10000)\nc = a * b", 3, 381),
        ("a = torch.ones(10000)\nc = torch.outer(a, a)", 2, 381),
        ("a = torch.ones(10000)\nc = a.repeat(8000)\nd = c.sum()", 2, 305),
        ("fc = nn.Linear(10000, 10000)", 1, 381),
        ("x = torch.ones(400, 10)\nfor t in range(3):\n    y = torch.cat([x] * 30000)", 3, 457),
        ("a = torch.ones(10000)\nwith torch.no_grad():\n    c = torch.outer(a, a)", 3, 381),
    ],
)
def test_what_no_literal_tells_is_refused_with_the_figure_at_its_node(
    bench: Bench, free: dict[str, int], text: str, line: int, mib: int
) -> None:
    failed = refused(bench, text)
    assert failed.node == node(line)
    assert failed.warned_bytes // MIB == mib
    assert "It was not run" in failed.message
    assert "300.0 MiB are free on cpu" in failed.message


def test_nothing_runs_before_the_refusal(bench: Bench, free: dict[str, int]) -> None:
    refused(bench, "a = torch.ones(10000)\nprint('here')\nc = torch.outer(a, a)")
    assert not [event for event in bench.events if isinstance(event, Printed)]


def test_it_is_the_statement_that_counts_and_not_the_sum(bench: Bench, free: dict[str, int]) -> None:
    text = "a = torch.ones(40, 1024, 1024)\nb = a + 1\nc = b + 1"
    bench.load(text)
    assert bench.do("run", trace=False).outcome == "done"
    assert bench.engine.needs() == (Need(device="cpu", bytes=480 * MIB, free_bytes=300 * MIB, node=node(2)),)


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.rand(())\nif x > 2:\n    y = torch.ones(100, 1024, 1024)",
        "x = torch.ones(2)\nfor t in x.nonzero().tolist()[2:]:\n    y = torch.ones(100, 1024, 1024)",
        "x = torch.ones(1).expand(10**12)",
        "x = torch.ones(20, 1024, 1024)\ny = x.view(-1)\nz = x.relu_()",
    ],
)
def test_what_may_never_run_or_takes_no_memory_is_not_refused(bench: Bench, free: dict[str, int], text: str) -> None:
    bench.load(text)
    assert bench.do("run", trace=False).outcome == "done"


def test_a_program_that_fails_earlier_fails_there(bench: Bench, free: dict[str, int]) -> None:
    bench.load("a = torch.ones(2, 3)\nb = a @ a\nc = torch.ones(100, 1024, 1024)")
    assert bench.do("run", trace=False).outcome == "failed"
    assert bench.failed().node == node(2)


def test_memory_that_has_come_free_since_is_seen(bench: Bench, free: dict[str, int]) -> None:
    refused(bench, "a = torch.ones(10000)\nc = torch.outer(a, a)")
    free["cpu"] = 1 << 40
    assert bench.do("run", trace=False).outcome == "done"


def test_weighing_leaves_the_generator_where_the_seed_put_it(bench: Bench) -> None:
    text = "x = torch.randn(3)\ny = torch.rand(2)"
    bench.load(text)
    bench.do("run", trace=False)
    assert bench.engine.live is not None
    drawn = bench.engine.live.namespace["x"]
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.randn(3))


def test_a_failure_of_our_own_is_told_and_the_program_runs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(memory_forecast, "_Weights", broken)
    bench.load("x = torch.ones(2)\nn = 10**9")
    assert bench.do("run", trace=False).outcome == "done"
    assert [event for event in bench.events if isinstance(event, Log) and "ZeroDivisionError: ours" in event.text]


def test_a_program_is_weighed_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[Loaded]()
    real = memory_forecast._Weights
    monkeypatch.setattr(
        memory_forecast, "_Weights", lambda loaded, *rest: (made.append(loaded), real(loaded, *rest))[1]
    )
    bench.load("x = torch.ones(2)\nn = 10**9")
    for _ in range(3):
        bench.engine.needs()
        bench.do("run", trace=False)
    assert len(made) == 1


@pytest.mark.parametrize(
    ("text", "large"),
    [
        ("x = torch.tensor([100000, 200000, 300000], dtype=torch.float32)\ny = x * x", False),
        ("x = torch.randn(64, 784)\nw = torch.randn(784, 128)\nv = torch.randn(128, 10)\ny = x @ w @ v", False),
        ("c = nn.Conv2d(1, 64, 3)\nx = torch.randn(64, 1, 28, 28)\ny = c(x)", False),
        ("x = torch.ones(10**6)\ny = torch.outer(x, x)", True),
        ("x = torch.ones(10**6, 1)\ny = x * x.T", True),
        ("x = torch.ones(3000, 1, 1)\ny = torch.ones(1, 3000, 1)\nz = torch.ones(1, 1, 3000)\nw = x * y * z", True),
        ("n = 3000\nx = torch.ones(n, n, n)", True),
        ("n = 10**3\nm = n * n\nx = torch.ones(m, m)", True),
        ("x = torch.ones(1000, 1000).flatten()\ny = torch.outer(x, x)", True),
        ("\n".join(f"x{i} = torch.ones(1000, 1000)" for i in range(3000)), True),
    ],
)
def test_only_what_could_be_large_is_weighed(text: str, large: bool) -> None:
    steps = Loaded("one", 1, program(text)).steps
    assert (plausible_elements(steps) * memory_forecast.ITEM_BYTES >= 20 << 30) is large
