"""What a class holds is bound in `__init__`: class attributes, buffers, modes; decorators become blocks."""

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script

HEAD = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n"
USE = "net = Net()\ny = net(torch.ones(2))\n"
MAKER = "    def __init__(self):\n        super().__init__()\n"


def lines(body: str, use: str = USE) -> list[str]:
    """The printed statements of a class, without indentation."""
    return [line.strip() for line in compile_graph(read_script(HEAD + body + use).graph).code.splitlines()]


def in_order(found: list[str], *wanted: str) -> bool:
    places = [found.index(line) for line in wanted]
    return places == sorted(places)


def test_class_attributes_become_the_objects_behind_the_call_of_the_base() -> None:
    body = "    scale = 3.0\n    shift: float = 2.0\n" + MAKER + "        self.own = 1.0\n"
    body += "    def forward(self, x):\n        return x * self.scale + self.shift + self.own\n"
    found = lines(body)
    assert in_order(found, "super().__init__()", "self.scale = 3.0", "self.shift = 2.0", "self.own = 1.0")


def test_a_class_without_a_maker_gets_one_that_calls_the_base() -> None:
    found = lines("    scale = 3.0\n    def forward(self, x):\n        return x * self.scale\n")
    assert in_order(found, "def __init__(self):", "super().__init__()", "self.scale = 3.0", "def forward(self, x):")


def test_an_annotation_alone_binds_nothing() -> None:
    found = lines("    scale: float\n" + MAKER + "    def forward(self, x):\n        return x * 2\n")
    assert not [line for line in found if "scale" in line]


@pytest.mark.parametrize(
    ("registered", "bound"),
    [
        ('"table", torch.zeros(2)', "self.table = nn.Buffer(torch.zeros(2))"),
        ('"table", torch.zeros(2), persistent=False', "self.table = nn.Buffer(torch.zeros(2), persistent=False)"),
    ],
)
def test_a_registered_buffer_is_an_assignment(registered: str, bound: str) -> None:
    body = MAKER + f"        self.register_buffer({registered})\n"
    assert bound in lines(body + "    def forward(self, x):\n        return x + self.table\n")


FORWARD = "    def forward(self, x):\n        return nn.functional.dropout({}, 0.5, self.training)\n"


def test_the_mode_is_that_of_a_layer_that_is_there() -> None:
    found = lines(MAKER + "        self.fc = nn.Linear(2, 2)\n" + FORWARD.format("self.fc(x)"))
    assert [line for line in found if "self.fc.training" in line]


def test_without_a_layer_the_mode_is_no_part_of_a_canvas() -> None:
    with pytest.raises(NotReadable, match=r"self\.training"):
        lines(MAKER + FORWARD.format("x"))


def test_torch_is_named_as_the_text_names_it() -> None:
    text = "import torch\nclass Net(torch.nn.Module):\n" + MAKER
    text += "        self.register_buffer('table', torch.zeros(2))\n"
    text += "    def forward(self, x):\n        return x + self.table\n"
    code = compile_graph(read_script(text + USE).graph).code
    assert "self.table = nn.Buffer(torch.zeros(2))" in code


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@torch.inference_mode()", "@torch.no_grad"])
def test_a_decorator_that_is_also_a_block_is_the_block_around_the_statements(decorator: str) -> None:
    text = f"import torch\n{decorator}\ndef double(x):\n    y = x * 2\n    return y\nz = double(torch.ones(2))\n"
    found = [line.strip() for line in compile_graph(read_script(text).graph).code.splitlines()]
    block = f"with {decorator[1:].partition('(')[0]}():"
    assert in_order(found, "def double(x):", block, "y = x * 2")
    assert not [line for line in found if line.startswith("@")]
