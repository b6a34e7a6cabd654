"""What one statement does and how it is told: values, rows, prints, warnings, failures, in place, blocks."""

import itertools
from collections.abc import Iterator

import msgspec
import pytest
import torch

from gradstudio.engine.live.recent_rows import MAX_ROWS
from gradstudio.engine.memory.allocation_guard import refused_bytes
from gradstudio.engine.script.compiled_steps import source_of
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, Span, Statement
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import PlainRecord, TensorRecord, TupleRecord
from tests.engine.build import PRELUDE, node, program
from tests.engine.conftest import Bench

PROGRAMS = {
    "random numbers": "a = torch.randn(3)\nb = torch.rand(2, 2)\nc = torch.randint(0, 9, (4,))\nd = F.dropout(torch.ones(8))",  # noqa: E501
    "rebinding": "h = torch.ones(2)\nh = h * 3\nh = h + 1",
    "numbers": "n = 3\nn += 2\nx = torch.full((n,), 1.5)\nk = x.sum().item()",
    "items": "x = torch.arange(12.0).reshape(3, 4)\nx[0] = 7\ny = x[1:, 2]\nx[1, 1] += 5",
    "carried values": "x = torch.randn(4, 3)\nh = torch.zeros(3)\nfor t in range(4):\n    h = torch.tanh(x[t] + h)",
    "a loop of no turns": "h = torch.ones(1)\nfor t in range(0):\n    h = h * 0\nk = h + 1",
    "nested loops": "n = 0\nfor i in range(3):\n    for j in range(i):\n        n += 10 * i + j",
    "several loop variables": "s = 0\nfor a, b in [(1, 2), (3, 4)]:\n    s += a * b",
    "blocks": "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n    with torch.enable_grad():\n        z = x * 3\nw = x + z",  # noqa: E501
    "inference mode": "with torch.inference_mode():\n    x = torch.ones(2)\n    y = x + 1\nz = y.clone()",
    "autocast": "a = torch.randn(4, 4)\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    b = a @ a\nc = a @ a",
    "training": """
fc = nn.Linear(3, 4)
out = nn.Linear(4, 2)
opt = optim.Adam([*fc.parameters(), *out.parameters()], lr=0.01)
x = torch.randn(8, 3)
t = torch.randint(0, 2, (8,))
for epoch in range(5):
    opt.zero_grad()
    h = torch.relu(fc(x))
    loss = F.cross_entropy(out(h), t)
    loss.backward()
    opt.step()""",
    "batch norm": "bn = nn.BatchNorm1d(3)\nx = torch.randn(6, 3)\ny = bn(x)\nbn.eval()\nz = bn(x)",
    "a step by hand": "w = torch.randn(3, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nwith torch.no_grad():\n    w -= 0.1 * w.grad",  # noqa: E501
    "shared memory": "x = torch.zeros(3)\na = x.numpy()\nx += 2\nb = torch.from_numpy(a)\nb.mul_(3)",
    "double precision": "torch.set_default_dtype(torch.float64)\nx = torch.ones(2)\ny = x / 3",
}


def by_hand(text: str) -> dict[str, object]:
    namespace: dict[str, object] = {}
    default = torch.get_default_dtype()
    exec(f"{PRELUDE}torch.manual_seed(0)\n{text}", namespace)
    torch.set_default_dtype(default)
    return namespace


def same(ours: object, theirs: object) -> bool:
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, torch.Tensor)
        grads = (ours.grad is None) == (theirs.grad is None) if theirs.is_leaf else True
        return ours.dtype == theirs.dtype and torch.equal(ours, theirs) and grads
    if isinstance(theirs, torch.nn.Module):
        assert isinstance(ours, torch.nn.Module)
        return all(same(a, b) for a, b in zip(ours.state_dict().values(), theirs.state_dict().values(), strict=True))
    return type(ours) is type(theirs) and (not isinstance(theirs, int | float | str) or ours == theirs)


