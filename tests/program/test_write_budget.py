"""What writing the script of a graph of which nothing is known asks of our own functions, for each statement."""

from gradstudio.document.python.python_document import read_python
from gradstudio.program.write import write_script
from tests.helpers.call_count import calls_of

CALLS_A_STATEMENT = 150
"""Lowering it is welcome."""


def residual(blocks: int) -> str:
    """Weights and, of each, three operators within one another."""
    lines = ["import torch", "import torch.nn.functional as F", "", "x0 = torch.randn(4, 8)"]
    for k in range(blocks):
        lines.append(f"w{k} = torch.randn(8, 8, requires_grad=True)")
        lines.append(f"x{k + 1} = F.relu(x{k} @ w{k}) + x{k}")
    return "\n".join(lines) + "\n"


def calls_of_writing(blocks: int) -> int:
    """Calls of functions in gradstudio until the script stands; such a graph was written before."""
    write_script(read_python(residual(blocks)).graph)
    graph = read_python(residual(blocks)).graph
    return calls_of(lambda: write_script(graph))


def test_a_statement_more_takes_few_calls_more() -> None:
    short, long = 50, 100
    a_statement = (calls_of_writing(long) - calls_of_writing(short)) / (2 * (long - short))
    assert a_statement <= CALLS_A_STATEMENT, f"{a_statement} calls a statement"
