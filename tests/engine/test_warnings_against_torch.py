"""What torch warns of is explained, and each fix that is edits lets the program run without the warning."""

import warnings
from collections.abc import Iterator

import pytest
import torch

from gradstudio.advice.explanation import explain_warning
from gradstudio.advice.fixes.fix_kinds import fixes_for_warning
from gradstudio.advice.rules.torch_warnings import WARNINGS
from gradstudio.engine.run.output_capture import MOST_ALIKE
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.events import Warned
from gradstudio.protocol.messages.requests import Do
from tests.advice.canvases import records_of
from tests.advice.wrong_programs import Wrong, drawn
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.graph.builder import Drawing

WARNING: dict[str, Wrong] = {
    "column": Wrong("shapes that broadcast in a loss", 1, "torch.nn.functional.mse_loss", ("rand(5, 1)", "rand(5)")),
    "absolute": Wrong("shapes that broadcast in a loss", 1, "torch.nn.functional.l1_loss", ("rand(5)", "rand(5, 1)")),
    "batch": Wrong(
        "division of a batch", 1, "torch.nn.functional.kl_div", ("rand(2, 3)", "rand(2, 3)"), {"reduction": '"mean"'}
    ),
    "guessed": Wrong("no dimension for softmax", 1, "torch.nn.functional.softmax", ("rand(2, 3)",), {"dim": ""}),
    "turned": Wrong("transpose of many dimensions", 1, "torch.Tensor.T", ("rand(2, 3, 4)",)),
}


@pytest.fixture(autouse=True)
def _every_time() -> Iterator[None]:
    """torch says some warnings once in a process."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.parametrize("rule", WARNINGS, ids=lambda rule: rule.name)
def test_torch_still_warns_as_the_rule_expects(rule) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(rule.example, {})
    assert any(rule.match("UserWarning", str(each.message)) for each in told), [str(each.message) for each in told]
    assert rule.fixes and not any("{" in fix for fix in rule.fixes)


def run(bench: Bench, graph: Graph) -> list[Warned]:
    bench.load(compile_graph(graph))
    assert bench.do("run", restart=True).outcome == "done"
    return bench.warned()


@pytest.mark.parametrize("name", list(WARNING))
def test_each_fix_of_a_warning_takes_it_away(bench: Bench, name: str) -> None:
    wrong, drawing = WARNING[name], Drawing()
    drawn(name, wrong)(drawing)
    (warned,) = run(bench, drawing.graph)
    assert explain_warning(warned.category, warned.message).explanation
    fixes = [fix for fix in fixes_for_warning(warned, drawing.graph, records_of(bench.events)) if fix.edits]
    assert len(fixes) >= wrong.least
    for fix in fixes:
        assert fix.edits is not None
        before = compile_graph(drawing.graph).code
        drawing.do(fix.edits)
        assert not run(bench, drawing.graph), fix.title
        drawing.undo()
        assert compile_graph(drawing.graph).code == before


def test_what_torch_says_once_a_process_is_told_in_every_run_and_not_without_end() -> None:
    """`float` of what requires a gradient warns in C++ once a process; a window has one process for many runs."""
    always, text = (
        torch.is_warn_always_enabled(),
        "w = torch.ones((), requires_grad=True)\nfor k in range(300):\n    a = float(w)",
    )
    for _ in range(2):
        bench = Bench()
        bench.load(text)
        bench.engine.do(Do(verb="run"))
        told = [event for event in bench.events if isinstance(event, Warned)]
        assert {event.node for event in told} == {node(3)}
        assert len(told) == MOST_ALIKE
    assert torch.is_warn_always_enabled() == always