@pytest.fixture(autouse=True)
def _default_dtype() -> Iterator[None]:
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_names_hold_the_same_bits_as_in_the_script(bench: Bench, name: str, trace: bool) -> None:
    assert bench.run(PROGRAMS[name], trace=trace).outcome == "done"
    expected = by_hand(PROGRAMS[name])
    bound = [n for n in expected if not n.startswith("__") and n not in ("torch", "nn", "optim", "F")]
    for variable in bound:
        assert same(bench[variable], expected[variable]), variable
    assert set(bench.report()) >= set(bound)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_report_of_a_plain_run_is_that_of_a_traced_run(bench: Bench, name: str) -> None:
    bench.run(PROGRAMS[name], trace=True)
    traced = {n: _comparable(e.outputs) for n, e in bench.report().items()}
    bench.run(PROGRAMS[name], "run", trace=False)
    plain = {n: _comparable(e.outputs) for n, e in bench.report().items()}
    assert plain == traced


def _comparable(outputs: object) -> object:
    """Without what differs by rights: numbers of storages and of tensors, and gradients of non-leaves."""
    data = msgspec.to_builtins(outputs)

    def strip(value: object) -> object:
        if isinstance(value, dict):
            kept = {k: strip(v) for k, v in value.items() if k not in ("storage", "leaves", "preview")}
            if kept.get("is_leaf") is False:
                kept = {k: v for k, v in kept.items() if not k.startswith("grad_") and k != "grad"}
            return kept
        return [strip(item) for item in value] if isinstance(value, list | tuple) else value

    return strip(data)


# ------------------------------------------------------------------ rows


def test_a_row_per_node_executed_with_turns_and_steps(bench: Bench) -> None:
    bench.run("for i in range(2):\n    for j in range(2):\n        x = i + j\ny = x")
    assert [(row.node, row.turns) for row in bench.rows()] == [
        *((node(3), turns) for turns in itertools.product(range(2), range(2))),
        (node(4), ()),
    ]
    assert [row.step for row in bench.rows()] == [1, 2, 3, 4, 5]


def test_a_value_is_told_as_it_was_before_it_was_overwritten(bench: Bench) -> None:
    bench.run("x = torch.zeros(2)\ny = x.view(2)\nx += 1\nx.add_(1)\nx[0] = 9\nz = x * 1")
    told = [[r.summary.value for r in row.outputs if isinstance(r, TensorRecord)] for row in bench.rows()]
    assert told == [[[0, 0]], [[0, 0]], [[1, 1]], [[2, 2]], [], [[9, 2]]]
    versions = [r.version for row in bench.rows() for r in row.outputs if isinstance(r, TensorRecord)]
    assert versions == [0, 0, 1, 2, 0]


def test_weights_are_told_as_they_were_when_an_optimizer_or_a_module_changes_them(bench: Bench) -> None:
    bench.run(
        "w = torch.ones(1, requires_grad=True)\nopt = optim.SGD([w], lr=1)\na = w * 2\na.backward()\nopt.step()\nb = w * 1"  # noqa: E501
    )
    rows = {row.node: row.outputs for row in bench.rows()}
    first = rows[node(1)][0]
    assert isinstance(first, TensorRecord)
    assert first.summary.value == [1.0]
    assert bench["w"].item() == -1  # type: ignore[attr-defined]


def test_several_names_are_several_outputs_and_lists_are_one(bench: Bench) -> None:
    bench.run("v, i = torch.tensor([1.0, 3.0]).topk(1)\nparts = torch.ones(4).split(2)")
    first, second = bench.rows()
    assert len(first.outputs) == 2
    assert isinstance(second.outputs[0], TupleRecord)
    report = bench.report()
    assert (report["v"].output, report["i"].output, report["parts"].output) == (0, 1, None)
    assert report["v"].node == report["i"].node


