"""What a canvas cannot express is refused at its line, in words."""

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script

LINES = {
    "import os": "torch, numpy and math",
    "from pathlib import PurePath": "torch, numpy and math",
    "from torch import *": "does not say which names",
    "import matplotlib.pyplot as plt": "torch, numpy and math",
    "y = [lambda v: v]": "lambda",
    "y = {v * 2 for v in (1, 2)}": "comprehension",
    "y = {**x}": "write the entries out",
    "y = x and x.backward()": "cannot be called",
    "y = x or x.__dict__": "cannot be read",
    "y = x and x.sum": "cannot be read",
    "y = x and {1}": "cannot stand",
    "y = x and z": "not bound",
    "y = x and x.numpy().tofile('f')": "cannot be called",
    "y = x and print(x)": "cannot be called",
    "y = x and eval('1')": "not bound",
    "y = z": "not bound",
    "y = xx": "Did you mean 'x'",
    "def f(a): return b": "not bound",
    "class A: pass": "class",
    "while True: pass": "while",
    "try:\n    pass\nfinally:\n    pass": "try",
    "del x": "del",
    "y = open('f')": "no files",
    "y = eval('1')": "write the expression itself",
    "y = torch.nn.functional.reluu(x)": "Did you mean 'torch.nn.functional.relu'",
    "y = x.tofile('f')": "no method",
    "y = x.sum(dimm=1)": "Did you mean 'dim'",
    "y = x.sum(*x)": "one by one",
    "F = x": "exported script needs",
    "range = x": "exported script needs",
    "with open('f') as f:\n    pass": "binds a name",
    "with torch.cuda.device(0):\n    pass": "none of the blocks",
    "for x.grad in enumerate(x):\n    pass": "one variable",
    "for v in map(x, x):\n    pass": "for` block",
    "y = torch.cat(*x, 1)": "stands last",
    "for i in range(3):\n    h = h + i": "before anything binds it",
    "y = x.__dict__": "",
    "y = load_file('x')": "calls what no statement",
    "x = (": "not Python",
}


@pytest.mark.parametrize("line", LINES, ids=[line.partition("\n")[0][:40] for line in LINES])
def test_it_is_refused_where_it_stands(line: str) -> None:
    text = f"import torch\nx = torch.ones(2)\n{line}\n"
    reason, place = refusal(text)
    assert place in (3, 4, 5)
    assert LINES[line] in reason


def refusal(text: str) -> tuple[str, int]:
    """Why the text is refused, or an item of it incomplete, and at which line."""
    try:
        read = read_script(text)
    except NotReadable as error:
        return error.reason, error.line
    item, why = next(iter(incomplete(read.graph).items()))
    return why, read.lines[item]


def test_hostile_texts_end_in_words() -> None:
    for text in ("(" * 10_000, "x = " + "-" * 20_000 + "1", "\0", "x = 1\n" + " " * 500 + "y = 2", "if 1:\n" * 200):
        with pytest.raises(NotReadable):
            read_script(text)
