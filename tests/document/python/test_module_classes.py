"""What a file offers is read from its syntax: proposed arguments, names, and which class is only a part."""

from pathlib import Path

import pytest

from gradstudio.document.python.module_import import ImportOption, import_options, names_bound

HEAD = "from dataclasses import dataclass\nimport torch.nn as nn\n"
CONFIG = "@dataclass\nclass NetConfig:\n    width: int = 3\n"


def offered(tmp_path: Path, text: str) -> dict[str, ImportOption]:
    path = tmp_path / "net.py"
    path.write_text(HEAD + text)
    return {offer.name: offer for offer in import_options(path)}


def net(parameters: str) -> str:
    return f"class Net(nn.Module):\n    def __init__(self, {parameters}):\n        super().__init__()\n"


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        (CONFIG + net("config: NetConfig"), "config=NetConfig()"),
        (CONFIG + net("c: 'NetConfig'"), "c=NetConfig()"),
        (CONFIG + net("c: NetConfig | None"), "c=NetConfig()"),
        (CONFIG + net("config"), "config=NetConfig()"),
        (CONFIG + net("width"), ""),
        (CONFIG + net("config, width"), ""),
        (CONFIG + net("config=None"), ""),
        (CONFIG + "class OtherConfig:\n    pass\n" + net("config"), "config=NetConfig()"),
        (CONFIG.replace("Net", "A") + CONFIG.replace("Net", "B") + net("config"), ""),
        (CONFIG.replace(" = 3", "") + net("config: NetConfig"), ""),
        ("class Config:\n    def __init__(self, width):\n        pass\n" + net("config: Config"), ""),
        ("class Config:\n    def __init__(self, width=2):\n        pass\n" + net("config: Config"), "config=Config()"),
        ("class Config(Unknown):\n    pass\n" + net("config: Config"), ""),
        (CONFIG + "class Config(NetConfig):\n    more: int = 2\n" + net("config: Config"), "config=Config()"),
    ],
)
def test_arguments_are_proposed_where_the_file_has_them(tmp_path: Path, text: str, proposed: str) -> None:
    assert offered(tmp_path, text)["Net"].proposed == proposed


def test_a_function_is_proposed_its_configuration_too(tmp_path: Path) -> None:
    made = offered(tmp_path, CONFIG + "def make(config: NetConfig):\n    return 1\n")["make"]
    assert (made.needs, made.proposed) == (("config",), "config=NetConfig()")


def test_what_a_class_uses_is_a_part(tmp_path: Path) -> None:
    text = (
        "class A(nn.Module):\n    def forward(self, x):\n        return A\n"
        "class B(A):\n    pass\nclass C(nn.Module):\n    def forward(self, x):\n        return 1\n"
    )
    assert {name: offer.is_used for name, offer in offered(tmp_path, text).items()} == {
        "A": True, "B": False, "C": False,
    }  # fmt: skip


def test_names_are_those_of_the_top_level(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import os\nfrom m import one as two\na = b, c = 1, 2\nd: int\ne: int = 1\n"
        "if a:\n    f = 1\nelse:\n    def g():\n        h = 1\ntry:\n    class I: pass\nexcept ValueError:\n    pass\n"
        "with open('x') as j:\n    pass\n"
    )
    assert names_bound(path) == {"two", "a", "b", "c", "e", "f", "g", "I"}
