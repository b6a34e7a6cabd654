"""Notebook: notes are text, paragraphs are cells, and nothing hostile becomes a heading, a link or a magic."""

import json

import pytest

from gradstudio.graph.edits import SetTail, apply
from gradstudio.graph.model import ROOT
from gradstudio.program.forms.notebook import write_notebook
from gradstudio.program.reading.reader import read_script
from tests.program.sketch import Sketch

TEXT = """\
import torch

torch.manual_seed(0)

# What is trained.
w = torch.ones(2, requires_grad=True)
x = torch.ones(2)

# region: The model
y = w * x
with torch.no_grad():
    # looked at alone
    z = y * 2
# endregion
y.sum().backward()
# That is all.
"""


def found(text: str) -> list[tuple[str, str]]:
    content = json.loads(write_notebook(read_script(text).graph))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in content["cells"]]


def test_notes_and_titles_are_text_and_paragraphs_are_cells() -> None:
    assert found(TEXT) == [
        ("markdown", "What is trained."),
        ("code", "import torch\n\ntorch.manual_seed(0)"),
        ("code", "w = torch.ones(2, requires_grad=True)\nx = torch.ones(2)"),
        ("markdown", "## The model"),
        ("code", "y = w * x\nwith torch.no_grad():\n    # looked at alone\n    z = y * 2"),
        ("code", "y.sum().backward()"),
        ("markdown", "That is all."),
        (
            "code",
            'print("w =", w)\nprint("w.grad =", w.grad)\nprint("x =", x)\nprint("y =", y)\nprint("z =", z)',
        ),
    ]


def test_the_same_program_gives_the_same_bytes_and_every_cell_an_id_of_its_own() -> None:
    text = "import torch\n\nx = torch.ones(2)\n\nx.add_(1)\n\nx.add_(1)\n"
    one, other = (write_notebook(read_script(text).graph) for _ in range(2))
    assert one == other
    content = json.loads(one)
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids) == 5
    assert all(cell["metadata"] == {} for cell in content["cells"])
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("# no heading", r"\# no heading"),
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("[a](javascript:b)", r"\[a\](javascript:b)"),
        ("- not a list\n1. nor this", "\\- not a list  \n\\1. nor this"),
        ("%%bash\n!rm", "%%bash  \n!rm"),
        ("$x$ and `code`", r"\$x\$ and \`code\`"),
    ],
)
def test_a_note_shows_its_words_and_does_nothing(note: str, shown: str) -> None:
    sketch = Sketch()
    sketch.node("torch.ones", "x", literals={"size": "(2,)"}, note=note)
    apply(sketch.graph, SetTail(ROOT, note))
    cells = json.loads(write_notebook(sketch.graph))["cells"]
    assert ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"] == [shown, shown]


def test_no_code_cell_begins_as_a_magic() -> None:
    sketch = Sketch()
    block = sketch.block("no_grad", note="%%bash")
    sketch.node("torch.ones", "x", literals={"size": "(2,)"}, body=block, note="%magic\n!ls")
    cells = json.loads(write_notebook(sketch.graph))["cells"]
    code = [line for cell in cells if cell["cell_type"] == "code" for line in cell["source"]]
    assert not [line for line in code if line.lstrip().startswith(("%", "!", "?"))]