def test_a_part_is_a_row_of_its_own_and_leaves_no_name(bench: Bench) -> None:
    bench.run(with_part())
    assert [row.node for row in bench.rows()] == ["x", "pow", "y"]
    assert "pow_1" not in bench
    assert bench["y"].item() == 5  # type: ignore[attr-defined]
    assert "pow_1" not in bench.report()
    assert "pow_1" in bench.report(trace=True)


def test_naming_a_part_keeps_the_state_and_finds_its_value_or_is_stale(bench: Bench) -> None:
    bench.run(with_part())
    named = with_part()
    statements = list(named.statements)
    part, user = statements[1], statements[2]
    assert isinstance(part, Statement)
    assert isinstance(user, Statement)
    statements[1] = msgspec.structs.replace(
        part, text="square = x ** 2", names=("square",), address="square", is_part=False
    )
    statements[2] = msgspec.structs.replace(user, text="y = square + 1", drops=())
    stale, _ = bench.load(msgspec.structs.replace(named, statements=tuple(statements)))
    assert stale or bench["square"].item() == 4  # type: ignore[attr-defined]


def with_part() -> Program:
    code = PRELUDE + "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 2 + 1\n"
    first = PRELUDE.count("\n") + 1
    item = [ItemId(name) for name in ("x", "pow", "y")]
    statements = (
        Statement(node=item[0], operator="torch.tensor", text="x = torch.tensor(2.0, requires_grad=True)", address="x", line=first, names=("x",)),  # noqa: E501
        Statement(node=item[1], operator="operator.pow", text="pow_1 = x ** 2", address="pow_1", line=first + 1, names=("pow_1",), repeated=True, is_part=True, inputs=(("a", "x"),)),  # noqa: E501
        Statement(node=item[2], operator="operator.add", text="y = pow_1 + 1", address="y", line=first + 1, names=("y",), repeated=True, drops=("pow_1",), inputs=(("a", "pow_1"),)),  # noqa: E501
    )  # fmt: skip
    spans = (
        Span(item[0], first, 0, first, 41),
        Span(item[1], first + 1, 4, first + 1, 10),
        Span(item[2], first + 1, 0, first + 1, 14),
    )
    return Program(script=code, code=code, prelude=PRELUDE, statements=statements, spans=spans, seed=0, device="cpu")


def test_earlier_bindings_are_told_with_their_number_in_a_traced_report(bench: Bench) -> None:
    bench.run("h = torch.ones(1)\nh = h * 3\nh = h + 1")
    report = bench.report(trace=True)
    values = {name: entry.outputs[0].summary.value for name, entry in report.items()}  # type: ignore[union-attr]
    assert values == {"h@1": [1.0], "h@2": [3.0], "h": [4.0]}
    assert set(bench.report()) == {"h"}


def test_a_statement_without_a_name_has_an_entry_without_outputs(bench: Bench) -> None:
    bench.run("x = torch.ones(1, requires_grad=True)\ny = x * 2\ny.backward()")
    entry = bench.report()["backward_1"]
    assert (entry.outputs, entry.operator, entry.line) == ((), "torch.Tensor.backward", PRELUDE.count("\n") + 4)


def test_long_loops_keep_their_first_and_last_turns(bench: Bench) -> None:
    bench.run("n = 0\nfor t in range(400):\n    n += 1")
    assert len(bench.rows()) == 401 or sum(1 for _ in bench.rows()) <= 401
    live = bench.engine.live
    assert live is not None
    turns = [row.turns[0] for row in live.rows.values() if row.turns]
    assert turns == [*range(16), *range(160, 400)]


def test_of_a_loop_that_is_recorded_by_sample_the_last_turns_are_the_last_recorded(bench: Bench) -> None:
    bench.run("n = 0")
    live = bench.engine.live
    assert live is not None
    recorded = [*range(20), *range(1_000, 401_000, 1_000)]
    for number, turn in enumerate([*recorded, recorded[-1]], start=2):  # the last is told again when it is complete
        live.record(Row(step=number, node=ItemId("row"), outputs=(), turns=(turn,)))
    assert [row.turns[0] for row in live.rows.values() if row.turns] == [*range(16), *recorded[-240:]]


