"""Models become programs of ours that give the same numbers: outputs and gradients bit for bit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gradstudio.document.python.module_import import graph_of
from gradstudio.document.python.python_export import write_export
from gradstudio.engine.bring.verification import run
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.module_import import Brought, NotBrought
from tests.engine.bring.alone import digests
from tests.engine.bring.conftest import MODELS, Bringer

IMAGE = "torch.randn(2, 3, 8, 8)"
CASES = (
    ("MLP", ("torch.randn(5, 8)",), {}, ()),
    ("CNN", (IMAGE,), {}, ()),
    ("CNN", (IMAGE,), {"evaluate": True}, ()),
    ("ResNet", (IMAGE,), {}, ("stem (Sequential)", "layers.0 (Block)", "layers.1 (Block)")),
    ("ResNet", (IMAGE,), {"evaluate": True}, ("stem (Sequential)", "layers.0 (Block)", "layers.1 (Block)")),
    ("TransformerBlock", ("torch.randn(2, 7, 16)",), {}, ("attn (Attention)", "mlp (Sequential)")),
    ("GPT", ("torch.randint(0, 50, (2, 7))",), {}, ("blocks.0.attn (Attention)", "blocks.1.mlp (Sequential)")),
    ("Encoder", ("torch.randn(2, 5, 16)",), {}, ("stack (TransformerEncoder)",)),
    ("Encoder", ("torch.randn(2, 5, 16)",), {"evaluate": True}, ("stack (TransformerEncoder)",)),
    ("Tagger", ("torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]])",), {}, ()),
    ("Counter", ("torch.randn(3, 4, 6)",), {}, ()),
    ("Autoencoder", ("torch.rand(4, 12)",), {}, ("encoder (Sequential)", "decoder (Sequential)")),
    ("Heads", ("torch.randn(3, 4)", "y=torch.full((3, 4), 0.5)"), {}, ()),
    ("Heads", ("torch.randn(3, 4)",), {}, ()),
    ("Own", ("torch.randn(3, 4)",), {}, ()),
    ("Branches", ("torch.randn(3, 4)",), {}, ()),
    ("Dropped", ("torch.randn(3, 6)",), {}, ()),
    ("Functional", ("torch.randn(2, 1, 6, 6)",), {}, ()),
    ("CustomInit", ("torch.randn(3, 4)",), {}, ("net (Sequential)",)),
    ("OutOfOrder", ("torch.randn(3, 5)",), {}, ()),
    ("Double", ("torch.randn(3, 3)",), {}, ()),
    ("Positions", ("torch.randn(2, 4, 6)",), {}, ()),
    ("Lazy", ("torch.randn(3, 3)",), {}, ()),
    ("NeedsArguments", ("torch.randn(2, 4)", "scale=2.5"), {"arguments": "4, depth=2"}, ("layers (Sequential)",)),
    ("make", ("torch.randn(2, 4)",), {"arguments": "width=4"}, ()),
    ("trained", ("torch.ones(2, 8)",), {}, ()),
    ("evaluated", (IMAGE,), {}, ()),
    ("Configured", ("torch.randn(2, 3)",), {"arguments": "Config(3, depth=1)"}, ()),
    ("Configured", ("torch.randn(2, 4)",), {"arguments": "config=Config(names=('a', ['b', {'c': None}]))"}, ()),
    ("Configured", ("torch.randn(2, 4)", "targets=torch.ones(2, 4)"), {"arguments": "config=Config()"}, ()),
    ("ByValue", ("torch.ones(2, 4)",), {}, ()),
    ("Kept", ("torch.ones(2, 4)",), {}, ()),
)


# Slow: whole models, run forward and backward by torch and by the canvas.
@pytest.mark.parametrize(("name", "inputs", "more", "groups"), CASES)
def test_a_model_is_drawn_with_the_same_outputs_and_gradients_bit_for_bit(
    ask: Bringer, name: str, inputs: tuple[str, ...], more: dict[str, object], groups: tuple[str, ...]
) -> None:
    answer = ask(name, *inputs, **more)
    assert isinstance(answer, Brought), answer
    assert answer.exact, answer.outcome
    graph = graph_of(answer.text, answer.tensors)
    titles = {block.title for block in graph.blocks.values() if block.kind == "group"}
    assert set(groups) <= titles
    assert graph.places.keys() >= {*graph.nodes, *graph.blocks} - card_groups(graph).insides().keys()


# Slow: whole models, and a process of its own that runs their scripts.
def test_the_exported_scripts_give_alone_what_the_canvas_gives(ask: Bringer, tmp_path: Path) -> None:
    here: dict[str, dict[str, str]] = {}
    for number, (name, inputs, more, _) in enumerate(CASES):
        answer = ask(name, *inputs, **more)
        assert isinstance(answer, Brought)
        graph = graph_of(answer.text, answer.tensors)
        write_export(graph, tmp_path / f"model{number}.py")
        here[f"model{number}.py"] = digests(run(graph, graph.tensors))
    code = "import json, sys; from tests.engine.bring.alone import all_of; print(json.dumps(all_of(sys.argv[1])))"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=MODELS.parents[3])
    alone = json.loads(done.stdout.splitlines()[-1])
    kept = {path: {name: alone[path].get(name) for name in names} for path, names in here.items()}
    assert kept == here  # the report at a script's end binds names of its own


def test_seed_then_input_then_module_is_what_a_person_would_write(ask: Bringer) -> None:
    answer = ask("MLP", "torch.randn(5, 8)")
    assert isinstance(answer, Brought)
    canvas: dict[str, object] = {"__file__": "model.py"}
    exec(answer.text, canvas)
    scope: dict[str, object] = {"__name__": "models"}
    exec(compile(MODELS.read_text(), str(MODELS), "exec"), scope)
    torch.manual_seed(0)
    x = torch.randn(5, 8)
    module = scope["MLP"]()
    assert torch.equal(module(x), canvas["out"])


def test_a_layer_and_its_call_share_a_card(ask: Bringer) -> None:
    answer = ask("MLP", "torch.randn(5, 8)")
    assert isinstance(answer, Brought)
    assert not answer.tensors  # the seed alone gives the weights
    assert len(card_groups(graph_of(answer.text, answer.tensors)).calls) == 2


def test_names_are_those_of_the_source(ask: Bringer) -> None:
    names = _names(ask("TransformerBlock", "torch.randn(2, 7, 16)"))
    assert {"x", "q", "k", "v", "att", "y", "attn_qkv", "mlp_0"} <= names


def test_a_name_is_that_of_the_variable_that_holds_the_value(ask: Bringer, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x, y=None):\n"
        "        h = torch.sin(x); other = None\n"
        "        if y is None: logits = h * 2; loss = None\n"
        "        else: logits, loss = h * 2, (h - y).mean()\n"
        "        big = logits if y is None else torch.exp(y)\n"
        "        return (logits, loss, big)\n"
    )
    names = _names(ask("Net", "torch.randn(2, 4)", path=path))
    assert {"h", "logits"} <= names
    assert not {"loss", "other", "big"} & names
    assert {"h", "logits", "loss", "big"} <= _names(ask("Net", "torch.ones(2)", "torch.ones(2)", path=path))
    assert not {"pair", "count"} & _names(ask("Kept", "torch.ones(2, 4)"))


def test_lines_that_looked_at_values_are_named(ask: Bringer) -> None:
    answer = ask("ByValue", "torch.ones(2, 4)")
    assert isinstance(answer, Brought)
    lines = MODELS.read_text().splitlines()
    branch, scale = lines.index("        if x.sum() > 0:") + 1, lines.index("        return y * float(x.max())") + 1
    (note,) = answer.notes
    assert f"models.py, line {branch}: if x.sum() > 0:" in note
    assert f"models.py, line {scale}: " in note
    assert note in answer.text.replace("\n# ", " ")  # and on the canvas
    other = ask("MLP", "torch.randn(5, 8)")
    assert isinstance(other, Brought)
    assert not other.notes


def test_no_message_shows_what_python_calls_our_copy_of_the_file(ask: Bringer, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "from torch import nn\n\nclass Config:\n    pass\n\nclass Net(nn.Module):\n"
        "    def __init__(self, config: Config, other, more=Config()):\n        raise ValueError(config)\n"
    )
    told = [ask("Net", "1", path=path), ask("Net", "1", path=path, arguments="Config(), 2")]
    for answer in told:
        assert isinstance(answer, NotBrought)
        assert "_brought_" not in answer.message
        assert "0x" not in answer.message
    assert told[0].message.startswith("Net(config: Config, other, more=…) cannot be called so: ")
    assert told[1].message == "ValueError: <net.Config object>"


def test_tied_weights_stay_one_tensor(ask: Bringer) -> None:
    answer = ask("GPT", "torch.randint(0, 50, (2, 7))")
    assert isinstance(answer, Brought)
    assert "head.weight = tok.weight" in answer.text


def test_values_that_no_constructor_gives_are_stored(ask: Bringer) -> None:
    answer = ask("trained", "torch.ones(2, 8)")
    assert isinstance(answer, Brought)
    assert "# region: Weights of MLP" in answer.text
    assert len(answer.tensors) == 1  # the others are as the constructor made them


def test_what_is_not_used_is_left_out_and_told(ask: Bringer) -> None:
    answer = ask("OutOfOrder", "torch.randn(3, 5)")
    assert isinstance(answer, Brought)
    assert "never" not in answer.text
    assert answer.notes == ("2 of 8 parameters are not used for this input, and left out.",)


def test_a_tensor_from_outside_is_a_value_and_told(ask: Bringer) -> None:
    answer = ask("Own", "torch.randn(3, 4)")
    assert isinstance(answer, Brought)
    assert any("come from outside of torch's calls" in note for note in answer.notes)


def test_a_seed_that_the_file_sets_is_the_document_s(ask: Bringer, tmp_path: Path) -> None:
    path = tmp_path / "seeded.py"
    path.write_text("import torch\nfrom torch import nn\n\ntorch.manual_seed(7)\nnet = nn.Linear(3, 4)\n")
    answer = ask("net", "torch.ones(2, 3)", path=path)
    assert isinstance(answer, Brought)
    assert answer.exact
    torch.manual_seed(7)
    wanted = torch.nn.Linear(3, 4).weight
    assert graph_of(answer.text, answer.tensors).header.seed == 7
    scope: dict[str, object] = {"__file__": "model.py"}
    exec(answer.text, scope)
    layer = next(value for value in scope.values() if isinstance(value, torch.nn.Linear))
    assert torch.equal(layer.weight, wanted)


def test_what_lies_beside_the_file_can_be_imported(ask: Bringer, tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("WIDTH = 3\n")
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\nfrom beside_it import WIDTH\nnet = nn.Sequential(nn.Linear(WIDTH, 2))\n")
    answer = ask("net", "torch.ones(1, 3)", path=path)
    assert isinstance(answer, Brought), answer


def test_weights_beyond_the_limit_are_refused_with_the_figure(ask: Bringer, monkeypatch) -> None:
    monkeypatch.setattr("gradstudio.engine.bring.bring_module.MOST_BYTES", 100)
    answer = ask("trained", "torch.ones(2, 8)")
    assert isinstance(answer, NotBrought)
    assert answer.fault == "inexpressible"
    assert "MiB" in answer.message


REFUSED = (
    ("Missing", ("torch.ones(2)",), {}, "usage", "has no 'Missing'"),
    ("MPL", ("torch.ones(2)",), {}, "usage", "Did you mean MLP?"),
    ("NoModule", ("torch.ones(2)",), {}, "usage", "no torch.nn.Module"),
    ("number", ("torch.ones(2)",), {}, "usage", "class int"),
    ("NeedsArguments", ("torch.ones(2)",), {}, "usage", '--args "width=…, depth=…"'),
    ("MLP", ("torch.ones(2)",), {"arguments": "open('x')"}, "usage", "models.py binds no 'open'"),
    ("MLP", ("torch.ones(2)",), {"arguments": "math.sqrt(4)"}, "usage", "neither a value nor a call"),
    ("MLP", ("torch.ones(2)",), {"arguments": "Config.width"}, "usage", "'Config.width' is neither"),
    ("MLP", ("torch.ones(2)",), {"arguments": "*[1]"}, "usage", "'*[1]' is neither"),
    ("MLP", ("torch.ones(2)",), {"arguments": "1, ("}, "usage", "are not Python: '(' was never closed."),
    ("Configured", ("torch.ones(2, 4)",), {}, "usage", '--args "config=Config()"'),
    ("Configured", ("torch.ones(2, 4)",), {"arguments": "Config(5, height=2)"}, "code", "'height'"),
    ("MLP", ("__import__('os').getcwd()",), {}, "usage", "cannot be read"),
    ("MLP", ("torch.ones(",), {}, "usage", "is not Python"),
    ("MLP", ("torch.ones(2, 3) @ torch.ones(2, 3)",), {}, "usage", "cannot be made"),
    ("MLP", (), {}, "usage", 'Give the inputs, for example --input "x=torch.randn(…)"'),
    ("MLP", ("nosuch=torch.ones(2)",), {}, "usage", "takes (x): "),
    ("MLP", ("torch.ones(2, 7)",), {}, "code", "mat1 and mat2 shapes cannot be multiplied"),
    ("Raises", ("torch.ones(2)",), {}, "code", "ValueError: not today"),
    ("Exits", ("torch.ones(2)",), {}, "code", "SystemExit(3)"),
    ("OwnBackward", ("torch.ones(2, 2)",), {}, "inexpressible", "Secret"),
    ("Unknown", ("torch.ones(2, 2)",), {}, "inexpressible", "torch._foreach_add is not in the catalogue"),
)


@pytest.mark.parametrize(("name", "inputs", "more", "fault", "words"), REFUSED)
def test_what_cannot_be_brought_is_refused_in_words(
    ask: Bringer, name: str, inputs: tuple[str, ...], more: dict[str, object], fault: str, words: str
) -> None:
    answer = ask(name, *inputs, **more)
    assert isinstance(answer, NotBrought), answer
    assert answer.fault == fault, answer
    assert words in answer.message


@pytest.mark.parametrize(
    ("name", "source"),
    [("Raises", 'raise ValueError("not today")'), ("OwnBackward", "return Secret.apply(self.fc(x)) + 1")],
)
def test_a_failure_names_the_line_of_the_user_s(ask: Bringer, name: str, source: str) -> None:
    answer = ask(name, "torch.ones(2, 2)")
    assert isinstance(answer, NotBrought)
    assert answer.file == "models.py"
    assert MODELS.read_text().splitlines()[answer.line - 1].strip() == source == answer.source


def test_an_operator_that_the_catalogue_lacks_is_named_with_its_line(ask: Bringer) -> None:
    answer = ask("NativeShuffle", "torch.randn(1, 4, 2, 2)")
    assert isinstance(answer, NotBrought)
    assert answer.fault == "inexpressible"
    assert answer.message.startswith("torch.nn.functional.native_channel_shuffle is not in the catalogue")
    assert "native_channel_shuffle" in answer.source


def _names(answer: Brought | NotBrought) -> set[str]:
    assert isinstance(answer, Brought)
    graph: Graph = graph_of(answer.text, answer.tensors)
    return {name for node in graph.nodes.values() for name in node.names}


def test_a_parameter_drawn_by_the_constructor_is_drawn_by_the_canvas(ask: Bringer) -> None:
    answer = ask("GPT", "torch.randint(0, 50, (2, 7))")
    assert isinstance(answer, Brought)
    assert "pos_randn = torch.randn(1, 16, 16)\npos_mul = pos_randn * 0.02\npos = nn.Parameter(pos_mul)" in answer.text
    assert not answer.tensors


def test_a_table_is_made_as_the_constructor_made_it_and_what_only_decided_a_branch_is_left_out(ask: Bringer) -> None:
    answer = ask("Positions", "torch.randn(2, 4, 6)")
    assert isinstance(answer, Brought)
    assert "torch.sin(" in answer.text
    assert ".any(" not in "".join(line for line in answer.text.splitlines() if not line.startswith("#"))
    assert any("if (x > 100).any():" in note for note in answer.notes)
    assert not answer.tensors
