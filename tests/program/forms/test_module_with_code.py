"""A class of a program with undrawn Python in it: code reads by their own names what the class holds."""

import contextlib
from pathlib import Path

import pytest

from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.form_table import form_named
from gradstudio.program.forms.module_class import write_module
from gradstudio.program.reading.reader import read_script
from tests.corpus.running import by_python

CORPUS = Path(__file__).parents[2] / "corpus" / "code"
HEAD = "import torch\nfrom torch import nn\n\ntorch.manual_seed(0)\nx = torch.ones(2, 3)\nfc = nn.Linear(3, 1)\n"
STEMS = "called_by_code early_stopping hooks mixed_module weight_init_apply while_training".split()


def module_of(text: str) -> str:
    return write_module(read_script(text, keeps_code=True).graph, report=False)


def assert_prints_the_same(text: str, folder: Path) -> None:
    expected, found = (by_python(one, str(folder / "file.py"), as_main=True) for one in (text, module_of(text)))
    assert found.printed == expected.printed


@pytest.fixture(scope="module")
def corpus() -> dict[str, Graph]:
    paths = sorted(CORPUS.glob("*.py"))
    return {path.stem: read_script(path.read_text(encoding="utf-8"), keeps_code=True).graph for path in paths}


@pytest.mark.parametrize("name", ["module", "train"])
def test_every_text_is_written_or_has_no_such_form(name: str, corpus: dict[str, Graph]) -> None:
    written = set()
    for stem, graph in corpus.items():
        with contextlib.suppress(NoForm):
            compile(form_named(name).write(graph, stem), stem, "exec")
            written.add(stem)
    assert "loader" in written


@pytest.mark.parametrize("stem", STEMS)
def test_the_class_of_a_text_prints_what_the_text_prints(stem: str, tmp_path: Path) -> None:
    assert_prints_the_same((CORPUS / f"{stem}.py").read_text(encoding="utf-8"), tmp_path)


@pytest.mark.parametrize(
    "code",
    [
        "seen = [p.numel() for p in fc.parameters() if not p.is_sparse]\nseen = {1: fc.weight}\n",
        "seen = dict((k, fc) for k in 'ab')\n",
        "class Shown:\n    def text(self):\n        return str(fc.weight)\n\nseen = Shown().text()\n",
        "def shown():\n    yield fc.weight\nseen = list(shown())\n",
    ],
)
@pytest.mark.parametrize("behind", [False, True])
def test_code_reads_the_layers_of_the_object_by_their_names(code: str, behind: bool, tmp_path: Path) -> None:
    train = "loss = fc(x).pow(2).sum()\nloss.backward()\n"
    text = HEAD + (train + code if behind else code + train) + "print(seen, loss, fc.weight.grad)\n"
    assert_prints_the_same(text, tmp_path)


def test_code_in_forward_has_the_layers_too(tmp_path: Path) -> None:
    text = HEAD + "h = fc(x)\nheld = dict((k, fc(x)) for k in 'ab')\nloss = (h + held['a']).sum()\nloss.backward()\n"
    text += "print(loss, fc.weight.grad)\n"
    assert "fc = self.fc" in module_of(text)
    assert_prints_the_same(text, tmp_path)


def test_what_only_forward_names_cannot_be_looked_up_by_a_function() -> None:
    code = "class Shown:\n    def text(self):\n        return str(h)\n\n"
    text = HEAD + code + "h = fc(x)\nloss = h.sum() + h.mean()\nh = h * 2\nloss = loss + h.sum()\nloss.backward()\n"
    with pytest.raises(NoForm, match=r"A function reads 'h' when it is called.*or export the script"):
        module_of(text + "print(Shown().text())\n")


def test_a_star_import_cannot_stand_in_a_function(corpus: dict[str, Graph]) -> None:
    with pytest.raises(NoForm, match="is Python that is not drawn"):
        form_named("train").write(corpus["star_of_random"], "file")