def test_of_more_rows_than_are_kept_the_oldest_go(bench: Bench) -> None:
    bench.run("n = 0")
    live = bench.engine.live
    assert live is not None
    first, last = 2, MAX_ROWS + 5
    for number in range(first, last + 1):
        live.record(Row(step=number, node=ItemId("row"), outputs=(), pass_number=number))
    kept = [row.step for row in live.rows.values()]
    assert kept == [*range(last - MAX_ROWS + 1, last + 1)]


# ------------------------------------------------------------------ prints and warnings


@pytest.mark.parametrize("trace", [True, False])
def test_prints_and_warnings_stand_at_their_node_and_line(bench: Bench, trace: bool) -> None:
    text = """
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    print('sum', x.sum().item(), sep='=')
    for t in range(2):
        print(t)
        f = y.grad
    z = x * 2
    g = z.grad"""
    bench.run(text, trace=trace)
    line = PRELUDE.count("\n") + 1
    assert [(p.node, p.line, p.text) for p in bench.printed()] == [
        (node(3), line + 3, "sum=2.0"),
        (node(5), line + 5, "0"),
        (node(5), line + 5, "1"),
    ]
    warned = bench.warned()
    assert [(w.node, w.category) for w in warned] == [(node(6), "UserWarning")] * 2 + [(node(8), "UserWarning")]
    assert warned[0].message.startswith("The .grad attribute of a Tensor that is not a leaf")


def test_a_print_in_an_if_is_a_probe(bench: Bench) -> None:
    bench.run("for t in range(4):\n    if t % 2 == 1:\n        print('odd', t)")
    assert [p.text for p in bench.printed()] == ["odd 1", "odd 3"]


# ------------------------------------------------------------------ failures


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("text", "line", "kind"),
    [
        ("a = torch.ones(2, 3)\nb = torch.ones(4, 5)\nc = a @ b", 3, "RuntimeError"),
        ("x = torch.ones(2)\nfor t in range(3):\n    y = x[t]", 3, "IndexError"),
        ("x = torch.ones(2, requires_grad=True)\nx += 1", 2, "RuntimeError"),
        ("x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x.exp()\ny += 1\nz = y.sum()\nz.backward()", 5, "RuntimeError"),  # noqa: E501
        ("x = torch.ones(2)\nx.backward()", 2, "RuntimeError"),
        ("for t in range(0):\n    h = 1\nk = h + 1", 3, "NameError"),
        ("fc = nn.Linear(2, 3)\nx = torch.ones(4)\ny = fc(x)", 3, "RuntimeError"),
        ("n = 2.5\nfor t in range(n):\n    x = t", 2, "TypeError"),
        ("x = torch.ones(2)\nassert x.sum() == 3, f'{x.sum()}'", 2, "AssertionError"),
    ],
)  # fmt: skip
def test_a_failure_is_at_its_node_in_torchs_words(bench: Bench, text: str, line: int, kind: str, trace: bool) -> None:
    assert bench.run(text, trace=trace).outcome == "failed"
    failed = bench.failed()
    assert (failed.node, failed.line, failed.type_name) == (node(line), line + PRELUDE.count("\n") + 1, kind)
    with pytest.raises(Exception) as caught:
        by_hand(text)
    assert failed.message == str(caught.value)


def test_a_failure_brings_what_went_in(bench: Bench) -> None:
    bench.run("a = torch.ones(2, 3)\nb = torch.ones(4, 5)\nc = a @ b")
    operands = dict(bench.failed().operands)
    assert [operands[port].summary.shape for port in ("input", "other")] == [(2, 3), (4, 5)]  # type: ignore[union-attr]


def test_versions_of_operands_are_told_in_a_failure(bench: Bench) -> None:
    bench.run("x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\nz = y.reshape(3)")
    assert bench.failed().turns == ()


