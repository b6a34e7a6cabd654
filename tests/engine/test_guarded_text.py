"""The guard alone, for a text that the writer would not print; and documents that must not fail by our own fault."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document.file import dumps
from gradstudio.engine import access
from gradstudio.engine.errors import AccessRefused
from gradstudio.program.reading.reader import read_script
from tests.engine.red_team import HEAD, REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "from torch import _import_dotted_name as print", "from torch import hub", "import torch as print",
        "from pathlib import os", "print = e", "load_file = e", "super = e", "def print(a):\n    return a",
        "def __gradstudio_callee__(a):\n    return a", "def f(__gradstudio_callee__):\n    return f",
        "class __gradstudio_reach__(nn.Module):\n    pass", "import math as __gradstudio_reach__",
        "@e\ndef f(a):\n    return a", "class A(metaclass=e):\n    pass", "class A(e):\n    pass",
        "class A(tuple):\n    def __array__(self):\n        return 1",
        "torch.relu = e", "del torch.relu",
    ],
)  # fmt: skip
def test_what_the_writer_never_prints_is_refused(text: str) -> None:
    with pytest.raises((AccessRefused, SyntaxError)):
        access.execute(
            access.statements(text), {"e": lambda *a: a, "torch": __import__("types").SimpleNamespace(relu=1)}
        )


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("line", REFUSED)
def test_what_a_red_team_wrote_is_refused(line: str) -> None:
    with pytest.raises(AccessRefused):
        access.execute(access.statements(HEAD + line.replace("\\n", "\n") + "\n"), {})


CLASS = "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n"
FORWARD = "\n    def forward(self, q):\n        return {}\n\n\ny = A()(x)\n"


@pytest.mark.parametrize(
    ("kept", "given"),
    [
        ("self.f = print", "self.f(q)"), ("self.f = type(type(1))", "q"), ("self.f = nn.ReLU", "self.f()"),
        ("self.__class__ = 3", "q"), ("self._buffers = {}", "q"), ("self.forward = nn.ReLU()", "q"),
        ("self.a = 1", "q.__class__.__mro__"), ("self.a = 1", "self.forward.__globals__"),
        ("self.a = 1", "self._modules"), ("self.a = 1", "super().__reduce__()"),
    ],
)  # fmt: skip
def test_what_a_class_of_a_red_team_holds_is_refused(kept: str, given: str) -> None:
    with pytest.raises(AccessRefused):
        access.execute(access.statements(HEAD + CLASS.format(kept) + FORWARD.format(given)), {})


TEXT = 'import torch\n\nx = torch.ones(2)\ny = f"a{x!r}b"\n'
CALLED = "def f(a, b):\n    c = a + b\n    return c\n\n\ny = f(1, 2)\n"


@pytest.mark.parametrize("mark", ["x", '\\"', "\\n", "=", "}"])
def test_a_conversion_is_one_of_pythons(mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = dumps(read_script(TEXT).graph)
    path = tmp_path / "a.gsg"
    path.write_text(said.replace("!r", "!" + mark.replace("\\", "\\\\") if mark.startswith("\\") else f"!{mark}"))
    main(["run", str(path)])
    out = capsys.readouterr()
    assert "own fault" not in out.out + out.err


def test_no_two_inputs_have_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(dumps(read_script(CALLED).graph))
    document["definitions"][0]["inputs"] = ["_", "_"]
    path = tmp_path / "a.gsg"
    path.write_text(json.dumps(document))
    main(["run", str(path)])
    out = capsys.readouterr()
    assert "SyntaxError" not in out.out + out.err
