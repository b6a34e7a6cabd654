"""What reads a text is loaded before it is needed, in pieces: tried in a process that has read none."""

import subprocess
import sys

import pytest

MERGE = """
import sys
from gradstudio.document.python.reader_imports import PACKAGES, import_slices
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.program.write import write

def loaded():
    return {name for name in sys.modules if name.startswith(PACKAGES)}

pieces = []
for _ in import_slices():
    pieces.append(len(loaded()) - sum(pieces))
known = set(sys.modules)
graph = Graph()
for _ in range(3):
    apply_all(graph, recipes.add_operator(graph, "torch.ones", 0, 0)[0])
text = write(graph).code
printed = {name for name in set(sys.modules) - known}
from gradstudio.document.python.merge_edits import merge
assert merge(graph, text.replace("torch.ones", "torch.zeros", 1))
assert merge(graph, TEXT)
later = sorted(name for name in set(sys.modules) - known - printed if name.startswith("gradstudio."))
print(max(pieces), *later)
"""
LINES = 'text + "added = torch.ones((2,))\\n"'
BLOCKS = '"import torch\\n\\nfor turn in range(2):\\n    one = torch.ones((2,))\\n"'


@pytest.mark.parametrize("text", [LINES, BLOCKS])
def test_nothing_of_ours_is_left_to_import_when_a_text_is_merged(text: str) -> None:
    code = MERGE.replace("TEXT", text)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    most, *later = done.stdout.split()
    assert later == []
    assert int(most) <= 20