def test_a_failure_inside_a_part_is_the_parts_in_a_plain_run(bench: Bench) -> None:
    whole = with_part()
    code = whole.code.replace("torch.tensor(2.0, requires_grad=True)", "torch.ones(2).reshape(2, 1).t()[0:0].tolist()")
    broken = msgspec.structs.replace(whole, code=code, script=code)
    bench.run(broken, trace=False)
    assert bench.failed().node == "pow"


def test_the_nodes_that_ran_are_still_there_after_a_failure(bench: Bench) -> None:
    for trace in (True, False):
        bench.run("a = torch.ones(2)\nh = a * 2\nh = h.reshape(7)\nb = a + 1", trace=trace)
        report = bench.report()
        assert list(report) == ["a", "h"]
        assert report["h"].node == node(2)


def test_a_failure_in_the_header_is_told(bench: Bench) -> None:
    broken = msgspec.structs.replace(
        program("x = 1"), prelude="nothing_of_that_name\n", code="nothing_of_that_name\nx = 1"
    )
    for trace in (True, False):
        assert bench.run(broken, trace=trace).outcome == "failed"
        assert bench.failed().type_name == "NameError"


# ------------------------------------------------------------------ sizes


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = torch.zeros(10**12)", 1),
        ("x = torch.randn(1000000, 1000000)", 1),
        ("n = 10**6\nx = torch.empty((n, n))", 2),
        ("a = torch.ones(10**6, 1)\nb = torch.ones(1, 10**6)\nc = a + b", 3),
        ("a = torch.ones(10**6)\nc = torch.outer(a, a)", 2),
        ("a = torch.ones(10**6)\nc = torch.diag(a)", 2),
        ("a = torch.ones(10**5)\nc = a.repeat(10**7)", 2),
        ("fc = nn.Linear(10**6, 10**6)", 1),
        ("x = torch.zeros(10**6, 10**6, device='cpu', dtype=torch.complex128)", 1),
    ],
)
def test_what_cannot_fit_is_refused_with_its_size_before_anything_is_allocated(
    bench: Bench, text: str, line: int
) -> None:
    assert bench.run(text).outcome == "failed"
    failed = bench.failed()
    assert (failed.node, failed.type_name) == (node(line), "TooLarge")
    assert failed.warned_bytes >= 4 * 10**12
    assert "TiB" in failed.message
    assert "It was not run" in failed.message


def test_a_view_of_any_size_is_not_refused(bench: Bench) -> None:
    assert (
        bench.run("x = torch.ones(1).expand(10**12)\ny = torch.ones(5000, 5000)\nz = y.reshape(25000000)").outcome
        == "done"
    )


def test_weighing_leaves_the_generators_alone(bench: Bench) -> None:
    bench.run("a = torch.randn(3)\nx = torch.randn(10**12)")
    state = torch.get_rng_state()
    torch.manual_seed(0)
    torch.randn(3)
    assert torch.equal(state, torch.get_rng_state())


def test_an_allocators_own_words_tell_the_size_too() -> None:
    cpu = RuntimeError(
        "[enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000 bytes."  # noqa: E501
    )
    cuda = RuntimeError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 1 GiB")
    assert [refused_bytes(e) for e in (cpu, cuda, ValueError("x"))] == [4000, int(2.5 * 2**30), 0]


# ------------------------------------------------------------------ texts


def test_templates_forget_names_and_nothing_else() -> None:
    first, second = source_of("loss = (a * b).sum(dim=1)", 1), source_of("cost = (x * y).sum(dim=1)", 9)
    assert first.template == second.template
    assert first.reads == ("a", "b")
    assert source_of("n += 2", 1).reads == ("n",)
    assert source_of("größe = ä + 'ö'", 1).template.count("\0") == 2


def test_plain_records_of_numbers_in_rows(bench: Bench) -> None:
    bench.run("n = 3\nt = 'text'\nnothing = None")
    records = [row.outputs[0] for row in bench.rows()]
    assert [r.what for r in records if isinstance(r, PlainRecord)] == ["number", "text", "none"]
